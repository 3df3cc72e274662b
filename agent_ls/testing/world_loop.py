"""A loop whose time jumps and whose order is drawn: the same seed runs the same history, step by step.

Owns virtual time, the seeded order in which ready callbacks run, and processes: everything that a process started can
be halted at whatever await it stands, for a while (a suspended machine) or for good (`kill -9`). Knows nothing of
daemons or editors.
"""

import asyncio
import heapq
import inspect
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, ContextVar, copy_context
from random import Random
from typing import Any, Final

_HERE: ContextVar["Process | None"] = ContextVar("process", default=None)
_POSTPONED: Final = 0.1
_LONGEST: Final = 50_000


class Stuck(Exception):
    """Nothing is ready and no timer runs, or things go round in a circle: nobody gets any further."""


class Task(asyncio.Task[Any]):
    """Counted, so that whoever keeps tasks in a set meets them in the same order every time."""

    number: int

    def __hash__(self) -> int:
        return self.number


class Process:
    """What runs together and is halted together."""

    def __init__(self, name: str, loop: "WorldLoop") -> None:
        self.name = name
        self.dead = False
        self._loop = loop
        self._halted: list[asyncio.Handle] | None = None
        self.context: Context = copy_context()
        self.context.run(_HERE.set, self)

    @property
    def running(self) -> bool:
        return self._halted is None

    def spawn(self, work: Coroutine[Any, Any, Any], name: str) -> "asyncio.Task[Any]":
        return self._loop.create_task(work, name=f"{self.name} {name}", context=self.context)

    def later(self, seconds: float, work: Callable[[], None]) -> None:
        """Does it inside the process: not before it runs again, never once it is dead."""
        self._loop.call_later(seconds, work, context=self.context)

    def kill(self) -> None:
        """Nothing of it ever runs again; nothing is cancelled, nothing is cleaned up."""
        self.dead = True
        self._halt()

    def stall(self) -> None:
        self._halt()

    def resume(self) -> None:
        if not self.dead:
            self.release()

    def release(self) -> None:
        """Lets even a dead one go on; only for taking the world apart."""
        held, self._halted = self._halted or [], None
        self._loop.ready_again(held)

    def holds_back(self, handle: asyncio.Handle) -> bool:
        if self._halted is None:
            return False
        self._halted.append(handle)
        return True

    def _halt(self) -> None:
        if self._halted is None:
            self._halted = []


class WorldLoop(asyncio.BaseEventLoop):
    """Runs on no selector and no clock: when nothing is ready, the next timer is now."""

    def __init__(self, chance: Random) -> None:
        super().__init__()
        self._chance = chance
        self._seconds = 0.0
        self._tasks_made = 0
        self.turns = 0
        self._outside = copy_context()
        self._made: list[Task] = []
        self.ready: Any = self._ready  # type: ignore[attr-defined]
        self.timers: Any = self._scheduled  # type: ignore[attr-defined]

    def time(self) -> float:
        return self._seconds

    def create_task(self, coro: Any, *, name: Any = None, context: Context | None = None) -> "asyncio.Task[Any]":
        self._tasks_made += 1
        task = Task.__new__(Task)
        task.number = self._tasks_made
        task.__init__(coro, loop=self, name=name, context=context)  # type: ignore[misc]
        self._made.append(task)
        return task

    def outside(self, seconds: float, work: Callable[[], None]) -> None:
        """Does it in no process, whichever asks for it."""
        self.call_later(seconds, work, context=self._outside)

    def unfinished(self) -> list["asyncio.Task[Any]"]:
        return [task for task in self._made if not task.done()]

    def ready_again(self, handles: list[asyncio.Handle]) -> None:
        self.ready.extend(handles)

    def take_apart(self, processes: list[Process]) -> list[str]:
        """Cancels whatever is left, so that nothing outlives the history; names of what does not end."""
        for process in processes:
            process.release()
        left = self.unfinished()
        for _ in range(200):
            self.run_until_complete(_turns(8))
            left = self.unfinished()
            if not left:
                return []
            for task in left:
                # One that has not begun would never be awaited.
                if inspect.getcoroutinestate(task.get_coro()) != inspect.CORO_CREATED:  # type: ignore[arg-type]
                    task.cancel()
        return [task.get_name() for task in left]

    def _run_once(self) -> None:
        self.turns += 1
        if self.turns > _LONGEST:
            self.turns = 0
            raise Stuck(f"going round in a circle at {self._seconds:.3f} s")
        self._wake_timers()
        for handle in self._drawn():
            process = handle._context.get(_HERE)  # type: ignore[attr-defined]
            if not handle.cancelled() and not (process is not None and process.holds_back(handle)):
                handle._run()

    def _wake_timers(self) -> None:
        while self.timers and self.timers[0].cancelled():
            self._drop_timer()
        if not self.ready:
            if not self.timers:
                raise Stuck("everybody waits for ever")
            self._seconds = max(self._seconds, self.timers[0].when())
        while self.timers and self.timers[0].when() <= self._seconds:
            self.ready.append(self._drop_timer())

    def _drop_timer(self) -> asyncio.TimerHandle:
        handle: asyncio.TimerHandle = heapq.heappop(self.timers)
        handle._scheduled = False  # type: ignore[attr-defined]
        return handle

    def _drawn(self) -> list[asyncio.Handle]:
        """What is ready, in an order that the seed gives; some of it has to wait for the next turn."""
        handles = list(self.ready)
        self.ready.clear()
        if len(handles) == 1:
            return handles
        # Sets of libraries hand over tasks in the order of their addresses: first an order that is always the same.
        handles.sort(key=_number)
        self._chance.shuffle(handles)
        if self._chance.random() < _POSTPONED:
            self.ready.append(handles.pop())
        return handles

    def _process_events(self, event_list: Any) -> None:
        """There is no outside world."""

    def _write_to_self(self) -> None:
        """No thread ever wakes this loop."""

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """It is dropped when its time comes."""


class Turn:
    """`await Turn()`: everybody else goes first, and not even cancellation is looked at."""

    def __await__(self) -> Generator[None, None, None]:
        yield


async def pause(seconds: float) -> None:
    if seconds <= 0:
        await Turn()
        return
    loop = asyncio.get_running_loop()
    woken: asyncio.Future[None] = loop.create_future()
    timer = loop.call_later(seconds, _wake, woken)
    try:
        await woken
    finally:
        timer.cancel()


async def for_ever() -> None:
    await asyncio.get_running_loop().create_future()


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


async def _turns(count: int) -> None:
    for _ in range(count):
        await Turn()


def _number(handle: asyncio.Handle) -> int:
    owner = getattr(handle._callback, "__self__", None)  # type: ignore[attr-defined]
    return owner.number if isinstance(owner, Task) else 0
