"""A subagent is never freer than who it works for, also when that changes while it works."""

import pytest

from agent_ls.testing.editor import Editor
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import ByConversation, Gate, InOrder, UseTool, Wait, reply, say
from tests.scene import scene

pytestmark = pytest.mark.anyio


def handing_over(gate: Gate, call: UseTool) -> ByConversation:
    """A subagent that makes its one call when the gate is open."""
    task = UseTool("task", {"description": "Work", "prompt": "Work on it."})
    return ByConversation(
        {
            "Work on it": InOrder([reply(Wait(gate), call), say("I tried.")]),
            "Go": InOrder([reply(task), say("Done.")]),
        }
    )


async def until_handed_over(editor: Editor, conversation: Mirror) -> Mirror:
    await editor.wait_for(lambda: conversation.of_kind("subagent"))
    return await editor.attach(conversation.of_kind("subagent")[0]["payload"]["conversationId"])


@pytest.mark.parametrize("before", ["edits", "auto"])
async def test_a_conversation_that_is_put_into_plan_stops_the_changes_of_its_subagents(before: str) -> None:
    gate = Gate()
    script = handing_over(gate, UseTool("write", {"path": "made", "content": "x"}))
    async with scene(script) as (_, home), home.editor(home.workspace) as editor:
        conversation = await editor.create(home.workspace, mode=before, allowAuto=True)
        run_id = await editor.send(conversation, "Go.")
        child = await until_handed_over(editor, conversation)
        changed = {"commandId": editor.command_id(), "conversationId": conversation.id, "mode": "plan"}
        await editor.request("agent/conversation/update", changed)
        gate.open()
        await editor.until_ended(conversation, run_id)
        assert [call["payload"]["state"] for call in child.calls] == ["denied"]
        assert not (home.workspace / "made").exists()


async def test_a_conversation_that_is_not_auto_any_more_is_asked_for_what_its_subagents_do() -> None:
    gate = Gate()
    script = handing_over(gate, UseTool("shell", {"command": "touch made"}))
    async with scene(script) as (_, home), home.editor(home.workspace) as editor:
        conversation = await editor.create(home.workspace, mode="auto", allowAuto=True)
        run_id = await editor.send(conversation, "Go.")
        child = await until_handed_over(editor, conversation)
        changed = {"commandId": editor.command_id(), "conversationId": conversation.id, "mode": "ask"}
        await editor.request("agent/conversation/update", changed)
        gate.open()
        (asked,) = await editor.until_asked(child)
        await editor.respond(asked, "deny")
        await editor.until_ended(conversation, run_id)
        assert not (home.workspace / "made").exists()


async def test_what_is_denied_to_a_conversation_later_is_denied_to_its_subagents() -> None:
    gate = Gate()
    script = handing_over(gate, UseTool("shell", {"command": "touch made"}))
    async with scene(script) as (_, home), home.editor(home.workspace) as editor:
        conversation = await editor.create(home.workspace, mode="auto", allowAuto=True)
        run_id = await editor.send(conversation, "Go.")
        child = await until_handed_over(editor, conversation)
        rule = {"effect": "deny", "rule": "shell(touch *)", "scope": "conversation"}
        await editor.request(
            "agent/permission/add", {"commandId": editor.command_id(), "conversationId": conversation.id, **rule}
        )
        gate.open()
        await editor.until_ended(conversation, run_id)
        assert [call["payload"]["state"] for call in child.calls] == ["denied"]
        assert not (home.workspace / "made").exists()
