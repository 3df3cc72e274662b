"""edit and write: read first, shown exactly, applied once, and nothing of anybody else's is lost."""

import os
from pathlib import Path
from typing import Any

import pytest

from agent_ls.core.items import ResultStatus, ToolResult
from agent_ls.core.textfile import sha256
from agent_ls.ports.files import ABSENT
from agent_ls.ports.tools import Prepared, ToolEffect
from tests.unit.adapters.tools.desk import Desk, call_of

pytestmark = pytest.mark.anyio


def replacing(old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"path": "f", "edits": [{"old": old, "new": new, **more}]}


async def opened(desk: Desk, data: bytes) -> Path:
    file = desk.root / "f"
    file.write_bytes(data)
    await desk.use("read", path="f")
    return file


async def test_an_edit_shows_exactly_what_it_does(desk: Desk) -> None:
    await opened(desk, b"one\r\ntwo\r\n")
    root = os.path.realpath(desk.root)
    prepared = await desk.prepared("edit", **replacing("two", "2"))
    diff = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    before, after = sha256(b"one\r\ntwo\r\n"), sha256(b"one\r\n2\r\n")
    assert prepared == Prepared(
        tool="edit",
        input=replacing("two", "2"),
        effect=ToolEffect.EDIT,
        title="Edit f",
        digest=prepared.digest,
        card={
            "type": "edit",
            "uri": f"file://{root}/f",
            "path": "f",
            "diff": diff,
            "before": "one\ntwo\n",
            "after": "one\n2\n",
            "beforeHash": before,
            "afterHash": after,
        },
        keys=(f"file://{root}/f",),
        reads=(f"{root}/f",),
        writes=(f"{root}/f",),
        uri=f"file://{root}/f",
        diff=diff,
        before=before,
        after=after,
    )
    result = await desk.run(prepared)
    assert result == ToolResult(
        status=ResultStatus.OK,
        output="f: 1 place replaced, line 2.",
        data={"uri": f"file://{root}/f", "hash": after},
    )
    assert (desk.root / "f").read_bytes() == b"one\r\n2\r\n"


async def test_several_places_are_counted_over_their_lines(desk: Desk) -> None:
    await opened(desk, b"a\nx\na\nb\n")
    prepared = await desk.prepared(
        "edit", path="f", edits=[{"old": "a", "new": "A\nA", "all": True}, {"old": "x", "new": "y"}]
    )
    assert (await desk.run(prepared)).output == "f: 3 places replaced, lines 1 to 5."


async def test_a_file_nobody_read_is_not_touched(desk: Desk) -> None:
    (desk.root / "f").write_text("a")
    unread = "f exists and was not read in this conversation; read it first"
    assert await desk.refused("edit", **replacing("a", "b")) == unread
    assert await desk.refused("write", path="f", content="b") == unread


async def test_content_decides_what_changed_and_time_does_not(desk: Desk) -> None:
    file = await opened(desk, b"line one\nline two\n")
    os.utime(file, (1, 1))
    assert (await desk.use("edit", **replacing("one", "1"))).status is ResultStatus.OK
    times = file.stat()
    file.write_bytes(b"line 1\nline TWO\n")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    stale = "stale: f changed since it was read; read it again"
    assert await desk.refused("edit", **replacing("line 1", "x")) == stale
    assert await desk.refused("write", path="f", content="x") == stale


async def test_reading_a_part_is_knowing_the_whole_by_its_hash(desk: Desk) -> None:
    file = desk.root / "f"
    file.write_text("".join(f"{n}\n" for n in range(600)))
    await desk.use("read", path="f", limit=10)
    file.write_text(file.read_text().replace("500\n", "five hundred\n"))
    assert (await desk.refused("edit", **replacing("5\n6\n", "x\n"))).startswith("stale:")


@pytest.mark.parametrize("tool", ["edit", "write"])
async def test_somebody_elses_change_before_the_run_is_kept(desk: Desk, tool: str) -> None:
    file = await opened(desk, b"a\nb\n")
    arguments = replacing("a", "A") if tool == "edit" else {"path": "f", "content": "A\nb\n"}
    prepared = await desk.prepared(tool, **arguments)
    file.write_bytes(b"a\nb\nmine\n")
    result = await desk.run(prepared)
    assert (result.status, result.output) == (
        ResultStatus.ERROR,
        "stale: f changed since it was read; read it again",
    )
    assert (file.read_bytes(), os.listdir(desk.root)) == (b"a\nb\nmine\n", ["f"])


async def test_a_rewrite_decided_on_before_a_later_read_does_not_bury_what_was_read(desk: Desk) -> None:
    file = await opened(desk, b"a\n")
    prepared = await desk.prepared("write", path="f", content="b\n")
    file.write_bytes(b"a\nmine\n")
    await desk.use("read", path="f")
    result = await desk.run(prepared)
    assert (result.status, result.output) == (
        ResultStatus.ERROR,
        "stale: f is not what it was when this was decided on; read it again",
    )
    assert file.read_bytes() == b"a\nmine\n"


async def test_two_edits_of_one_batch_both_land(desk: Desk) -> None:
    file = await opened(desk, b"a\nb\n")
    first = await desk.prepared("edit", **replacing("a", "A"))
    second = await desk.prepared("edit", **replacing("b", "B"))
    assert (await desk.run(first)).status is ResultStatus.OK
    assert (await desk.run(second)).status is ResultStatus.OK
    assert file.read_bytes() == b"A\nB\n"


