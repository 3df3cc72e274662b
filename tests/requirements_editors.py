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
    "editors.multiplexer": Requirement(
        "Beside another server of a buffer, through a multiplexer or taking turns: both mark it, also after typing, an "
        "approval is answered there, also after the daemon was killed.",
        ("tests/editors/emacs/test_beside_another.py",),
    ),
    "windows.draft": Requirement(
        "What is half written belongs to the conversation: other windows hear of it, a late one is told, and it is "
        "there after the daemon was killed.",
        ("tests/protocol/test_drafts.py",),
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
        (
            "tests/protocol/test_surface.py",
            "tests/protocol/test_spellings.py",
            "tests/editors/bare_neovim/test_whole_chat.py",
        ),
    ),
    "editor.odd-clients": Requirement(
        "Whatever a client sends, each request has one reply, none is a bug of ours, what waits stays, and nobody else "
        "is disturbed; the two Markdown files survive what a person does to them.",
        ("tests/protocol/test_odd_clients.py", "tests/protocol/test_odd_papers.py"),
    ),
    "editor.several-questions": Requirement(
        "Several questions at once are answered with code actions alone: a choice for each, shown in every window, "
        "then all of them sent; words are an answer in the prompt document.",
        ("tests/protocol/test_several_questions.py",),
    ),
    "editor.two-files": Requirement(
        "Without a plugin, two Markdown files are the whole chat: the transcript grows at item borders, by "
        "what is new, through the windows that have it open or on disk; the prompt is the person's, sent by "
        "code action, cleared through the window, never touched otherwise. Both have outline, folds, links, "
        "completion, lenses and actions.",
        ("tests/protocol/test_transcript_file.py", "tests/protocol/test_prompt_file.py"),
    ),
    "neovim.main-job": Requirement(
        "In a real Neovim, on each wire: ask, read, edit, command; answers by :Agent and by the stock key; the file "
        "changed in its buffer, the output shown; who decided is shown; nothing is allowed that was not on the screen.",
        ("tests/editors/neovim/test_first_run.py",),
    ),
    "neovim.commands": Requirement(
        "Each word of :Agent does one thing, is completed, and ends in one sentence at the most.",
        (
            "tests/editors/neovim/test_answers.py",
            "tests/editors/neovim/test_commands.py",
            "tests/editors/neovim/test_every_key.py",
            "tests/editors/neovim/test_prompt.py",
            "tests/editors/neovim/test_questions.py",
            "tests/editors/neovim/test_review.py",
            "tests/editors/neovim/test_words.py",
        ),
    ),
    "neovim.language": Requirement(
        "What other language servers of a Neovim say reaches the agent, and only questions are passed on to them; a "
        "file that the agent wrote is never asked about, and unsaved text is kept.",
        ("tests/editors/neovim/test_language.py",),
    ),
    "neovim.survives": Requirement(
        "Kill -9 of Neovim in mid-stream and with an approval pending, of the daemon, of the server between them: all "
        "of it is shown again. Two Neovims on one conversation show the same and who decided.",
        ("tests/editors/neovim/test_survives.py",),
    ),
    "neovim.not-in-the-way": Requirement(
        "Typing while three approvals arrive: not one key lost, nothing decided; the focus stays, the cursor of the "
        "transcript too; closing and writing decide nothing. In every mode the card waits for free hands, and no "
        "sentence ends in a prompt.",
        (
            "tests/editors/neovim/test_fast.py",
            "tests/editors/neovim/test_hands.py",
            "tests/editors/neovim/test_in_the_way.py",
            "tests/editors/neovim/test_told.py",
        ),
    ),
    "neovim.seen": Requirement(
        "What was allowed in a real Neovim had been on the screen, every line of it: not below the edge, in a fold, in "
        "another tab page; of several cards at one place none is meant without its number.",
        ("tests/editors/neovim/test_seen.py",),
    ),
    "neovim.setup": Requirement(
        "Each way of loading that the guide names works in Neovim; a wrong option, a missing program or model, a "
        "refused key are a sentence with what to do; a wait is counted down; statusline and autocommands are told.",
        ("tests/editors/neovim/test_setup.py",),
    ),
    "neovim.buffers": Requirement(
        "In every kind of buffer (dos, BOM, no last line end, Latin-1, hidden, folded, in diff mode, renamed) nothing "
        "but what was shown is changed; one that may not be changed, or has moved on, refuses with the reason; an edit "
        "is one undo step even amid an insert.",
        ("tests/editors/neovim/test_buffers.py",),
    ),
    "neovim.hostile": Requirement(
        "Control and bidi characters, endless lines and blanks, modelines, statusline items in titles and file names "
        "run nothing in Neovim, hide nothing and hold nobody up.",
        ("tests/editors/neovim/test_hostile.py",),
    ),
    "vscode.main-job": Requirement(
        "In a real VS Code: ask, stream, approve in a comment, in the tree, by key and by lens, deny with a reason, "
        "edit then allow; nothing counts in the first moment.",
        ("tests/editors/vscode/test_first_run.py",),
    ),
    "vscode.chat": Requirement(
        "In a real VS Code: queue, steer, stop, questions, plans, steps; files, selections and commands in the input.",
        ("tests/editors/vscode/test_chat.py", "tests/editors/vscode/test_views.py"),
    ),
    "vscode.review": Requirement(
        "In a real VS Code: hunks are kept and undone by lens, key, tree and in the multi-diff editor; a dirty buffer "
        "is edited through the editor, in one undo step.",
        ("tests/editors/vscode/test_review.py",),
    ),
    "vscode.survives": Requirement(
        "In a real VS Code: a reload with an approval pending and a stream going, kill -9 of extension host and "
        "daemon: all of it is back. Two windows, and Neovim beside one: approved in one, retracted in the other with "
        "who did.",
        ("tests/editors/vscode/test_survives.py", "tests/editors/vscode/test_two_windows.py"),
    ),
    "vscode.not-in-the-way": Requirement(
        "In a real VS Code: typing loses no key and no focus, a hostile transcript shows as text and does nothing, "
        "2,000 items draw only what is seen, every text can be read in light, dark and high contrast.",
        ("tests/editors/vscode/test_in_the_way.py", "tests/editors/vscode/test_pictures.py"),
    ),
    "vscode.trouble": Requirement(
        "In a real VS Code: a model in trouble counts down and can be hurried, what failed is asked again; a program "
        "that is missing or broken, and settings of another type, are told or passed over without a message that asks.",
        ("tests/editors/vscode/test_trouble.py",),
    ),
    "vscode.documents": Requirement(
        "In a real VS Code: cells of notebooks, a patch over several files, a file that goes while its card waits; "
        "the rule that an answer would keep and where a command's words lead are shown; the agent asks the window's "
        "language servers.",
        (
            "tests/editors/vscode/test_documents.py",
            "tests/editors/vscode/test_rules.py",
            "tests/editors/vscode/test_language.py",
        ),
    ),
    "vscode.trust": Requirement(
        "In a real VS Code: of a workspace that is not trusted no program is started, and nothing in it is changed.",
        ("tests/editors/vscode/test_trust.py",),
    ),
}
