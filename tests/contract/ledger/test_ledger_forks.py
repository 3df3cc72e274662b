"""A conversation that goes on from another one, on every engine: it has what was there, and nobody copied it."""

from dataclasses import replace

import pytest

from agent_ls.core.attempt import AttemptStatus
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import AnyEntity
from agent_ls.core.items import AssistantMessage, Call, Item, ItemKind, ItemStatus, ResultStatus, ToolResult, Usage
from agent_ls.core.lineage import Base, as_own
from agent_ls.core.request import RequestStatus
from agent_ls.core.run import RunStatus
from agent_ls.ports.blobs import Sweeps
from agent_ls.ports.ledger import Ledger, ListQuery, Page, cursor_at
from tests.contract.ledger.make import (
    Engine,
    append,
    attempt,
    begun,
    claimed,
    commit,
    conversation,
    item,
    request,
    run,
)

pytestmark = pytest.mark.anyio


def said(conversation_id: str, ord_: int, run: int = 1, **changes: object) -> Item:
    return item(conversation_id, ord_, run_id=f"{conversation_id}.r{run}", **changes)


async def parent(ledger: Ledger) -> list[AnyEntity]:
    """Two runs that ended, three items each; what is in them."""
    await begun(ledger)
    found: list[AnyEntity] = []
    for n in (1, 2):
        known = {"id": f"c1.r{n}.a1", "run_id": f"c1.r{n}", "status": AttemptStatus.COMPLETED}
        found += [
            run(
                ordinal=n,
                status=RunStatus.COMPLETED,
                active_attempt_id=known["id"],
                user_item_id=f"c1.i{n * 3 - 2}",
            ),
            attempt(**known),
        ]
        found += [said("c1", n * 3 + place - 2, run=n) for place in range(3)]
    await append(ledger, commit(*found))
    return found


async def fork(ledger: Ledger, known: str, of: str = "c1", *, through: int) -> int:
    epoch = await claimed(ledger, known)
    base = Base(conversation_id=of, through=through, text=f"up to {through}")
    await append(ledger, commit(conversation(known), epoch=epoch, conversation_id=known, base=base))
    return epoch


async def entities(ledger: Ledger, known: str) -> list[AnyEntity]:
    snapshot = await ledger.load(known)
    assert snapshot is not None
    return list(snapshot.entities)[1:]


def own(found: list[AnyEntity], known: str) -> list[AnyEntity]:
    """As a load has them: by kind, then by place."""
    rank = {"Run": 0, "Attempt": 1, "Item": 2}
    return sorted((as_own(each, known) for each in found), key=lambda each: rank[type(each).__name__])


async def test_a_fork_has_everything_up_to_its_place_under_its_own_ids(ledger: Ledger) -> None:
    there = await parent(ledger)
    await fork(ledger, "f1", through=3)
    assert await entities(ledger, "f1") == own(there[:5], "f1")
    assert await entities(ledger, "c1") == own(there, "c1")
    await fork(ledger, "f2", through=5)
    assert await entities(ledger, "f2") == own(there[:9], "f2")


async def test_it_begins_its_own_events_and_is_listed_with_the_last_answer_it_has(ledger: Ledger) -> None:
    await parent(ledger)
    await fork(ledger, "f1", through=3)
    assert [event.seq for event in await ledger.read("f1", 0, 10)] == [1]
    found, _ = await ledger.conversations(ListQuery())
    assert {each.conversation.id: (each.seq, each.last_text) for each in found} == {
        "f1": (1, "up to 3"),
        "c1": (11, "answer 6"),
    }
    summary = await ledger.summary("f1")
    assert summary is not None
    assert (summary.last_text, summary.active_run, summary.queued_runs) == ("up to 3", False, 0)


async def test_pages_go_from_its_own_items_into_those_it_has_from_its_parent(ledger: Ledger) -> None:
    there = await parent(ledger)
    epoch = await fork(ledger, "f1", through=3)
    mine = [said("f1", ord_, run=2) for ord_ in (4, 5)]
    await append(ledger, commit(run("f1", ordinal=2), *mine, epoch=epoch, conversation_id="f1"))
    given = [as_own(each, "f1") for each in there[2:5]]
    assert await ledger.page("f1", None, 3) == Page([given[2], *mine], cursor_at(3))
    assert await ledger.page("f1", cursor_at(3), 1) == Page([given[1]], cursor_at(2))
    assert await ledger.page("f1", cursor_at(3), 2) == Page(given[:2], None)
    assert await ledger.page("f1", None, 10) == Page([*given, *mine], None)


