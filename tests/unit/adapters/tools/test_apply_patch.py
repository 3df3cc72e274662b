"""apply_patch: several files, checked before the first is touched, and all of them changed or none."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agent_ls.adapters.host import swap
from agent_ls.adapters.host.atomic import Renames
from agent_ls.adapters.host.files import DiskFiles
from agent_ls.adapters.tools.apply_patch import ApplyPatchTool
from agent_ls.core import hunks
from agent_ls.core.items import ResultStatus
from agent_ls.core.textfile import sha256
from tests.unit.adapters.tools.desk import Desk, call_of

pytestmark = pytest.mark.anyio

ALL = """*** Begin Patch
*** Update File: a.txt
@@
 one
-two
+2
*** Add File: new/b.txt
+b
*** Delete File: old.txt
*** Update File: from.txt
*** Move to: to.txt
-x
+y
*** End Patch"""
BEFORE = {"a.txt": b"one\r\ntwo\r\n", "old.txt": b"gone\n", "from.txt": b"x\nz\n"}
ORDER = ("a.txt", "new/b.txt", "to.txt", "old.txt", "from.txt")
AFTER = {"a.txt": b"one\r\n2\r\n", "new/b.txt": b"b\n", "to.txt": b"y\nz\n"}


async def laid(desk: Desk, files: dict[str, bytes] = BEFORE) -> None:
    for name, data in files.items():
        (desk.root / name).write_bytes(data)
        await desk.use("read", path=name)


def there(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


async def test_files_are_changed_made_removed_and_moved_in_one_call(desk: Desk) -> None:
    await laid(desk)
    prepared = await desk.prepared("apply_patch", patch=ALL)
    uris = [f"file://{os.path.realpath(desk.root)}/{name}" for name in ORDER]
    assert (prepared.title, prepared.keys) == ("Patch 5 files", tuple(uris))
    assert prepared.card["diff"] == (
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        "--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1 @@\n+b\n"
        "--- a/from.txt\n+++ b/to.txt\n@@ -1,2 +1,2 @@\n-x\n+y\n z\n"
        "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
    )
    assert prepared.record is not None
    assert [len(record.hunks) for record in hunks.decode(prepared.record())] == [1, 1, 1, 1, 1]
    result = await desk.run(prepared)
    assert (result.status, there(desk.root)) == (ResultStatus.OK, AFTER)
    assert result.output.splitlines() == [
        "a.txt: changed.",
        "new/b.txt: created.",
        "to.txt: created.",
        "old.txt: removed.",
        "from.txt: removed.",
    ]
    hashes = [sha256(AFTER[name]) if name in AFTER else "" for name in ORDER]
    assert result.data == {"hashes": dict(zip(uris, hashes, strict=True))}


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("*** Update File: a.txt\n-three\n+3", "its lines are not in the file"),
        ("*** Update File: none.txt\n-a\n+b", "none.txt does not exist"),
        ("*** Add File: old.txt\n+a", "old.txt exists already"),
        ("*** Update File: unread.txt\n-a\n+b", "was not read in this conversation"),
        ("*** Update File: a.txt\n*** Move to: old.txt\n-two\n+2", "old.txt exists already"),
        ("*** Update File: a.txt\n-two\n+2\n*** Delete File: ./a.txt", "names a.txt twice"),
        ("*** Update File: a.txt\n-two\n+2\n*** Delete File: pipe", "is a named pipe"),
    ],
)
async def test_one_file_that_does_not_fit_keeps_all_from_being_touched(desk: Desk, patch: str, said: str) -> None:
    await laid(desk)
    (desk.root / "unread.txt").write_text("a\n")
    before = there(desk.root)
    os.mkfifo(desk.root / "pipe")
    whole = f"*** Begin Patch\n*** Add File: fresh.txt\n+x\n{patch}\n*** End Patch"
    assert said in await desk.refused("apply_patch", patch=whole)
    assert there(desk.root) == before


async def test_what_cannot_be_finished_is_taken_back(desk: Desk) -> None:
    await laid(desk)
    prepared = await desk.prepared("apply_patch", patch=ALL)

    def refusing(folder: int, source: str, target: str) -> None:
        if source == "old.txt":
            raise PermissionError(13, "no", source)
        swap.rename_new(folder, source, target)

    tool = ApplyPatchTool(DiskFiles(Renames(rename_new=refusing)))
    result = await tool.run(prepared, desk.context)
    assert (result.status, there(desk.root)) == (ResultStatus.ERROR, BEFORE)
    assert result.output.endswith("nothing of the patch was applied")


async def test_a_file_that_changed_since_is_left_alone_with_all_others(desk: Desk) -> None:
    await laid(desk)
    prepared = await desk.prepared("apply_patch", patch=ALL)
    (desk.root / "old.txt").write_bytes(b"mine\n")
    result = await desk.run(prepared)
    assert (result.status, result.output[:6]) == (ResultStatus.ERROR, "stale:")
    assert there(desk.root) == {**BEFORE, "old.txt": b"mine\n"}


async def test_after_a_crash_the_files_tell_what_happened(desk: Desk) -> None:
    await laid(desk)
    prepared = await desk.prepared("apply_patch", patch=ALL)
    tool, context = desk.tools["apply_patch"], desk.context
    assert await tool.recover(call_of(prepared), context) is None
    (desk.root / "a.txt").write_bytes(AFTER["a.txt"])
    half = await tool.recover(call_of(prepared), context)
    assert half is not None
    assert (half.status, "a.txt changed and the rest did not" in half.output) == (
        ResultStatus.UNKNOWN,
        True,
    )
    (desk.root / "a.txt").write_bytes(BEFORE["a.txt"])
    await desk.run(prepared)
    done = await tool.recover(call_of(prepared), context)
    assert done is not None
    assert (done.status, done.data) == (
        ResultStatus.OK,
        {"hashes": json.loads(prepared.after or "")},
    )


@pytest.mark.parametrize(
    ("model", "offered"),
    [("gpt-5.1", True), ("openai/gpt-4o", True), ("o3-mini", True), ("codex-mini", True), ("claude-opus", False)],
)
def test_it_is_offered_to_models_that_know_its_form(desk: Desk, model: str, *, offered: bool) -> None:
    tool: Any = desk.tools["apply_patch"]
    assert tool.fits(model) is offered
