"""The table of editor.md, row by row: which text is read, where an edit goes, and what is never done."""

import os
from pathlib import Path

import pytest

from agent_ls.core.text import ENCODINGS
from agent_ls.core.textfile import sha256
from agent_ls.ports.files import Reason, Refused, Replaced
from agent_ls.testing.buffers import Manner
from tests.unit.editor.open_desk import OpenDesk

pytestmark = pytest.mark.anyio

TEXT = "x = '😋'\nold = 1\n# ende é\n"


@pytest.fixture
def desk(state_dir: Path) -> OpenDesk:
    return OpenDesk(Path(os.path.realpath(state_dir)))


async def test_a_file_that_is_open_nowhere_is_edited_on_disk(desk: OpenDesk) -> None:
    path = desk.file("a.py", TEXT.encode())
    desk.window()
    done = await desk.edit(path, "old = 1", "new = 2")
    assert (done, path.read_text()) == (
        Replaced(digest=sha256(path.read_bytes())),
        TEXT.replace("old = 1", "new = 2"),
    )


@pytest.mark.parametrize("late", [False, True], ids=["change first", "answer first"])
@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_a_clean_open_file_is_edited_through_its_window_in_one_step_and_saved(
    desk: OpenDesk, encoding: str, *, late: bool
) -> None:
    path = desk.file("a.py", TEXT.encode())
    window = desk.window(encoding=encoding, late=late)
    await desk.open(window, path)
    done = await desk.edit(path, "😋'\nold = 1", "😋😋'\nnew = 2")
    wanted = TEXT.replace("😋'\nold = 1", "😋😋'\nnew = 2")
    buffer = window.buffers[path]
    assert done == Replaced(digest=sha256(wanted.encode()), note="It is saved, through vim.")
    assert (buffer.text, len(buffer.edits), buffer.modified, path.read_text()) == (wanted, 1, False, wanted)
    assert [method for method, _ in window.buffers.asked] == ["workspace/applyEdit", "agent/document/save"]


async def test_only_what_differs_is_sent_with_the_version_that_is_known(desk: OpenDesk) -> None:
    path = desk.file("a.py", TEXT.encode())
    window = desk.window()
    await desk.open(window, path)
    await desk.edit(path, "old = 1", "old = 2")
    (_, params), _ = window.buffers.asked
    span = {"start": {"line": 1, "character": 6}, "end": {"line": 1, "character": 7}}
    assert params["edit"] == {
        "documentChanges": [
            {"textDocument": {"uri": path.as_uri(), "version": 1}, "edits": [{"range": span, "newText": "2"}]}
        ]
    }


async def test_where_the_window_cannot_save_the_disk_stays_and_the_result_says_so(desk: OpenDesk) -> None:
    path = desk.file("a.py", TEXT.encode())
    window = desk.window(saves=False)
    await desk.open(window, path)
    done = await desk.edit(path, "old = 1", "new = 2")
    assert isinstance(done, Replaced)
    assert done.note == "It is changed in vim and not saved there; the file on disk is as it was."
    assert (path.read_text(), desk.files.unsaved(str(desk.root))) == (TEXT, ("not saved in vim: a.py",))
    assert await desk.read(path) == (
        TEXT.replace("old = 1", "new = 2").encode(),
        "unsaved text of your editor (vim)",
    )
    window.saves_it(path)
    assert desk.files.unsaved(str(desk.root)) == ()


async def test_the_disk_is_right_when_it_changed_under_a_clean_copy(desk: OpenDesk) -> None:
    path = desk.file("a.py", TEXT.encode())
    window = desk.window()
    await desk.open(window, path)
    checkout = TEXT.replace("ende", "checkout")
    path.write_text(checkout)
    assert await desk.read(path) == (checkout.encode(), None)
    await desk.edit(path, "old = 1", "new = 2")
    wanted = checkout.replace("old = 1", "new = 2")
    assert (window.buffers[path].text, path.read_text()) == (wanted, wanted)


