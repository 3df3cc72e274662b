"""A model in trouble is asked again: seen, on record, hurried, stopped, and waited out by a successor."""

import pytest

from agent_ls.adapters.ledger.memory import Store
from agent_ls.core import wait
from agent_ls.core.attempt import AttemptStatus, Reason
from agent_ls.core.dispatch import Dispatch
from agent_ls.core.failure import Cause, Failure
from agent_ls.core.items import AssistantMessage, Item, ItemStatus, Notice
from agent_ls.core.messages import UserTurn
from agent_ls.core.run import RunStatus
from agent_ls.ports.provider import TextFrame
from agent_ls.runtime.drain import DrainMode
from agent_ls.runtime.services import Limits
from tests.unit.runtime.house import ID, House, Say, open_house

pytestmark = pytest.mark.anyio

RUN = f"{ID}.r1"
BUSY = Failure(Cause.OVERLOADED, "It is busy just now. Wait a little, then send the message again.", "503", 503, "100")


def waits(house: House) -> list[Item]:
    return [
        item
        for item in house.actor.state.items.values()
        if isinstance(item.payload, Notice) and item.payload.code == wait.CODE
    ]


def said(house: House) -> list[tuple[str, ItemStatus]]:
    items = house.actor.state.items.values()
    return [(item.payload.text, item.status) for item in items if isinstance(item.payload, AssistantMessage)]


async def waiting(house: House, *frames: TextFrame, failure: Failure = BUSY) -> Item:
    """A run whose model is going to be asked again."""
    house.model.script.append(Say(failure, frames=frames))
    house.model.says("done")
    await house.create()
    await house.say()
    await house.until(lambda: house.actor.state.runs[RUN].retry is not None)
    await house.clock.someone_sleeps()
    return waits(house)[-1]


async def test_the_wait_is_seen_and_then_the_same_attempt_goes_on() -> None:
    async with open_house() as house:
        notice = await waiting(house)
        assert isinstance(notice.payload, Notice)
        assert notice.status is ItemStatus.RUNNING
        assert (notice.payload.tried, notice.payload.most) == (1, 3)
        assert notice.payload.message == "It is busy just now (503). Asking again after 100 s (1 of 3)."
        assert [(s.item_id, s.phase) for s in house.services.feed.streams(ID)] == [(notice.id, "retrying")]
        await house.clock.wake()
        await house.rest()
        assert said(house) == [("done", ItemStatus.COMPLETED)]
        assert [attempt.status for attempt in house.actor.state.attempts.values()] == [AttemptStatus.COMPLETED]
        assert waits(house)[0].status is ItemStatus.COMPLETED
        assert house.services.feed.streams(ID) == []


async def test_what_was_seen_stays_and_a_new_attempt_is_asked_without_it() -> None:
    async with open_house() as house:
        await waiting(house, TextFrame(0, "half an answer"))
        assert house.actor.state.runs[RUN].active_attempt_id == f"{RUN}.a2"
        await house.clock.wake()
        await house.rest()
        assert said(house) == [("half an answer", ItemStatus.INTERRUPTED), ("done", ItemStatus.COMPLETED)]
        attempts = [(attempt.status, attempt.reason) for attempt in house.actor.state.attempts.values()]
        assert attempts == [(AttemptStatus.FAILED, Reason.INITIAL), (AttemptStatus.COMPLETED, Reason.RETRY)]
        assert [type(turn) for turn in house.model.requests[-1].messages] == [UserTurn]


async def test_the_person_need_not_wait() -> None:
    async with open_house() as house:
        await waiting(house)
        for _ in range(2):
            await house.command(lambda state, at: wait.hurry(state, RUN, at))
        await house.rest()
        assert said(house) == [("done", ItemStatus.COMPLETED)]


async def test_a_stop_ends_the_wait_at_once() -> None:
    async with open_house() as house:
        await waiting(house)
        await house.stop(RUN)
        await house.rest()
        assert house.actor.state.runs[RUN].status is RunStatus.INTERRUPTED
        assert waits(house)[0].status is ItemStatus.CANCELLED
        assert len(house.model.requests) == 1


async def test_a_message_that_restarts_ends_the_wait_and_one_that_steers_waits_with_it() -> None:
    async with open_house() as house:
        await waiting(house)
        await house.say("and this", Dispatch.STEER)
        assert house.actor.state.runs[RUN].retry is not None
        await house.say("no, that", Dispatch.RESTART)
        await house.rest()
        assert said(house) == [("done", ItemStatus.COMPLETED)]
        (turn,) = house.model.requests[-1].messages
        assert isinstance(turn, UserTurn)
        assert [block.text for block in turn.content] == ["go", "and this", "no, that"]


async def test_all_tries_of_a_run_count_together_and_the_end_says_how_many() -> None:
    async with open_house() as house:
        failure = Failure(Cause.SERVER, "It failed.", status=500, retry_after="100")
        for frames in ((), (TextFrame(0, "half"),), (), ()):
            house.model.script.append(Say(failure, frames=frames))
        await house.create()
        await house.say()
        for _ in range(3):
            await house.clock.wake()
        await house.rest()
        error = house.actor.state.runs[RUN].error
        assert error is not None
        assert error["message"] == "It failed. It was asked 4 times."
        assert [item.status for item in waits(house)] == [ItemStatus.COMPLETED] * 3


async def test_a_server_that_wants_to_be_left_alone_for_long_is_and_the_person_learns_for_how_long() -> None:
    async with open_house() as house:
        house.model.script.append(Say(Failure(Cause.RATE_LIMITED, "Too many.", retry_after="86400")))
        await house.create()
        await house.say()
        await house.rest()
        error = house.actor.state.runs[RUN].error
        assert error is not None
        assert error["message"] == "Too many. It wants to be asked again in 24 hours."


async def test_a_successor_waits_out_what_is_left_and_then_asks() -> None:
    store = Store()
    async with open_house(store=store) as house:
        await waiting(house, TextFrame(0, "half"))
        await house.ledger.claim(ID, "successor")
    async with open_house(store=store, boot="b2") as house:
        house.model.says("done")
        await house.registry.recover_all(5)
        await house.clock.someone_sleeps()
        assert house.model.requests == []
        assert [stream.phase for stream in house.services.feed.streams(ID)] == ["retrying"]
        await house.clock.wake()
        await house.rest()
        assert said(house) == [("half", ItemStatus.INTERRUPTED), ("done", ItemStatus.COMPLETED)]


async def test_a_daemon_that_is_to_end_does_not_wait() -> None:
    async with open_house() as house:
        await waiting(house)
        house.services.drain.begin(DrainMode.SHUTDOWN, 60)
        assert await house.services.drain.settled()
        assert house.actor.state.runs[RUN].retry is not None


async def test_switched_off_a_failure_is_the_end() -> None:
    async with open_house(limits=Limits(retries_per_run=0)) as house:
        house.model.script.append(Say(BUSY))
        await house.create()
        await house.say()
        await house.rest()
        assert house.actor.state.runs[RUN].status is RunStatus.FAILED
        assert waits(house) == []
