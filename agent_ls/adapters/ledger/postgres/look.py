"""A look at a ledger's server without a ledger: for `agent-ls doctor`. Writes nothing, takes no lease."""

from dataclasses import dataclass
from typing import Final

import anyio

from agent_ls.adapters.ledger.postgres.links import Server, end
from agent_ls.adapters.ledger.postgres.schema import version_of
from agent_ls.adapters.ledger.postgres.trouble import TROUBLE, ledger_error

LIMIT_S: Final = 5.0


@dataclass(frozen=True)
class Seen:
    """`schema` is 0 where no daemon has made the tables yet."""

    place: str
    version: str
    schema: int


async def look(url: str) -> Seen:
    """Raises LedgerError with what to do."""
    server = Server(url, LIMIT_S)
    try:
        with anyio.fail_after(LIMIT_S):
            connection = await server.connect()
            try:
                version = await connection.fetchval("SHOW server_version")
                return Seen(server.place, str(version).partition(" ")[0], await version_of(connection))
            finally:
                with anyio.CancelScope(shield=True):
                    await end(connection, LIMIT_S)
    except TROUBLE as error:
        raise ledger_error(error, server.place) from error