async def test_a_dirty_copy_is_read_and_edited_in_its_window_and_the_disk_is_untouched(desk: OpenDesk) -> None:
    path = desk.file("a.py", TEXT.encode())
    window = desk.window()
    await desk.open(window, path)
    window.types(path, "mine\n")
    assert await desk.read(path) == ((TEXT + "mine\n").encode(), "unsaved text of your editor (vim)")
    done = await desk.edit(path, "old = 1", "new = 2")
    assert isinstance(done, Replaced)
    assert done.note == "It had unsaved changes in vim, so it is changed there and not saved."
    buffer = window.buffers[path]
    assert (buffer.text, len(buffer.edits)) == (TEXT.replace("old = 1", "new = 2") + "mine\n", 1)
    assert (path.read_text(), desk.files.unsaved(str(desk.root))) == (TEXT, ("not saved in vim: a.py",))


async def test_the_same_unsaved_text_in_two_windows_is_edited_in_both_the_owner_of_the_run_first(
    desk: OpenDesk,
) -> None:
    path = desk.file("a.py", TEXT.encode())
    one, other = desk.window("vim"), desk.window("helix", encoding="utf-8")
    for window in (one, other):
        await desk.open(window, path)
        window.types(path, "mine\n")
    desk.documents.sent("c1", one)
    order: list[str] = []
    for window in (one, other):
        window.buffers.asked = _Noted(order, window.client)
    done = await desk.edit(path, "old = 1", "new = 2")
    wanted = TEXT.replace("old = 1", "new = 2") + "mine\n"
    assert isinstance(done, Replaced)
    assert (order, one.buffers[path].text, other.buffers[path].text) == (["vim", "helix"], wanted, wanted)
    assert path.read_text() == TEXT


async def test_different_unsaved_texts_in_two_windows_are_refused_by_the_names_of_both(desk: OpenDesk) -> None:
    path = desk.file("a.py", TEXT.encode())
    for client in ("vim", "helix"):
        window = desk.window(client)
        await desk.open(window, path)
        window.types(path, client)
    for refused in (await desk.files.read(str(path), 1000), await desk.edit(path, "old", "new")):
        assert isinstance(refused, Refused)
        assert refused.reason is Reason.STALE
        assert "different unsaved texts in helix and in vim (stale_document)" in refused.message


async def test_a_dirty_copy_whose_disk_changed_too_is_a_conflict(desk: OpenDesk) -> None:
    path = desk.file("a.py", TEXT.encode())
    window = desk.window()
    await desk.open(window, path)
    window.types(path, "mine\n")
    path.write_text("theirs\n")
    refused = await desk.edit(path, "x", "y")
    assert isinstance(refused, Refused)
    assert (refused.reason, "changed on disk while it has unsaved changes in vim" in refused.message) == (
        Reason.STALE,
        True,
    )
    assert (path.read_text(), window.buffers.asked) == ("theirs\n", [])


async def test_a_copy_that_the_editor_loaded_again_is_clean(desk: OpenDesk) -> None:
    path = desk.file("a.py", TEXT.encode())
    window = desk.window()
    await desk.open(window, path)
    path.write_text(TEXT + "more\n")
    window.types(path, "more\n")
    assert await desk.read(path) == ((TEXT + "more\n").encode(), None)
    window.types(path, "mine\n")
    assert await desk.read(path) == ((TEXT + "more\nmine\n").encode(), "unsaved text of your editor (vim)")


async def test_a_buffer_restored_with_unsaved_text_counts_though_no_change_was_told(desk: OpenDesk) -> None:
    path = desk.file("a.py", TEXT.encode())
    desk.quiet_s = 60
    window = desk.window()
    await desk.open(window, path, TEXT + "restored\n")
    assert await desk.read(path) == ((TEXT + "restored\n").encode(), "unsaved text of your editor (vim)")
    await desk.edit(path, "old = 1", "new = 2")
    assert (path.read_text(), window.buffers[path].text.endswith("restored\n")) == (TEXT, True)