async def test_what_it_has_is_found_by_its_own_ids_and_what_it_has_not_is_not(ledger: Ledger) -> None:
    there = await parent(ledger)
    await fork(ledger, "f1", through=3)
    for entity in there[:5]:
        mine = as_own(entity, "f1")
        assert await ledger.find(mine.id) == mine
    assert [await ledger.find(as_own(entity, "f1").id) for entity in there[5:]] == [None] * 5


async def test_what_the_parent_does_later_does_not_change_it(ledger: Ledger) -> None:
    there = await parent(ledger)
    await fork(ledger, "f1", through=6)
    before = await entities(ledger, "f1")
    rolled_back = replace(there[5], status=RunStatus.ROLLED_BACK)  # type: ignore[type-var, call-arg]
    rewritten = replace(there[9], payload=AssistantMessage(text="changed"))  # type: ignore[type-var, call-arg]
    later = said("c1", 7, run=2)
    await append(ledger, commit(rolled_back, rewritten, later))
    assert await entities(ledger, "f1") == before
    assert await ledger.page("f1", None, 2) == Page(before[-2:], cursor_at(5))
    assert await ledger.find("f1.i6") == before[-1]
    assert (await ledger.page("c1", None, 2)).items == [rewritten, later]
    # And a fork that is made now has it as it is now.
    await fork(ledger, "f2", through=6)
    await append(ledger, commit(replace(rewritten, payload=AssistantMessage(text="again"))))
    assert (await ledger.page("f2", None, 1)).items == [as_own(rewritten, "f2")]
    assert await entities(ledger, "f1") == before


async def test_a_run_that_goes_on_in_the_parent_has_ended_in_the_fork(ledger: Ledger) -> None:
    await begun(ledger)
    going = run(active_attempt_id="c1.r1.a1")
    queued = run(ordinal=2, status=RunStatus.QUEUED)
    spent = attempt(usage=Usage(input_tokens=9, cost_usd=1.0), last_usage=Usage(input_tokens=9, cost_usd=1.0))
    asked = request(item_id="c1.i2")
    await append(ledger, commit(going, queued, spent, said("c1", 1), said("c1", 2), asked))
    await fork(ledger, "f1", through=1)
    ended = replace(as_own(going, "f1"), status=RunStatus.INTERRUPTED, ended_at=going.created_at)  # type: ignore[call-arg]
    over = replace(
        as_own(spent, "f1"),  # type: ignore[call-arg]
        status=AttemptStatus.INTERRUPTED,
        usage=Usage(),
        last_usage=Usage(input_tokens=9),
    )
    assert await entities(ledger, "f1") == [ended, over, as_own(said("c1", 1), "f1")]
    assert await ledger.requests(None, "f1") == []


async def test_an_answered_request_comes_with_its_item(ledger: Ledger) -> None:
    await begun(ledger)
    answered = request(item_id="c1.i1", status=RequestStatus.RESOLVED)
    await append(ledger, commit(run(status=RunStatus.COMPLETED), said("c1", 1), answered))
    await fork(ledger, "f1", through=1)
    assert (await entities(ledger, "f1"))[-1] == as_own(answered, "f1")
    assert await ledger.request_by_number(1) == answered


async def test_a_fork_of_a_fork_has_what_both_have(ledger: Ledger) -> None:
    there = await parent(ledger)
    epoch = await fork(ledger, "f1", through=3)
    mine = said("f1", 4, run=2)
    await append(ledger, commit(run("f1", ordinal=2), mine, epoch=epoch, conversation_id="f1"))
    await fork(ledger, "g1", "f1", through=4)
    await fork(ledger, "g2", "f1", through=2)
    given = there[2:5]
    assert list((await ledger.page("g1", None, 9)).items) == [as_own(each, "g1") for each in (*given, mine)]
    assert list((await ledger.page("g2", None, 9)).items) == [as_own(each, "g2") for each in given[:2]]
    # An inherited run that the first fork takes back is taken back in a fork of it, and nowhere else.
    gone = replace(as_own(there[0], "f1"), status=RunStatus.ROLLED_BACK)  # type: ignore[call-arg]
    await append(ledger, commit(gone, epoch=epoch, conversation_id="f1"))
    await fork(ledger, "g3", "f1", through=3)
    states = {known: await ledger.find(f"{known}.r1") for known in ("c1", "f1", "g1", "g3")}
    assert {known: getattr(found, "status", None) for known, found in states.items()} == {
        "c1": RunStatus.COMPLETED,
        "f1": RunStatus.ROLLED_BACK,
        "g1": RunStatus.COMPLETED,
        "g3": RunStatus.ROLLED_BACK,
    }


