"""The one connection that commits: whatever waits goes into one transaction, decided under the locks of its rows.

Owns the group, its transaction and what happens when the connection is lost in it. Does not own what a commit means
(plan.py) nor the SQL that writes it (statements.py).

There is no task here: the first one that waits commits for all who wait with it, then the next one does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import anyio
import asyncpg

from agent_ls.adapters.ledger.handover import closed
from agent_ls.adapters.ledger.places import key_conflict, lost_track
from agent_ls.adapters.ledger.plan import Plan, Prepared, Standing, keep_bytes, planned
from agent_ls.adapters.ledger.postgres import reads
from agent_ls.adapters.ledger.postgres.links import Connection, Server, end
from agent_ls.adapters.ledger.postgres.statements import WRITE, Work, parameters
from agent_ls.adapters.ledger.postgres.trouble import LOST, TROUBLE, ledger_error
from agent_ls.core.errors import Refusal
from agent_ls.ports.ledger import Commit, Committed, Receipt

GROUP_LIMIT: Final = 256
FIRST_WAIT_S: Final = 0.05
LONGEST_WAIT_S: Final = 1.0

# What one commit of a group is to blame for, and the others must not suffer from.
ONES_FAULT: Final = (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError, asyncpg.CardinalityViolationError)

Answer = Committed | Refusal


@dataclass(eq=False)
class Ticket:
    """A commit that waits. `turn` comes when it has its outcome, or when it is the one to commit for all."""

    prepared: Prepared
    turn: anyio.Event = field(default_factory=anyio.Event)
    outcome: Answer | BaseException | None = None


@dataclass(frozen=True, eq=False)
class Doubt:
    """A COMMIT whose answer was lost: it happened if the conversation has moved on from `seq`."""

    prepared: Prepared
    plan: Plan
    seq: int


@dataclass(frozen=True)
class Happened:
    """A commit in doubt that is found to be there."""

    plan: Plan


@dataclass(frozen=True)
class LostTrack:
    """A commit in doubt is found to be there, and this one was decided without it."""


Decision = Plan | Happened | LostTrack | Answer


class Writer:
    def __init__(self, server: Server, boot_id: str) -> None:
        self.error: str | None = None
        self._server = server
        self._boot_id = boot_id
        self._connection: Connection | None = None
        self._waiting: list[Ticket] = []
        self._group: list[Ticket] = []
        self._leading = False
        self._closing = anyio.Event()
        self._doubts: dict[str, Doubt] = {}

    async def append(self, prepared: Prepared) -> Answer:
        """The outcome, after its commit is on disk. A caller that is cancelled gets it too, within the time limit."""
        if self._closing.is_set():
            raise closed()
        ticket = Ticket(prepared)
        self._waiting.append(ticket)
        with anyio.CancelScope(shield=True):
            if self._leading:
                await ticket.turn.wait()
            if ticket.outcome is None:
                await self._lead(ticket)
        if isinstance(ticket.outcome, BaseException):
            raise ticket.outcome
        assert ticket.outcome is not None
        return ticket.outcome

    async def close(self) -> None:
        """Commits what waits, and says goodbye."""
        self._closing.set()
        with anyio.CancelScope(shield=True):
            while left := self._waiting or self._group:
                await left[-1].turn.wait()
        if self._connection is not None:
            await end(self._connection, self._server.limit_s)
            self._connection = None

    async def _lead(self, first: Ticket) -> None:
        self._leading = True
        try:
            # Whoever was told of the group before has his next commit ready in a moment: it comes along.
            await anyio.lowlevel.checkpoint()
            while first.outcome is None:
                self._group = self._next_group()
                await self._settle(self._group)
        finally:
            self._group = []
            self._leading = bool(self._waiting)
            if self._waiting:
                self._waiting[0].turn.set()

    def _next_group(self) -> list[Ticket]:
        """In order; each conversation and each command once, so that no row is written twice in one statement."""
        group: list[Ticket] = []
        taken: set[str] = set()
        for ticket in self._waiting:
            commit = ticket.prepared.commit
            keys = {f"conversation {commit.conversation_id}"}
            if commit.receipt is not None:
                keys.add(f"command {commit.receipt.command_id}")
            if commit.base is not None:
                keys.add(f"conversation {commit.base.conversation_id}")
            if len(group) < GROUP_LIMIT and not keys & taken:
                group.append(ticket)
            # Also of what has to wait: nothing overtakes an earlier commit of its conversation.
            taken |= keys
        left = set(map(id, group))
        self._waiting = [ticket for ticket in self._waiting if id(ticket) not in left]
        return group

    async def _settle(self, group: Sequence[Ticket]) -> None:
        """Gives every ticket its outcome, within the time limit."""
        outcomes: Sequence[Answer | BaseException]
        try:
            outcomes = await self._committed([ticket.prepared for ticket in group])
        except TROUBLE as error:
            if len(group) > 1 and isinstance(error, ONES_FAULT):
                for ticket in group:
                    await self._settle([ticket])
                return
            outcomes = [self._said(error)] * len(group)
        else:
            self.error = None
        for ticket, outcome in zip(group, outcomes, strict=True):
            ticket.outcome = outcome
            ticket.turn.set()

    def _said(self, error: Exception) -> Exception:
        if _is_bug(error):
            return error
        refused = ledger_error(error, self._server.place)
        if not isinstance(error, asyncpg.DataError):
            self.error = refused.refusal.message
        return refused

    async def _committed(self, group: Sequence[Prepared]) -> Sequence[Answer]:
        """The group's transaction, again on a new connection if one is lost.

        A server that is away is said at once. Only where the answer to a COMMIT was lost it is asked for longer, since
        nobody may be told that nothing happened.
        """
        deadline = anyio.current_time() + self._server.limit_s
        wait, again, asked = FIRST_WAIT_S, self._connection is not None, False
        while True:
            try:
                with anyio.fail_after(max(0.0, deadline - anyio.current_time())):
                    return await self._transaction(group, asked=asked)
            except asyncpg.UniqueViolationError as error:
                if asked or error.constraint_name != "receipt_pkey":
                    raise
                asked = True
                continue
            except LOST:
                unknown = any(prepared.commit.conversation_id in self._doubts for prepared in group)
                late = self._closing.is_set() or anyio.current_time() >= deadline
                if late or not (unknown or again):
                    raise
                again = False
            with anyio.move_on_after(min(wait, max(0.0, deadline - anyio.current_time()))):
                await self._closing.wait()
            wait = min(2 * wait, LONGEST_WAIT_S)

    async def _transaction(self, group: Sequence[Prepared], *, asked: bool) -> Sequence[Answer]:
        """`asked`: a command of the group was answered before, so that receipts have to be looked at."""
        if self._connection is None:
            self._connection = await self._server.connect()
        connection = self._connection
        try:
            await connection.execute("BEGIN")
            standings = await _standings(connection, group)
            commands = [one.commit.receipt.command_id for one in group if asked and one.commit.receipt]
            known = await reads.receipts(connection, commands) if commands else {}
            decisions = [self._decided(one, _standing(one.commit, standings), known) for one in group]
            works = [(one, plan) for one, plan in zip(group, decisions, strict=True) if isinstance(plan, Plan)]
            await self._finish(connection, works)
        except BaseException:
            connection.terminate()
            self._connection = None
            raise
        for one, decided in zip(group, decisions, strict=True):
            if not isinstance(decided, LostTrack):
                self._doubts.pop(one.commit.conversation_id, None)
        return [_answer(one, decided) for one, decided in zip(group, decisions, strict=True)]

    async def _finish(self, connection: Connection, works: Sequence[Work]) -> None:
        if not works:
            await connection.execute("ROLLBACK")
            return
        await connection.execute(WRITE, *parameters(works, self._boot_id))
        # From here until the answer nobody knows whether it happened.
        doubts = {
            prepared.commit.conversation_id: Doubt(prepared, plan, plan.seq - len(plan.events))
            for prepared, plan in works
            if plan.events
        }
        self._doubts.update(doubts)
        await connection.execute("COMMIT")

    def _decided(self, prepared: Prepared, standing: Standing, known: dict[str, Receipt]) -> Decision:
        commit = prepared.commit
        doubt = self._doubts.get(commit.conversation_id)
        if doubt is not None and standing.epoch == doubt.prepared.commit.epoch and standing.seq > doubt.seq:
            # Somebody else was told that the earlier one failed and decided without it.
            return Happened(doubt.plan) if doubt.prepared is prepared else LostTrack()
        plan = planned(commit, standing)
        if isinstance(plan, Plan) and plan.receipt is not None and (found := known.get(plan.receipt.command_id)):
            if found.conversation_id != commit.conversation_id:
                return key_conflict(found.command_id)
            return Committed((), standing.seq, found)
        return plan


def _is_bug(error: Exception) -> bool:
    """Not for a person to try again."""
    return isinstance(error, asyncpg.IntegrityConstraintViolationError)


async def _standings(connection: Connection, group: Sequence[Prepared]) -> dict[str, Standing]:
    """Locks the rows, always in the same order. Whoever else writes one of them is waited for."""
    bases = [one.commit.base.conversation_id for one in group if one.commit.base is not None]
    rows = await connection.fetch(_LOCK, [*(one.commit.conversation_id for one in group), *bases])
    return {row[0]: Standing(row[1], row[2], row[3], row[4]) for row in rows}


def _standing(commit: Commit, standings: Mapping[str, Standing]) -> Standing:
    found = standings.get(commit.conversation_id, _NEW)
    base = None if commit.base is None else standings.get(commit.base.conversation_id)
    return found if base is None or base.deleted else replace(found, base=base.seq)


def _answer(prepared: Prepared, decided: Decision) -> Answer:
    match decided:
        case Committed() | Refusal():
            return decided
        case LostTrack():
            return lost_track(prepared.commit.epoch)
        case Happened(plan=plan) | (Plan() as plan):
            keep_bytes(prepared, plan.events)
            return Committed(plan.events, plan.seq, plan.receipt)


_NEW: Final = Standing()

_LOCK: Final = """SELECT conversation_id, owner, epoch, seq, deleted_at IS NOT NULL FROM conversation
    WHERE conversation_id = ANY($1::text[]) ORDER BY conversation_id FOR UPDATE"""
