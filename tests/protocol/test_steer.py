"""A message that steers reaches the model at the next step, through the whole daemon."""

import pytest

from agent_ls.testing.model_scenario import Gate, InOrder, Say, Wait, reply, say, use
from tests.scene import scene

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("kind", ["openai-compatible", "openai", "anthropic"]),
]


async def test_a_steer_in_mid_answer_is_answered_next_in_the_same_run(kind: str) -> None:
    gate = Gate()
    answers = [reply(Say("Working."), Wait(gate), Say(" Done.")), say("Also that.")]
    async with scene(InOrder(answers), kind=kind) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Do this.")
        await editor.wait_for(lambda: "Working." in conversation.shown)
        sent = await editor.say(conversation, "And that.", dispatch="steer")
        assert (sent["runId"], sent["disposition"]) == (run_id, "steered")
        gate.open()
        await editor.until_ended(conversation, run_id)
        assert [kind for kind, _ in conversation.transcript] == ["user_message", "assistant_message"] * 2
        assert conversation.answers == ["Working. Done.", "Also that."]
        assert server.requests[-1].user_texts == ("Do this.", "And that.")
        assert len(conversation.runs) == 1


async def test_a_steer_while_a_call_waits_comes_after_its_result_also_after_kill_9(kind: str) -> None:
    answers = [use("shell", command="/bin/echo hi"), say("Both done.")]
    async with scene(InOrder(answers), kind=kind) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Run it.")
            await editor.until_asked(conversation)
            await editor.say(conversation, "Then tell me.", dispatch="steer", targetRunId=run_id)
        await home.kill9()
        async with home.editor() as editor:
            conversation = await editor.attach(conversation.id)
            await editor.decide(conversation, "allow")
            await editor.until_ended(conversation, run_id)
        last = server.requests[-1]
        # No result comes after the message; that each call has its own before it is checked by the server.
        assert (last.user_texts, last.results, last.steps) == (("Run it.", "Then tell me."), (), 1)


async def test_a_queued_message_can_be_promoted_to_a_steer(kind: str) -> None:
    gate = Gate()
    answers = [reply(Say("Working."), Wait(gate)), say("Answered.")]
    async with scene(InOrder(answers), kind=kind) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Do this.")
        await editor.wait_for(lambda: "Working." in conversation.shown)
        queued = await editor.say(conversation, "And that.", dispatch="queue")
        promoted = await editor.queue(conversation, "promote", runId=queued["runId"])
        assert promoted["runId"] == run_id
        gate.open()
        await editor.until_ended(conversation, run_id)
        assert conversation.answers == ["Working.", "Answered."]
        assert conversation.status(queued["runId"]) == "cancelled"
