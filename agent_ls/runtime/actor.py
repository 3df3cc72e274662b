"""A conversation's actor: takes commands one at a time, decides purely, commits, then tells.

Owns the order decision -> commit (with receipt) -> projection -> publication. Nothing is published or acknowledged
before the commit; a caller that goes away in the middle changes nothing.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import anyio

from agent_ls.core.draft import Decision
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.moments import later
from agent_ls.core.projection import ConversationState
from agent_ls.ports.ledger import Commit, LedgerError, Receipt
from agent_ls.runtime.services import Services

log = logging.getLogger(__name__)

WHAT: Final = "_what"
MILLISECOND: Final = 0.001

# What an append is refused with when this actor's view of its conversation is void.
FENCING: Final = frozenset({Code.STALE_EPOCH, Code.NOT_FOUND})

Decide = Callable[[ConversationState, str], Decision | Refusal | None]


class Actor:
    """`fenced`: another daemon writes here now, or the ledger holds more than this one knows of; nothing will be taken.
    `partly`: it has something from another conversation that was not read; it has to be loaded before it goes on.

    `decide` functions get the state and the time, and yield a decision, a refusal, or None for "nothing to do".
    """

    def __init__(self, conversation_id: str, state: ConversationState, services: Services) -> None:
        self.id = conversation_id
        self.state = state
        self._services = services
        self._turn = anyio.Lock(fast_acquire=True)
        self.after_commit: Callable[[Actor], None] = lambda _: None
        self.on_fenced: Callable[[Actor], None] = lambda _: None
        self.fenced = False
        self.partly = False
        self._latest = max((item.updated_at or item.created_at for item in state.items.values()), default="")

    @property
    def idle(self) -> bool:
        return not self._turn.locked()

    def fence(self) -> None:
        """What is known here is void: nothing more is done with it."""
        self.fenced = True
        self.on_fenced(self)

    async def command(self, command_id: str, decide: Decide, *, what: str = "") -> dict[str, Any] | Refusal:
        """A client's command. The same id gives the same answer, also the same refusal.

        `what` is a digest of what was asked: the same id for something else is a conflict, not an answer.
        """
        answer: dict[str, Any] | Refusal = {}
        with anyio.CancelScope(shield=True):
            async with self._turn:
                answer = await self._command(command_id, decide, what)
        return answer

    async def delete(self, command_id: str) -> dict[str, Any] | Refusal:
        """Removes the conversation, unless a run is going on. Who waits behind it learns that it is gone."""
        answer: dict[str, Any] | Refusal = {}
        with anyio.CancelScope(shield=True):
            async with self._turn:
                answer = await self._delete(command_id)
        return answer

    async def record(self, decide: Decide) -> bool:
        """Something the daemon itself has to write down; False when there was nothing to do.

        Raises LedgerError while the ledger cannot be written: the caller holds what it wanted to write.
        """
        done = False
        with anyio.CancelScope(shield=True):
            async with self._turn:
                done = await self._record(decide)
        return done

    async def confirm(self) -> None:
        """Asks the ledger whether this daemon may still write here. Raises LedgerError if not."""
        with anyio.CancelScope(shield=True):
            async with self._turn:
                committed = await self._append(Decision(), self._moment(), None)
        if isinstance(committed, Refusal):
            raise LedgerError(committed)

    async def _record(self, decide: Decide) -> bool:
        at = self._moment()
        decided = decide(self.state, at)
        if decided is None:
            return False
        committed = decided if isinstance(decided, Refusal) else await self._append(decided, at, None)
        if isinstance(committed, Refusal):
            raise LedgerError(committed)
        return True

    async def _command(self, command_id: str, decide: Decide, what: str) -> dict[str, Any] | Refusal:
        try:
            # A command that comes again is decided again and then meets its receipt in the transaction: what was
            # answered first is answered now, and nothing of the second decision is kept.
            at = self._moment()
            decided = decide(self.state, at)
            if decided is None:
                return {}
            if isinstance(decided, Refusal):
                marked = replace(decided, data={**decided.data, WHAT: what})
                return await self._append(Decision(), at, Receipt(command_id, self.id, refusal=marked))
            return await self._append(decided, at, Receipt(command_id, self.id, result={**decided.result, WHAT: what}))
        except LedgerError as error:
            log.warning("command refused: %s", error.refusal.code)
            return error.refusal

    async def _delete(self, command_id: str) -> dict[str, Any] | Refusal:
        if await self._services.ledger.receipt(command_id) is not None:
            return Refusal(Code.COMMAND_CONFLICT, "This commandId was already used for something else.")
        if self.state.active is not None:
            return Refusal(Code.CONVERSATION_BUSY, "A run is going on in this conversation; it cannot be deleted now.")
        if self.state.exists and self.state.conversation.compacting is not None:
            return Refusal(Code.CONVERSATION_BUSY, "This conversation is being compacted; it cannot be deleted now.")
        await self._services.ledger.delete(self.id, command_id)
        return {}

    def _moment(self) -> str:
        """Now, but after all that is on record here, even if the wall clock was set back.

        Whoever folds the ledger tells by these times what was learned last (core.projection).
        """
        now = self._services.clock.now()
        return now if now > self._latest else later(self._latest, MILLISECOND)

    async def _append(self, decision: Decision, at: str, receipt: Receipt | None) -> dict[str, Any] | Refusal:
        commit = Commit(
            conversation_id=self.id,
            epoch=self.state.epoch,
            at=at,
            facts=decision.facts,
            effects=decision.effects,
            settled=decision.settled,
            receipt=receipt,
            base=decision.base,
        )
        committed = await self._services.ledger.append(commit)
        if isinstance(committed, Refusal):
            if committed.code in FENCING:
                self.fence()
            return committed
        if committed.events:
            for event in committed.events:
                self.state.apply(event.entity)
            self.state.seq = committed.seq
            self.partly = decision.base is not None
            self._latest = at
            self._services.feed.publish(self.id, committed.events)
            self.after_commit(self)
        if receipt is not None and committed.receipt is not None:
            return answer_of(committed.receipt, self.id, _what(receipt))
        return {**decision.result, "seq": committed.seq}


def answer_of(kept: Receipt, conversation_id: str, what: str) -> dict[str, Any] | Refusal:
    """What was answered first to this command id, if it was the same command."""
    if kept.conversation_id != conversation_id:
        return Refusal(Code.COMMAND_CONFLICT, "This commandId was already used for another conversation.")
    # Conversations were begun without a digest once; such a receipt answers all who come with its id.
    if _what(kept) not in ("", what):
        return Refusal(Code.COMMAND_CONFLICT, "This commandId was already used for another command.")
    if kept.refusal is not None:
        return replace(kept.refusal, data=_without_mark(kept.refusal.data))
    return _without_mark(kept.result or {})


def _what(receipt: Receipt) -> str:
    held = receipt.refusal.data if receipt.refusal is not None else receipt.result or {}
    return str(held.get(WHAT, ""))


def _without_mark(held: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in held.items() if name != WHAT}
