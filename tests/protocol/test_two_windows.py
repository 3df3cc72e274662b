"""One file in two windows: the same text, different texts, one of them gone, and the agent in between."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_ls.testing.buffers import Buffers
from agent_ls.testing.editor import LIMIT_S, Editor
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.scene import EDIT, scene

pytestmark = pytest.mark.anyio

TEXT = "one\ntwo\n"
READ = use("read", path="a.txt")


async def opened(editor: Editor, buffers: Buffers, path: Path, typed: str = "") -> None:
    editor.answer = buffers.answer
    await editor.notify("textDocument/didOpen", buffers.open(path))
    if typed:
        await editor.notify("textDocument/didChange", buffers.type(path, typed))
    await editor.pending()


async def ran(editor: Editor, workspace: Path) -> list[dict[str, Any]]:
    """What came of each call."""
    conversation = await editor.create(workspace, mode="edits")
    run_id = await editor.send(conversation, "Change it.")
    await editor.until_ended(conversation, run_id)
    return [conversation.result(call["id"]) for call in conversation.calls]


async def test_different_unsaved_texts_are_refused_with_both_windows_named_and_nothing_is_touched() -> None:
    async with scene(InOrder([READ, EDIT, say("I see.")])) as (_, home):
        path, mine, theirs = home.workspace / "a.txt", Buffers(), Buffers("utf-8")
        path.write_text(TEXT)
        preferred = {"general": {"positionEncodings": ["utf-8"]}}
        async with (
            home.bridged(home.workspace, name="vim") as one,
            home.bridged(home.workspace, name="helix", capabilities=preferred) as two,
        ):
            await opened(one, mine, path, "mine\n")
            await opened(two, theirs, path, "theirs 😋\n")
            read, edit = await ran(one, home.workspace)
        for result in (read, edit):
            assert (result["status"], "stale_document" in result["output"]) == ("error", True)
        assert all(name in read["output"] for name in ("vim", "helix"))
        assert (mine[path].text, theirs[path].text, path.read_text()) == (TEXT + "mine\n", TEXT + "theirs 😋\n", TEXT)
        assert mine.asked == theirs.asked == []


async def test_a_window_that_leaves_with_its_unsaved_text_leaves_the_others_to_count() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home):
        path, mine, theirs = home.workspace / "a.txt", Buffers(), Buffers()
        path.write_text(TEXT)
        async with home.bridged(home.workspace, name="vim") as one:
            await opened(one, mine, path, "mine\n")
            async with home.bridged(home.workspace, name="helix") as two:
                await opened(two, theirs, path, "theirs\n")
            with anyio.fail_after(LIMIT_S):
                while (await one.request("agent/status", {}))["connections"]["count"] > 1:
                    pass
            read, edit = await ran(one, home.workspace)
        assert read["output"] == f"[unsaved text of your editor (vim)]\n{TEXT}mine\n"
        assert (edit["status"], mine[path].text, path.read_text()) == ("ok", "one\n2\nmine\n", TEXT)


async def test_the_same_unsaved_text_is_edited_in_both_windows() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home):
        path, mine, theirs = home.workspace / "a.txt", Buffers(), Buffers()
        path.write_text(TEXT)
        async with home.bridged(home.workspace, name="vim") as one, home.bridged(home.workspace, name="helix") as two:
            await opened(one, mine, path, "same\n")
            await opened(two, theirs, path, "same\n")
            conversation = await one.create(home.workspace)
            watched = await two.attach(conversation.id)
            run_id = await one.send(conversation, "Change it.")
            await one.decide(conversation, "allow")
            await one.wait_for(lambda: mine.asked)
            await two.wait_for(lambda: theirs.asked)
            await two.until_ended(watched, run_id)
            await one.until_ended(conversation, run_id)
        result = conversation.result(conversation.calls[1]["id"])
        assert (result["status"], mine[path].text, theirs[path].text) == ("ok", "one\n2\nsame\n", "one\n2\nsame\n")
        assert path.read_text() == TEXT
