"""Waiting for locks: woken in order, given back on every way out, seen by everybody."""

from collections.abc import Sequence

import anyio
import pytest
from anyio.abc import TaskStatus

from agent_ls.core.locks import Holder, Lock
from agent_ls.runtime.lock_table import LockTable

pytestmark = pytest.mark.anyio

ROOT = "file:///w"
FILE = "file:///w/a.py"


class Ticks:
    """A clock that moves by itself, one second a look."""

    def __init__(self) -> None:
        self.seconds = 0

    def now(self) -> str:
        self.seconds += 1
        return f"t{self.seconds}"

    def monotonic(self) -> float:
        return float(self.seconds)

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing here waits for time")


class Call:
    """A call that holds keys until it is told to end."""

    def __init__(self, table: LockTable, name: str, keys: Sequence[str]) -> None:
        self.table, self.name, self.keys = table, name, keys
        self.holding, self.end, self.gone = anyio.Event(), anyio.Event(), anyio.Event()
        self.scope = anyio.CancelScope()

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        try:
            with self.scope:
                async with self.table.hold(self.keys, Holder(self.name, "r", f"i-{self.name}"), since="asked"):
                    self.holding.set()
                    await self.end.wait()
        finally:
            self.gone.set()


async def test_two_conversations_on_one_file_wait_for_each_other_and_both_are_seen() -> None:
    table = LockTable(Ticks())
    first, second = Call(table, "one", [FILE]), Call(table, "two", [ROOT])
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            await group.start(first.run)
            await first.holding.wait()
            await group.start(second.run)
            await anyio.lowlevel.checkpoint()
            assert table.held() == (_lock(FILE, "one", "asked", waiting=1),)
            assert table.waiting() == (_lock(ROOT, "two", "asked", waiting=1),)
            first.end.set()
            await second.holding.wait()
            assert table.held() == (_lock(ROOT, "two", "t1", waiting=0),)
            second.end.set()
    assert (table.held(), table.waiting()) == ((), ())


async def test_a_cancelled_waiter_and_a_cancelled_holder_both_give_way() -> None:
    table = LockTable(Ticks())
    calls = [Call(table, name, [ROOT]) for name in ("one", "two", "three")]
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for call in calls:
                await group.start(call.run)
            await calls[0].holding.wait()
            calls[1].scope.cancel()
            await calls[1].gone.wait()
            calls[0].scope.cancel()
            await calls[2].holding.wait()
            assert not calls[1].holding.is_set()
            calls[2].end.set()
    assert (table.held(), table.waiting()) == ((), ())


async def test_a_call_cancelled_just_as_its_turn_comes_does_not_keep_it() -> None:
    table = LockTable(Ticks())
    first, second, third = (Call(table, name, [ROOT]) for name in ("one", "two", "three"))
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for call in (first, second, third):
                await group.start(call.run)
            await first.holding.wait()
            first.end.set()
            await first.gone.wait()
            second.scope.cancel()
            await third.holding.wait()
            third.end.set()
    assert (table.held(), table.waiting()) == ((), ())


async def test_an_error_inside_gives_back_and_is_not_swallowed() -> None:
    table = LockTable(Ticks())
    with pytest.raises(RuntimeError, match="bug"):
        async with table.hold([FILE], Holder("one", "r", "i"), since="asked"):
            raise RuntimeError("bug")
    assert table.held() == ()


async def test_calls_of_one_conversation_that_write_one_file_go_in_order() -> None:
    table = LockTable(Ticks())
    order: list[int] = []

    async def write(n: int) -> None:
        async with table.hold([FILE], Holder("one", "r", f"i{n}"), since="asked"):
            await anyio.lowlevel.checkpoint()
            order.append(n)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for n in range(20):
                group.start_soon(write, n)
    assert order == list(range(20))


async def test_no_keys_never_wait_and_every_change_is_told() -> None:
    told: list[int] = []
    table = LockTable(Ticks(), lambda: told.append(len(table.held())))
    with anyio.fail_after(5):
        async with (
            table.hold([ROOT], Holder("one", "r", "i"), since="asked"),
            table.hold([], Holder("two", "r", "j"), since="asked"),
        ):
            pass
    assert told == [1, 0]


def _lock(key: str, conversation: str, since: str, *, waiting: int) -> Lock:
    return Lock(
        key=key, conversation_id=conversation, run_id="r", item_id=f"i-{conversation}", since=since, waiting=waiting
    )
