"""Text in flight: kept in memory and written down now and then. May be lost; never read as a fact."""

from contextlib import suppress

from agent_ls.adapters.ledger.postgres import reads
from agent_ls.adapters.ledger.postgres.links import Connection, Links
from agent_ls.adapters.ledger.postgres.statements import CHANNEL
from agent_ls.ports.ledger import LedgerError


class Partials:
    def __init__(self, links: Links, *, boot_id: str) -> None:
        self._links = links
        self._boot_id = boot_id
        self._fresh: dict[tuple[str, str], str] = {}

    def keep(self, conversation_id: str, item_id: str, text: str) -> None:
        self._fresh[conversation_id, item_id] = text

    async def flush(self) -> None:
        """Writes what has changed since. What cannot be written is tried again with the next text."""
        if not self._fresh:
            return
        fresh, self._fresh = self._fresh, {}
        rows = [(*key, text.encode("utf-8", "replace")) for key, text in fresh.items()]

        async def write(db: Connection) -> None:
            await db.execute(_KEEP, *map(list, zip(*rows, strict=True)), CHANNEL, self._boot_id)

        try:
            await self._links.run(write)
        except LedgerError:
            self._fresh = {**fresh, **self._fresh}
            raise

    async def of(self, conversation_id: str) -> dict[str, str]:
        try:
            await self.flush()
            return await self._links.run(lambda db: reads.partials(db, conversation_id))
        except LedgerError:
            # Nobody is kept from looking; text in flight is allowed to be lost.
            return {item_id: text for (owner, item_id), text in self._fresh.items() if owner == conversation_id}

    def forget(self, conversation_id: str) -> None:
        self._fresh = {key: text for key, text in self._fresh.items() if key[0] != conversation_id}

    async def drop(self, conversation_id: str) -> None:
        self.forget(conversation_id)

        async def remove(db: Connection) -> None:
            await db.execute("DELETE FROM partial WHERE conversation_id = $1", conversation_id)

        with suppress(LedgerError):
            await self._links.run(remove)


# Other daemons are told, once a second at most: their windows see how far it has come.
_KEEP = """WITH kept AS (INSERT INTO partial (conversation_id, item_id, text)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[])
    ON CONFLICT (conversation_id, item_id) DO UPDATE SET text = excluded.text)
    SELECT pg_notify($4, $5 || ' ' || c) FROM (SELECT DISTINCT unnest($1::text[]) AS c) AS changed"""
