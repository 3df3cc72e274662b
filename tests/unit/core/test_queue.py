"""The queue: a person edits, reorders, removes and holds what has not started."""

import pytest

from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import Block
from agent_ls.core.queue import QueueOp, QueueUpdate, update
from agent_ls.core.run import RunStatus
from tests.unit.core.world import World


def three() -> World:
    """r1 runs; r2, r3 and r4 wait."""
    world = World()
    for text in ("one", "two", "three", "four"):
        world.say(text)
    return world


def order(world: World) -> list[str]:
    return [run.id.removeprefix("c1.") for run in world.state.queue()]


def change(world: World, op: QueueOp, run: str | None = None, **fields: object) -> object:
    wanted = QueueUpdate(op=op, run_id=f"c1.{run}" if run else None, **fields)  # type: ignore[arg-type]
    return update(world.state, wanted, "t")


@pytest.mark.parametrize(
    ("run", "before", "expected"),
    [
        ("r4", "c1.r2", ["r4", "r2", "r3"]),
        ("r2", "c1.r4", ["r3", "r2", "r4"]),
        ("r2", None, ["r3", "r4", "r2"]),
        ("r4", None, ["r2", "r3", "r4"]),
        ("r3", "c1.r3", ["r2", "r3", "r4"]),
    ],
)
def test_a_message_moves_in_front_of_another_or_to_the_end(run: str, before: str | None, expected: list[str]) -> None:
    world = three()
    world.commit(change(world, QueueOp.MOVE, run, before=before))  # type: ignore[arg-type]
    assert order(world) == expected


def test_the_order_chosen_is_the_order_in_which_they_run() -> None:
    world = three()
    world.commit(change(world, QueueOp.MOVE, "r4", before="c1.r2"))  # type: ignore[arg-type]
    started = []
    for _ in range(3):
        world.reply(text="done")
        assert world.state.active is not None
        started.append(world.state.active.id)
    assert started == ["c1.r4", "c1.r2", "c1.r3"]


def test_a_removed_message_never_runs() -> None:
    world = three()
    world.commit(change(world, QueueOp.REMOVE, "r2"))  # type: ignore[arg-type]
    assert world.state.runs["c1.r2"].status is RunStatus.CANCELLED
    assert order(world) == ["r3", "r4"]
    world.reply(text="done")
    assert world.state.active is not None
    assert world.state.active.id == "c1.r3"


def test_an_edited_message_keeps_its_place() -> None:
    world = three()
    content = (Block(type="text", text="better"),)
    world.commit(change(world, QueueOp.EDIT, "r2", content=content))  # type: ignore[arg-type]
    assert world.state.runs["c1.r2"].content == content
    assert order(world) == ["r2", "r3", "r4"]


@pytest.mark.parametrize("content", [(), (Block(type="text", text="  "),)])
def test_a_message_cannot_be_edited_to_nothing(content: tuple[Block, ...]) -> None:
    refused = change(three(), QueueOp.EDIT, "r2", content=content)
    assert isinstance(refused, Refusal)
    assert refused.code is Code.INVALID_PARAMS


def test_what_has_started_or_never_was_is_not_in_the_queue() -> None:
    world = three()
    running, unknown = change(world, QueueOp.REMOVE, "r1"), change(world, QueueOp.EDIT, "r9")
    assert isinstance(running, Refusal)
    assert isinstance(unknown, Refusal)
    assert (running.code, running.message) == (Code.NOT_FOUND, "Message 1 is not queued any more: it is running.")
    assert (unknown.code, unknown.message) == (Code.NOT_FOUND, "There is no queued message `c1.r9`.")


def test_a_held_queue_starts_nothing_until_it_is_released() -> None:
    world = three()
    world.commit(change(world, QueueOp.HOLD))  # type: ignore[arg-type]
    world.reply(text="done")
    assert (world.state.active, order(world)) == (None, ["r2", "r3", "r4"])
    done = world.commit(change(world, QueueOp.RELEASE))  # type: ignore[arg-type]
    assert done.result == {"queueHeld": False}
    assert world.state.active is not None
    assert (world.state.active.id, order(world)) == ("c1.r2", ["r3", "r4"])


def test_releasing_while_a_run_goes_on_starts_nothing_beside_it() -> None:
    world = three()
    world.commit(change(world, QueueOp.HOLD))  # type: ignore[arg-type]
    world.commit(change(world, QueueOp.RELEASE))  # type: ignore[arg-type]
    assert world.state.active is not None
    assert world.state.active.id == "c1.r1"


def test_holding_twice_changes_nothing() -> None:
    world = three()
    world.commit(change(world, QueueOp.HOLD))  # type: ignore[arg-type]
    assert world.commit(change(world, QueueOp.HOLD)).facts == ()  # type: ignore[arg-type]


def test_a_promoted_message_joins_the_run_that_goes_on() -> None:
    world = three()
    promoted = world.state.runs["c1.r2"]
    assert world.commit(change(world, QueueOp.PROMOTE, "r2")).result == {"runId": "c1.r1"}  # type: ignore[arg-type]
    assert world.state.runs["c1.r2"].status is RunStatus.CANCELLED
    assert [steer.content for steer in world.state.runs["c1.r1"].steers] == [promoted.content]
