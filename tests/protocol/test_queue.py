"""The queue: messages that wait, seen and changed by the person until each one's turn comes."""

import pytest

from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import Gate, InOrder, Say, Wait, reply, say
from tests.scene import scene

pytestmark = pytest.mark.anyio


def busy(gate: Gate) -> InOrder:
    return InOrder([reply(Say("Busy."), Wait(gate)), *[say("Done.")] * 5])


async def queued(editor: Editor, conversation: Mirror, *texts: str) -> list[str]:
    runs = []
    for text in texts:
        sent = await editor.say(conversation, text, dispatch="queue")
        assert sent["disposition"] == "queued"
        runs.append(str(sent["runId"]))
    return runs


async def test_waiting_messages_can_be_edited_moved_and_removed() -> None:
    gate = Gate()
    async with scene(busy(gate)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.send(conversation, "first")
        b, c, d, e = await queued(editor, conversation, "b", "c", "d", "e")
        await editor.queue(conversation, "edit", runId=c, content=[{"type": "text", "text": "C"}])
        await editor.queue(conversation, "move", runId=d, before=b)
        await editor.queue(conversation, "move", runId=b)
        await editor.queue(conversation, "remove", runId=e)
        shown = await editor.attach(conversation.id)
        assert [run["id"] for run in shown.runs.values()] == [d, c, b]
        gate.open()
        await editor.until_ended(shown, b)
        assert [request.last_user_text for request in server.requests] == ["first", "d", "C", "b"]
        assert shown.status(e) in {"", "cancelled"}
        assert len(shown.answers) == 4


async def test_a_held_queue_waits_until_it_is_released() -> None:
    gate = Gate()
    async with scene(busy(gate)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        first = await editor.send(conversation, "first")
        (b,) = await queued(editor, conversation, "b")
        await editor.queue(conversation, "hold")
        gate.open()
        await editor.until_ended(conversation, first)
        assert (conversation.conversation["queueHeld"], conversation.status(b)) == (True, "queued")
        # One that is to be started passes the queue, which stays held.
        passing = await editor.say(conversation, "now", dispatch="start")
        assert passing["disposition"] == "started"
        await editor.until_ended(conversation, passing["runId"])
        assert (conversation.conversation["queueHeld"], conversation.status(b)) == (True, "queued")
        await editor.queue(conversation, "release")
        await editor.until_ended(conversation, b)
        assert [request.last_user_text for request in server.requests] == ["first", "now", "b"]


@pytest.mark.parametrize("hold", [True, False])
async def test_a_stop_holds_the_queue_unless_told_otherwise(hold: bool) -> None:  # noqa: FBT001
    gate = Gate()
    async with scene(busy(gate)) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        first = await editor.send(conversation, "first")
        (b,) = await queued(editor, conversation, "b")
        await editor.wait_for(lambda: conversation.shown)
        await editor.interrupt(first, holdQueue=hold)
        await editor.until_ended(conversation, first, "interrupted")
        assert conversation.conversation["queueHeld"] is hold
        if hold:
            await editor.queue(conversation, "release")
        await editor.until_ended(conversation, b)


async def test_a_message_that_has_begun_is_not_in_the_queue_any_more() -> None:
    gate = Gate()
    async with scene(busy(gate)) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        first = await editor.send(conversation, "first")
        for op in ("remove", "move"):
            with pytest.raises(Refused) as refused:
                await editor.queue(conversation, op, runId=first)
            assert (refused.value.code, "running" in refused.value.message) == ("not_found", True)
        with pytest.raises(Refused) as refused:
            await editor.say(conversation, "now", dispatch="start")
        assert refused.value.code == "conversation_busy"
        gate.open()
        await editor.until_ended(conversation, first)
