"""What the daemon sends: results of methods and parameters of its notifications, key by key as on the wire.

Owns these shapes for docs, JSON Schema and client types. Nothing is checked against them at run time: the daemon is
the one who makes them. Entities are the core's own dataclasses; only what differs from them stands here (views.py
makes those).
"""

from dataclasses import dataclass
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # comes with pydantic, which reads no other before Python 3.12

from agent_ls.core.conversation import Conversation, ConversationStatus
from agent_ls.core.errors import Code
from agent_ls.core.events import AnyEntity, EventKind
from agent_ls.core.items import Item
from agent_ls.core.request import Request, RequestStatus
from agent_ls.core.run import Run, RunStatus
from agent_ls.wire import changes
from agent_ls.wire.presence import Presence

Json = dict[str, Any]
Phase = Literal["thinking", "answering", "tool", "retrying", "compacting", "waiting"]
Disposition = Literal["started", "queued", "steered", "restarted"]


class Nothing(TypedDict):
    """An empty object: the answer itself says that it is done."""


@dataclass(frozen=True, kw_only=True)
class ConversationView(Conversation):
    """A conversation as a window sees it, with what follows from its runs and requests."""

    status: ConversationStatus


@dataclass(frozen=True, kw_only=True)
class ConversationSummary(ConversationView):
    pending_requests: int
    last_text: str


class Lock(TypedDict):
    """`waiting`: how many calls wait for it."""

    key: str
    conversationId: str
    runId: str
    itemId: str
    since: str
    waiting: int


class StreamView(TypedDict):
    """Text in flight of an item that is not committed yet; `agent/stream` goes on at `cursor`."""

    itemId: str
    cursor: int
    text: str
    phase: NotRequired[Phase]
    output: NotRequired[str]


class ErrorData(TypedDict):
    code: Code
    message: str
    hint: NotRequired[str]
    retryable: bool


class ConversationList(TypedDict):
    conversations: list[ConversationSummary]
    nextCursor: NotRequired[str]


class Conversed(TypedDict):
    conversation: ConversationView
    seq: int


class Attached(TypedDict):
    """Answered first; events after `seq` follow. Not a `snapshot`: what came after `after` follows as events.

    `draft`: what was written and not sent, in whichever window.
    """

    conversation: ConversationView
    items: list[Item]
    requests: list[Request]
    run: NotRequired[Run]
    queue: list[Run]
    locks: list[Lock]
    shells: list["ShellView"]
    windows: list[Presence]
    draft: NotRequired[str]
    streams: list[StreamView]
    seq: int
    snapshot: bool
    olderCursor: NotRequired[str]


class ItemPage(TypedDict):
    items: list[Item]
    olderCursor: NotRequired[str]


class Exported(TypedDict):
    """`text`, or the path of a file that holds it when it is long: whoever asked removes it."""

    text: NotRequired[str]
    path: NotRequired[str]


class GapView(TypedDict):
    """Something of a file that was not taken over."""

    line: int
    what: str


class ImportedView(TypedDict):
    """`existed`: the file had been imported before, nothing was added. `gaps` are the first of `gapCount`."""

    conversation: ConversationView
    seq: int
    events: int
    blobs: int
    interrupted: int
    existed: bool
    gaps: list[GapView]
    gapCount: int


class Sequenced(TypedDict):
    """Done with the event `seq`."""

    seq: int


class Hurried(Sequenced):
    runId: str


class Sent(TypedDict):
    """`notice`: something to tell the person, as that many messages wait."""

    runId: str
    disposition: Disposition
    seq: int
    notice: NotRequired[str]


class RequestList(TypedDict):
    requests: list[Request]


class Noted(Sequenced):
    """Not over yet: the run is `stopping` until its end comes as an event, or was over before."""

    runId: str
    status: RunStatus | Literal["stopping"]


class QueueUpdated(Sequenced):
    """`runId` of the run that was changed, `queueHeld` after `hold` and `release`."""

    runId: NotRequired[str]
    queueHeld: NotRequired[bool]


class Responded(Sequenced):
    status: RequestStatus


class CommandPreview(TypedDict):
    """What a command would run as; `environment` holds only what changes, null where a name is taken away."""

    command: str
    cwd: str
    environment: dict[str, str | None]