async def test_a_digest_covers_the_hunk_and_its_file_alone(desk: Desk) -> None:
    file = await opened(desk, b"a\nb\n")
    first = await desk.prepared("edit", **replacing("a", "A"))
    file.write_bytes(b"a\nb\nmore\n")
    await desk.use("read", path="f")
    again = await desk.prepared("edit", **replacing("a", "A"))
    other = await desk.prepared("edit", **replacing("a", "B"))
    wider = await desk.prepared("edit", **replacing("a", "A", all=True))
    assert first.digest == again.digest
    assert len({first.digest, other.digest, wider.digest}) == 3


async def test_a_bad_edit_is_told_before_anyone_is_asked(desk: Desk) -> None:
    await opened(desk, b"a\na\n")
    assert (await desk.refused("edit", **replacing("a", "b"))).startswith("f was not changed: old is there 2 times")
    assert await desk.refused("edit", path="none", edits=[{"old": "a", "new": "b"}]) == (
        "none does not exist; use write to make a new file"
    )


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"\xef\xbb\xbfa\r\nb\r\n", "x\ny\n", b"\xef\xbb\xbfx\r\ny\r\n"),
        (b"\xef\xbb\xbfa\n", "\ufeffx\n", b"\xef\xbb\xbfx\n"),
        (b"a\r\nb\n", "x\ny\n", b"x\ny\n"),
        (b"a\r\nb\r\n", "x\r\ny\n", b"x\r\ny\n"),
        ("h\n".encode("utf-16-le"), None, None),
        (b"p\xe8re\n", "p\xe8re, re\n", b"p\xe8re, re\n"),
        (b"a\n", "“\u00a0e\u0301”", "“\u00a0e\u0301”".encode()),
    ],
)
async def test_a_rewrite_keeps_how_the_file_is_written(
    desk: Desk, before: bytes, content: str | None, after: bytes | None
) -> None:
    if content is None:
        before, content, after = b"\xff\xfe" + before, "é\n", b"\xff\xfe" + "é\n".encode("utf-16-le")
    file = await opened(desk, before)
    assert (await desk.use("write", path="f", content=content)).status is ResultStatus.OK
    assert file.read_bytes() == after


async def test_a_rewrite_that_changes_nothing_is_refused(desk: Desk) -> None:
    await opened(desk, b"a\r\n")
    assert await desk.refused("write", path="f", content="a\n") == (
        "f holds exactly that already; nothing would change"
    )


async def test_a_new_file_is_made_with_its_folders_and_may_be_edited_at_once(desk: Desk) -> None:
    prepared = await desk.prepared("write", path="src/new.py", content="a\nb")
    assert (prepared.title, prepared.before, prepared.reads) == ("Create src/new.py", ABSENT, ())
    assert prepared.diff == ("--- /dev/null\n+++ b/src/new.py\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n")
    assert (await desk.run(prepared)).output == "src/new.py: created, 2 lines."
    await desk.use("edit", path="src/new.py", edits=[{"old": "b", "new": "c"}])
    assert (desk.root / "src" / "new.py").read_bytes() == b"a\nc"


async def test_a_file_that_appears_before_a_new_one_is_written_is_kept(desk: Desk) -> None:
    prepared = await desk.prepared("write", path="f", content="ours")
    (desk.root / "f").write_text("theirs")
    assert (await desk.run(prepared)).status is ResultStatus.ERROR
    assert (desk.root / "f").read_text() == "theirs"


async def test_outside_the_workspace_the_real_paths_are_told_and_it_is_no_error(desk: Desk, tmp_path: Path) -> None:
    (desk.root / "out").symlink_to(tmp_path / "target")
    prepared = await desk.prepared("write", path="out", content="x")
    link, target = f"{os.path.realpath(desk.root)}/out", os.path.realpath(tmp_path / "target")
    assert (prepared.writes, prepared.card["path"]) == ((link, target), target)


async def test_large_texts_stay_off_the_card_and_their_hashes_on_it(desk: Desk) -> None:
    prepared = await desk.prepared("write", path="f", content="x\n" * 50_000)
    assert (prepared.card["before"], prepared.card["after"], prepared.card["afterHash"]) == (
        None,
        None,
        sha256(b"x\n" * 50_000),
    )
    assert prepared.diff is not None
    assert len(prepared.diff) < 70_000


async def test_a_hard_link_that_is_kept_is_told(desk: Desk) -> None:
    file = await opened(desk, b"a\n")
    os.link(file, desk.root / "other")
    result = await desk.use("edit", **replacing("a", "b"))
    assert result.output.endswith("It was overwritten in place, because it has other hard links, "
                                  "which still share its content.")  # fmt: skip
    assert (desk.root / "other").read_bytes() == b"b\n"


@pytest.mark.parametrize(
    ("on_disk", "status"),
    [(b"A\n", ResultStatus.OK), (b"a\n", None), (b"other\n", ResultStatus.UNKNOWN), (None, ResultStatus.UNKNOWN)],
)
async def test_after_a_crash_the_disk_tells_what_happened(
    desk: Desk, on_disk: bytes | None, status: ResultStatus | None
) -> None:
    file = await opened(desk, b"a\n")
    call = call_of(await desk.prepared("edit", **replacing("a", "A")))
    file.unlink()
    if on_disk is not None:
        file.write_bytes(on_disk)
    found = await desk.tools["edit"].recover(call, desk.context)
    assert (None if found is None else found.status) is status
    if status is ResultStatus.OK:
        assert found is not None
        assert found.data == {"uri": call.uri, "hash": sha256(b"A\n")}


async def test_a_new_file_that_a_crash_prevented_can_be_made(desk: Desk) -> None:
    call = call_of(await desk.prepared("write", path="deep/new", content="x"))
    assert await desk.tools["write"].recover(call, desk.context) is None
