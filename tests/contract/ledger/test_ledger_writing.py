"""What a commit promises, on every engine."""

import anyio
import pytest

from agent_ls.adapters.ledger import codec
from agent_ls.core.effects import drive
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import Event, EventKind
from agent_ls.core.items import Call, CallState, ItemKind
from agent_ls.ports.ledger import Committed, Ledger, LedgerError, Receipt, Snapshot
from tests.contract.ledger.make import (
    OWNER,
    Engine,
    accepted,
    append,
    at,
    attempt,
    begun,
    commit,
    conversation,
    item,
    request,
    run,
)

pytestmark = pytest.mark.anyio


async def test_a_commit_gives_its_facts_the_next_seqs(ledger: Ledger) -> None:
    epoch = await begun(ledger)
    done = await append(ledger, commit(run(), item(), epoch=epoch, at=at(7)))
    assert done == Committed(
        [
            Event("c1", 2, at(7), EventKind.RUN, "running", run()),
            Event("c1", 3, at(7), EventKind.ITEM, "added", item()),
        ],
        3,
    )
    assert list(await ledger.read("c1", 1, 10)) == list(done.events)


async def test_an_event_is_on_the_wire_what_it_was_when_committed(ledger: Ledger) -> None:
    await begun(ledger)
    payload = Call(call_id="k", tool="shell", input={"snake_key": None}, state=CallState.STARTED)
    done = await append(ledger, commit(item(kind=ItemKind.COMMAND, payload=payload)))
    again = await ledger.read("c1", 1, 1)
    assert codec.event_json(done.events[0]) == codec.event_json(again[0])
    assert again[0].entity == done.events[0].entity


async def test_a_receipt_is_given_again_with_the_seq_of_its_commit(ledger: Ledger) -> None:
    epoch = await begun(ledger)
    done = await append(ledger, commit(run(), epoch=epoch, receipt=accepted("k1", runId="c1.r1")))
    expected = Receipt("k1", "c1", result={"runId": "c1.r1", "seq": 2})
    assert done.receipt == expected
    assert await ledger.receipt("k1") == expected
    assert await ledger.receipt("k2") is None


async def test_a_command_that_comes_again_changes_nothing_and_gets_the_first_answer(ledger: Ledger) -> None:
    await begun(ledger)
    await append(ledger, commit(run(), receipt=accepted("k1", runId="c1.r1")))
    again = await ledger.append(commit(run(ordinal=2), receipt=accepted("k1", runId="c1.r2")))
    assert again == Committed((), 2, Receipt("k1", "c1", result={"runId": "c1.r1", "seq": 2}))
    assert await ledger.find("c1.r2") is None


async def test_a_command_id_known_from_another_conversation_is_refused(ledger: Ledger) -> None:
    await begun(ledger)
    await begun(ledger, "c2")
    await append(ledger, commit(receipt=accepted("k1")))
    refused = await ledger.append(commit(run("c2"), conversation_id="c2", receipt=accepted("k1", "c2")))
    assert isinstance(refused, Refusal)
    assert refused.code is Code.COMMAND_CONFLICT
    assert await ledger.find("c2.r1") is None


async def test_a_refusal_is_kept_like_an_answer(ledger: Ledger) -> None:
    await begun(ledger)
    refusal = Refusal(Code.QUEUE_FULL, "Full.", "Wait.", {"limit": 3})
    done = await append(ledger, commit(receipt=Receipt("k1", "c1", refusal=refusal)))
    assert done == Committed([], 1, Receipt("k1", "c1", refusal=refusal))
    assert await ledger.receipt("k1") == Receipt("k1", "c1", refusal=refusal)


async def test_a_refused_first_command_makes_no_conversation(ledger: Ledger) -> None:
    await ledger.claim("c1", OWNER)
    refusal = Refusal(Code.INVALID_PARAMS, "No.")
    done = await append(ledger, commit(receipt=Receipt("k1", "c1", refusal=refusal)))
    assert done.seq == 0
    assert await ledger.load("c1") is None


async def test_a_stale_epoch_writes_nothing(ledger: Ledger) -> None:
    epoch = await begun(ledger)
    assert await ledger.claim("c1", OWNER) == epoch + 1
    refused = await ledger.append(commit(run(), epoch=epoch, receipt=accepted("k1")))
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.data) == (Code.STALE_EPOCH, {"epoch": epoch, "newest": epoch + 1})
    assert await ledger.load("c1") == Snapshot([conversation()], 1)
    assert await ledger.receipt("k1") is None


async def test_nobody_writes_without_a_claim(ledger: Ledger) -> None:
    refused = await ledger.append(commit(conversation(), epoch=0))
    assert isinstance(refused, Refusal)
    assert refused.code is Code.STALE_EPOCH


