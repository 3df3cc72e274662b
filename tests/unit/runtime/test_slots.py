"""Places for subagents: four at once in a tree, and a tree that never waits for itself."""

import anyio
import pytest

from agent_ls.runtime.slots import Slots

pytestmark = pytest.mark.anyio


class Work:
    """Subagents as tasks that hold a place until they are told to end."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.going: list[str] = []
        self._ends: dict[str, anyio.Event] = {}

    async def run(self, child: str, parent: str) -> None:
        end = self._ends[child] = anyio.Event()
        async with self.slots.place("root", parent, child, at_once=False):
            self.going.append(child)
            await end.wait()
            self.going.remove(child)

    def end(self, child: str) -> None:
        self._ends[child].set()


async def test_who_comes_late_waits_and_goes_in_the_order_of_coming() -> None:
    async with anyio.create_task_group() as group:
        work = Work(Slots(2))
        for name in "abcd":
            group.start_soon(work.run, name, "root")
        await anyio.wait_all_tasks_blocked()
        assert work.going == ["a", "b"]
        assert work.slots.would_wait("root", "root")
        work.end("a")
        await anyio.wait_all_tasks_blocked()
        assert work.going == ["b", "c"]
        group.cancel_scope.cancel()


async def test_one_that_waits_for_its_own_does_not_count_so_a_tree_never_waits_for_itself() -> None:
    async with anyio.create_task_group() as group:
        work = Work(Slots(2))
        for name in "ab":
            group.start_soon(work.run, name, "root")
        await anyio.wait_all_tasks_blocked()
        for parent in "ab":
            group.start_soon(work.run, f"{parent}1", parent)
            group.start_soon(work.run, f"{parent}2", parent)
        await anyio.wait_all_tasks_blocked()
        assert sorted(work.going) == ["a", "a1", "a2", "b"]
        for child in ("a1", "a2"):
            work.end(child)
        await anyio.wait_all_tasks_blocked()
        # `a` works again, so only one of the other two has a place.
        assert sorted(work.going) == ["a", "b", "b1"]
        work.end("a")
        await anyio.wait_all_tasks_blocked()
        assert sorted(work.going) == ["b", "b1", "b2"]
        group.cancel_scope.cancel()


async def test_one_that_works_already_takes_its_place_at_once() -> None:
    async with anyio.create_task_group() as group:
        work = Work(Slots(1))
        group.start_soon(work.run, "a", "root")
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(5):
            async with work.slots.place("root", "root", "b", at_once=True):
                assert work.going == ["a"]
        group.cancel_scope.cancel()
