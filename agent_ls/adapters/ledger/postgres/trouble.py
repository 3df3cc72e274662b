"""What can go wrong with a database server, as a refusal that says what to do.

Owns the table from the driver's errors to ours. Does not decide what is tried again. Says where the server is, never
how one logs in, and nothing of what was sent.
"""

from typing import Final
from urllib.parse import parse_qs, urlsplit

import asyncpg

from agent_ls.core.errors import Code, Refusal
from agent_ls.ports.ledger import LedgerError

TROUBLE: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)
"""Everything that the driver raises for reasons outside of this program."""

LOST: Final = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.exceptions.OperatorInterventionError,
    OSError,
    TimeoutError,
)
"""The connection is gone, or not to be trusted any more; another one may work."""


def place_of(url: str) -> str:
    """Host and database, without user and password."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2] or parse_qs(parts.query).get("host", [""])[0] or "this machine"
    return f"{host}/{parts.path.strip('/')}"


def ledger_error(error: BaseException, place: str) -> LedgerError:
    match error:
        case LedgerError():
            return error
        case asyncpg.DiskFullError():
            message = f"There is no space left for the ledger on {place}."
            hint = "Free some space there, then do this again; nothing that was acknowledged is lost."
            return LedgerError(Refusal(Code.DISK_FULL, message, hint))
        case asyncpg.DataError():
            message = "A value holds a sign that the ledger cannot store, or is too large."
            return LedgerError(Refusal(Code.INVALID_PARAMS, message, "Leave it out, then send this again."))
        case _:
            message, hint = _unavailable(error, place)
            return LedgerError(Refusal(Code.LEDGER_UNAVAILABLE, message, hint))


def _unavailable(error: BaseException, place: str) -> tuple[str, str]:
    match error:
        case asyncpg.InvalidAuthorizationSpecificationError():
            return (
                f"The database server refuses the user or password for {place}.",
                "Correct `ledger.url`, or put the password into ~/.pgpass.",
            )
        case asyncpg.InvalidCatalogNameError():
            return f"The database {place} is not there.", "Create it (`createdb`), or correct `ledger.url`."
        case asyncpg.InsufficientPrivilegeError():
            return (
                f"The user of `ledger.url` may not do this in {place}.",
                "Give it the right to create a schema in this database, or the schema `agent_ls` itself.",
            )
        case asyncpg.ReadOnlySQLTransactionError():
            return f"The database {place} can only be read just now.", "Point `ledger.url` at the primary server."
        case TimeoutError() | asyncpg.LockNotAvailableError() | asyncpg.QueryCanceledError():
            return f"The ledger on {place} did not answer in time.", "Try again; see whether its server is overloaded."
        case asyncpg.exceptions.ClientConfigurationError():
            return f"The address of the ledger ({place}) cannot be used.", "Correct `ledger.url`."
        case OSError() | asyncpg.InterfaceError() | asyncpg.PostgresConnectionError():
            return f"The ledger on {place} cannot be reached.", "See whether its server runs; it is tried again."
        case _:
            # The class says enough; the message of a server may quote what was sent.
            return f"The ledger on {place} cannot be used ({type(error).__name__}).", "Look at its server's log."
