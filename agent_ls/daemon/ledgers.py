"""Opens the ledger that the settings name: SQLite in the state directory, or PostgreSQL on a server.

Owns the choice, and the name under which a server knows this state directory. The driver of a server is loaded only
where one is named.
"""

import os
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from agent_ls.adapters.host.system import host_name
from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.config.settings import Settings
from agent_ls.core.errors import Code, Refusal
from agent_ls.daemon.reload import revision
from agent_ls.ports.host import Clock
from agent_ls.ports.ledger import Ledger, LedgerError
from agent_ls.version import __version__

INSTANCE = "instance"


class Opened(NamedTuple):
    """`keep`: what has to run as long as it is open, if anything. `host`: this machine among those that share it."""

    ledger: Ledger
    keep: Callable[[], Awaitable[None]] | None = None
    host: str = ""


async def open_ledger(settings: Settings, state_dir: Path, *, clock: Clock, boot_id: str) -> Opened:
    url, ttl_s = settings.ledger.url, settings.ledger.claim_ttl_s
    if url == "sqlite":
        return Opened(
            SqliteLedger.open(
                state_dir / "ledger.db",
                clock=clock,
                boot_id=boot_id,
                ttl_s=ttl_s,
                version=__version__,
                config=revision(settings.path),
            )
        )
    require_driver()
    from agent_ls.adapters.ledger.postgres.ledger import PostgresLedger

    host = settings.ledger.host or host_name()
    ledger = await PostgresLedger.open(
        url,
        host=host,
        clock=clock,
        boot_id=boot_id,
        instance_id=_instance(state_dir / INSTANCE, boot_id),
        ttl_s=ttl_s,
        version=__version__,
        config=revision(settings.path),
    )
    return Opened(ledger, ledger.keep, host)


def require_driver() -> None:
    if find_spec("asyncpg") is None:
        raise LedgerError(
            Refusal(
                Code.LEDGER_UNAVAILABLE,
                "`ledger.url` names a PostgreSQL server, but its driver is not installed.",
                'Install it with `make install EXTRAS=postgres`, or set `ledger.url` to "sqlite".',
            )
        )


def _instance(path: Path, boot_id: str) -> str:
    """The first boot of a state directory names it for good. Whoever asks holds the directory's lock."""
    if path.exists() and (known := path.read_text(encoding="ascii").strip()):
        return known
    draft = path.with_name(path.name + ".part")
    with open(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        file.write(boot_id + "\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    return boot_id
