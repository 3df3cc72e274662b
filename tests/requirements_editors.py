"""What editors and their many windows are promised, each with the tests that show it."""

from typing import Final

from tests.requirement import Requirement

EDITORS: Final[dict[str, Requirement]] = {
    "windows.routing": Requirement(
        "What waits is shown where the person was last and where its conversation is followed, counted elsewhere; who "
        "did not answer is told who did; windows of one conversation know of each other.",
        ("tests/protocol/test_windows.py",),
    ),
    "editors.emacs": Requirement(
        "A real Emacs with Eglot and no plugin: the prompt is sent by code action, the answer comes, an edit is "
        "allowed and made in its buffer; Emacs and Neovim on one conversation each say who answered in the other.",
        ("tests/editors/emacs/test_stock_keys.py",),
    ),
    "windows.many": Requirement(
        "Fifty windows, ten conversations streaming at once: one that does not read slows nobody and is resynced.",
        ("tests/protocol/test_many_windows.py",),
    ),
    "windows.typing": Requirement(
        "Typing is served while an answer streams and the workspace is searched.",
        ("tests/protocol/test_typing_is_free.py",),
    ),
    "bridge.deaths": Requirement(
        "Ten daemons killed or handed over under somebody who types into a large unsaved buffer while an answer "
        "streams: no error, the text is known to the last key, the conversation goes on.",
        ("tests/crash/test_typing_through_deaths.py",),
    ),
    "editor.surface": Requirement(
        "A plain LSP editor asks from a file, a selection or a diagnostic, undoes hunks, sees which files are held and "
        "what runs, and is told to look again only where it can; prompts by message are off unless asked for, and "
        "null, an error, silence or another title leave a request as it is.",
        ("tests/protocol/test_surface.py", "tests/editors/bare_neovim/test_whole_chat.py"),
    ),
    "editor.two-files": Requirement(
        "Without a plugin, two Markdown files are the whole chat: the transcript grows at item borders, by "
        "what is new, through the windows that have it open or on disk; the prompt is the person's, sent by "
        "code action, cleared through the window, never touched otherwise. Both have outline, folds, links, "
        "completion, lenses and actions.",
        ("tests/protocol/test_transcript_file.py", "tests/protocol/test_prompt_file.py"),
    ),
}
