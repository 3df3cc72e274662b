"""The ledger in one SQLite file: what a single daemon needs, durable on return.

Owns how a file is opened and closed and which thread does what: one writes, one reads, one keeps partials. The SQL is
in writes.py and reads.py, the group commit in writer.py.
"""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Self, TypeVar

from agent_ls.adapters.ledger import instances, reads, sweep, writes
from agent_ls.adapters.ledger.files import Reserve, alone, connect, make_private, refuse_network
from agent_ls.adapters.ledger.handover import Line
from agent_ls.adapters.ledger.partials import Partials
from agent_ls.adapters.ledger.plan import highest_number, prepare
from agent_ls.adapters.ledger.schema import MIGRATIONS, Migration, migrate, refuse_newer, version_of
from agent_ls.adapters.ledger.trouble import is_full, ledger_error
from agent_ls.adapters.ledger.writer import IDLE_S, Writer
from agent_ls.core.call import CallFact
from agent_ls.core.effects import Effect
from agent_ls.core.errors import Refusal
from agent_ls.core.events import AnyEntity, Event, FactName
from agent_ls.core.request import Request
from agent_ls.core.run import RunFact
from agent_ls.ports.host import Clock
from agent_ls.ports.instances import Instance
from agent_ls.ports.ledger import Commit, Committed, LedgerStatus, ListQuery, Page, Receipt, Snapshot, Summary

T = TypeVar("T")

BUSY_S = 5.0


class SqliteLedger:
    """Implements ports.ledger.Ledger. A call that is cancelled while it waits may still be committed."""

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        clock: Clock,
        boot_id: str,
        ttl_s: float = 30,
        busy_s: float = BUSY_S,
        idle_s: float = IDLE_S,
        version: str = "",
        config: str = "",
        migrations: Sequence[Migration] = MIGRATIONS,
    ) -> Self:
        """Opens or creates the file and migrates it. `busy_s`: how long another program's lock is waited for.

        `version` and `config` go on the record of daemons (ports.instances).
        """
        try:
            refuse_network(path)
            refuse_newer(path, migrations)
            make_private(path)
            with alone(path, busy_s):
                connection = connect(path, busy_s=busy_s)
                migrate(connection, path, migrations)
                begin = partial(instances.begin, boot_id=boot_id, version=version, config=config, at=clock.now())
                _begin(connection, path, begin)
        except (sqlite3.Error, OSError) as error:
            raise ledger_error(error, path) from error
        return cls(connection, path, clock=clock, boot_id=boot_id, ttl_s=ttl_s, busy_s=busy_s, idle_s=idle_s)

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        *,
        clock: Clock,
        boot_id: str,
        ttl_s: float,
        busy_s: float,
        idle_s: float,
    ) -> None:
        self._path = path
        self._clock = clock
        self._boot_id = boot_id
        self._ends_as: tuple[str | None, Sequence[str]] = (None, ())
        self._schema = version_of(connection)
        self._last_number = reads.last_number(connection)
        self._reserve = Reserve(path.with_name(path.name + ".reserve"))
        renew = _Renewal(clock, boot_id, ttl_s)
        self._writer = Writer(connection, path, self._reserve, renew=renew, idle_s=idle_s)
        self._reader = Line("ledger-reader", path, partial(connect, path, busy_s=busy_s, read_only=True))
        self._partials = Partials(path.with_name("partial.db"))

    async def close(self) -> None:
        await self._partials.close()
        await self._reader.close()
        mode, in_flight = self._ends_as
        at = self._clock.now()
        await self._writer.close(
            partial(instances.end, boot_id=self._boot_id, at=at, mode=mode, in_flight=in_flight),
        )

    def ends_as(self, mode: str, in_flight: Sequence[str]) -> None:
        self._ends_as = (mode, in_flight)

    async def instances(self, limit: int) -> tuple[str, Sequence[Instance]]:
        return await self._read(partial(instances.newest, limit=limit))

    async def claim(self, conversation_id: str, owner: str) -> int:
        work = partial(writes.claim, conversation_id=conversation_id, owner=owner)
        return await self._writer.run(work, reserved=True)

    async def release(self, conversation_id: str, owner: str) -> None:
        work = partial(writes.release, conversation_id=conversation_id, owner=owner)
        await self._writer.run(work, reserved=True)

    async def append(self, commit: Commit) -> Committed | Refusal:
        work = partial(writes.append, prepared=prepare(commit))
        done = await self._writer.run(work, reserved=_only_ends(commit))
        events = done.events if isinstance(done, Committed) else ()
        self._last_number = max(self._last_number, highest_number(events))
        return done

    async def receipt(self, command_id: str) -> Receipt | None:
        return await self._read(partial(reads.receipt, command_id=command_id))

    async def reserve_numbers(self, count: int) -> int:
        # In memory: a number that was never committed may be given again after a crash, nobody has seen it.
        first = self._last_number + 1
        self._last_number += count
        return first

    async def load(self, conversation_id: str) -> Snapshot | None:
        return await self._read(partial(reads.load, conversation_id=conversation_id))

    async def head(self, conversation_id: str) -> Snapshot | None:
        return await self._read(partial(reads.head, conversation_id=conversation_id))

    async def read(self, conversation_id: str, after: int, limit: int) -> Sequence[Event]:
        return await self._read(partial(reads.events, conversation_id=conversation_id, after=after, limit=limit))

    async def page(self, conversation_id: str, before: str | None, limit: int) -> Page:
        return await self._read(partial(reads.page, conversation_id=conversation_id, before=before, limit=limit))

    async def find(self, entity_id: str) -> AnyEntity | None:
        return await self._read(partial(reads.find, entity_id=entity_id))

    async def conversations(self, query: ListQuery) -> tuple[Sequence[Summary], str | None]:
        return await self._read(partial(reads.conversations, query=query))

    async def summary(self, conversation_id: str) -> Summary | None:
        return await self._read(partial(reads.summary, conversation_id=conversation_id))

    async def requests(self, workspace: str | None, conversation_id: str | None) -> Sequence[Request]:
        return await self._read(partial(reads.requests, workspace=workspace, conversation_id=conversation_id))

    async def request_by_number(self, number: int) -> Request | None:
        return await self._read(partial(reads.request_by_number, number=number))

    async def owed(self) -> Sequence[Effect]:
        return await self._read(reads.owed)

    async def take_up(self, effect: Effect, epoch: int) -> bool:
        return await self._writer.run(partial(writes.take_up, effect=effect, epoch=epoch), reserved=True)

    async def put_blob(self, content: bytes) -> str:
        digest = sha256(content).hexdigest()
        await self._writer.run(partial(writes.put_blob, digest=digest, content=content))
        return digest

    async def get_blob(self, digest: str) -> bytes | None:
        return await self._read(partial(reads.blob, digest=digest))

    async def sweep_blobs(self, grace_s: float) -> int:
        unused = await self._read(sweep.digests)
        after: int | None = 0
        while unused and after is not None:
            found, after = await self._read(partial(sweep.referred, after=after))
            unused -= found
        work = partial(sweep.remove, unused=unused, grace_s=grace_s)
        return await self._writer.run(work, reserved=True)

    def keep_partial(self, conversation_id: str, item_id: str, text: str) -> None:
        self._partials.keep(conversation_id, item_id, text)

    async def partials(self, conversation_id: str) -> dict[str, str]:
        return await self._partials.of(conversation_id)

    async def drop_partials(self, conversation_id: str) -> None:
        await self._partials.drop(conversation_id)

    async def delete(self, conversation_id: str, command_id: str) -> bool:
        receipt = Receipt(command_id, conversation_id, result={})
        work = partial(writes.delete, receipt=receipt, at=self._clock.now())
        done = await self._writer.run(work, reserved=True)
        if done:
            await self._partials.drop(conversation_id)
        return done

    async def status(self) -> LedgerStatus:
        counts = await self._read(reads.counts)
        sizes = [_size(self._path.with_name(self._path.name + suffix)) for suffix in ("", "-wal")]
        return LedgerStatus(
            engine="sqlite",
            schema=self._schema,
            events=counts["events"],
            size_bytes=sum(sizes),
            writable=self._writer.error is None,
            error=self._writer.error,
            details={
                "path": str(self._path),
                "walBytes": sizes[1],
                "conversations": counts["conversations"],
                "pendingRequests": counts["pending"],
                "reserveHeld": self._reserve.held,
                "diskFull": self._writer.full,
            },
        )

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._reader.run(partial(_in_snapshot, work))


