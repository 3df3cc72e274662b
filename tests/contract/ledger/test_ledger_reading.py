"""What can be asked of a ledger, on every engine."""

from hashlib import sha256

import pytest

from agent_ls.core.errors import Code
from agent_ls.core.items import AssistantMessage, ItemKind, Notice
from agent_ls.core.request import RequestStatus
from agent_ls.core.run import RunStatus
from agent_ls.ports.ledger import Ledger, LedgerError, ListQuery, Page, Snapshot, Summary
from tests.contract.ledger.make import append, at, attempt, begun, commit, conversation, item, request, run, stop

pytestmark = pytest.mark.anyio


async def test_events_are_read_in_order_after_a_seq(ledger: Ledger) -> None:
    await begun(ledger)
    await append(ledger, commit(*(item(ord_=n) for n in range(5))))
    assert [event.seq for event in await ledger.read("c1", 2, 3)] == [3, 4, 5]
    assert list(await ledger.read("c1", 6, 3)) == []
    assert list(await ledger.read("nothing", 0, 3)) == []


async def test_a_conversation_that_is_not_there_is_none(ledger: Ledger) -> None:
    assert await ledger.load("c1") is None
    assert await ledger.head("c1") is None
    assert await ledger.summary("c1") is None
    assert await ledger.find("c1") is None
    assert await ledger.page("c1", None, 10) == Page([], None)


async def test_load_gives_the_newest_state_of_everything(ledger: Ledger) -> None:
    await begun(ledger)
    await append(ledger, commit(request(), item(ord_=1), item(ord_=0), attempt(), run(status=RunStatus.QUEUED), run()))
    assert await ledger.load("c1") == Snapshot(
        [conversation(), run(), attempt(), item(ord_=0), item(ord_=1), request()], 7
    )


async def test_head_leaves_out_what_has_ended(ledger: Ledger) -> None:
    await begun(ledger)
    running, queued = run(ordinal=2), run(ordinal=3, status=RunStatus.QUEUED)
    done, answered = run(status=RunStatus.COMPLETED), request(number=1, status=RequestStatus.RESOLVED)
    await append(ledger, commit(done, answered, running, queued, item(), attempt(), request(number=2)))
    assert await ledger.head("c1") == Snapshot([conversation(), running, queued, request(number=2)], 8)


async def test_pages_go_back_to_the_beginning(ledger: Ledger) -> None:
    await begun(ledger)
    # Places may have gaps.
    items = [item(ord_=n * 10) for n in range(5)]
    await append(ledger, commit(*items))
    newest = await ledger.page("c1", None, 2)
    assert list(newest.items) == items[3:]
    older = await ledger.page("c1", newest.older, 2)
    assert list(older.items) == items[1:3]
    assert await ledger.page("c1", older.older, 2) == Page(items[:1], None)
    assert await ledger.page("c1", None, 5) == Page(items, None)


async def test_a_cursor_from_elsewhere_is_refused(ledger: Ledger) -> None:
    await begun(ledger)
    with pytest.raises(LedgerError) as refused:
        await ledger.page("c1", "nonsense", 2)
    assert refused.value.refusal.code is Code.INVALID_PARAMS
    with pytest.raises(LedgerError):
        await ledger.conversations(ListQuery(cursor="nonsense"))


async def test_an_entity_is_found_by_its_id(ledger: Ledger) -> None:
    await begun(ledger)
    entities = [run(), attempt(), item(), request()]
    await append(ledger, commit(*entities))
    assert [await ledger.find(entity.id) for entity in entities] == entities


async def test_the_list_begins_with_what_moved_last(ledger: Ledger) -> None:
    for n in (1, 2, 3):
        await begun(ledger, f"c{n}")
    await append(ledger, commit(run("c1"), conversation_id="c1", at=at(9)))
    await append(ledger, commit(run("c2"), conversation_id="c2", at=at(8)))
    found, cursor = await ledger.conversations(ListQuery(limit=2))
    assert ([one.conversation.id for one in found], cursor is None) == (["c1", "c2"], False)
    # The first one moves while somebody pages; what follows does not change.
    await append(ledger, commit(run("c1"), conversation_id="c1", at=at(20)))
    rest, end = await ledger.conversations(ListQuery(limit=2, cursor=cursor))
    assert ([one.conversation.id for one in rest], end) == (["c3"], None)


