"""Commands of people as values: complete, so that they are decided the same here and by a daemon elsewhere.

Owns what each of them decides and how it travels through the ledger. Nothing of the window that it came from is needed
any more. Does not own who decides (commands.py) nor the decisions themselves (core).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, assert_never

from pydantic import TypeAdapter

from agent_ls.core import compacting, dispatch, interrupt, kept_rules, queue, respond, review, wait
from agent_ls.core import conversation as conversations
from agent_ls.core.ask_again import ask_again
from agent_ls.core.compacting import Compact
from agent_ls.core.conversation import Change
from agent_ls.core.dispatch import Message
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import ConversationFact
from agent_ls.core.kept_rules import Kept
from agent_ls.core.merge_back import MergeBack, merge
from agent_ls.core.projection import ConversationState
from agent_ls.core.queue import QueueUpdate
from agent_ls.core.request import Answer
from agent_ls.core.review import Review
from agent_ls.core.run import Interrupt
from agent_ls.ports.shared import Handed


@dataclass(frozen=True, kw_only=True)
class Stop:
    """A run, or with `item_id` one call of it."""

    run_id: str
    noted: Interrupt
    item_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Hurry:
    run_id: str


@dataclass(frozen=True, kw_only=True)
class AskAgain:
    run_id: str


@dataclass(frozen=True, kw_only=True)
class Reply:
    request_id: str
    said: Answer


@dataclass(frozen=True, kw_only=True)
class Settings:
    """`may_auto`: the person's own configuration allows mode auto where they sit."""

    change: Change
    may_auto: bool


@dataclass(frozen=True, kw_only=True)
class Delete:
    """Removes the conversation for good."""


@dataclass(frozen=True, kw_only=True)
class KeepRule:
    """For this conversation."""

    kept: Kept


@dataclass(frozen=True, kw_only=True)
class DropRule:
    rule_id: str


@dataclass(frozen=True, kw_only=True)
class EndShell:
    """One in the background, by the item of its call."""

    item_id: str
    by: str


Wish = (
    Message
    | QueueUpdate
    | Stop
    | Hurry
    | AskAgain
    | Reply
    | Settings
    | KeepRule
    | DropRule
    | Delete
    | Review
    | MergeBack
    | Compact
    | EndShell
)

WISHES: Final[Mapping[str, type[Wish]]] = {
    "send": Message,
    "queue": QueueUpdate,
    "interrupt": Stop,
    "hurry": Hurry,
    "retry": AskAgain,
    "respond": Reply,
    "update": Settings,
    "keep_rule": KeepRule,
    "drop_rule": DropRule,
    "delete": Delete,
    "review": Review,
    "compact": Compact,
    "end_shell": EndShell,
    "merge_back": MergeBack,
}
_NAMES: Final = {shape: name for name, shape in WISHES.items()}


@dataclass(frozen=True, kw_only=True)
class Order:
    """`what` is a digest of what was asked, so that its id cannot answer for something else."""

    command_id: str
    conversation_id: str
    wish: Wish
    what: str


def decide(state: ConversationState, at: str, *, wish: Wish) -> Decision | Refusal:
    match wish:
        case Message():
            return dispatch.send(state, wish, at)
        case QueueUpdate():
            return queue.update(state, wish, at)
        case Stop():
            return _stop(state, at, wish)
        case Hurry():
            return wait.hurry(state, wish.run_id, at)
        case AskAgain():
            return ask_again(state, wish.run_id, at)
        case Reply():
            return respond.respond(state, wish.request_id, replace(wish.said, at=at))
        case Settings():
            return _update(state, at, wish)
        case Review():
            return review.review(state, wish, at)
        case Compact():
            return compacting.note(state, wish, at)
        case MergeBack():
            return merge(state, wish, at)
        case KeepRule():
            return kept_rules.keep(state, wish.kept, at)
        case DropRule():
            return kept_rules.drop(state, wish.rule_id, at)
        case EndShell():
            return Decision() if wish.item_id in state.shells else no_shell(wish.item_id)
        case Delete():
            raise AssertionError("a conversation is deleted by its actor, not by an event")
        case _:
            assert_never(wish)


def no_shell(known: str) -> Refusal:
    return Refusal(Code.NOT_FOUND, f"There is no background shell `{known}`.", "It may have ended by itself.")


def handed(order: Order, at: str) -> Handed:
    """As it lies in the ledger until the owner of its conversation has decided it."""
    name = _NAMES[type(order.wish)]
    given = _adapter(name).dump_python(order.wish, mode="json", by_alias=True, exclude_none=True)
    payload = {"wish": name, "given": given, "what": order.what}
    return Handed(order.command_id, order.conversation_id, payload, at)


def order_of(handed: Handed) -> Order | None:
    """None for what a newer daemon has left and this one does not understand."""
    payload = handed.payload
    try:
        wish = _adapter(payload["wish"]).validate_python(payload["given"])
        return Order(
            command_id=handed.command_id,
            conversation_id=handed.conversation_id,
            wish=wish,
            what=str(payload["what"]),
        )
    except (KeyError, ValueError):
        return None


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(WISHES[name])


def _stop(state: ConversationState, at: str, wish: Stop) -> Decision | Refusal:
    noted = replace(wish.noted, at=at)
    if wish.item_id is not None:
        return interrupt.interrupt_call(state, wish.run_id, wish.item_id, stop=noted)
    return interrupt.interrupt(state, wish.run_id, noted)


def _update(state: ConversationState, at: str, wish: Settings) -> Decision | Refusal:
    changed = conversations.update(state.conversation, wish.change, at, may_auto=wish.may_auto)
    if isinstance(changed, Refusal):
        return changed
    draft = Draft(state, at)
    draft.put(ConversationFact.UPDATED, changed)
    return draft.done()
