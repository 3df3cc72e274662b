"""Named points at which a daemon kills itself, so that a test can see what its successor makes of what is left.

    AGENT_LS_CRASH_AT=started.after:2 agent-ls daemon

Owns the names, and where in the daemon each of them is. A daemon dies at most once for each state directory: the
successor, which often has the same environment, finds the mark of that death and lives. Nothing here is loaded unless
the variable is set. Does not own who asks for a death, nor what has to be true after it (tests/crash).
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from agent_ls.adapters.ledger import sqlite, writes
from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.adapters.tools.edit import EditTool
from agent_ls.adapters.tools.shell import ShellTool
from agent_ls.adapters.tools.write import WriteTool
from agent_ls.core.events import Fact
from agent_ls.daemon.catalog import KeyedModel
from agent_ls.daemon.served import Daemon
from agent_ls.ports.ledger import Commit
from agent_ls.ports.provider import Emit, Frame, ModelRequest, TextFrame
from agent_ls.runtime.drain import Drain

VARIABLE: Final = "AGENT_LS_CRASH_AT"
MARK: Final = "crashed"

# A commit, by one fact of it: (kind of its entity, what happened to it).
_COMMITS: Final = {
    "made": {("conversation", "created")},
    "input": {("run", "queued")},
    "call": {("attempt", "stepped")},
    "asked": {("request", "asked")},
    "approved": {("request", "resolved")},
    "started": {("item", "started")},
    "result": {("item", "finished")},
    "barrier": {("run", "completed"), ("run", "interrupted"), ("run", "failed")},
}

_ACTS: Final = ("step", "tool", "claim", "renewal", "drain", "close")

POINTS: Final = (
    *(f"{moment}.{when}" for moment in _COMMITS for when in ("before", "after")),
    *(
        f"{act}.{when}"
        for act in ("step", "tool", "claim", "renewal", "drain", "close")
        for when in ("before", "after")
    ),
    "token.first",
    "drain.rested",
    "migration.statement",
    "migration.after",
)
"""`commit.before` and `.after` stand around the transaction; `step` is the request to the model, `tool` what it does to
the world, `close` the end of the ledger. `migration.statement` comes before each statement of a migration."""


class Death:
    def __init__(self, asked: str, mark: Path) -> None:
        """`asked` is a point, or `point:n` for the n-th time that it is reached."""
        self._point, _, count = asked.partition(":")
        if self._point not in POINTS:
            raise ValueError(f"{VARIABLE} names no point: {asked}. There are {', '.join(POINTS)}.")
        self._left = int(count or 1)
        self._mark = mark

    def reached(self, point: str) -> None:
        if point != self._point:
            return
        self._left -= 1
        if self._left == 0:
            os.close(os.open(self._mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            os.kill(os.getpid(), signal.SIGKILL)


def arm(asked: str, state_dir: str) -> None:
    """Called by a daemon before it opens its ledger, if the variable is set."""
    mark = Path(state_dir) / MARK
    if mark.exists():
        return
    death = Death(asked, mark)
    _sqlite(death)
    if find_spec("asyncpg") is not None:
        _postgres(death)
    for tool in (ShellTool, WriteTool, EditTool):
        _around(tool, "run", death, act="tool")
    _model(death)
    _ending(death)


def _sqlite(death: Death) -> None:
    _ledger(SqliteLedger, death)
    _around_plain(writes, "renew_lease", death, act="renewal")
    owner: Any = sqlite
    plain = owner.migrate

    def migrate(connection: Any, path: Path, migrations: Sequence[Any]) -> None:
        plain(connection, path, [watched(each, death) for each in migrations])
        death.reached("migration.after")

    owner.migrate = migrate


def _postgres(death: Death) -> None:
    from agent_ls.adapters.ledger.postgres import instances
    from agent_ls.adapters.ledger.postgres import ledger as postgres

    _ledger(postgres.PostgresLedger, death)
    _around(instances, "renew", death, act="renewal")
    owner: Any = postgres
    plain = owner.migrate

    async def migrate(connection: Any, instance_id: str, *, migrations: Sequence[Any]) -> int:
        version: int = await plain(connection, instance_id, migrations=[watched(each, death) for each in migrations])
        death.reached("migration.after")
        return version

    owner.migrate = migrate


def _ledger(ledger: Any, death: Death) -> None:
    append = ledger.append

    async def crashing(self: Any, commit: Commit) -> Any:
        moments = list(moments_of(commit.facts))
        for moment in moments:
            death.reached(f"{moment}.before")
        done = await append(self, commit)
        for moment in moments:
            death.reached(f"{moment}.after")
        return done

    ledger.append = crashing
    _around(ledger, "claim", death, act="claim")
    _around(ledger, "close", death, act="close")


def moments_of(facts: Sequence[Fact]) -> Iterator[str]:
    """What a commit is, in the order of a run."""
    happened = {(str(fact.kind), str(fact.name)) for fact in facts}
    for moment, signs in _COMMITS.items():
        if happened & signs:
            yield moment


def watched(migration: Any, death: Death) -> Any:
    """The same migration, in which the daemon can die."""
    return type(migration)(migration.version, Statements(migration.statements, death))


class Statements(Sequence[str]):
    """A migration's statements, each of which can be the one before which the daemon dies."""

    def __init__(self, statements: Sequence[str], death: Death) -> None:
        self._statements = statements
        self._death = death

    def __len__(self) -> int:
        return len(self._statements)

    def __getitem__(self, index: Any) -> Any:
        return self._statements[index]

    def __iter__(self) -> Iterator[str]:
        for statement in self._statements:
            self._death.reached("migration.statement")
            yield statement


def _model(death: Death) -> None:
    call = KeyedModel.call

    async def crashing(self: KeyedModel, request: ModelRequest, emit: Emit) -> Any:
        def show(frame: Frame) -> None:
            emit(frame)
            if isinstance(frame, TextFrame):
                death.reached("token.first")

        death.reached("step.before")
        reply = await call(self, request, show)
        death.reached("step.after")
        return reply

    KeyedModel.call = crashing  # type: ignore[method-assign]


def _ending(death: Death) -> None:
    _around_plain(Drain, "begin", death, act="drain")
    rest = Daemon.come_to_rest

    async def crashing(self: Daemon) -> None:
        await rest(self)
        death.reached("drain.rested")

    Daemon.come_to_rest = crashing  # type: ignore[method-assign]


def _around(owner: Any, name: str, death: Death, *, act: str) -> None:
    plain: Callable[..., Any] = getattr(owner, name)

    async def crashing(*given: Any, **named: Any) -> Any:
        death.reached(f"{act}.before")
        done = await plain(*given, **named)
        death.reached(f"{act}.after")
        return done

    setattr(owner, name, crashing)


def _around_plain(owner: Any, name: str, death: Death, *, act: str) -> None:
    plain: Callable[..., Any] = getattr(owner, name)

    def crashing(*given: Any, **named: Any) -> Any:
        death.reached(f"{act}.before")
        done = plain(*given, **named)
        death.reached(f"{act}.after")
        return done

    setattr(owner, name, crashing)
