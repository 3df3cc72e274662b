"""A conversation: the durable thing that editors attach to.

Owns its stored fields and how a person changes them. What a window sees as its status (`waiting`, `stopping`, …) is
derived from runs and requests (projection.py) and never stored.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from agent_ls.core.base import Entity
from agent_ls.core.errors import Code, Refusal


class Mode(StrEnum):
    ASK = "ask"
    EDITS = "edits"
    PLAN = "plan"
    AUTO = "auto"


_STRICTEST_FIRST: Final = (Mode.PLAN, Mode.ASK, Mode.EDITS, Mode.AUTO)


def stricter(one: Mode, other: Mode) -> Mode:
    return min(one, other, key=_STRICTEST_FIRST.index)


class ConversationStatus(StrEnum):
    IDLE = "idle"
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    STOPPING = "stopping"


AT_WORK: Final = frozenset({ConversationStatus.RUNNING, ConversationStatus.WAITING, ConversationStatus.STOPPING})

SUBAGENT: Final = "subagent"
"""The relation of a conversation to the one that has handed a part of its work to it."""
FORK: Final = "fork"
"""The relation of a conversation to the one that it goes on from."""


@dataclass(frozen=True, kw_only=True)
class Delegated(Entity):
    """What a subagent was started with: by which call, for what, and which conversations stand above it, root first.

    `tools`: those that it may have, None for all that its parent has; `instructions` of the agent that it is.
    """

    item_id: str
    task: str
    ancestors: tuple[str, ...]
    agent: str | None = None
    instructions: str | None = None
    tools: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Compacting(Entity):
    """A wish to compact that was noted and is not over; `id` is that of the effect that the ledger owes for it."""

    id: str
    by: str
    from_: str
    at: str
    instructions: str | None = None


@dataclass(frozen=True, kw_only=True)
class Forked(Entity):
    """Where a fork began: in which conversation (`title` is what that was called then), after which item of it.

    The fork has everything up to the place `through` from there; 0 and no item where nothing had been said.
    `origin` is the conversation at the root of all forks between: what a provider has cached of it serves them all.
    """

    conversation_id: str
    title: str
    through: int
    origin: str
    item_id: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Conversation(Entity):
    """`workspace` is a root URI on the machine `host` (none where one machine has the ledger for itself).

    `rules` are what the person allowed or denied for this conversation. `compacting` is a wish that is not over yet:
    where no run goes on, what is said meanwhile waits in the queue.
    """

    id: str
    workspace: str
    title: str
    provider: str
    model: str
    mode: Mode
    created_at: str
    updated_at: str
    queue_held: bool = False
    archived: bool = False
    parent_id: str | None = None
    relation: str | None = None
    delegated: Delegated | None = None
    forked_from: Forked | None = None
    rules: tuple[dict[str, Any], ...] = ()
    trusted: bool = True
    host: str | None = None
    compacting: Compacting | None = None


@dataclass(frozen=True, kw_only=True)
class Change:
    """What `agent/conversation/update` may change; None leaves it as it is."""

    title: str | None = None
    provider: str | None = None
    model: str | None = None
    mode: Mode | None = None
    archived: bool | None = None


def update(conversation: Conversation, change: Change, at: str, *, may_auto: bool) -> Conversation | Refusal:
    """The conversation after the change, or why not. `may_auto`: the person's own configuration allows mode auto."""
    if change.mode is Mode.AUTO and not may_auto:
        return auto_refused()
    title = change.title.strip() if change.title is not None else conversation.title
    if change.title is not None and not title:
        return Refusal(Code.INVALID_PARAMS, "A conversation's title cannot be empty.", "Give it at least one word.")
    return replace(
        conversation,
        title=title,
        provider=change.provider or conversation.provider,
        model=change.model or conversation.model,
        mode=change.mode or conversation.mode,
        archived=conversation.archived if change.archived is None else change.archived,
        updated_at=at,
    )


def cache_key(conversation: Conversation) -> str:
    """Under which a provider looks for what it has seen before: of a fork, what its root has sent."""
    return conversation.id if conversation.forked_from is None else conversation.forked_from.origin


def auto_refused() -> Refusal:
    return Refusal(
        Code.PERMISSION_DENIED,
        "Mode `auto` runs commands without asking and has to be switched on by you first.",
        'Use `agent-ls ask --allow-auto`, or set `mode = "auto"` in your own config.toml.',
    )


TITLE_LENGTH = 60


def title_from(text: str) -> str:
    """A title from the first message: its first line, cut at a word."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), "New conversation")
    if len(line) <= TITLE_LENGTH:
        return line
    return line[: TITLE_LENGTH - 1].rsplit(" ", 1)[0].rstrip(" ,.;:") + "…"