class ChangePreview(TypedDict):
    """`before` and `after` are the whole texts, the hashes those of the file, "" where it is not there."""

    uri: str
    path: str
    diff: str
    before: str
    after: str
    beforeHash: str
    afterHash: str


class Preview(TypedDict):
    """The whole of what an answer would allow, and the digest that binds the answer to it."""

    requestId: str
    number: int
    digest: str
    title: str
    status: RequestStatus
    command: NotRequired[CommandPreview]
    change: NotRequired[ChangePreview]
    input: NotRequired[Json]
    questions: NotRequired[list[Json]]


class BlobPart(TypedDict):
    """`data` is base64; `size` that of the whole blob in bytes."""

    data: str
    offset: int
    size: int


class LockList(TypedDict):
    locks: list[Lock]


class Rule(TypedDict):
    id: NotRequired[str]
    effect: Literal["allow", "ask", "deny"]
    rule: str
    scope: str
    origin: str


class RuleList(TypedDict):
    rules: list[Rule]


class Explanation(TypedDict):
    effect: Literal["allow", "ask", "deny"]
    reason: str
    decidedBy: NotRequired[str]


class ProviderView(TypedDict):
    """`reason` says why it is not available and what to do."""

    id: str
    kind: str
    available: bool
    model: NotRequired[str]
    reason: NotRequired[str]
    capabilities: NotRequired[Json]


class ProviderList(TypedDict):
    providers: list[ProviderView]


class ModelView(TypedDict):
    id: str
    provider: str
    available: bool
    reason: NotRequired[str]
    contextWindow: NotRequired[int]
    capabilities: NotRequired[Json]


class ModelList(TypedDict):
    models: list[ModelView]


class DaemonStatus(TypedDict):
    """`drain` is null while the daemon serves; `instances` are the newest daemons that held this ledger; `mcp` the
    servers of tools, one a workspace: name, state, how many tools."""

    pid: int
    version: str
    bootId: str
    instanceId: str
    uptimeS: float
    connections: Any
    claims: Any
    runs: Any
    requests: Any
    shells: Any
    effects: Any
    ledger: Json
    drain: Any
    instances: list[Json]
    config: Json
    janitor: Json
    mcp: list[Json]


class Restored(TypedDict):
    restored: list[str]
    conflicts: list[str]


class RolledBack(Restored):
    runs: list[str]


class CheckpointList(TypedDict):
    checkpoints: list[Json]


class CheckpointDiff(TypedDict):
    files: list[changes.FileChanges]


class ShellView(TypedDict):
    """One that runs; `itemId` is the call that began it. Its end is a notice `shell_ended` beneath that."""

    id: str
    conversationId: str
    runId: str
    itemId: str
    command: str
    cwd: str
    since: str
    pid: NotRequired[int]


class ShellList(TypedDict):
    shells: list[ShellView]


class Hello(TypedDict):
    """Sent at each connect and reconnect. Another `bootId` than before: a new daemon, attach again."""

    protocol: int
    daemonVersion: str
    bootId: str
    pid: int


class Event(TypedDict):
    """`entity` is the whole of it after the fact; `seq` is gapless in its conversation."""

    seq: int
    at: str
    kind: EventKind
    fact: str
    entity: AnyEntity


class Events(TypedDict):
    """Committed facts in order, no gap, no repeat; upsert each entity by its id."""

    conversationId: str
    events: list[Event]


class StreamPart(TypedDict):
    """`delta` goes to the end of what came before, `text` replaces it; the committed item replaces both."""

    conversationId: str
    itemId: str
    cursor: int
    phase: NotRequired[Phase]
    delta: NotRequired[str]
    text: NotRequired[str]
    output: NotRequired[str]


class RequestsChanged(TypedDict):
    """`pending` counts the whole daemon, `requests` are those that this window should show."""

    pending: int
    requests: list[Request]


class Resync(TypedDict):
    conversationId: str


class Draining(TypedDict):
    retryAfterMs: int
    reason: str


class ConversationsChanged(TypedDict):
    conversations: list[ConversationSummary]
    deleted: NotRequired[list[str]]


class Saved(TypedDict):
    saved: bool
