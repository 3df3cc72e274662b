"""Items: the tree that a screen renders, in one stable order.

Owns kinds and payloads, and what is in flight of an item before it is committed. Does not own how a call moves, nor
how its item's status follows (call.py), nor how items become a model's messages (context.py).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from agent_ls.core.base import Entity


class ItemKind(StrEnum):
    USER_MESSAGE = "user_message"
    ASSISTANT_MESSAGE = "assistant_message"
    REASONING = "reasoning"
    TOOL_CALL = "tool_call"
    COMMAND = "command"
    FILE_CHANGE = "file_change"
    APPROVAL = "approval"
    QUESTION = "question"
    PLAN = "plan"
    TODO_LIST = "todo_list"
    SUBAGENT = "subagent"
    COMPACTION = "compaction"
    HANDOFF = "handoff"
    CHECKPOINT = "checkpoint"
    INTERRUPT = "interrupt"
    ERROR = "error"
    NOTICE = "notice"


class ItemStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


class CallState(StrEnum):
    PROPOSED = "proposed"
    AWAITING_APPROVAL = "awaiting_approval"
    APPROVED = "approved"
    DENIED = "denied"
    STARTED = "started"
    FINISHED = "finished"
    NOT_RUN = "not_run"


class ResultStatus(StrEnum):
    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"
    UNKNOWN = "unknown"
    NOT_RUN = "not_run"


BLOB_SCHEME: Final = "blob:"


@dataclass(frozen=True, kw_only=True)
class Block(Entity):
    """One piece of a message: `text` {text}, `image` {mime_type, data: base64} or `file` {uri, range?}."""

    type: str
    text: str | None = None
    mime_type: str | None = None
    data: str | None = None
    uri: str | None = None
    range: dict[str, Any] | None = None

    @property
    def blank(self) -> bool:
        return not ((self.text and self.text.strip()) or self.data or self.uri)


@dataclass(frozen=True, kw_only=True)
class ContextItem(Entity):
    """What an editor attached to a message, as it was when sent."""

    type: str
    uri: str | None = None
    range: dict[str, Any] | None = None
    text: str | None = None
    data: Any = None
    blob: str | None = None


@dataclass(frozen=True, kw_only=True)
class Usage(Entity):
    """Tokens of one or more steps, as the provider counted them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None

    def plus(self, other: "Usage") -> "Usage":
        known = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            cost_usd=sum(known) if known else None,
        )


@dataclass(frozen=True, kw_only=True)
class ToolResult(Entity):
    """What came of a call. `output` is what the model is told, without the status word in front.

    `images` are image blocks for the model. `blob` is the digest of what the model was not shown of a long output,
    `full` of what it was shown but what is too long for the transcript. `data` holds facts that later calls need (hash
    of what was read), never shown to the model.
    """

    status: ResultStatus
    output: str = ""
    exit_code: int | None = None
    blob: str | None = None
    full: str | None = None
    images: tuple[Block, ...] = ()
    data: dict[str, Any] | None = None

    def for_model(self) -> str:
        """Text for the model: a result that is not ok begins with its status; never empty (servers refuse that)."""
        return self.prefix + (self.output if self.output.strip() else "(no output)")

    @property
    def prefix(self) -> str:
        return "" if self.status is ResultStatus.OK else f"{self.status}: "


