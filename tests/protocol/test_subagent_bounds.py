"""A subagent is never freer than who it works for, also when that changes while it works."""

import pytest

from agent_ls.testing.editor import Editor
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import (
    ByConversation,
    Gate,
    InOrder,
    RequestView,
    Stream,
    UseTool,
    Wait,
    reply,
    say,
    use,
)
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


async def handed_over(editor: Editor, conversation: Mirror) -> tuple[str, Mirror]:
    """A run that has handed its work over, and who works for it."""
    run_id = await editor.send(conversation, "Go.")
    await editor.wait_for(lambda: conversation.of_kind("subagent"))
    return run_id, await editor.attach(conversation.of_kind("subagent")[0]["payload"]["conversationId"])


@pytest.mark.parametrize("before", ["edits", "auto"])
async def test_a_conversation_that_is_put_into_plan_stops_the_changes_of_its_subagents(before: str) -> None:
    gate = Gate()
    script = handing_over(gate, UseTool("write", {"path": "made", "content": "x"}))
    async with scene(script) as (_, home), home.editor(home.workspace) as editor:
        conversation = await editor.create(home.workspace, mode=before, allowAuto=True)
        run_id, child = await handed_over(editor, conversation)
        await editor.command("agent/conversation/update", conversationId=conversation.id, mode="plan")
        gate.open()
        await editor.until_ended(conversation, run_id)
        assert [call["payload"]["state"] for call in child.calls] == ["denied"]
        assert not (home.workspace / "made").exists()


async def test_a_conversation_that_is_not_auto_any_more_is_asked_for_what_its_subagents_do() -> None:
    gate = Gate()
    script = handing_over(gate, UseTool("shell", {"command": "touch made"}))
    async with scene(script) as (_, home), home.editor(home.workspace) as editor:
        conversation = await editor.create(home.workspace, mode="auto", allowAuto=True)
        run_id, child = await handed_over(editor, conversation)
        await editor.command("agent/conversation/update", conversationId=conversation.id, mode="ask")
        gate.open()
        await editor.decide(child, "deny")
        await editor.until_ended(conversation, run_id)
        assert not (home.workspace / "made").exists()


async def test_what_is_denied_to_a_conversation_later_is_denied_to_its_subagents() -> None:
    gate = Gate()
    script = handing_over(gate, UseTool("shell", {"command": "touch made"}))
    async with scene(script) as (_, home), home.editor(home.workspace) as editor:
        conversation = await editor.create(home.workspace, mode="auto", allowAuto=True)
        run_id, child = await handed_over(editor, conversation)
        rule = {"effect": "deny", "rule": "shell(touch *)", "scope": "conversation"}
        await editor.command("agent/permission/add", conversationId=conversation.id, **rule)
        gate.open()
        await editor.until_ended(conversation, run_id)
        assert [call["payload"]["state"] for call in child.calls] == ["denied"]
        assert not (home.workspace / "made").exists()


async def test_a_rule_that_is_taken_back_is_taken_back_for_the_subagents_that_were_made_before() -> None:
    gate = Gate()
    script = handing_over(gate, UseTool("shell", {"command": "touch made"}))
    async with scene(script) as (_, home), home.editor(home.workspace) as editor:
        conversation = await editor.create(home.workspace)
        rule = {"effect": "allow", "rule": "shell(touch *)", "scope": "conversation"}
        added = await editor.command("agent/permission/add", conversationId=conversation.id, **rule)
        run_id, child = await handed_over(editor, conversation)
        call = {"tool": "shell", "input": {"command": "touch made"}, "conversationId": child.id}
        assert (await editor.request("agent/permission/explain", call))["effect"] == "allow"
        await editor.command("agent/permission/remove", ruleId=added["id"])
        assert (await editor.request("agent/permission/explain", call))["effect"] == "ask"
        gate.open()
        await editor.decide(child, "deny")
        await editor.until_ended(conversation, run_id)
        assert not (home.workspace / "made").exists()


@pytest.mark.parametrize("at_once", [1, 3])
async def test_a_model_that_hands_over_for_ever_is_ended_by_the_limit_of_the_run_with_all_beneath_it(
    at_once: int,
) -> None:
    task = UseTool("task", {"description": "Work", "prompt": "Work on it."})

    def for_ever(request: RequestView) -> Stream:
        """Who works for somebody hands over once and reads once; who is talked to hands over again and again."""
        if "Work on it." in request.user_texts:
            return say("Done.") if request.steps > 1 else reply(UseTool("read", {"path": f"{request.number}"}))
        return reply(*[task] * at_once)

    config = "[limits]\nsteps_per_run = 10\n"
    async with scene(for_ever, config=config) as (server, home), home.editor(home.workspace) as editor:
        conversation = await editor.create(home.workspace)
        run = await editor.until_ended(conversation, await editor.send(conversation, "Go."), "failed")
        assert run["error"]["code"] == "limit_reached"
        assert "steps, which is the limit" in run["error"]["message"]
        # One more step of each that was just then at work, or took its place.
        assert 10 <= len(server.requests) <= 10 + 2 * at_once


async def test_a_subagent_ends_when_the_run_that_it_works_for_is_full_and_none_is_begun_after_it() -> None:
    tasks = [UseTool("task", {"description": "Work", "prompt": "Work on it."}) for _ in range(6)]

    def busy(request: RequestView) -> Stream:
        if "Work on it." in request.user_texts:
            return use("read", path=f"{request.number}")
        return reply(*tasks)

    config = "[limits]\nsteps_per_run = 12\n"
    async with scene(busy, config=config) as (server, home), home.editor(home.workspace) as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Go."), "failed")
        told = [conversation.result(call["id"])["output"] for call in conversation.calls]
        begun = [text for text in told if text.startswith("The subagent failed: The run that this works for took ")]
        assert (len(told), len(begun)) == (6, 4)
        assert all(text.startswith("The subagent was not started. This run took ") for text in set(told) - set(begun))
        # Each that was at work had one step under way, and so may have had whoever took its place.
        assert len(server.requests) <= 12 + 2 * 4