@pytest.mark.parametrize(
    ("manner", "reason", "said"),
    [
        (Manner.LIES, Reason.STALE, "it said that it had, and its text shows nothing of it"),
        (Manner.STALE, Reason.STALE, "it said that it had, and its text shows nothing of it"),
        (Manner.REFUSES, Reason.STALE, "not now"),
        (Manner.NULL, Reason.STALE, "it gave no reason"),
        (Manner.ERROR, Reason.FAILED, "The buffer is read-only."),
        (Manner.SILENT, Reason.UNKNOWN, "did not answer in time and may still make the change"),
        (Manner.LEAVES, Reason.UNKNOWN, "closed the file or went away"),
        (Manner.TYPES_THERE, Reason.UNKNOWN, "changed at the same place"),
    ],
)
@pytest.mark.parametrize("dirty", [False, True], ids=["clean", "dirty"])
async def test_an_edit_that_the_window_does_not_show_is_told_truthfully_and_never_written_beneath(
    desk: OpenDesk, manner: Manner, reason: Reason, said: str, *, dirty: bool
) -> None:
    path = desk.file("a.py", TEXT.encode())
    window = desk.window()
    await desk.open(window, path)
    if dirty:
        window.types(path, "mine\n")
    window.buffers.manner = manner
    done = await desk.edit(path, "old = 1", "new = 2")
    assert isinstance(done, Refused)
    assert (done.reason, said in done.message, path.read_text()) == (reason, True, TEXT)
    assert [method for method, _ in window.buffers.asked] == ["workspace/applyEdit"]


async def test_an_edit_beside_which_the_person_types_is_made_and_their_typing_is_not_saved(desk: OpenDesk) -> None:
    path = desk.file("a.py", TEXT.encode())
    window = desk.window()
    await desk.open(window, path)
    window.buffers.manner = Manner.TYPES_ELSEWHERE
    done = await desk.edit(path, "old = 1", "new = 2")
    assert isinstance(done, Replaced)
    assert done.note == "It is changed in vim, where the person is typing, and not saved there."
    assert (path.read_text(), window.buffers[path].text) == (TEXT, TEXT.replace("old = 1", "new = 2") + "typed\n")


@pytest.mark.parametrize("manner", [Manner.SILENT, Manner.ERROR, Manner.LIES])
async def test_a_save_that_did_not_happen_is_not_told_as_one(desk: OpenDesk, manner: Manner) -> None:
    path = desk.file("a.py", TEXT.encode())
    window = desk.window()
    await desk.open(window, path)
    window.buffers.save_manner = manner
    done = await desk.edit(path, "old = 1", "new = 2")
    assert isinstance(done, Replaced)
    assert done.note is not None
    assert done.note.startswith("It is changed in vim and not saved there")
    assert (path.read_text(), desk.files.unsaved(str(desk.root))) == (TEXT, ("not saved in vim: a.py",))


async def test_a_save_that_was_refused_since_the_disk_changed_is_not_taken_for_a_formatters(desk: OpenDesk) -> None:
    path = desk.file("a.py", TEXT.encode())
    window = desk.window()
    await desk.open(window, path)

    def meanwhile(text: str) -> str:
        path.write_text("theirs\n")
        return text

    window.buffers.formatter = meanwhile
    window.buffers.save_manner = Manner.REFUSES
    done = await desk.edit(path, "old = 1", "new = 2")
    assert isinstance(done, Replaced)
    assert done.note == (
        "It is changed in vim and not saved there (It would not save.); something else has changed the file on disk."
    )
    assert path.read_text() == "theirs\n"
    refused = await desk.edit(path, "new = 2", "x")
    assert isinstance(refused, Refused)
    assert "stale_document" in refused.message


async def test_what_a_formatter_changed_on_saving_is_shown_and_counts_as_seen(desk: OpenDesk) -> None:
    path = desk.file("a.py", TEXT.encode())
    window = desk.window()
    await desk.open(window, path)
    window.buffers.formatter = lambda text: text.replace("new=2", "new = 2")
    done = await desk.edit(path, "old = 1", "new=2")
    wanted = TEXT.replace("old = 1", "new = 2")
    assert isinstance(done, Replaced)
    assert (done.digest, path.read_text()) == (sha256(wanted.encode()), wanted)
    assert done.note is not None
    assert "changed it further on saving" in done.note
    assert "-new=2\n+new = 2\n" in done.note


