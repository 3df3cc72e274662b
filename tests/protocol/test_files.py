"""Files of every kind through the whole daemon: what the tools do to them, and what they never do."""

import os
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent_ls.testing.editor import Editor
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import InOrder, UseTool, reply, say, use
from tests.scene import scene

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Case:
    """`after` is the file when all is done; `said` is in the result of the edit, which is ok if the file changed."""

    before: bytes
    edit: dict[str, Any]
    after: bytes | None = None
    said: str = ""
    read: str = ""


def _edit(old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"old": old, "new": new, **more}


LATIN = b"ascii\nna\xefve \xff\n"
LONG = "first\n" + "middle\n" * 190 + "last\n"
CASES = {
    "crlf": Case(b"a\r\nb\r\nc", _edit("a\nb", "A\nB"), b"A\r\nB\r\nc"),
    "mixed": Case(b"a\r\nb\nc\r\nd", _edit("b\nc", "B\nC"), b"a\r\nB\nC\r\nd"),
    "endings-only": Case(b"a\r\nb\r\n", _edit("a\r\nb", "a\nb"), said="nothing would change"),
    "bom": Case(b"\xef\xbb\xbfclass A\r\n", _edit("class A", "class B"), b"\xef\xbb\xbfclass B\r\n"),
    "utf16": Case("\ufeffx é\n".encode("utf-16-le"), _edit("x", "y"), "\ufeffy é\n".encode("utf-16-le")),
    "latin1": Case(LATIN, _edit("ascii", "ASCII"), LATIN.replace(b"ascii", b"ASCII"), read="not UTF-8"),
    "shift-jis": Case(
        "日本\nold\n".encode("cp932"), _edit("old", "new"), "日本\nnew\n".encode("cp932"), read="not UTF-8"
    ),
    "stray": Case(b"\xc3\xa9\xc3\xa9\xff\nold\n", _edit("old", "new"), b"\xc3\xa9\xc3\xa9\xff\nnew\n", read="stray"),
    "foreign-sign": Case(LATIN, _edit("ascii", "日本"), said="cannot be written into it"),
    "normalised": Case("cafe\u0301\n".encode(), _edit("caf\u00e9", "x"), said="Unicode normalisation"),
    "typographic": Case(b"x\n", _edit("x", "\u201cq\u201d\u00a0"), "\u201cq\u201d\u00a0\n".encode()),
    "twice": Case(b"if a:\n  x\nif b:\n    x\n", _edit("x", "y"), said="on lines 2, 4"),
    "stretched": Case(LONG.encode(), _edit("first\nwrong\nlast", "x"), said="what follows there is different"),
    "empty": Case(b"a\n", _edit("", "x"), said="old is empty"),
    "same": Case(b"a\n", _edit("a", "a"), said="nothing would change"),
    "tabs": Case(b"\tx = 1\n", _edit("    x = 1", "y"), said="tabs, spaces or indentation"),
    "trailing": Case(b"x  \ny\n", _edit("x\ny", "z"), said="blanks at the end of lines"),
    "all": Case(b"a a\n", _edit("a", "aa", all=True), b"aa aa\n"),
    "literal": Case(b"a.c( abc(\n", _edit("a.c(", r"\1 \g<0> $& $1 %s {0}"), rb"\1 \g<0> $& $1 %s {0} abc(" + b"\n"),
}


async def finish(editor: Editor, home: Home, said: str = "Do it.", mode: str = "edits") -> Mirror:
    conversation = await editor.create(home.workspace, mode=mode)
    await editor.until_ended(conversation, await editor.send(conversation, said))
    return conversation


def results(conversation: Mirror, tool: str) -> dict[str, dict[str, Any]]:
    calls = [call for call in conversation.calls if call["payload"]["tool"] == tool]
    return {call["payload"]["input"]["path"]: conversation.result(call["id"]) for call in calls}


async def test_each_case_through_the_whole_daemon() -> None:
    reads = reply(*(UseTool("read", {"path": name}) for name in CASES))
    edits = reply(*(UseTool("edit", {"path": name, "edits": [case.edit]}) for name, case in CASES.items()))
    async with scene(InOrder([reads, edits, say("Done.")])) as (_, home), home.editor(home.workspace) as editor:
        for name, case in CASES.items():
            (home.workspace / name).write_bytes(case.before)
        conversation = await finish(editor, home)
        seen, done = results(conversation, "read"), results(conversation, "edit")
        for name, case in CASES.items():
            assert case.read in seen[name]["output"], name
            assert (home.workspace / name).read_bytes() == (case.after or case.before), name
            expected = "ok" if case.after is not None else "error"
            assert (done[name]["status"], case.said in done[name]["output"]) == (expected, True), done[name]


async def test_links_modes_and_hard_links_survive_an_edit() -> None:
    new = use("edit", path="link", edits=[_edit("one", "1")])
    through = use("write", path="dangling", content="made\n")
    async with scene(InOrder([use("read", path="link"), new, through, say("Done.")])) as (_, home):
        root = home.workspace
        (root / "real").mkdir()
        (root / "sub").symlink_to("real")
        script = root / "real" / "script.sh"
        script.write_text("one\n")
        script.chmod(0o755)
        (root / "link").symlink_to("sub/../real/script.sh")
        (root / "dangling").symlink_to("real/new.txt")
        async with home.editor(root) as editor:
            await finish(editor, home)
        assert (script.read_text(), script.stat().st_mode & 0o777) == ("1\n", 0o755)
        assert [(root / name).is_symlink() for name in ("link", "dangling", "sub")] == [True, True, True]
        assert (root / "real" / "new.txt").read_text() == "made\n"


