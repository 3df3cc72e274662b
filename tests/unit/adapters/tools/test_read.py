"""read: what the model is shown of a file, and what is remembered of it."""

import base64
import os
from typing import Any

import anyio
import pytest

from agent_ls.core.items import Block, ResultStatus, ToolResult
from agent_ls.core.textfile import sha256
from agent_ls.ports.tools import Prepared, ToolEffect
from tests.unit.adapters.tools.desk import Desk

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def uri(desk: Desk, name: str) -> str:
    return f"file://{os.path.realpath(desk.root)}/{name}"


async def test_a_text_is_given_as_it_is_with_its_hash(desk: Desk) -> None:
    (desk.root / "f").write_bytes(b"a\r\nb")
    assert await desk.use("read", path="f") == ToolResult(
        status=ResultStatus.OK, output="a\nb", data={"uri": uri(desk, "f"), "hash": sha256(b"a\r\nb")}
    )


async def test_a_read_is_described_for_policy(desk: Desk) -> None:
    (desk.root / "f").touch()
    (desk.root / "link").symlink_to("f")
    root = os.path.realpath(desk.root)
    prepared = await desk.prepared("read", path="link", offset=2)
    assert prepared == Prepared(
        tool="read",
        input={"path": "link", "offset": 2},
        effect=ToolEffect.READ,
        title="Read f",
        digest=prepared.digest,
        card={"type": "other", "tool": "read", "uri": uri(desk, "f"), "path": "f"},
        reads=(f"{root}/link", f"{root}/f"),
        uri=uri(desk, "f"),
    )


async def test_notes_stand_in_one_line_before_the_text(desk: Desk) -> None:
    (desk.root / "f").write_bytes(b"\xef\xbb\xbfa\nb\nc\n")
    result = await desk.use("read", path="f", limit=1)
    assert result.output == "[UTF-8 with BOM; lines 1 to 1 of 3; go on with offset 2]\na\n"


@pytest.mark.parametrize(
    ("data", "output"),
    [
        (b"p\xe8re\n", "[not UTF-8, shown as Latin-1; other bytes stay as they are]\np\xe8re\n"),
        ("äöü ".encode() + b"\xff", "[UTF-8 with 1 stray bytes (shown as \ufffd)]\näöü \ufffd"),
        ("hé\n".encode("utf-16"), "[UTF-16 LE with BOM]\nhé\n"),
        (b"", "[the file is empty]\n"),
    ],
)
async def test_an_encoding_is_named(desk: Desk, data: bytes, output: str) -> None:
    (desk.root / "f").write_bytes(data)
    result = await desk.use("read", path="f")
    assert result.output == output
    assert result.output.encode("utf-8")


async def test_an_image_is_given_as_one(desk: Desk) -> None:
    (desk.root / "x.png").write_bytes(PNG)
    result = await desk.use("read", path="x.png")
    assert result.images == (Block(type="image", mime_type="image/png", data=base64.b64encode(PNG).decode()),)
    assert result.output == "[x.png: image/png, 28 bytes]"


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("x.png", b"<html>", "x.png is named like a PNG image but holds HTML or XML; it was not shown"),
        ("x", b"a\0b", "x is not shown: it holds NUL bytes, so it is binary; use shell to look into it"),
        ("x.png", PNG + bytes(5 * 1024 * 1024), "is an image of"),
        ("x", bytes(11 * 1024 * 1024), "more than the 10,485,760 that file tools take"),
    ],
)
async def test_what_cannot_be_shown_is_an_error_that_says_why(desk: Desk, name: str, data: bytes, said: str) -> None:
    (desk.root / name).write_bytes(data)
    result = await desk.use("read", path=name)
    assert (result.status, result.data, result.images) == (ResultStatus.ERROR, None, ())
    assert said in result.output


async def test_a_folder_and_a_pipe_are_refused_by_type(desk: Desk) -> None:
    (desk.root / "d").mkdir()
    os.mkfifo(desk.root / "p")
    assert "is a folder, not a file" in (await desk.use("read", path="d")).output
    assert "is a named pipe, not a file" in (await desk.use("read", path="p")).output


async def test_missing_files_and_odd_uris_are_told(desk: Desk) -> None:
    assert await desk.refused("read", path="none") == "none does not exist; check the path"
    assert "not a local file" in await desk.refused("read", path="untitled:Untitled-1")


async def test_wrong_input_is_told_without_its_values(desk: Desk) -> None:
    said = await desk.refused("read", file="secret-name", offset=0)
    assert "path: Field required" in said
    assert "offset: " in said
    assert said.endswith("Expected {path, offset?, limit?}")
    assert "secret-name" not in said


async def test_a_link_that_leads_elsewhere_meanwhile_is_not_followed(desk: Desk) -> None:
    (desk.root / "a").write_text("a")
    (desk.root / "b").write_text("b")
    (desk.root / "link").symlink_to("a")
    prepared = await desk.prepared("read", path="link")
    (desk.root / "link").unlink()
    (desk.root / "link").symlink_to("b")
    result = await desk.run(prepared)
    assert (result.status, result.output[:6]) == (ResultStatus.ERROR, "stale:")


def test_the_schemas_are_small(desk: Desk) -> None:
    assert desk.tools["read"].spec.schema == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "path": {"type": "string", "description": "Absolute, or relative to the workspace"},
            "offset": {"type": "integer", "minimum": 1, "description": "First line to read, counted from 1"},
            "limit": {"type": "integer", "minimum": 1, "description": "How many lines"},
        },
        "required": ["path"],
    }
    assert "title" not in repr([tool.spec.schema for tool in desk.tools.values()])


@pytest.fixture
def went(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was given to threads."""
    names, to = list[str](), anyio.to_thread.run_sync

    async def counted(work: Any, *given: Any, **how: Any) -> Any:
        names.append(work.__name__)
        return await to(work, *given, **how)

    monkeypatch.setattr(anyio.to_thread, "run_sync", counted)
    return names


async def test_a_read_in_the_workspace_goes_to_a_thread_once_and_only_to_read(desk: Desk, went: list[str]) -> None:
    (desk.root / "a.txt").write_text("here\n")
    prepared = await desk.prepared("read", path="a.txt")
    assert went == []
    assert (await desk.run(prepared)).output == "here\n"
    assert went == ["_find"]


@pytest.mark.parametrize("path", ["../a.txt", "~/a.txt", "/etc/hostname", "sub/../../a.txt", "file:///w/a.txt"])
async def test_what_may_lie_outside_the_workspace_is_looked_for_in_a_thread(
    desk: Desk, went: list[str], path: str
) -> None:
    await desk.prepare("read", path=path)
    assert went == ["locate"]