async def test_a_released_claim_is_no_right_to_write(ledger: Ledger) -> None:
    epoch = await begun(ledger)
    await ledger.release("c1", "somebody else")
    await append(ledger, commit(run(), epoch=epoch))
    await ledger.release("c1", OWNER)
    refused = await ledger.append(commit(run(ordinal=2), epoch=epoch))
    assert isinstance(refused, Refusal)
    assert refused.code is Code.STALE_EPOCH
    assert await ledger.claim("c1", OWNER) == epoch + 1


async def test_effects_are_owed_until_they_are_settled(ledger: Ledger) -> None:
    await begun(ledger)
    await append(ledger, commit(effects=[drive("a1", "c1"), drive("a2", "c1")]))
    await append(ledger, commit(effects=[drive("a1", "c1"), drive("a3", "c1")], settled=["a2"]))
    assert list(await ledger.owed()) == [drive("a1", "c1"), drive("a3", "c1")]


async def test_of_two_facts_about_one_entity_the_last_counts(ledger: Ledger) -> None:
    await begun(ledger)
    await append(ledger, commit(attempt(steps=1), attempt(steps=2)))
    assert await ledger.find("c1.r1.a1") == attempt(steps=2)
    assert [event.seq for event in await ledger.read("c1", 0, 10)] == [1, 2, 3]


async def test_everything_is_there_after_it_is_opened_again(engine: Engine) -> None:
    first = await engine.opened()
    epoch = await begun(first)
    wanted = commit(run(), item(), request(), receipt=accepted("k1"), effects=[drive("a1", "c1")])
    await append(first, wanted)
    digest = await first.put_blob(b"\x00\xff")
    await first.close()
    second = await engine.opened("boot-2")
    assert await second.load("c1") == Snapshot([conversation(), run(), item(), request()], 4)
    assert await second.receipt("k1") == Receipt("k1", "c1", result={"seq": 4})
    assert list(await second.owed()) == [drive("a1", "c1")]
    assert await second.get_blob(digest) == b"\x00\xff"
    assert await second.claim("c1", "boot-2") == epoch + 1
    assert await second.reserve_numbers(1) == 2
    await second.close()


async def test_numbers_are_never_given_twice(ledger: Ledger) -> None:
    await begun(ledger)
    first, second = await ledger.reserve_numbers(2), await ledger.reserve_numbers(1)
    assert (first, second) == (1, 3)
    await append(ledger, commit(request(number=9)))
    assert await ledger.reserve_numbers(1) == 10


async def test_a_number_is_not_used_again_when_its_conversation_is_gone(engine: Engine) -> None:
    first = await engine.opened()
    await begun(first)
    await append(first, commit(request(number=4)))
    await first.delete("c1", "k9")
    await first.close()
    second = await engine.opened()
    assert await second.reserve_numbers(1) == 5
    await second.close()


async def test_eight_writers_lose_nothing(ledger: Ledger) -> None:
    async def write(id_: str) -> None:
        epoch = await begun(ledger, id_)
        for n in range(200):
            wanted = commit(item(id_, n), epoch=epoch, conversation_id=id_, receipt=accepted(f"{id_}-{n}", id_))
            assert (await append(ledger, wanted)).seq == n + 2

    with anyio.fail_after(50):
        async with anyio.create_task_group() as writers:
            for n in range(8):
                writers.start_soon(write, f"c{n}")
    for n in range(8):
        events = await ledger.read(f"c{n}", 0, 1000)
        assert [event.seq for event in events] == list(range(1, 202))
        assert [event.entity for event in events[1:]] == [item(f"c{n}", k) for k in range(200)]


async def test_a_deleted_conversation_is_gone_for_good(ledger: Ledger) -> None:
    epoch = await begun(ledger)
    await begun(ledger, "c2")
    await append(ledger, commit(run(), item(), request(), receipt=accepted("k1"), effects=[drive("a1", "c1")]))
    ledger.keep_partial("c1", "c1.i1", "so far")
    assert await ledger.delete("c1", "k9") is True
    assert await ledger.delete("c1", "k9") is False
    assert await ledger.load("c1") is None
    assert list(await ledger.read("c1", 0, 10)) == []
    assert [await ledger.find(id_) for id_ in ("c1", "c1.r1", "c1.i0", "c1.q1")] == [None] * 4
    assert (list(await ledger.owed()), list(await ledger.requests(None, None))) == ([], [])
    assert (await ledger.partials("c1"), await ledger.receipt("k1")) == ({}, None)
    assert await ledger.receipt("k9") == Receipt("k9", "c1", result={})
    assert await ledger.load("c2") == Snapshot([conversation("c2")], 1)
    refused = await ledger.append(commit(conversation(), epoch=epoch))
    assert isinstance(refused, Refusal)
    assert refused.code is Code.NOT_FOUND


async def test_a_closed_ledger_says_so(engine: Engine) -> None:
    ledger = await engine.opened()
    await ledger.close()
    await ledger.close()
    with pytest.raises(LedgerError) as refused:
        await ledger.claim("c1", OWNER)
    assert refused.value.refusal.code is Code.LEDGER_UNAVAILABLE
