"""A conversation is deleted for good, and never from under a run or a message that was acknowledged."""

import pytest

from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import Gate, InOrder, Say, Wait, reply, say
from tests.scene import scene

pytestmark = pytest.mark.anyio


async def begin_delete(editor: Editor, conversation: Mirror, command_id: str) -> int:
    params = {"commandId": command_id, "conversationId": conversation.id}
    return await editor.begin("agent/conversation/delete", params)


async def begin_send(editor: Editor, conversation: Mirror) -> int:
    params = {
        "commandId": editor.command_id(),
        "conversationId": conversation.id,
        "content": [{"type": "text", "text": "Hello"}],
    }
    return await editor.begin("agent/message/send", params)


async def test_a_message_that_came_before_it_is_answered_and_the_conversation_stays() -> None:
    gate = Gate()
    async with scene(InOrder([reply(Say("Hi."), Wait(gate))])) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        sending = await begin_send(editor, conversation)
        deleting = await begin_delete(editor, conversation, "d")
        run_id = (await editor.reply(sending))["runId"]
        with pytest.raises(Refused) as refused:
            await editor.reply(deleting)
        assert refused.value.code == "conversation_busy"
        gate.open()
        await editor.until_ended(conversation, run_id)
        assert conversation.answers == ["Hi."]


async def test_a_message_that_came_after_it_is_refused_and_nothing_runs() -> None:
    async with scene(InOrder([say("Hi.")])) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        deleting = await begin_delete(editor, conversation, "d")
        sending = await begin_send(editor, conversation)
        assert await editor.reply(deleting) == {}
        with pytest.raises(Refused) as refused:
            await editor.reply(sending)
        assert refused.value.code == "not_found"
        status = await editor.request("agent/status", {})
        assert (status["runs"]["active"], status["effects"]["owed"], server.requests) == ([], [], [])


async def test_the_same_command_again_gives_the_same_answer_and_means_nothing_else() -> None:
    async with scene(InOrder([])) as (_, home), home.editor() as editor:
        conversation, other = await editor.create(home.workspace), await editor.create(home.workspace)
        for _ in range(2):
            assert await editor.reply(await begin_delete(editor, conversation, "d")) == {}
        with pytest.raises(Refused) as refused:
            await editor.reply(await begin_delete(editor, other, "d"))
        assert refused.value.code == "command_conflict"
        assert (await editor.attach(other.id)).id == other.id
        with pytest.raises(Refused) as refused:
            await editor.reply(await begin_delete(editor, conversation, "e"))
        assert refused.value.code == "not_found"
