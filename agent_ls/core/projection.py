"""A conversation folded from its events: what the deciders look at.

Owns the indices that decisions need (who is active, what is queued, what was read). Applying is an upsert, since every
event carries the whole entity after it; nothing here decides anything.
"""

from collections.abc import Iterable, Sequence

from agent_ls.core.attempt import Attempt
from agent_ls.core.conversation import Conversation, ConversationStatus
from agent_ls.core.events import AnyEntity
from agent_ls.core.items import AssistantMessage, Call, CallState, Compaction, Item, ResultStatus
from agent_ls.core.request import Request
from agent_ls.core.run import Run, RunStatus
from agent_ls.core.shells import Shell, ended_by, shell_of
from agent_ls.core.uris import local_path


class ConversationState:
    """Mutable only through `apply`. `epoch` is that of the claim under which it is decided.

    `seen` maps file URIs to the hash that the conversation last read or wrote, `cwd` is where its shell stands.
    `shells` are those in the background that have not ended, by the item of their call. `compaction` is the newest one.
    """

    def __init__(self) -> None:
        self.seq = 0
        self.epoch = 0
        self.runs: dict[str, Run] = {}
        self.attempts: dict[str, Attempt] = {}
        self.items: dict[str, Item] = {}
        self.requests: dict[str, Request] = {}
        self.run_items: dict[str, list[str]] = {}
        self.pending: dict[str, Request] = {}
        self.queued: dict[str, Run] = {}
        self.active: Run | None = None
        self.seen: dict[str, str] = {}
        self.cwd: str | None = None
        self.shells: dict[str, Shell] = {}
        self.compaction: Item | None = None
        self.last_text = ""
        self.next_ord = 1
        self._conversation: Conversation | None = None
        self._seen_at: dict[str, int] = {}

    @classmethod
    def of(cls, entities: Iterable[AnyEntity], seq: int) -> "ConversationState":
        """From the newest state of every entity, in any order."""
        state = cls()
        for entity in sorted(entities, key=_load_order):
            state.apply(entity)
        # Calls may end in another order than they stand in: what was learned last counts.
        for item in sorted(state.items.values(), key=lambda item: (item.updated_at or "", item.ord)):
            state._learn(item)
        state.seq = seq
        return state

    @property
    def conversation(self) -> Conversation:
        if self._conversation is None:
            raise LookupError("the conversation has not been created yet")
        return self._conversation

    @property
    def exists(self) -> bool:
        return self._conversation is not None

    @property
    def compacted(self) -> Compaction | None:
        """What stands for all that is older than `kept_from`."""
        held = self.compaction
        return held.payload if held is not None and isinstance(held.payload, Compaction) else None

    @property
    def kept_from(self) -> int:
        """The place of the first item that a model is still sent as it was."""
        return 0 if (held := self.compacted) is None else held.kept_from

    @property
    def root(self) -> str:
        """The workspace as a path of this machine; what names none is no folder, and never the whole disk."""
        path = local_path(self.conversation.workspace)
        return path if isinstance(path, str) else f"/{self.conversation.workspace}"

    def apply(self, entity: AnyEntity) -> None:
        match entity:
            case Conversation():
                self._conversation = entity
            case Run():
                self._apply_run(entity)
            case Attempt():
                self.attempts[entity.id] = entity
            case Item():
                self._apply_item(entity)
            case Request():
                self.requests[entity.id] = entity
                self.pending.pop(entity.id, None)
                if entity.pending:
                    self.pending[entity.id] = entity

    @property
    def next_ordinal(self) -> int:
        """Of the next run. Not a count: a fork has only those runs of its parent that had begun."""
        return 1 + max((run.ordinal for run in self.runs.values()), default=0)

    def queue(self) -> list[Run]:
        """Queued runs, next one first."""
        return sorted(self.queued.values(), key=lambda run: (run.position or 0, run.ordinal))

    def attempt_of(self, run: Run) -> Attempt | None:
        return self.attempts.get(run.active_attempt_id or "")

    def items_of(self, run_id: str) -> list[Item]:
        return [self.items[item_id] for item_id in self.run_items.get(run_id, ())]

    def step_calls(self, attempt: Attempt) -> list[Item]:
        """Calls of the attempt's newest step, in call order. Looks only at the tail of the run."""
        found: list[Item] = []
        step: str | None = None
        for item_id in reversed(self.run_items.get(attempt.run_id, [])):
            item = self.items[item_id]
            if item.attempt_id != attempt.id or item.step_id is None:
                continue
            if step is not None and item.step_id != step:
                break
            step = item.step_id
            if isinstance(item.payload, Call):
                found.append(item)
        return found[::-1]

    def read_at(self) -> Sequence[tuple[str, int]]:
        """Files that the model knows, with the place of the call that told it."""
        return tuple(self._seen_at.items())

    def status(self) -> ConversationStatus:
        run = self.active
        stopping = run is not None and run.interrupt is not None
        active = run is not None or self.conversation.compacting is not None
        return status_of(active=active, stopping=stopping, queued=len(self.queued), pending=len(self.pending))

    def _apply_run(self, run: Run) -> None:
        self.runs[run.id] = run
        self.queued.pop(run.id, None)
        if run.status is RunStatus.QUEUED:
            self.queued[run.id] = run
        elif not run.ended:
            self.active = run
        elif self.active is not None and self.active.id == run.id:
            self.active = None

    def _apply_item(self, item: Item) -> None:
        known = self.items.get(item.id)
        if known is None:
            self.run_items.setdefault(item.run_id, []).append(item.id)
            self.next_ord = max(self.next_ord, item.ord + 1)
        self.items[item.id] = item
        if isinstance(item.payload, AssistantMessage):
            self.last_text = item.payload.text
        if isinstance(item.payload, Compaction) and (self.compaction is None or self.compaction.ord <= item.ord):
            self.compaction = item
            self._forget()
        self._apply_shell(item)
        # A call that is reviewed long after it ended tells nothing new about its file.
        if known is None or not isinstance(known.payload, Call) or known.payload.result is None:
            self._learn(item)

    def _apply_shell(self, item: Item) -> None:
        if (shell := shell_of(item)) is not None:
            self.shells[item.id] = shell
        elif (ended := ended_by(item)) is not None:
            self.shells.pop(ended, None)

    def _forget(self) -> None:
        """A model that is not sent what it read has not read it: before an edit it has to read again."""
        for uri, ord_ in tuple(self._seen_at.items()):
            if ord_ < self.kept_from:
                self._see(uri, None, ord_)

    def _see(self, uri: str, digest: str | None, ord_: int) -> None:
        if digest is None:
            self.seen.pop(uri, None)
            self._seen_at.pop(uri, None)
        else:
            self.seen[uri], self._seen_at[uri] = digest, ord_

    def _learn(self, item: Item) -> None:
        call = item.payload
        if not isinstance(call, Call) or call.state is not CallState.FINISHED:
            return
        result = call.result
        if result is None or result.data is None or result.status is ResultStatus.UNKNOWN:
            return
        uri, digest, cwd = (result.data.get(name) for name in ("uri", "hash", "cwd"))
        if isinstance(cwd, str):
            self.cwd = cwd
        if item.ord < self.kept_from:
            return
        known = call.original is None  # else the model knows what it asked for, not what the person made of it
        if isinstance(uri, str) and isinstance(digest, str):
            self._see(uri, digest if known else None, item.ord)
        hashes = result.data.get("hashes")
        for one, held in hashes.items() if isinstance(hashes, dict) else ():
            self._see(one, held if known and held else None, item.ord)


def status_of(*, active: bool, stopping: bool, queued: int, pending: int) -> ConversationStatus:
    """What a window shows: derived, never stored. From counts, as a list knows no more."""
    if not active:
        return ConversationStatus.QUEUED if queued else ConversationStatus.IDLE
    if stopping:
        return ConversationStatus.STOPPING
    return ConversationStatus.WAITING if pending else ConversationStatus.RUNNING


def _load_order(entity: AnyEntity) -> tuple[int, int]:
    return (1, entity.ord) if isinstance(entity, Item) else (0, 0)
