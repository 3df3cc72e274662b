"""What is deleted after its time, and what a deletion leaves: nothing beside the ledger, no blob of its own."""

from collections.abc import Iterable
from typing import Any

import pytest

from agent_ls.core.conversation import Change, update
from agent_ls.core.draft import Draft
from agent_ls.core.errors import Refusal
from agent_ls.core.events import ConversationFact
from agent_ls.core.request import Decision
from agent_ls.runtime.housekeeping import DAY_S, FIRST_S, GRACE_S, LOOK_S, Housekeeper
from tests.unit.runtime.house import ID, HandTool, House, open_house

pytestmark = pytest.mark.anyio

YEAR_DAYS = 366.0


class SpoolTool(HandTool):
    """A tool that keeps something on disk for each call."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.forgotten: list[str] = []

    def forget(self, item_id: str, spool: str) -> None:
        self.forgotten.append(item_id)


class Kept:
    """What the housekeeper was told to drop, and to tell."""

    def __init__(self) -> None:
        self.cards: list[int] = []
        self.gone: list[str] = []

    async def drop(self, numbers: Iterable[int]) -> None:
        self.cards += numbers


def keeper(house: House, kept: Kept, keep_days: float | None = None) -> Housekeeper:
    return Housekeeper(house.registry, keep_days=keep_days, drop_cards=kept.drop, gone=kept.gone.append)


async def archive(house: House) -> None:
    def decide(state: Any, at: str) -> Any:
        changed = update(state.conversation, Change(archived=True), at, may_auto=False)
        assert not isinstance(changed, Refusal)
        draft = Draft(state, at)
        draft.put(ConversationFact.UPDATED, changed)
        return draft.done()

    assert not isinstance(await house.command(decide), Refusal)


def a_year_later(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(house.clock, "now", lambda: "2027-06-01T00:00:00.000Z")
    house.clock.seconds += FIRST_S


async def test_a_deleted_conversation_leaves_nothing_beside_the_ledger() -> None:
    tool, kept = SpoolTool(name="shell"), Kept()
    async with open_house(tool) as house:
        await house.create()
        house.model.says("", ("shell", '{"name": "one", "writes": ["/etc/x"]}'))
        house.model.says("done")
        await house.say()
        await house.until(lambda: bool(house.actor.state.pending))
        (item,) = house.calls()
        await house.answer(item.id, Decision.ALLOW)
        await house.rest()
        tool.forgotten.clear()
        assert await keeper(house, kept).delete("k1", ID) == {}
        assert (tool.forgotten, kept.cards, kept.gone) == ([item.id], [1], [ID])
        assert await house.ledger.load(ID) is None


async def test_while_a_run_goes_on_nothing_is_deleted() -> None:
    kept = Kept()
    async with open_house(HandTool()) as house:
        await house.create()
        house.model.says("", ("edit", '{"name": "one", "writes": ["/etc/x"]}'))
        await house.say()
        await house.until(lambda: bool(house.actor.state.pending))
        refused = await keeper(house, kept).delete("k1", ID)
        assert isinstance(refused, Refusal)
        assert (kept.cards, kept.gone) == ([], [])


@pytest.mark.parametrize(
    ("keep_days", "archived", "deleted"),
    [(YEAR_DAYS, True, True), (YEAR_DAYS, False, False), (None, True, False), (5 * YEAR_DAYS, True, False)],
)
async def test_only_what_was_archived_longer_ago_is_deleted(
    keep_days: float | None, monkeypatch: pytest.MonkeyPatch, *, archived: bool, deleted: bool
) -> None:
    kept = Kept()
    async with open_house() as house:
        await house.create()
        if archived:
            await archive(house)
        housekeeper = keeper(house, kept, keep_days)
        a_year_later(house, monkeypatch)
        await housekeeper.look()
        assert (await house.ledger.load(ID) is None) is deleted
        assert kept.gone == ([ID] if deleted else [])


async def test_it_looks_once_a_day_and_not_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept()
    async with open_house() as house:
        await house.create()
        housekeeper = keeper(house, kept, YEAR_DAYS)
        await archive(house)
        monkeypatch.setattr(house.clock, "now", lambda: "2027-06-01T00:00:00.000Z")
        await housekeeper.look()
        assert kept.gone == []
        house.clock.seconds += FIRST_S
        await housekeeper.look()
        assert kept.gone == [ID]


async def test_a_conversation_that_somebody_looks_at_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept()
    async with open_house() as house:
        await house.create()
        await archive(house)
        housekeeper = keeper(house, kept, YEAR_DAYS)
        a_year_later(house, monkeypatch)
        house.services.feed.subscribe(ID, _Window())
        await housekeeper.look()
        assert kept.gone == []


async def test_blobs_of_a_deleted_conversation_go_after_their_time() -> None:
    async with open_house() as house:
        house.ledger.store.seconds = house.clock.monotonic
        await house.create()
        digest = await house.ledger.put_blob(b"nobody's")
        housekeeper = keeper(house, Kept())
        await housekeeper.delete("k1", ID)
        await housekeeper.look()
        assert await house.ledger.get_blob(digest) == b"nobody's"
        house.clock.seconds += GRACE_S + LOOK_S
        await housekeeper.look()
        assert await house.ledger.get_blob(digest) is None


async def test_rounds_go_on_day_after_day() -> None:
    async with open_house() as house:
        house.ledger.store.seconds = house.clock.monotonic
        housekeeper = keeper(house, Kept())
        for _ in range(3):
            digest = await house.ledger.put_blob(b"again")
            for seconds in (DAY_S, GRACE_S + LOOK_S):
                house.clock.seconds += seconds
                await housekeeper.look()
            assert await house.ledger.get_blob(digest) is None


class _Window:
    def on_events(self, conversation_id: str, events: Any) -> None: ...

    def on_stream(self, conversation_id: str, update: Any) -> None: ...
