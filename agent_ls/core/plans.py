"""Plans: what the agent wants to do, shown as an item, until the person has decided.

Owns the item of a plan, its digest and the ways to answer it. Does not own what an answer does (plan_answers.py).
"""

import json
from hashlib import sha256
from typing import Final

from agent_ls.core import ids
from agent_ls.core.draft import Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import ContextItem, Item, ItemKind, ItemStatus, Plan
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Decision, Option

MARKDOWN: Final = "markdown"
LONGEST: Final = 60_000
PROPOSED, ACCEPTED, REFUSED, DROPPED = "proposed", "accepted", "refused", "dropped"

ACCEPT: Final = "accept"
ACCEPT_EDITS: Final = "accept_edits"
OPTIONS: Final = (
    Option(id=ACCEPT, label="Accept the plan", decision=Decision.ALLOW),
    Option(id=ACCEPT_EDITS, label="Accept the plan, edits without asking", decision=Decision.ALLOW),
    Option(id="deny", label="Refuse the plan", decision=Decision.DENY),
)


def digest(markdown: str) -> str:
    """Binds an answer to the very text that was shown."""
    return sha256(json.dumps(["plan", markdown]).encode()).hexdigest()


def propose(draft: Draft, call: Item, markdown: str) -> Item:
    return draft.add_item(
        call.run_id,
        ids.plan_id(call.id),
        ItemKind.PLAN,
        payload=Plan(markdown=markdown, state=PROPOSED, call_id=call.call.call_id),
        attempt_id=call.attempt_id,
        parent_id=call.id,
        status=ItemStatus.PENDING,
    )


def settled(state: ConversationState, plan_id: str) -> ContextItem | Refusal:
    """What goes with a message that carries out a plan. One that is still undecided is accepted by its request."""
    item = state.items.get(plan_id)
    if item is None or not isinstance(item.payload, Plan):
        return Refusal(
            Code.NOT_FOUND, f"There is no plan `{plan_id[:200]}` in this conversation.", "`planId` is an item's id."
        )
    if item.status is ItemStatus.PENDING:
        number = next((r.number for r in state.pending.values() if r.item_id == plan_id), 0)
        return Refusal(
            Code.INVALID_PARAMS,
            f"This plan still waits for your decision, as request #{number}.",
            f"Accept it with `agent-ls approve {number}`; it is carried out then.",
        )
    return attached(item.payload.markdown)


def attached(markdown: str) -> ContextItem:
    """A plan as a message carries it."""
    return ContextItem(type="plan", text=markdown)
