"""The ledger in PostgreSQL: for several daemons on several machines, durable on return.

Owns how it is opened and closed, and how the lease is kept alive. The SQL is in reads.py, statements.py and claims.py,
the group commit in writer.py, connections in links.py.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Final, Self, TypeVar

from agent_ls.adapters.ledger.plan import prepare
from agent_ls.adapters.ledger.postgres import claims, inbox, instances, reads, sweep
from agent_ls.adapters.ledger.postgres.changes import listen
from agent_ls.adapters.ledger.postgres.leases import LOOK_S, Leases
from agent_ls.adapters.ledger.postgres.links import Connection, Links, Server, end
from agent_ls.adapters.ledger.postgres.partials import Partials
from agent_ls.adapters.ledger.postgres.schema import MIGRATIONS, Migration, migrate
from agent_ls.adapters.ledger.postgres.trouble import TROUBLE, ledger_error
from agent_ls.adapters.ledger.postgres.writer import Writer
from agent_ls.core.effects import Effect
from agent_ls.core.errors import Refusal
from agent_ls.core.events import AnyEntity, Event
from agent_ls.core.request import Request
from agent_ls.ports.host import Clock
from agent_ls.ports.instances import Instance
from agent_ls.ports.ledger import (
    Commit,
    Committed,
    LedgerError,
    LedgerStatus,
    ListQuery,
    Page,
    Receipt,
    Snapshot,
    Summary,
)
from agent_ls.ports.shared import Handed

T = TypeVar("T")

log = logging.getLogger(__name__)

LIMIT_S: Final = 10.0
FLUSH_S: Final = 1.0


class PostgresLedger:
    """Implements ports.ledger.Ledger, ports.shared.Shared and ports.instances.Instances."""

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        clock: Clock,
        boot_id: str,
        instance_id: str | None = None,
        host: str = "",
        version: str = "",
        config: str = "",
        ttl_s: float = 30,
        limit_s: float = LIMIT_S,
        migrations: Sequence[Migration] = MIGRATIONS,
    ) -> Self:
        """Migrates the database if need be and takes a lease.

        `instance_id` names the state directory whose lock this daemon holds: what earlier daemons of it had claimed is
        free at once. `host` is the machine whose folders it works in. `limit_s`: no call takes longer.
        """
        server = Server(url, limit_s)
        try:
            connection = await server.connect()
            try:
                schema = await migrate(connection, instance_id or boot_id, migrations=migrations)
                begun = Instance(boot_id=boot_id, version=version, config=config, started_at=clock.now())
                await instances.begin(connection, instance_id or boot_id, begun, host=host, ttl_s=ttl_s)
            finally:
                await end(connection, limit_s)
        except TROUBLE as error:
            raise ledger_error(error, server.place) from error
        ids = (boot_id, instance_id or boot_id, host)
        return cls(server, clock=clock, ids=ids, ttl_s=ttl_s, schema=schema)

    def __init__(self, server: Server, *, clock: Clock, ids: tuple[str, str, str], ttl_s: float, schema: int) -> None:
        self._server = server
        self._clock = clock
        self._boot_id, self._instance_id, self._host = ids
        self._ttl_s = ttl_s
        self._schema = schema
        self._links = Links(server)
        self._writer = Writer(server, self._boot_id)
        self._partials = Partials(self._links, boot_id=self._boot_id)
        self._leases = Leases(clock)
        self._claimed = 0
        self._reclaimed = 0
        self._ends_as: tuple[str | None, Sequence[str]] = (None, ())
        self._closed = False

    def ends_as(self, mode: str, in_flight: Sequence[str]) -> None:
        self._ends_as = (mode, in_flight)

    async def instances(self, limit: int) -> tuple[str, Sequence[Instance]]:
        """Of this state directory; others have their own record."""
        return self._instance_id, await self._read(instances.newest, instance_id=self._instance_id, limit=limit)

    async def close(self) -> None:
        """Commits what waits and gives back every claim. A server that is away finds out by the lease."""
        if self._closed:
            return
        self._closed = True
        await self._writer.close()
        try:
            await self._partials.flush()
            mode, in_flight = self._ends_as
            at = self._clock.now()
            await self._links.run(partial(instances.end, boot_id=self._boot_id, at=at, mode=mode, in_flight=in_flight))
        except LedgerError as error:
            log.warning("the ledger could not be told of the end: %s", error.refusal.message)
        await self._links.close()

    async def keep(self) -> None:
        """Renews the lease at a third of its life, looks at those of others and writes partials down. Never ends."""
        monotonic = self._clock.monotonic
        renew_at, watch_at = monotonic() + self._ttl_s / 3, monotonic()
        while True:
            await self._clock.sleep(min(FLUSH_S, self._ttl_s / 6))
            try:
                if monotonic() >= renew_at:
                    await self.renew()
                    renew_at = monotonic() + self._ttl_s / 3
                if monotonic() >= watch_at:
                    watch_at = monotonic() + LOOK_S
                    await self._links.run(self._leases.watch)
                await self._partials.flush()
            except LedgerError as error:
                log.warning("waiting for the ledger: %s", error.refusal.code)

    async def renew(self) -> None:
        renewed = partial(instances.renew, boot_id=self._boot_id, host=self._host, ttl_s=self._ttl_s)
        await self._links.run(renewed)

    async def claim(self, conversation_id: str, owner: str) -> int | Refusal:
        claimed = await self._links.run(
            partial(claims.claim, conversation_id=conversation_id, owner=owner, leases=self._leases)
        )
        if isinstance(claimed, Refusal):
            return claimed
        if claimed.reclaimed:
            self._reclaimed += 1
        else:
            self._claimed += 1
        return claimed.epoch

    async def owner(self, conversation_id: str) -> str | None:
        return await self._read(claims.owner, conversation_id=conversation_id, leases=self._leases)

    async def held(self) -> Mapping[str, int]:
        return await self._links.run(partial(claims.held, owner=self._boot_id))

    async def unheld(self) -> tuple[Sequence[str], float | None]:
        return await self._links.run(partial(claims.unheld, besides=self._boot_id, leases=self._leases))

    async def present(self, host: str) -> bool:
        return await self._read(self._leases.present, host=host)

    async def release(self, conversation_id: str, owner: str) -> None:
        await self._links.run(partial(claims.release, conversation_id=conversation_id, owner=owner))

    async def append(self, commit: Commit) -> Committed | Refusal:
        return await self._writer.append(prepare(commit))

    async def receipt(self, command_id: str) -> Receipt | None:
        found = await self._links.run(partial(reads.receipts, command_ids=[command_id]))
        return found.get(command_id)

    async def reserve_numbers(self, count: int) -> int:
        return int(await self._links.run(lambda db: db.fetchval(_RESERVE, count)))

    async def load(self, conversation_id: str) -> Snapshot | None:
        return await self._read(reads.load, conversation_id=conversation_id)

    async def head(self, conversation_id: str) -> Snapshot | None:
        return await self._read(reads.head, conversation_id=conversation_id)

    async def read(self, conversation_id: str, after: int, limit: int) -> Sequence[Event]:
        return await self._read(reads.events, conversation_id=conversation_id, after=after, limit=limit)

    async def page(self, conversation_id: str, before: str | None, limit: int) -> Page:
        return await self._read(reads.page, conversation_id=conversation_id, before=before, limit=limit)

    async def find(self, entity_id: str) -> AnyEntity | None:
        return await self._read(reads.find, entity_id=entity_id)

    async def conversations(self, query: ListQuery) -> tuple[Sequence[Summary], str | None]:
        return await self._read(reads.conversations, query=query)

    async def summary(self, conversation_id: str) -> Summary | None:
        return await self._read(reads.summary, conversation_id=conversation_id)

    async def requests(self, workspace: str | None, conversation_id: str | None) -> Sequence[Request]:
        return await self._read(reads.requests, workspace=workspace, conversation_id=conversation_id)

    async def request_by_number(self, number: int) -> Request | None:
        return await self._read(reads.request_by_number, number=number)

    async def owed(self) -> Sequence[Effect]:
        return await self._read(reads.owed)

    async def take_up(self, effect: Effect, epoch: int) -> bool:
        return await self._links.run(partial(claims.take_up, effect=effect, epoch=epoch))

    async def put_blob(self, content: bytes) -> str:
        digest = sha256(content).hexdigest()
        await self._links.run(lambda db: sweep.put(db, digest, content))
        return digest

    async def get_blob(self, digest: str) -> bytes | None:
        return await self._read(reads.blob, digest=digest)

    async def sweep_blobs(self, grace_s: float) -> int:
        unused = await self._read(sweep.digests) - await self._read(sweep.waiting)
        after: tuple[str, int] | None = ("", 0)
        while unused and after is not None:
            found, after = await self._read(sweep.referred, after=after)
            unused -= found
        return await self._links.run(partial(sweep.remove, unused=unused, grace_s=grace_s))

    def keep_partial(self, conversation_id: str, item_id: str, text: str) -> None:
        self._partials.keep(conversation_id, item_id, text)

    async def partials(self, conversation_id: str) -> dict[str, str]:
        return await self._partials.of(conversation_id)

    async def drop_partials(self, conversation_id: str) -> None:
        await self._partials.drop(conversation_id)

    async def delete(self, conversation_id: str, command_id: str) -> bool:
        receipt = Receipt(command_id, conversation_id, result={})
        tries = 0

        async def work(db: Connection) -> bool:
            nonlocal tries
            tries += 1
            done = await claims.delete(db, receipt, self._clock.now(), boot_id=self._boot_id)
            # The answer to the first try was lost: whether it happened is told by what it left.
            return done or (tries > 1 and (await reads.receipts(db, [command_id])).get(command_id) == receipt)

        deleted = await self._links.run(work)
        if deleted:
            self._partials.forget(conversation_id)
        return deleted

    def changes(self) -> AsyncIterator[str | None]:
        return listen(self._server, self._boot_id, self._clock)

    async def hand_over(self, handed: Handed) -> bool:
        return await self._links.run(partial(inbox.put, handed=handed, boot_id=self._boot_id))

    async def handed_over(self) -> Sequence[Handed]:
        return await self._links.run(partial(inbox.waiting, owner=self._boot_id))

    async def drop_handed(self, command_id: str) -> None:
        await self._links.run(partial(inbox.drop, command_id=command_id))

    async def status(self) -> LedgerStatus:
        counts = await self._read(reads.counts)
        return LedgerStatus(
            engine="postgresql",
            schema=self._schema,
            events=counts["events"],
            size_bytes=counts["bytes"],
            writable=self._writer.error is None,
            error=self._writer.error,
            details={
                "server": self._server.place,
                "conversations": counts["conversations"],
                "pendingRequests": counts["pending"],
                "claimed": self._claimed,
                "reclaimed": self._reclaimed,
            },
        )

    async def _read(self, look: Callable[..., Awaitable[T]], **wanted: Any) -> T:
        return await self._links.run(partial(look, **wanted))


# Need not be on disk at once: the commit that uses a number is, and the log keeps the order.
_RESERVE: Final = """WITH later AS (SELECT set_config('synchronous_commit', 'off', true))
    UPDATE counter SET last = last + $1 FROM later RETURNING last - $1 + 1"""
