"""Windows that come back to a new daemon: what is waited for, how long, and how their files stand then."""

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_ls.adapters.host import canonical
from agent_ls.adapters.host.files import DiskFiles
from agent_ls.adapters.host.marks import FileMarks
from agent_ls.adapters.host.open_set import OpenSetFile
from agent_ls.editor import opening
from agent_ls.editor.documents import Documents, Overlay
from agent_ls.editor.returning import RETURN_S, Returning
from agent_ls.editor.standing import OnDisk, Saved, Unsaved, standing
from agent_ls.editor.window_files import WindowFiles
from agent_ls.ports.files import Content, Refused
from tests.unit.editor.open_desk import LIMIT, LocalWindow

pytestmark = pytest.mark.anyio

LIMIT_S = 5


class Desk:
    """Documents of a daemon that comes after another one, and its files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.record = OpenSetFile(str(root / "open-files"))
        self.returning = Returning(self.record)
        self.documents = Documents(canonical.key_of, self.returning)
        self.disk = DiskFiles()
        self.files = WindowFiles(self.disk, self.documents, FileMarks(str(root)))
        self.slept: list[float] = []
        self.over = anyio.Event()

    def window(self) -> LocalWindow:
        return LocalWindow(self.documents, "vim", encoding="utf-16", saves=True, late=False)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self.over.wait()

    async def read(self, path: Path) -> Content | Refused:
        return await self.files.read(str(path), LIMIT)


@pytest.fixture
def root(state_dir: Path) -> Path:
    return Path(os.path.realpath(state_dir))


def opened(path: Path, text: str, *, ago: float | None = None, changed: bool = False) -> dict[str, Any]:
    document = {"uri": path.as_uri(), "languageId": "x", "version": 1, "text": text}
    replay = {"secondsAgo": ago, "changed": changed}
    return {"textDocument": document, **({} if ago is None else {"agentLs": {"replay": replay}})}


def changed(path: Path, text: str) -> dict[str, Any]:
    return {"textDocument": {"uri": path.as_uri(), "version": 2}, "contentChanges": [{"text": text}]}


def before(root: Path, *paths: Path) -> None:
    """A daemon had these open and was killed."""
    desk = Desk(root)
    window = desk.window()
    for path in paths:
        desk.documents.open(window, opened(path, ""))


async def test_a_file_that_was_open_is_read_only_when_every_window_that_had_it_is_back(root: Path) -> None:
    path = root / "a.py"
    path.write_text("disk\n")
    before(root, path)
    # Another window had it open as well.
    with (root / "open-files").open("a") as file:
        file.write(f"+{path.as_uri()}\n")
    desk = Desk(root)
    got: list[Any] = []

    async def read() -> None:
        got.append(await desk.read(path))

    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            clean, dirty = desk.window(), desk.window()
            overlay = desk.documents.open(clean, opened(path, "disk\n", ago=9))
            assert overlay is not None
            await opening.settle(overlay, desk.disk, seconds_since_change=lambda _: 0)
            await anyio.wait_all_tasks_blocked()
            assert got == []
            other = desk.documents.open(dirty, opened(path, "disk\n", ago=9, changed=True))
            assert other is not None
            tasks.start_soon(opening.settle, other, desk.disk, lambda _: 0.0)
            # Its text has not come yet: nothing is read between the two messages.
            await anyio.wait_all_tasks_blocked()
            assert got == []
            desk.documents.change(dirty, changed(path, "mine\n"))
    assert [content.data for content in got] == [b"mine\n"]


async def test_a_window_that_does_not_come_back_is_waited_for_once_and_not_for_long(root: Path) -> None:
    path = root / "a.py"
    path.write_text("disk\n")
    before(root, path)
    desk = Desk(root)
    got: list[Any] = []

    async def read() -> None:
        got.append(await desk.read(path))

    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.returning.give_time, desk.sleep)
            tasks.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            assert (desk.slept, got) == ([RETURN_S], [])
            desk.over.set()
        assert [content.data for content in got] == [b"disk\n"]
        assert await desk.read(path) == got[0]
        assert Desk(root).record.left == {}


async def test_a_file_that_was_open_nowhere_and_a_new_one_are_not_waited_for(root: Path) -> None:
    before(root, root / "a.py")
    (root / "b.py").write_text("b\n")
    desk = Desk(root)
    with anyio.fail_after(LIMIT_S):
        assert isinstance(await desk.read(root / "b.py"), Content)
        await desk.files.locate("c.py", str(root))


async def test_nobody_sleeps_when_nothing_was_open(root: Path) -> None:
    desk = Desk(root)
    with anyio.fail_after(LIMIT_S):
        await desk.returning.give_time(desk.sleep)
    assert desk.slept == []


async def test_what_was_open_is_remembered_until_it_is_closed_and_through_a_second_crash(root: Path) -> None:
    first, second = root / "a.py", root / "b.py"
    desk = Desk(root)
    window = desk.window()
    for path in (first, second):
        desk.documents.open(window, opened(path, ""))
    desk.documents.open(window, {"textDocument": {"uri": "untitled:1", "version": 1, "text": ""}})
    desk.documents.close(window, {"textDocument": {"uri": first.as_uri()}})
    assert Desk(root).record.left == {second.as_uri(): 1}
    # Killed again with one of two back.
    again = Desk(root)
    again.documents.open(again.window(), opened(first, ""))
    assert Desk(root).record.left == {first.as_uri(): 1, second.as_uri(): 1}


async def test_a_daemon_that_is_stopped_leaves_the_record_as_it_was(root: Path) -> None:
    desk = Desk(root)
    window = desk.window()
    desk.documents.open(window, opened(root / "a.py", ""))
    desk.returning.freeze()
    window.leave()
    assert Desk(root).record.left == {(root / "a.py").as_uri(): 1}


async def test_the_record_stays_small_and_a_place_that_cannot_be_written_harms_nobody(root: Path) -> None:
    desk = Desk(root)
    window = desk.window()
    for _ in range(5_000):
        desk.documents.open(window, opened(root / "a.py", ""))
        desk.documents.close(window, {"textDocument": {"uri": (root / "a.py").as_uri()}})
    assert (root / "open-files").stat().st_size < 250_000
    assert Desk(root).record.left == {}
    nowhere = OpenSetFile(str(root / "no" / "such" / "folder"))
    nowhere.opened("file:///w/a.py")
    assert nowhere.left == {}


@pytest.mark.parametrize(
    ("on_disk", "since_change", "ago", "wanted"),
    [
        # The disk has what the window had when it was opened or saved.
        ("base\n", 100.0, 50.0, "unsaved"),
        # The disk was changed while the window had it.
        ("theirs\n", 30.0, 50.0, "conflict"),
        # It was opened with text that was not on disk, as after a crash of the editor.
        ("theirs\n", 100.0, 50.0, "unsaved"),
    ],
)
async def test_unsaved_text_stands_to_the_disk_as_it_did_before(
    root: Path, on_disk: str, since_change: float, ago: float, wanted: str
) -> None:
    overlay = await back(root, on_disk, since_change, ago=ago, changed_to="mine\n")
    found = standing([overlay], OnDisk.of(content(on_disk)), "a.py", first=None)
    kind = "unsaved" if isinstance(found, Unsaved) and found.text == "mine\n" else "conflict"
    assert (kind, isinstance(found, Saved)) == (wanted, False)


@pytest.mark.parametrize(
    ("since_change", "ago", "dirty"),
    [(30.0, 50.0, False), (100.0, 50.0, True)],
    ids=["checked out beneath it", "restored by the editor"],
)
async def test_text_that_was_not_changed_stands_to_the_disk_as_it_did_before(
    root: Path, since_change: float, ago: float, *, dirty: bool
) -> None:
    overlay = await back(root, "theirs\n", since_change, ago=ago, changed_to=None)
    found = standing([overlay], OnDisk.of(content("theirs\n")), "a.py", first=None)
    assert (overlay.dirty, isinstance(found, Unsaved)) == (dirty, dirty)


async def back(root: Path, on_disk: str, since_change: float, *, ago: float, changed_to: str | None) -> Overlay:
    path = root / "a.py"
    path.write_text(on_disk)
    desk = Desk(root)
    window = desk.window()
    overlay = desk.documents.open(window, opened(path, "base\n", ago=ago, changed=changed_to is not None))
    assert overlay is not None
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(opening.settle, overlay, desk.disk, lambda _: since_change)
            if changed_to is not None:
                assert desk.documents.change(window, changed(path, changed_to)) is None
    return overlay


def content(text: str) -> Content:
    return Content(text.encode(), "digest")
