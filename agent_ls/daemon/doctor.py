"""Puts `agent-ls doctor` together: settings, local servers, facts of the machine.

Owns which adapters are asked. Does not own the findings (config.doctor) nor asking a daemon (cli), and needs
none.
"""

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.util import find_spec

import anyio

from agent_ls import paths
from agent_ls.adapters.host.filesystem import network_filesystem
from agent_ls.adapters.host.hooks import located
from agent_ls.adapters.host.machine import sqlite_version
from agent_ls.adapters.host.probe import listening, local_models
from agent_ls.config.doctor import Facts, Report, report
from agent_ls.config.load import load
from agent_ls.config.running import Running
from agent_ls.config.settings import ConfigError, Settings
from agent_ls.core.errors import Refusal
from agent_ls.daemon.ledgers import require_driver
from agent_ls.ports.ledger import LedgerError
from agent_ls.version import __version__


def examine(environ: Mapping[str, str] = os.environ, *, running: Running | str | None = None) -> Report:
    """`running`: the daemon that is there, as it says of itself."""
    refused, fresh = None, None
    try:
        settings = load(environ, probe=local_models, probe_always=True)
        # Local servers are looked for in any case here, by a daemon only where nothing else is ready.
        fresh = load(environ, probe=local_models)
    except ConfigError as error:
        refused = str(error)
        settings = Settings(path=paths.config_path(environ), problem=refused)
    local = [each.base_url for each in settings.providers.values() if each.base_url and each.is_local]
    facts = Facts(
        version=__version__,
        python=platform.python_version(),
        sqlite=sqlite_version(),
        network=network_filesystem(paths.state_dir(environ)),
        silent=frozenset(local) - listening(local),
        ledger=_ledger(settings.ledger.url),
        refused=refused,
        running=running,
        fresh=fresh,
        hooks=_hooks(settings),
        mcp_missing=find_spec("mcp") is None,
    )
    return report(settings, facts, environ)


def _hooks(settings: Settings) -> tuple[tuple[str, str, bool], ...]:
    folder = os.path.dirname(settings.path)
    configured = [(moment, argv[0]) for moment, argv in asdict(settings.hooks).items() if argv]
    return tuple((moment, word, located(word, folder) is not None) for moment, word in configured)


def _ledger(url: str) -> str | Refusal | None:
    """What the server of the ledger says, where there is one."""
    if url == "sqlite":
        return None
    try:
        require_driver()
        from agent_ls.adapters.ledger.postgres.look import look

        seen = anyio.run(look, url)
    except LedgerError as error:
        return error.refusal
    made = f"schema {seen.schema}" if seen.schema else "empty; the first daemon makes its tables"
    return f"PostgreSQL {seen.version} on {seen.place}, {made}"
