"""Kill -9 around a compaction: before its commit nothing is compacted, after it everything is, and it happens once."""

import pytest

from agent_ls.testing.model_scenario import Answer, Gate, RequestView, Say, Tokens, Wait, reply, say
from tests.protocol.test_compaction import LONG, SUMMARY, compact, compactions, is_for_summary, talk
from tests.scene import scene

pytestmark = pytest.mark.anyio


async def test_a_daemon_killed_while_the_summary_is_written_has_not_compacted_and_the_next_one_does() -> None:
    gate = Gate()
    summaries = iter([reply(Wait(gate), Say("never heard")), say(SUMMARY)])

    def scenario(request: RequestView) -> Answer:
        return next(summaries) if is_for_summary(request) else say(LONG)

    async with scene(scenario) as (_, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            await talk(editor, conversation, "One.", "Two.")
            await compact(editor, conversation, instructions="All of it.")
            await gate.reached()
            queued = await editor.say(conversation, "Three.")
            await home.kill9()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            (item,) = await editor.wait_for(lambda: compactions(again))
            assert item["payload"]["summary"].startswith(SUMMARY)
            assert item["payload"]["instructions"] == "All of it."
            await editor.until_ended(again, queued["runId"])
            facts = [event["fact"] for event in await editor.history(again) if event["entity"]["id"] == again.id]
            assert facts[-3:].count("compaction_over") == facts.count("compaction_noted") == 1


async def test_a_run_whose_daemon_is_killed_while_it_is_compacted_goes_on_and_is_compacted_once() -> None:
    gates = [Gate(), Gate()]
    full = iter(
        [
            reply(Say(LONG), usage=Tokens(9_000, 500)),
            reply(Wait(gates[1]), Say("never heard")),
            reply(Say("Done."), usage=Tokens(100, 5)),
        ]
    )
    summaries = iter([reply(Wait(gates[0]), Say("never heard")), say(SUMMARY)])

    def scenario(request: RequestView) -> Answer:
        return next(summaries) if is_for_summary(request) else next(full)

    async with scene(scenario, config="context_window = 10000\n") as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            await talk(editor, conversation, "One.")
            run_id = await editor.send(conversation, "Two.")
            await gates[0].reached()
            await home.kill9()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            assert compactions(again) == [] or compactions(again)[0]["payload"]["summary"] == SUMMARY
            await gates[1].reached()
            (item,) = await editor.wait_for(lambda: compactions(again))
            await home.kill9()
        async with home.editor() as editor:
            last = await editor.attach(conversation.id)
            await editor.until_ended(last, run_id)
            assert compactions(last) == [item], "what is committed is not done again"
            assert SUMMARY in server.requests[-1].user_texts[0]
            assert last.answers[-1] == "Done."