async def test_a_file_with_other_hard_links_is_asked_for_and_keeps_them() -> None:
    edit = use("edit", path="a.txt", edits=[_edit("one", "1")])
    async with scene(InOrder([use("read", path="a.txt"), edit, say("Done.")])) as (_, home):
        outside = home.root / "outside.txt"
        outside.write_text("one\n")
        os.link(outside, home.workspace / "a.txt")
        async with home.editor(home.workspace) as editor:
            conversation = await editor.create(home.workspace, mode="edits")
            run_id = await editor.send(conversation, "Do it.")
            (request,) = await editor.until_asked(conversation)
            assert {option["id"] for option in request["options"]} == {"allow_once", "deny"}
            await editor.respond(request, "allow")
            await editor.until_ended(conversation, run_id)
        assert (outside.read_text(), outside.stat().st_nlink) == ("1\n", 2)


async def test_a_file_that_changed_since_it_was_read_is_told_by_its_content_alone() -> None:
    reads = reply(UseTool("read", {"path": "touched"}), UseTool("read", {"path": "rewritten"}))
    edits = reply(
        UseTool("edit", {"path": "touched", "edits": [_edit("one", "1")]}),
        UseTool("edit", {"path": "rewritten", "edits": [_edit("one", "1")]}),
    )
    async with scene(InOrder([reads, say("Read."), edits, say("Done.")])) as (_, home):
        paths = [home.workspace / name for name in ("touched", "rewritten")]
        for path in paths:
            path.write_text("one\ntwo\n")
        times = paths[1].stat()
        async with home.editor(home.workspace) as editor:
            conversation = await finish(editor, home)
            os.utime(paths[0], (1, 1))
            paths[1].write_text("one\nTWO\n")
            os.utime(paths[1], ns=(times.st_atime_ns, times.st_mtime_ns))
            await editor.until_ended(conversation, await editor.send(conversation, "Now edit."))
        done = results(conversation, "edit")
        assert [done[path.name]["status"] for path in paths] == ["ok", "error"]
        assert "changed since it was read" in done["rewritten"]["output"]
        assert [path.read_text() for path in paths] == ["1\ntwo\n", "one\nTWO\n"]


async def test_what_could_hold_the_daemon_up_is_refused_at_once_and_others_are_served() -> None:
    names = ["pipe", "socket", "zero", "huge", "binary"]
    edits = reply(*(UseTool("edit", {"path": name, "edits": [_edit("a", "b")]}) for name in names))
    reads = reply(*(UseTool("read", {"path": name}) for name in names))
    found = reply(UseTool("grep", {"pattern": "needle"}), UseTool("glob", {"pattern": "*"}))
    async with scene(InOrder([reads, edits, found, say("Done.")])) as (_, home):
        root = home.workspace
        os.mkfifo(root / "pipe")
        (root / "zero").symlink_to("/dev/zero")
        (root / "binary").write_bytes(b"needle\0needle")
        with (root / "huge").open("wb") as huge:
            huge.truncate(3 << 30)
        with socket.socket(socket.AF_UNIX) as bound:
            _bind(bound, root / "socket")
            async with home.editor(root) as editor, home.editor(name="other") as other:
                conversation = await editor.create(root, mode="edits")
                run_id = await editor.send(conversation, "Do it.")
                assert (await other.request("agent/status", {}))["connections"]["count"] == 2
                # What lies outside the workspace is asked for first, whatever it is.
                await editor.respond((await editor.until_asked(conversation))[0], "allow")
                await editor.until_ended(conversation, run_id)
        for tool in ("read", "edit"):
            done = results(conversation, tool)
            assert {name: done[name]["status"] for name in names} == dict.fromkeys(names, "error")
        assert results(conversation, "read")["pipe"]["output"].endswith("nothing was opened")
        grep = next(call for call in conversation.calls if call["payload"]["tool"] == "grep")
        assert conversation.result(grep["id"])["status"] == "ok"


async def test_a_workspace_that_is_gone_is_not_made_again_by_a_write() -> None:
    async with scene(InOrder([use("write", path="a/b.txt", content="x\n"), say("I see.")])) as (_, home):
        gone = home.folder("gone")
        async with home.editor(gone) as editor:
            conversation = await editor.create(gone, mode="edits")
            shutil.rmtree(gone)
            await editor.until_ended(conversation, await editor.send(conversation, "Write."))
        assert "is gone" in results(conversation, "write")["a/b.txt"]["output"]
        assert not gone.exists()


def _bind(bound: socket.socket, path: Path) -> None:
    """By a short name: the path of a Unix socket has a limit."""
    here = os.open(path.parent, os.O_RDONLY)
    try:
        bound.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


@pytest.mark.parametrize("gone", ["before", "while it waits"])
async def test_nothing_makes_a_workspace_again_that_is_gone(gone: str) -> None:
    story = InOrder([use("write", path="deep/a.txt", content="a"), say("Done.")])
    async with scene(story) as (_, home), home.editor() as editor:
        folder = home.folder("other")
        conversation = await editor.create(folder)
        if gone == "before":
            folder.rmdir()
        run_id = await editor.send(conversation, "Go.")
        if gone != "before":
            (asked,) = await editor.until_asked(conversation)
            folder.rmdir()
            await editor.respond(asked, "allow")
        await editor.until_ended(conversation, run_id)
        (call,) = conversation.calls
        assert (call["payload"]["state"], folder.exists()) == ("not_run", False)
        assert "is gone, and nothing makes it again" in call["payload"]["result"]["output"]
