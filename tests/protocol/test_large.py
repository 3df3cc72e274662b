"""What is large is short on the wire and whole for the model; a command id stands for one command."""

from typing import Any

import pytest

from agent_ls.testing.editor import Refused
from agent_ls.testing.model_scenario import InOrder, say
from tests.scene import scene

pytestmark = pytest.mark.anyio

MOST = 256 * 1024
LONG = "".join(f"line {n} of a long text\n" for n in range(20_000)).strip()


async def test_a_long_answer_is_short_on_the_wire_and_whole_for_the_model() -> None:
    async with scene(InOrder([say(LONG, size=8192), say("Done.")])) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Write much."))
        await editor.until_ended(conversation, await editor.send(conversation, "And now?"))
        (answer, _) = conversation.answers
        assert len(answer) < MOST
        assert "characters are not shown here" in answer
        said = [m["content"] for m in server.requests[-1].body["messages"] if m["role"] == "assistant"]
        assert said == [LONG]


async def test_a_long_attachment_is_short_on_the_wire_and_whole_for_the_model() -> None:
    attached = [{"type": "terminal", "text": LONG}]
    async with scene(InOrder([say("Seen.")])) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Look.", context=attached))
        (said,) = conversation.of_kind("user_message")
        assert len(str(said)) < MOST
        assert _texts(server.requests[-1].body["messages"][-1]["content"]) == [f"Look.\n\n[terminal]\n{LONG}"]


async def test_a_command_id_that_was_used_for_something_else_is_a_conflict() -> None:
    async with scene(InOrder([say("Hi.")])) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        same = {"commandId": "k1", "conversationId": conversation.id}
        hello = {**same, "content": [{"type": "text", "text": "Hello."}]}
        sent = await editor.request("agent/message/send", hello)
        await editor.until_ended(conversation, sent["runId"])
        assert await editor.request("agent/message/send", hello) == sent
        other = {**same, "content": [{"type": "text", "text": "Something else."}]}
        for method, params in (("agent/message/send", other), ("agent/conversation/update", {**same, "title": "T"})):
            with pytest.raises(Refused) as refused:
                await editor.request(method, params)
            assert refused.value.code == "command_conflict"
        assert len(conversation.runs) == 1


def _texts(content: Any) -> list[str]:
    return [content] if isinstance(content, str) else [part["text"] for part in content]