class _Renewal:
    """Renews the lease at a third of its life, in a commit that happens anyway.

    A daemon that commits nothing lets it run out, which takes nothing from it: a successor on this machine takes over
    by the state directory's lock, and the epoch alone says who may write.
    """

    def __init__(self, clock: Clock, boot_id: str, ttl_s: float) -> None:
        self._clock = clock
        self._boot_id = boot_id
        self._ttl_s = ttl_s
        self._due = float("-inf")

    def __call__(self, db: sqlite3.Connection) -> None:
        now = self._clock.monotonic()
        if now < self._due:
            return
        writes.renew_lease(db, self._boot_id, self._ttl_s)
        self._due = now + self._ttl_s / 3


def _begin(connection: sqlite3.Connection, path: Path, first: Callable[[sqlite3.Connection], None]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        first(connection)
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        # A full disk must not keep a person from reading what is there and from deleting some of it.
        if not is_full(error, path):
            raise


def _only_ends(commit: Commit) -> bool:
    """Whether a commit only writes down what came of work begun earlier: nothing new is asked for or started."""
    starts: tuple[FactName, ...] = (CallFact.STARTED, RunFact.STARTED)
    return commit.receipt is None and not any(fact.name in starts for fact in commit.facts)


def _in_snapshot(work: Callable[[sqlite3.Connection], T], db: sqlite3.Connection) -> T:
    """All queries of one read see the same state. The line rolls back what an error leaves open."""
    db.execute("BEGIN")
    found = work(db)
    db.execute("COMMIT")
    return found


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size
    return 0