async def test_the_list_is_narrowed_by_workspace_title_and_archive(ledger: Ledger) -> None:
    await begun(ledger, "c1", title="Fix the ÄRGER", workspace="file:///w1")
    await begun(ledger, "c2", title="Write a poem", workspace="file:///w2")
    await begun(ledger, "c3", title="old", workspace="file:///w2", archived=True)

    async def ids(query: ListQuery) -> list[str]:
        return sorted(one.conversation.id for one in (await ledger.conversations(query))[0])

    assert await ids(ListQuery()) == ["c1", "c2"]
    assert await ids(ListQuery(workspace="file:///w2")) == ["c2"]
    assert await ids(ListQuery(query="ärger")) == ["c1"]
    assert await ids(ListQuery(query="%")) == []
    assert await ids(ListQuery(archived=True)) == ["c3"]


async def test_a_summary_says_what_a_list_shows(ledger: Ledger) -> None:
    await begun(ledger)
    notice = item(ord_=9, kind=ItemKind.NOTICE, payload=Notice(code="x", message="not an answer"))
    long = item(ord_=3, payload=AssistantMessage(text="  " + "é" * 300))
    await append(ledger, commit(item(ord_=1), long, item(ord_=4, payload=AssistantMessage(text=" ")), notice))
    await append(ledger, commit(run(interrupt=stop()), run(ordinal=2, status=RunStatus.QUEUED)))
    await append(ledger, commit(request(number=1), request(number=2)))
    assert await ledger.summary("c1") == Summary(
        conversation=conversation(),
        seq=9,
        last_text="é" * 200,
        pending_requests=2,
        active_run=True,
        queued_runs=1,
        stopping=True,
    )
    await append(ledger, commit(run(status=RunStatus.INTERRUPTED, interrupt=stop())))
    after = await ledger.summary("c1")
    assert after is not None
    assert (after.active_run, after.stopping, after.queued_runs) == (False, False, 1)


async def test_pending_requests_come_by_number(ledger: Ledger) -> None:
    await begun(ledger, "c1", workspace="file:///w1")
    await begun(ledger, "c2", workspace="file:///w2")
    await append(ledger, commit(request("c2", 1), conversation_id="c2"))
    await append(ledger, commit(request("c1", 3), request("c1", 2), request("c1", 4, status=RequestStatus.EXPIRED)))

    async def numbers(workspace: str | None = None, conversation_id: str | None = None) -> list[int]:
        return [one.number for one in await ledger.requests(workspace, conversation_id)]

    assert await numbers() == [1, 2, 3]
    assert await numbers(workspace="file:///w2") == [1]
    assert await numbers(conversation_id="c1") == [2, 3]
    assert await numbers("file:///w2", "c1") == []
    assert await ledger.request_by_number(4) == request("c1", 4, status=RequestStatus.EXPIRED)
    assert await ledger.request_by_number(5) is None


async def test_a_blob_is_found_by_its_digest(ledger: Ledger) -> None:
    content = bytes(range(256)) * 300
    digest = await ledger.put_blob(content)
    assert digest == sha256(content).hexdigest()
    assert await ledger.put_blob(content) == digest
    assert await ledger.get_blob(digest) == content
    assert await ledger.get_blob("0" * 64) is None


async def test_text_in_flight_is_kept_until_it_is_dropped(ledger: Ledger) -> None:
    ledger.keep_partial("c1", "i1", "Hel")
    ledger.keep_partial("c1", "i1", "Hello \ud83d")
    ledger.keep_partial("c1", "i2", "other")
    ledger.keep_partial("c2", "i1", "else")
    assert await ledger.partials("c1") == {"i1": "Hello ?", "i2": "other"}
    await ledger.drop_partials("c1")
    assert (await ledger.partials("c1"), await ledger.partials("c2")) == ({}, {"i1": "else"})


async def test_status_counts_what_there_is(ledger: Ledger) -> None:
    await begun(ledger)
    await begun(ledger, "c2")
    await append(ledger, commit(run(), request()))
    status = await ledger.status()
    assert (status.events, status.schema > 0, status.writable, status.error) == (4, True, True, None)
    assert (status.details["conversations"], status.details["pendingRequests"]) == (2, 1)
