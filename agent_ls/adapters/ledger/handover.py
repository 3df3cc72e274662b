"""Between the loop and the threads of a ledger: work goes over in a queue, results come back in one call.

Owns the job and its way back. Does not own what a job does.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from agent_ls.adapters.ledger.trouble import ledger_error
from agent_ls.core.errors import Code, Refusal
from agent_ls.ports.ledger import LedgerError

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Job:
    """`work` runs on the thread that owns the connection. Without a future nobody waits for it.

    `reserved`: may use the space held back for a full disk.
    """

    work: Callable[[sqlite3.Connection], Any]
    future: "asyncio.Future[Any] | None" = None
    reserved: bool = False


@dataclass(frozen=True, eq=False)
class Outcome:
    job: Job
    value: Any = None
    error: BaseException | None = None


def deliver(outcomes: Iterable[Outcome]) -> None:
    """Hands results back, with one wake-up of the loop for all of them."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Outcome]]] = {}
    for outcome in outcomes:
        if (future := outcome.job.future) is not None:
            by_loop.setdefault(future.get_loop(), []).append((future, outcome))
    for loop, group in by_loop.items():
        # A loop that is closed has nobody left who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_resolve, group)


def attempt(job: Job, connection: sqlite3.Connection) -> Outcome:
    """Runs a job. Its error belongs to whoever waits for it and must not end the thread."""
    try:
        return Outcome(job, job.work(connection))
    except Exception as error:  # noqa: BLE001 - handed to the caller as it is
        return Outcome(job, error=error)


def closed() -> LedgerError:
    return LedgerError(Refusal(Code.LEDGER_UNAVAILABLE, "The ledger is closed; connect again."))


class Line:
    """A thread with a connection of its own that does one job after the other: reads, or unsynced writes."""

    def __init__(self, name: str, path: Path, connect: Callable[[], sqlite3.Connection]) -> None:
        self._path = path
        self._connect = connect
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._closed = False
        self._ended: asyncio.Future[None] | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._closed:
            raise closed()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put(Job(work, future))
        return await future

    def post(self, work: Callable[[sqlite3.Connection], Any]) -> None:
        """Does it some time, tells nobody."""
        if not self._closed:
            self._jobs.put(Job(work))

    async def close(self) -> None:
        if self._closed:
            return
        self._ended = asyncio.get_running_loop().create_future()
        self._closed = True
        self._jobs.put(None)
        await self._ended
        self._thread.join()

    def _run(self) -> None:
        connection: sqlite3.Connection | None = None
        while (job := self._jobs.get()) is not None:
            try:
                connection = connection or self._connect()
            except (sqlite3.Error, OSError) as error:
                deliver([Outcome(job, error=ledger_error(error, self._path))])
                continue
            outcome = attempt(job, connection)
            if isinstance(outcome.error, sqlite3.Error):
                outcome = Outcome(job, error=ledger_error(outcome.error, self._path))
            with suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            deliver([outcome])
        if connection is not None:
            connection.close()
        deliver([Outcome(Job(lambda _: None, self._ended))])


def _resolve(group: list[tuple["asyncio.Future[Any]", Outcome]]) -> None:
    for future, outcome in group:
        if future.done():
            continue
        if outcome.error is not None:
            future.set_exception(outcome.error)
        else:
            future.set_result(outcome.value)
