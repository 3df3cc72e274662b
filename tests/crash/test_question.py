"""Kill -9 of the daemon while the agent waits for an answer: the same question, under the same number."""

import pytest

from agent_ls.testing.model_scenario import ByHistory, say, use
from tests.scene import scene

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("kind", ["openai-compatible", "openai", "anthropic"]),
]

QUESTION = {"id": "why", "text": "Why?", "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]}


async def test_a_question_is_still_there_after_it_and_its_answer_is_told_once(kind: str) -> None:
    async with scene(ByHistory([use("ask", questions=[QUESTION]), say("Fine.")]), kind=kind) as (server, home):
        async with home.bridged(home.workspace) as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Choose.")
            (asked,) = await editor.until_asked(conversation)
            await home.kill9()

        async with home.bridged(home.workspace) as editor:
            assert await editor.pending() == [asked]
            again = await editor.attach(conversation.id)
            assert (again.pending, again.items) == ([asked], conversation.items)
            assert len(server.requests) == 1
            await editor.respond(asked, "answer", answers={"why": "b"})
            await home.kill9()

        async with home.bridged(home.workspace) as editor:
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, run_id)
            assert again.answers == ["Fine."]
            (question,) = again.of_kind("question")
            assert (question["status"], question["payload"]["answers"]) == ("completed", {"why": "b"})
        assert [text for _, text in server.requests[-1].results] == ["Why?\n-> B"]
