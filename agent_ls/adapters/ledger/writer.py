"""The one writer of a SQLite ledger: everything that waits goes under one fsync, each commit in its own savepoint.

Owns the transaction, the full disk, checkpoints and the lease's renewal. Does not own the SQL of a commit (writes.py).
"""

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from agent_ls.adapters.ledger.files import Reserve
from agent_ls.adapters.ledger.handover import Job, Outcome, attempt, closed, deliver
from agent_ls.adapters.ledger.trouble import disk_full, free_bytes, gone, is_full, ledger_error
from agent_ls.core.errors import Refusal
from agent_ls.ports.ledger import LedgerError

T = TypeVar("T")

IDLE_S: Final = 0.5
GROUP_LIMIT: Final = 256
WAL_LIMIT_BYTES: Final = 32 << 20
WAL_LEAST_BYTES: Final = 1 << 19


class Writer:
    """`renew` runs first in every group: it may renew the lease without an fsync of its own."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        reserve: Reserve,
        *,
        renew: Callable[[sqlite3.Connection], None],
        idle_s: float = IDLE_S,
    ) -> None:
        self.error: str | None = None
        self.full = not reserve.take()
        self._connection = connection
        self._path = path
        self._wal = path.with_name(path.name + "-wal")
        self._file = _identity(path)
        self._reserve = reserve
        self._renew = renew
        self._idle_s = idle_s
        self._dirty = True
        self._checkpointed_bytes = 0
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="ledger-writer", daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[sqlite3.Connection], T], *, reserved: bool = False) -> T:
        """The result of `work`, after its commit is on the disk."""
        if self._closed:
            raise closed()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.put(Job(work, future, reserved))
        return await future

    async def close(self, last: Callable[[sqlite3.Connection], None]) -> None:
        """Commits what was asked for before, then `last`, and leaves an empty write-ahead log."""
        if self._closed:
            return
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closed = True
        self._jobs.put(Job(last, done, reserved=True))
        self._jobs.put(None)
        try:
            # A ledger that cannot be written any more can still be closed.
            with suppress(LedgerError):
                await done
        finally:
            self._thread.join()

    def _run(self) -> None:
        while (jobs := self._next()) is not None:
            if jobs:
                deliver(self._commit(jobs))
                self._dirty = True
            if not jobs or self._wal_is_long():
                self._rest()
        self._rest()
        self._connection.close()

    def _next(self) -> list[Job] | None:
        """All jobs that wait; an empty list when none came for a while; None at the end."""
        try:
            first = self._jobs.get(timeout=self._idle_s if self._dirty else None)
        except queue.Empty:
            return []
        if first is None:
            return None
        jobs = [first]
        with suppress(queue.Empty):
            while len(jobs) < GROUP_LIMIT:
                job = self._jobs.get_nowait()
                if job is None:
                    self._jobs.put(None)
                    break
                jobs.append(job)
        return jobs

    def _commit(self, jobs: Sequence[Job]) -> list[Outcome]:
        if _identity(self._path) != self._file:
            # SQLite would go on writing into a file that has no name any more, and all of it would be lost.
            return self._refused(jobs, gone(self._path))
        if self.full and not self._heal():
            return self._spare(jobs)
        try:
            outcomes = self._transaction(jobs)
        except sqlite3.Error as error:
            if not is_full(error, self._path):
                return self._failed(jobs, error)
            self.full = True
            return self._spare(jobs)
        self.error = None
        return outcomes

    def _transaction(self, jobs: Sequence[Job]) -> list[Outcome]:
        """All jobs in one transaction; raises what makes all of them void."""
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            self._renew(connection)
            outcomes = [self._in_savepoint(job) for job in jobs]
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return outcomes

    def _in_savepoint(self, job: Job) -> Outcome:
        connection = self._connection
        connection.execute("SAVEPOINT one")
        outcome = attempt(job, connection)
        if outcome.error is not None:
            if isinstance(outcome.error, sqlite3.Error) and not isinstance(outcome.error, sqlite3.IntegrityError):
                raise outcome.error
            connection.execute("ROLLBACK TO one")
        connection.execute("RELEASE one")
        return outcome

    def _spare(self, jobs: Sequence[Job]) -> list[Outcome]:
        """The disk is full: what only ends work that has begun may use the reserve, the rest is refused."""
        self.error = disk_full(self._path).message
        self._reserve.release()
        return [self._from_reserve(job) for job in jobs]

    def _from_reserve(self, job: Job) -> Outcome:
        if not job.reserved:
            return Outcome(job, error=LedgerError(disk_full(self._path)))
        try:
            return self._transaction([job])[0]
        except sqlite3.Error as error:
            return Outcome(job, error=ledger_error(error, self._path))

    def _failed(self, jobs: Sequence[Job], error: sqlite3.Error) -> list[Outcome]:
        return self._refused(jobs, ledger_error(error, self._path).refusal)

    def _refused(self, jobs: Sequence[Job], refusal: Refusal) -> list[Outcome]:
        self.error = refusal.message
        return [Outcome(job, error=LedgerError(refusal)) for job in jobs]

    def _heal(self) -> bool:
        self.full = not self._reserve.take()
        return not self.full

    def _rest(self) -> None:
        """Work for when nobody waits: moves the log into the database, holds the reserve again."""
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        self._checkpointed_bytes = self._wal_bytes()
        self._dirty = False
        if not self.full:
            self._reserve.take()

    def _wal_is_long(self) -> bool:
        """Whether moving the log can wait no longer: on a disk with little space it must still fit when it is moved."""
        size = self._wal_bytes()
        # After a checkpoint the file keeps its size and is written again from its start.
        grown = size - self._checkpointed_bytes if size >= self._checkpointed_bytes else size
        if grown <= WAL_LEAST_BYTES:
            return False
        return grown > min(WAL_LIMIT_BYTES, free_bytes(self._path) // 8)

    def _wal_bytes(self) -> int:
        try:
            return os.stat(self._wal).st_size
        except OSError:
            return 0


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file stands at the path; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