@dataclass(frozen=True, kw_only=True)
class UserMessage(Entity):
    content: tuple[Block, ...]
    context: tuple[ContextItem, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AssistantMessage(Entity):
    """`full` is the digest of the whole text where it is too long for the transcript."""

    text: str
    model: str | None = None
    usage: Usage | None = None
    full: str | None = None


@dataclass(frozen=True, kw_only=True)
class Reasoning(Entity):
    """`raw` is the provider's own block, replayed byte for byte to the provider and model that made it; `full` the
    digest of that block where it is too large for the transcript."""

    text: str
    provider: str | None = None
    model: str | None = None
    raw: dict[str, Any] | None = None
    full: str | None = None


@dataclass(frozen=True, kw_only=True)
class Interruption(Entity):
    """Who stopped a run or a call, and from where."""

    by: str
    from_: str | None = None


@dataclass(frozen=True, kw_only=True)
class Call(Entity):
    """Payload of a tool call, command or file change. `call_id` is ours; `native_id` what the model called it.

    `record` is the digest of what is kept of a change to files (core.hunks), `reviewed` what the person has decided on
    its hunks, by their number. `original` is the model's own input where the person has changed it. `stop`: the person
    wants this call to end, and the run to go on. `again`: the person had it run again, and nobody knows whether it had
    run before. `walled`: what came of it in the sandbox, which is why it is to run outside or not at all (walls.py).
    """

    call_id: str
    tool: str
    input: dict[str, Any]
    state: CallState = CallState.PROPOSED
    native_id: str | None = None
    title: str | None = None
    uri: str | None = None
    diff: str | None = None
    cwd: str | None = None
    keys: tuple[str, ...] = ()
    effect: str = "other"
    replay: str = "ask"
    digest: str | None = None
    request_id: str | None = None
    decided_by: str | None = None
    decided_from: str | None = None
    rule: str | None = None
    raw_arguments: str | None = None
    input_blob: str | None = None
    before: str | None = None
    after: str | None = None
    record: str | None = None
    reviewed: dict[str, str] | None = None
    original: dict[str, Any] | None = None
    original_blob: str | None = None
    stop: Interruption | None = None
    again: bool | None = None
    walled: ToolResult | None = None
    result: ToolResult | None = None


@dataclass(frozen=True, kw_only=True)
class Notice(Entity):
    """Payload of `notice` and `error`: a stable code and a sentence.

    While the model is about to be asked again (`retrying`): `until` when, try `tried` of `most`.
    """

    code: str
    message: str
    hint: str | None = None
    until: str | None = None
    tried: int | None = None
    most: int | None = None


@dataclass(frozen=True, kw_only=True)
class Question(Entity):
    questions: tuple[dict[str, Any], ...]
    answers: Any = None
    call_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class TodoList(Entity):
    steps: tuple[dict[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class Plan(Entity):
    """What the agent wants to do, as the person last saw it. `state`: proposed, accepted, refused or dropped."""

    markdown: str
    state: str
    call_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Subagent(Entity):
    """A part of the work that a conversation of its own does, as its parent shows it.

    `status`: queued, running, waiting, stopping, completed, failed or interrupted. `requests` are the numbers of what
    waits for the person there and beneath it, `steps` its list of steps, `usage` what it has used so far, `taken` how
    often a model was asked for it, there and beneath it.
    """

    conversation_id: str
    task: str
    status: str
    result: str | None = None
    agent: str | None = None
    requests: tuple[int, ...] = ()
    steps: tuple[dict[str, Any], ...] = ()
    usage: Usage | None = None
    taken: int | None = None
    call_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Compaction(Entity):
    """A summary that stands for older items in what a model is sent. The items themselves stay as they are.

    `first_kept` is the first item that is still sent as it was (None: none is), `kept_from` the place from which on
    items are; `summarized`: how many it stands for. `made_by`: `model`, or `digest` where it was put together from the
    ledger because of `trouble`. `trigger`: limit, overflow or manual. `carried` is what was put in again beside it,
    `messages` those of the person's that are repeated word for word (`answered`: they were done with). Tokens are
    estimates of the whole request.
    """

    summary: str
    summarized: int
    first_kept: str | None = None
    kept_from: int = 0
    made_by: str = "model"
    model: str | None = None
    trigger: str = "limit"
    mode: str = "sliding"
    instructions: str | None = None
    carried: str = ""
    messages: tuple[str, ...] = ()
    answered: bool = False
    tokens_before: int = 0
    tokens_after: int = 0
    trouble: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True, kw_only=True)
class Handoff(Entity):
    """Context that came from the conversation `from_`, as the model is told of it; `omitted` names what was left out.

    It covers that conversation up to the place `through`.
    """

    strategy: str
    from_: str
    to: str
    text: str
    omitted: tuple[str, ...] = ()
    through: int = 0


Payload = (
    UserMessage
    | AssistantMessage
    | Reasoning
    | Call
    | Notice
    | Interruption
    | Question
    | Plan
    | TodoList
    | Subagent
    | Compaction
    | Handoff
)

PAYLOADS: dict[ItemKind, type[Payload]] = {
    ItemKind.USER_MESSAGE: UserMessage,
    ItemKind.ASSISTANT_MESSAGE: AssistantMessage,
    ItemKind.REASONING: Reasoning,
    ItemKind.TOOL_CALL: Call,
    ItemKind.COMMAND: Call,
    ItemKind.FILE_CHANGE: Call,
    ItemKind.NOTICE: Notice,
    ItemKind.ERROR: Notice,
    ItemKind.INTERRUPT: Interruption,
    ItemKind.QUESTION: Question,
    ItemKind.PLAN: Plan,
    ItemKind.TODO_LIST: TodoList,
    ItemKind.SUBAGENT: Subagent,
    ItemKind.COMPACTION: Compaction,
    ItemKind.HANDOFF: Handoff,
}


CALLS: Final = frozenset(kind for kind, payload in PAYLOADS.items() if payload is Call)


@dataclass(frozen=True, kw_only=True)
class Item(Entity):
    """One row of the transcript. `ord` is its place, unique in the conversation and never changed."""

    id: str
    conversation_id: str
    run_id: str
    ord: int
    kind: ItemKind
    status: ItemStatus
    payload: Payload
    created_at: str
    attempt_id: str | None = None
    step_id: str | None = None
    parent_id: str | None = None
    updated_at: str | None = None

    @property
    def open(self) -> bool:
        """It goes on, or has not begun."""
        return self.status in (ItemStatus.PENDING, ItemStatus.RUNNING)

    @property
    def call(self) -> Call:
        """The payload of a call item; asking for it on another kind is a bug."""
        if not isinstance(self.payload, Call):
            raise TypeError(f"{self.kind} is not a call")
        return self.payload