async def test_an_editor_that_hides_carriage_returns_keeps_those_of_the_file(desk: OpenDesk) -> None:
    data = b"\xef\xbb\xbfclass A\r\n  pass\r\n"
    path = desk.file("a.cs", data)
    window = desk.window(saves=False)
    await desk.open(window, path, "class A\n  pass\n")
    assert await desk.read(path) == (data, None)
    await desk.edit(path, "pass", "x\r\n  y")
    assert window.buffers[path].text == "class A\n  x\n  y\n"
    assert await desk.read(path) == (data.replace(b"pass", b"x\r\n  y"), "unsaved text of your editor (vim)")


async def test_a_file_in_an_encoding_that_only_the_editor_knows_is_not_edited_while_open(desk: OpenDesk) -> None:
    data = "日本語\nold\n".encode("cp932")
    path = desk.file("a.txt", data)
    window = desk.window()
    await desk.open(window, path, "日本語\nold\n")
    assert (await desk.read(path))[0] == data
    refused = await desk.edit(path, "old", "new")
    assert isinstance(refused, Refused)
    assert ("in an encoding that agent-ls cannot tell" in refused.message, window.buffers.asked) == (True, [])


async def test_a_new_file_that_only_a_window_holds_is_there_for_the_tools(desk: OpenDesk) -> None:
    path = desk.root / "new.py"
    window = desk.window()
    await desk.open(window, path, "")
    window.types(path, "draft = 1\n")
    place = await desk.files.locate("new.py", str(desk.root))
    assert not isinstance(place, Refused)
    assert (place.exists, await desk.read(path)) == (True, (b"draft = 1\n", "unsaved text of your editor (vim)"))
    await desk.edit(path, "draft = 1", "draft = 2")
    assert (window.buffers[path].text, path.exists()) == ("draft = 2\n", False)


async def test_a_link_and_its_target_are_one_file(desk: OpenDesk) -> None:
    path = desk.file("real.py", TEXT.encode())
    link = desk.root / "link.py"
    link.symlink_to(path)
    window = desk.window()
    await desk.open(window, link)
    await desk.edit(path, "old = 1", "new = 2")
    assert (window.buffers[link].text, link.is_symlink()) == (TEXT.replace("old = 1", "new = 2"), True)


@pytest.mark.parametrize("dirty", [False, True], ids=["clean", "dirty"])
async def test_after_a_crash_the_window_tells_whether_its_edit_was_made(desk: OpenDesk, *, dirty: bool) -> None:
    path = desk.file("a.py", TEXT.encode())
    window = desk.window(saves=False)
    await desk.open(window, path)
    if dirty:
        window.types(path, "mine\n")
    before = sha256((await desk.read(path))[0])
    done = await desk.edit(path, "old = 1", "new = 2")
    assert isinstance(done, Replaced)

    async def found(token: str = "c1.r1.i") -> str | Refused:
        return await desk.restarted().reclaim(str(path), before=before, after=done.digest, token=token)

    assert await found() == done.digest
    window.types(path, "more\n")
    assert await found() not in {before, done.digest}
    window.leave()
    gone = await found()
    assert isinstance(gone, Refused)
    assert (gone.reason, "it was being made in vim" in gone.message) == (Reason.UNKNOWN, True)
    desk.files.forget("c1.r1.i")
    assert await found() == sha256(TEXT.encode())


async def test_after_a_crash_an_edit_that_never_reached_its_window_can_be_made(desk: OpenDesk) -> None:
    path = desk.file("a.py", TEXT.encode())
    window = desk.window()
    await desk.open(window, path)
    window.buffers.manner = Manner.SILENT
    await desk.edit(path, "old = 1", "new = 2")
    before, after = sha256(TEXT.encode()), sha256(b"after")
    found = await desk.restarted().reclaim(str(path), before=before, after=after, token="c1.r1.i")
    assert found == before


class _Noted(list[tuple[str, dict[str, object]]]):
    """Writes down in one order who was asked."""

    def __init__(self, order: list[str], name: str) -> None:
        super().__init__()
        self._order, self._name = order, name

    def append(self, item: tuple[str, dict[str, object]]) -> None:
        self._order.append(self._name)
        super().append(item)
