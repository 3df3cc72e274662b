"""A schema that does not exist yet, one above the newest: what a test migrates to."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from agent_ls.adapters.ledger import schema as sqlite
from agent_ls.adapters.ledger.postgres import schema as postgres
from tests.contract.ledger.make import Engine, PostgresEngine, SqliteEngine

STATEMENTS: Final = (
    "CREATE TABLE extra (id INTEGER)",
    "INSERT INTO extra VALUES (1)",
    "CREATE INDEX extra_id ON extra (id)",
    "INSERT INTO extra VALUES (2)",
)


def with_next(engine: SqliteEngine | PostgresEngine, change: Callable[[Any], Any] = lambda newest: newest) -> Engine:
    """`change` is made to the newest migration."""
    of: Any = postgres if isinstance(engine, PostgresEngine) else sqlite
    newest = change(of.Migration(of.MIGRATIONS[-1].version + 1, STATEMENTS))
    return replace(engine, options={**engine.options, "migrations": (*of.MIGRATIONS, newest)})
