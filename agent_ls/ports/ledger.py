"""The ledger as the runtime sees it: one command, one commit; everything acknowledged is durable.

Implemented in adapters.ledger (memory, SQLite, PostgreSQL); one contract suite runs over all of them. Nothing above
this port knows which engine is beneath it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agent_ls.core.conversation import Conversation, ConversationStatus
from agent_ls.core.effects import Effect
from agent_ls.core.errors import Refusal
from agent_ls.core.events import AnyEntity, Event, Fact
from agent_ls.core.items import Item
from agent_ls.core.lineage import Base
from agent_ls.core.projection import status_of
from agent_ls.core.request import Request


@dataclass(frozen=True)
class Receipt:
    """The answer to a command, given again when the command comes again. Exactly one of result and refusal is set."""

    command_id: str
    conversation_id: str
    result: dict[str, Any] | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True, kw_only=True)
class Commit:
    """What one command changes, all or nothing.

    `effects` become owed, `settled` names effects that are done. The receipt's result gets `seq`, the seq of the last
    event of this commit (or the conversation's newest, when the commit has none). `base`, in the first commit of a
    conversation only: it goes on from another one, as that one stands in the moment of this commit.
    """

    conversation_id: str
    epoch: int
    at: str
    facts: Sequence[Fact] = ()
    effects: Sequence[Effect] = ()
    settled: Sequence[str] = ()
    receipt: Receipt | None = None
    base: Base | None = None


@dataclass(frozen=True)
class Committed:
    """`events` in seq order; `seq` the conversation's newest; `receipt` as stored."""

    events: Sequence[Event]
    seq: int
    receipt: Receipt | None = None


@dataclass(frozen=True)
class Snapshot:
    """The newest state of every entity of a conversation."""

    entities: Sequence[AnyEntity]
    seq: int


@dataclass(frozen=True)
class Page:
    """Items in order of `ord`; `older` is the cursor for the page before, None at the beginning."""

    items: Sequence[Item]
    older: str | None


@dataclass(frozen=True)
class Summary:
    """A conversation as a list shows it."""

    conversation: Conversation
    seq: int
    last_text: str
    pending_requests: int
    active_run: bool
    queued_runs: int
    stopping: bool

    @property
    def status(self) -> ConversationStatus:
        return status_of(
            active=self.active_run or self.conversation.compacting is not None,
            stopping=self.stopping,
            queued=self.queued_runs,
            pending=self.pending_requests,
        )


@dataclass(frozen=True, kw_only=True)
class ListQuery:
    workspace: str | None = None
    query: str | None = None
    archived: bool = False
    cursor: str | None = None
    limit: int = 50


@dataclass(frozen=True)
class LedgerStatus:
    """For `agent-ls status`: engine, schema version, events, bytes on disk, whether writes work, last error."""

    engine: str
    schema: int
    events: int
    size_bytes: int
    writable: bool
    error: str | None = None
    details: dict[str, Any] = field(default_factory=dict)


class LedgerError(Exception):
    """The ledger cannot do this now (disk full, locked, newer schema); carries the refusal for the person."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def cursor_at(ord_: int) -> str:
    """The cursor of the page that ends before this place."""
    return str(ord_)


class Ledger(Protocol):
    """Every method may raise LedgerError. Reads never wait for a write that is not theirs.

    What a conversation has from another one (core.lineage) is found under its own ids by `load`, `page` and `find`. It
    has no events: those are the conversation's own.
    """

    async def close(self) -> None: ...

    async def claim(self, conversation_id: str, owner: str) -> int | Refusal:
        """The right to write; an epoch one higher than any before it.

        Refused while another owner has it whose lease has not ended. Where only one daemon can open the ledger
        (SQLite, by the state directory's lock) whoever claims gets it.
        """
        ...

    async def release(self, conversation_id: str, owner: str) -> None: ...

    async def append(self, commit: Commit) -> Committed | Refusal:
        """Commits, durable on return. Refuses a stale epoch, and a command id known from another conversation.

        With a base it costs the same however long that conversation is; refused where it is not there any more.
        """
        ...

    async def receipt(self, command_id: str) -> Receipt | None: ...

    async def reserve_numbers(self, count: int) -> int:
        """The first of `count` fresh request numbers. Never reused once committed."""
        ...

    async def load(self, conversation_id: str) -> Snapshot | None:
        """None if there is no such conversation."""
        ...

    async def head(self, conversation_id: str) -> Snapshot | None:
        """What an attach needs besides its page: the conversation, runs not ended, pending requests, and seq."""
        ...

    async def read(self, conversation_id: str, after: int, limit: int) -> Sequence[Event]: ...

    async def page(self, conversation_id: str, before: str | None, limit: int) -> Page:
        """The newest `limit` items before the cursor. Costs the page, not the history."""
        ...

    async def find(self, entity_id: str) -> AnyEntity | None: ...

    async def conversations(self, query: ListQuery) -> tuple[Sequence[Summary], str | None]:
        """Newest first, with the cursor for more. Subagents are no rows of their own: their parents name them."""
        ...

    async def summary(self, conversation_id: str) -> Summary | None: ...

    async def requests(self, workspace: str | None, conversation_id: str | None) -> Sequence[Request]:
        """The pending ones, by number."""
        ...

    async def request_by_number(self, number: int) -> Request | None: ...

    async def owed(self) -> Sequence[Effect]:
        """Effects not settled, oldest first."""
        ...

    async def take_up(self, effect: Effect, epoch: int) -> bool:
        """Writes down the account of an effect. False if it is settled, or the epoch is not the newest."""
        ...

    async def put_blob(self, content: bytes) -> str:
        """Its digest (sha256, hex)."""
        ...

    async def get_blob(self, digest: str) -> bytes | None: ...

    def keep_partial(self, conversation_id: str, item_id: str, text: str) -> None:
        """Keeps text in flight for display after a crash; unsynced, never a fact, may be lost. Does not block."""
        ...

    async def partials(self, conversation_id: str) -> dict[str, str]: ...

    async def drop_partials(self, conversation_id: str) -> None: ...

    async def delete(self, conversation_id: str, command_id: str) -> bool:
        """Removes a conversation for good; leaves a tombstone and this command's receipt. False if there is none.

        What forks have of it stays theirs, and goes with the last of them.
        """
        ...

    async def status(self) -> LedgerStatus: ...
