"""What a call asks of the person (questions, a plan), shown as an item beneath it while it waits.

Owns how such an item ends when nobody will be asked any more. What an answer makes of it is respond.py's and
plan_answers.py's.
"""

from dataclasses import replace

from agent_ls.core.draft import Draft
from agent_ls.core.events import ItemFact
from agent_ls.core.items import Item, ItemStatus, Plan, Question
from agent_ls.core.plans import DROPPED


def drop_all(draft: Draft, run_id: str) -> None:
    for item in draft.run_items(run_id):
        if isinstance(item.payload, Question | Plan) and item.status is ItemStatus.PENDING:
            drop(draft, item)


def drop(draft: Draft, item: Item) -> None:
    payload = replace(item.payload, state=DROPPED) if isinstance(item.payload, Plan) else item.payload
    dropped = replace(item, payload=payload, status=ItemStatus.CANCELLED, updated_at=draft.at)
    draft.put(ItemFact.UPDATED, dropped)