async def test_it_stays_whole_when_its_parent_is_deleted(ledger: Ledger) -> None:
    there = await parent(ledger)
    await fork(ledger, "f1", through=3)
    await append(ledger, commit(replace(there[2], payload=AssistantMessage(text="later"))))  # type: ignore[call-arg]
    before = await entities(ledger, "f1")
    assert await ledger.delete("c1", "del")
    assert await entities(ledger, "f1") == before
    assert list((await ledger.page("f1", None, 9)).items) == before[2:]
    assert await ledger.find("f1.i2") == before[3]
    assert await ledger.load("c1") is None
    assert await ledger.page("c1", None, 9) == Page([], None)
    assert [await ledger.find(known) for known in ("c1", "c1.r1", "c1.i1")] == [None] * 3
    assert not await ledger.delete("c1", "again")


async def test_of_a_deleted_parent_only_that_is_kept_which_a_fork_has(ledger: Ledger) -> None:
    assert isinstance(ledger, Sweeps)
    blobs = [await ledger.put_blob(f"blob {n}".encode()) for n in range(3)]
    await begun(ledger)
    items = [
        said("c1", n + 1, payload=AssistantMessage(text="…", full=blob), run=n + 1) for n, blob in enumerate(blobs)
    ]
    await append(ledger, commit(*(run(ordinal=n, status=RunStatus.COMPLETED) for n in (1, 2, 3)), *items))
    await fork(ledger, "f1", through=1)
    await fork(ledger, "g1", "f1", through=1)
    await ledger.delete("c1", "del c1")
    kept = []
    for known in (None, "f1", "g1"):
        if known is not None:
            await ledger.delete(known, f"del {known}")
        await ledger.sweep_blobs(0.0)
        await ledger.sweep_blobs(0.0)
        kept.append([await ledger.get_blob(blob) is not None for blob in blobs])
    assert kept == [[True, False, False], [True, False, False], [False, False, False]]


async def test_a_fork_that_is_deleted_leaves_its_parent_alone(ledger: Ledger) -> None:
    there = await parent(ledger)
    await fork(ledger, "f1", through=6)
    assert await ledger.delete("f1", "del")
    assert await entities(ledger, "c1") == own(there, "c1")
    assert await ledger.load("f1") is None
    assert await ledger.find("f1.i1") is None


async def test_nothing_goes_on_from_what_is_deleted(ledger: Ledger) -> None:
    await parent(ledger)
    await ledger.delete("c1", "del")
    epoch = await claimed(ledger, "f1")
    base = Base(conversation_id="c1", through=3)
    refused = await ledger.append(commit(conversation("f1"), epoch=epoch, conversation_id="f1", base=base))
    assert isinstance(refused, Refusal)
    assert refused.code is Code.NOT_FOUND
    assert await ledger.load("f1") is None


async def test_it_is_there_after_a_restart(engine: Engine) -> None:
    first = await engine.opened()
    await parent(first)
    await fork(first, "f1", through=6)
    before = await entities(first, "f1")
    await first.close()
    second = await engine.opened()
    assert await entities(second, "f1") == before
    await second.close()


async def test_what_the_parent_alone_looks_after_stays_with_it(ledger: Ledger) -> None:
    """A shell in the background, and the review of an edit; what the model was told is the same."""
    await begun(ledger)
    result = ToolResult(status=ResultStatus.OK, output="runs", data={"shell": True, "cwd": "/w"})
    call = Call(call_id="call_1", tool="shell", input={}, result=result, record="d1", reviewed={"0": "kept"})
    made = said("c1", 1, kind=ItemKind.COMMAND, payload=call, status=ItemStatus.COMPLETED)
    await append(ledger, commit(run(status=RunStatus.COMPLETED), made))
    await fork(ledger, "f1", through=1)
    bare = replace(call, result=replace(result, data={"cwd": "/w"}), record=None, reviewed=None)
    found = await ledger.find("f1.i1")
    assert found == replace(as_own(made, "f1"), payload=bare)  # type: ignore[call-arg]
