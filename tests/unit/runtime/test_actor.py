"""The actor: one command, one commit, one answer; nobody is told before it is durable."""

import anyio
import pytest

from agent_ls.core.dispatch import Message, send
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import Block
from agent_ls.core.queue import QueueOp, QueueUpdate, update
from agent_ls.runtime.patience import Fenced, record_patiently
from tests.unit.runtime.house import ID, House, Told, full_disk, open_house

pytestmark = pytest.mark.anyio


def hold(state, at):
    return update(state, QueueUpdate(op=QueueOp.HOLD), at)


def release_nothing(state, at):
    return update(state, QueueUpdate(op=QueueOp.REMOVE, run_id="no such run"), at)


def commands_of(house: House) -> set[str]:
    return {command for command in house.ledger.store.receipts if command != "create"}


async def test_the_same_command_gets_the_same_answer_and_is_done_once() -> None:
    async with open_house() as house:
        await house.create()
        first = await house.actor.command("k1", hold)
        again = await house.actor.command("k1", hold)
        assert first == again == {"queueHeld": True, "seq": 2}
        assert house.actor.state.seq == 2


async def test_a_refusal_is_remembered_as_well() -> None:
    async with open_house() as house:
        await house.create()
        first = await house.actor.command("k1", release_nothing)
        again = await house.actor.command("k1", hold)
        assert isinstance(first, Refusal)
        assert first.code is Code.NOT_FOUND
        assert again == first
        assert not house.actor.state.conversation.queue_held


async def test_a_command_id_of_another_conversation_is_a_conflict() -> None:
    async with open_house() as house:
        await house.create()
        refused = await house.actor.command("create", hold)
        assert refused == {"conversationId": ID, "seq": 1}
        wanted = house.actor.state.conversation
        other = await house.registry.create("other", type(wanted)(**{**vars(wanted), "id": "c2"}), may_auto=False)
        assert other == {"conversationId": "c2", "seq": 1}
        conflict = await house.actor.command("other", hold)
        assert isinstance(conflict, Refusal)
        assert conflict.code is Code.COMMAND_CONFLICT


async def test_ten_copies_of_a_command_at_once_are_done_once() -> None:
    async with open_house() as house:
        await house.create()
        answers = []

        async def send_it() -> None:
            answers.append(await house.actor.command("k1", hold))

        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(send_it)
        assert answers == [{"queueHeld": True, "seq": 2}] * 10
        assert commands_of(house) == {"k1"}


async def test_a_caller_that_goes_away_in_mid_commit_changes_nothing_about_it() -> None:
    async with open_house() as house:
        await house.create()
        told = Told()
        house.services.feed.subscribe(ID, told)
        house.ledger.gate, house.ledger.reached = anyio.Event(), anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(house.actor.command, "k1", hold)
            await house.ledger.reached.wait()
            group.cancel_scope.cancel()
            house.ledger.gate.set()
        house.ledger.gate = None
        assert [event.fact for event in told.events] == ["queue_held"]
        assert await house.actor.command("k1", hold) == {"queueHeld": True, "seq": 2}


async def test_nothing_is_told_before_the_commit_and_everything_in_order_after_it() -> None:
    async with open_house() as house:
        await house.create()
        told = Told()
        house.services.feed.subscribe(ID, told)
        house.ledger.gate, house.ledger.reached = anyio.Event(), anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(house.actor.command, "k1", hold)
            group.start_soon(house.actor.command, "k2", lambda s, at: send(s, Message(content=(TEXT,)), at))
            await house.ledger.reached.wait()
            assert told.events == []
            assert house.actor.state.seq == 1
            house.ledger.gate.set()
        house.ledger.gate = None
        assert [event.seq for event in told.events] == list(range(2, 2 + len(told.events)))
        assert told.events[0].fact == "queue_held"
        assert house.actor.state.seq >= told.events[-1].seq


async def test_a_ledger_that_cannot_write_refuses_the_command_and_keeps_no_receipt() -> None:
    async with open_house() as house:
        await house.create()
        house.ledger.moods = [full_disk()]
        refused = await house.actor.command("k1", hold)
        assert isinstance(refused, Refusal)
        assert refused.code is Code.DISK_FULL
        assert not house.actor.state.conversation.queue_held
        assert await house.actor.command("k1", hold) == {"queueHeld": True, "seq": 2}


async def test_what_has_happened_is_written_down_once_the_ledger_can_again() -> None:
    async with open_house() as house:
        await house.create()
        house.ledger.moods = [full_disk(), full_disk()]
        done = []

        async def record() -> None:
            done.append(await record_patiently(house.actor, hold, house.clock))

        async with anyio.create_task_group() as group:
            group.start_soon(record)
            await house.clock.wake()
            await house.clock.wake()
        assert done == [True]
        assert house.actor.state.conversation.queue_held
        assert house.clock.seconds == pytest.approx(0.1 + 0.2)


@pytest.mark.parametrize("code", [Code.STALE_EPOCH, Code.NOT_FOUND])
async def test_a_conversation_that_is_no_longer_ours_is_not_written_to_for_ever(code: Code) -> None:
    async with open_house() as house:
        await house.create()
        house.ledger.moods = [Refusal(code, "It is not yours.")]
        with pytest.raises(Fenced):
            await record_patiently(house.actor, hold, house.clock)


async def test_nothing_to_record_is_no_commit() -> None:
    async with open_house() as house:
        await house.create()
        assert not await house.actor.record(lambda state, at: None)
        assert house.actor.state.seq == 1


async def test_a_decision_that_fails_leaves_the_next_command_its_turn() -> None:
    def bug(state, at):
        raise RuntimeError("bug")

    async with open_house() as house:
        await house.create()
        with pytest.raises(RuntimeError, match="bug"):
            await house.actor.command("k1", bug)
        assert await house.actor.command("k2", hold) == {"queueHeld": True, "seq": 2}


async def test_after_a_takeover_the_old_owner_is_told_that_its_claim_is_stale() -> None:
    async with open_house() as house:
        await house.create()
        actor = house.actor
        await house.ledger.claim(ID, "another daemon")
        refused = await actor.command("k1", hold)
        assert isinstance(refused, Refusal)
        assert (refused.code, actor.state.seq, actor.fenced) == (Code.STALE_EPOCH, 1, True)


async def test_a_conversation_that_could_not_be_created_does_not_exist() -> None:
    async with open_house() as house:
        house.ledger.moods = [full_disk()]
        with pytest.raises(AssertionError):
            await house.create()
        found = await house.registry.actor(ID)
        assert isinstance(found, Refusal)
        assert found.code is Code.NOT_FOUND
        await house.create()
        assert house.actor.state.exists


TEXT = Block(type="text", text="hello")
