"""A request that waits while its file goes on changing: in a window, or behind everybody's back."""

from typing import Any

import pytest

from agent_ls.testing.buffers import Buffers
from agent_ls.testing.editor import Editor
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.scene import EDIT, scene

pytestmark = pytest.mark.anyio

TEXT = "one\ntwo\nthree\n"
READ = use("read", path="a.txt")
WRITE = use("write", path="a.txt", content="all new\n")


async def asked(editor: Editor, home: Home) -> tuple[Mirror, str, dict[str, Any]]:
    conversation = await editor.create(home.workspace)
    run_id = await editor.send(conversation, "Do it.")
    (request,) = await editor.until_asked(conversation)
    return conversation, run_id, request


async def revised(editor: Editor, conversation: Mirror, before: dict[str, Any]) -> dict[str, Any]:
    """The request as it is once it shows something else."""
    return await editor.wait_for(
        lambda: next((one for one in conversation.pending if one["digest"] != before["digest"]), None)
    )


async def test_another_program_changes_the_line_that_waits_and_the_card_shows_it() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home), home.editor(home.workspace) as editor:
        path = home.workspace / "a.txt"
        path.write_text(TEXT)
        conversation, run_id, request = await asked(editor, home)
        path.write_text(TEXT.replace("two", "two, three"))
        now = await revised(editor, conversation, request)
        assert {name: now[name] for name in ("id", "number", "status")} == {
            name: request[name] for name in ("id", "number", "status")
        }
        assert "-two, three\n+2, three\n" in now["card"]["diff"]
        await editor.respond(now, "allow")
        await editor.until_ended(conversation, run_id)
        assert path.read_text() == TEXT.replace("two", "2, three")


async def test_a_person_types_over_the_text_that_waits_and_the_model_is_told() -> None:
    async with scene(InOrder([READ, EDIT, say("I see.")])) as (_, home):
        path, buffers = home.workspace / "a.txt", Buffers()
        path.write_text(TEXT)
        async with home.editor(home.workspace, name="vim") as editor:
            editor.answer = buffers.answer
            await editor.notify("textDocument/didOpen", buffers.open(path))
            conversation, run_id, request = await asked(editor, home)
            elsewhere = buffers.type(path, "# mine\n", 0)
            await editor.notify("textDocument/didChange", elsewhere)
            assert [one["digest"] for one in await editor.pending()] == [request["digest"]]
            place = buffers[path].text.index("two")
            await editor.notify("textDocument/didChange", buffers.type(path, "zwei", place, over=3))
            await editor.until_ended(conversation, run_id)
            assert await editor.pending() == []
        result = conversation.result(conversation.calls[1]["id"])
        assert (result["status"], "old is not in the file" in result["output"]) == ("error", True)
        assert buffers[path].text == "# mine\n" + TEXT.replace("two", "zwei")


async def test_a_rewrite_is_shown_against_the_text_that_it_would_replace_now() -> None:
    async with scene(InOrder([READ, WRITE, say("Done.")])) as (_, home), home.editor(home.workspace) as editor:
        path = home.workspace / "a.txt"
        path.write_text(TEXT)
        conversation, run_id, request = await asked(editor, home)
        path.write_text(TEXT + "mine\n")
        now = await revised(editor, conversation, request)
        assert "-mine\n" in now["card"]["diff"]
        await editor.respond(now, "deny")
        await editor.until_ended(conversation, run_id)
        assert path.read_text() == TEXT + "mine\n"
