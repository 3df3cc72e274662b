"""Several questions at once in an editor that has no more than code actions: chosen one by one, sent together."""

from typing import Any

import pytest
from lsprotocol import types

from agent_ls.testing.editor import Refused
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.plain_editor import PlainEditor, plain_editor
from tests.protocol.test_transcript_file import papers, until_holds
from tests.scene import scene

pytestmark = pytest.mark.anyio

STORE = {
    "id": "store",
    "header": "Store",
    "text": "Which one?",
    "options": [{"id": "pg", "label": "Postgres"}, {"id": "lite", "label": "SQLite"}],
}
TESTS = {
    "id": "tests",
    "header": "Tests",
    "text": "Which of them?",
    "options": [{"id": "unit", "label": "unit"}, {"id": "slow", "label": "slow"}],
    "multi": True,
}
ASK = use("ask", questions=[STORE, TESTS])
CHOOSING = ["Store: Postgres #1.1", "Store: SQLite #1.1", "Tests: unit #1.2", "Tests: slow #1.2"]
SEND = "Send these answers #1"
REST = ["Do not answer #1", "Show #1"]


async def choose(plain: PlainEditor, path: Any, title: str) -> Any:
    """Whatever marks it has."""
    (action,) = [each for each in await plain.actions(path, 0) if each.title.removeprefix("✓ ") == title]
    assert isinstance(action, types.CodeAction)
    while True:
        try:
            return await plain.run(action)
        except Refused as refused:
            if refused.code != "too_soon":
                raise


async def test_each_choice_is_an_action_and_they_are_sent_together_once_each_question_has_one() -> None:
    async with (
        scene(InOrder([ASK, say("Done.")])) as (server, home),
        home.editor() as asker,
        plain_editor(home, name="helix") as plain,
    ):
        path = home.workspace / "a.txt"
        path.write_text("one\n")
        await plain.open(path)
        conversation = await asker.create(home.workspace)
        run_id = await asker.send(conversation, "Set it up.")
        await plain.until_marked(path)
        shown = await plain.hover(path, 0)
        assert shown is not None
        assert "**#1.1** `store`\n\n```\nWhich one?\n```" in shown
        assert "`agent-ls answer 1 store=… tests=…`" in shown
        assert await plain.offered(path) == [*CHOOSING, *REST]
        stale = await plain.action(path, 0, CHOOSING[0])
        for title in (CHOOSING[0], CHOOSING[3], CHOOSING[2], CHOOSING[3]):
            await choose(plain, path, title)
        marked = ["✓ Store: Postgres #1.1", "Store: SQLite #1.1", "✓ Tests: unit #1.2", "Tests: slow #1.2"]
        assert await plain.offered(path) == [*marked, SEND, *REST]
        assert (await asker.pending())[0]["status"] == "pending", "nothing is answered by a choice"
        await choose(plain, path, CHOOSING[1])
        for changed, code in (
            ({"digest": "0"}, "digest_mismatch"),
            ({"optionId": "none"}, "invalid_params"),
            ({"questionId": None}, "invalid_params"),
            ({"requestId": "gone"}, "unknown_request"),
        ):
            with pytest.raises(Refused) as refused:
                await plain.run(stale, **changed)
            assert refused.value.code == code
        await plain.choose(path, 0, SEND)
        await asker.until_ended(conversation, run_id)
        (answered,) = conversation.requests.values()
        assert (answered["answers"], answered["decidedFrom"]) == ({"store": "lite", "tests": ["unit"]}, "helix")
        assert server.requests[1].results[0][1] == "Which one?\n-> SQLite\nWhich of them?\n-> unit"
        with pytest.raises(Refused) as late:
            await plain.run(stale)
        assert late.value.code == "already_decided"


async def test_a_choice_is_the_same_in_every_window_and_words_are_an_answer_in_the_prompt_document() -> None:
    free = use("ask", questions=[STORE, {"id": "why", "text": "Why?"}])
    async with (
        scene(InOrder([free, say("Done.")])) as (server, home),
        home.editor() as asker,
        plain_editor(home, name="helix") as one,
        plain_editor(home, name="kate") as two,
    ):
        conversation = await asker.create(home.workspace)
        transcript, prompt = papers(home, conversation.id)
        await until_holds(asker, transcript, "#")
        run_id = await asker.send(conversation, "Set it up.")
        await asker.until_asked(conversation)
        for window in (one, two):
            await window.open(prompt)
        await choose(one, prompt, CHOOSING[0])
        offered = await two.offered(prompt)
        assert offered[:4] == ["✓ Store: Postgres #1.1", CHOOSING[1], *REST], "one of them can only be said in words"
        await two.type(prompt, "/answer #1 store=2 why=It is enough.")
        await two.choose(prompt, 0, "Send")
        await asker.until_ended(conversation, run_id)
        assert server.requests[1].results[0][1] == "Which one?\n-> SQLite\nWhy?\n-> It is enough."
        assert two.buffers[prompt].text == ""
