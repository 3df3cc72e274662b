"""A request: one question to the person, from asked to settled.

Owns which answers count and that only the first one does. Does not own how a card looks, nor who is told.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from agent_ls.core.base import Entity, IllegalTransition
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import Call


class RequestKind(StrEnum):
    APPROVAL = "approval"
    QUESTION = "question"
    PLAN = "plan"


class RequestStatus(StrEnum):
    PENDING = "pending"
    RESPONDING = "responding"
    RESOLVED = "resolved"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class Decision(StrEnum):
    ALLOW = "allow"
    DENY = "deny"
    ANSWER = "answer"
    CANCEL = "cancel"


DONE: Final[Mapping[str, str]] = {
    Decision.ALLOW: "allowed",
    Decision.DENY: "denied",
    Decision.ANSWER: "answered",
    Decision.CANCEL: "cancelled",
}
"""What became of a request, in a word."""


class RequestFact(StrEnum):
    ASKED = "asked"
    REVISED = "revised"
    ANSWER_TAKEN = "answer_taken"
    RESOLVED = "resolved"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


TRANSITIONS: Final[Mapping[tuple[RequestStatus | None, RequestFact], RequestStatus]] = {
    (None, RequestFact.ASKED): RequestStatus.PENDING,
    (RequestStatus.PENDING, RequestFact.REVISED): RequestStatus.PENDING,
    (RequestStatus.PENDING, RequestFact.ANSWER_TAKEN): RequestStatus.RESPONDING,
    # Our own loop: the decision and the call's approval are one commit, nothing is left to deliver.
    (RequestStatus.PENDING, RequestFact.RESOLVED): RequestStatus.RESOLVED,
    (RequestStatus.PENDING, RequestFact.EXPIRED): RequestStatus.EXPIRED,
    (RequestStatus.PENDING, RequestFact.CANCELLED): RequestStatus.CANCELLED,
    (RequestStatus.RESPONDING, RequestFact.RESOLVED): RequestStatus.RESOLVED,
    (RequestStatus.RESPONDING, RequestFact.EXPIRED): RequestStatus.EXPIRED,
}


@dataclass(frozen=True, kw_only=True)
class Option(Entity):
    """One way to answer. `rule` is what an "always" would store, shown before it is stored."""

    id: str
    label: str
    decision: Decision
    scope: str | None = None
    rule: str | None = None


@dataclass(frozen=True, kw_only=True)
class Origin(Entity):
    """Of what a subagent asks: its task, and the conversations above it, root first."""

    conversation_ids: tuple[str, ...]
    task: str
    agent: str | None = None


@dataclass(frozen=True, kw_only=True)
class Request(Entity):
    """`digest` binds an approval to what was shown; `card` is what the person is shown, complete."""

    id: str
    number: int
    conversation_id: str
    run_id: str
    item_id: str
    kind: RequestKind
    title: str
    options: tuple[Option, ...]
    digest: str
    status: RequestStatus
    created_at: str
    tool: str | None = None
    input: dict[str, Any] | None = None
    card: dict[str, Any] | None = None
    questions: tuple[dict[str, Any], ...] = ()
    origin: Origin | None = None
    decision: Decision | None = None
    scope: str | None = None
    option_id: str | None = None
    reason: str | None = None
    answers: Any = None
    decided_by: str | None = None
    decided_from: str | None = None
    decided_at: str | None = None

    @property
    def pending(self) -> bool:
        return self.status is RequestStatus.PENDING

    @property
    def root_id(self) -> str:
        """The conversation that the person talks to."""
        return self.conversation_id if self.origin is None else self.origin.conversation_ids[0]

    def is_of(self, conversation_id: str) -> bool:
        """Asked by this conversation, or by a subagent somewhere beneath it."""
        above = self.origin.conversation_ids if self.origin is not None else ()
        return conversation_id in (self.conversation_id, *above)


@dataclass(frozen=True, kw_only=True)
class Amended:
    """A call with another input, as its tool would show it now."""

    call: Call
    title: str
    card: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a person said to a request, from where. `input` changes the call, `amended` is the call with it."""

    digest: str
    decision: Decision
    by: str
    from_: str
    at: str
    scope: str | None = None
    option_id: str | None = None
    reason: str | None = None
    answers: Any = None
    input: dict[str, Any] | None = None
    amended: Amended | None = None

    @property
    def who(self) -> dict[str, str]:
        """As a call and a request keep it."""
        return {"decided_by": self.by, "decided_from": self.from_}


def check(request: Request, answer: Answer) -> Refusal | None:
    """First valid answer wins; every later one learns who was first."""
    if request.status is RequestStatus.EXPIRED:
        return Refusal(Code.NOT_RESUMABLE, f"Request #{request.number} can no longer be answered: its run has ended.")
    if not request.pending:
        return already_decided(request)
    if answer.digest != request.digest:
        return Refusal(
            Code.DIGEST_MISMATCH,
            f"Request #{request.number} has changed since it was shown, so your answer was not used.",
            data={"digest": request.digest},
        )
    if answer.decision is Decision.CANCEL:
        return None
    known = {option.id: option.decision for option in request.options}
    if answer.option_id is not None and known.get(answer.option_id) is not answer.decision:
        offered = ", ".join(f"{name} ({decision})" for name, decision in known.items())
        return Refusal(
            Code.INVALID_PARAMS,
            f"Request #{request.number} has no option `{answer.option_id}` to {answer.decision}: {offered}.",
            f"`agent-ls show {request.number}` shows what can be chosen.",
        )
    expected = Decision.ANSWER if request.kind is RequestKind.QUESTION else Decision.ALLOW
    return None if answer.decision in (expected, Decision.DENY) else _wrong_verb(request)


def _wrong_verb(request: Request) -> Refusal:
    number = request.number
    if request.kind is RequestKind.QUESTION:
        said = f"#{number} is a question, so there is nothing to allow."
        hint = f'Answer it with `agent-ls answer {number} "…"`, or refuse it with `agent-ls deny {number}`.'
    else:
        said = f"#{number} asks for your leave, so it takes a yes or a no."
        hint = f'Say `agent-ls approve {number}`, or `agent-ls deny {number} "why"`.'
    return Refusal(Code.INVALID_PARAMS, said, hint)


def already_decided(request: Request) -> Refusal:
    where = f" in {request.decided_from}" if request.decided_from else ""
    verb = DONE[request.decision or Decision.CANCEL]
    return Refusal(
        Code.ALREADY_DECIDED,
        f"Request #{request.number} was already {verb} by {request.decided_by or 'the run that ended'}{where}.",
        data={
            "by": request.decided_by,
            "from": request.decided_from,
            "decision": str(request.decision or Decision.CANCEL),
        },
    )


def evolve(request: Request, fact: RequestFact, **facts: Any) -> Request:
    try:
        status = TRANSITIONS[request.status, fact]
    except KeyError:
        raise IllegalTransition(f"request {fact} after {request.status}") from None
    return replace(request, status=status, **facts)
