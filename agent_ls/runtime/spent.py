"""What a run has used up: steps, minutes, money. At a limit it ends with a notice, and the person may let it go on.

Owns the comparison and its words. Does not own prices (adapters.models) nor what follows from a limit (ring.py).
"""

from collections.abc import AsyncIterator, Iterable

from agent_ls.core import delegation
from agent_ls.core.attempt import Attempt
from agent_ls.core.items import Compaction, Item, Notice
from agent_ls.core.moments import seconds_between
from agent_ls.core.projection import ConversationState
from agent_ls.ports.ledger import ListQuery, Summary
from agent_ls.runtime.services import Services


class Spent:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._known: dict[str, tuple[tuple[str, int], float]] = {}

    async def over_limit(self, state: ConversationState, attempt: Attempt) -> Notice | None:
        limits = self._services.limits
        if (full := await self.full(state, attempt.run_id)) is not None:
            return _limit(full)
        if limits.usd_per_day is None:
            return None
        cost = _cost(each for each in state.attempts.values() if each.run_id == attempt.run_id)
        cost += delegation.compaction_usage(state, attempt.run_id).cost_usd or 0.0
        day = await self._today(state)
        # A run that was begun beyond the limit was begun all the same: that is the person's "go on".
        if day >= limits.usd_per_day and day - cost < limits.usd_per_day:
            said = f"Today's messages cost ${day:.2f}; the limit is ${limits.usd_per_day:g} (`limits.usd_per_day`)."
            return _limit(said)
        return None

    async def full(self, state: ConversationState, run_id: str) -> str | None:
        """Why there is no room for a further step, in the run itself or in the one that it works for."""
        if (said := self._full(state, run_id, "This run")) is not None or state.conversation.delegated is None:
            return said
        top = await self._services.subagents.topmost(state.conversation.delegated)
        if top is None or top.active is None:
            return None
        return self._full(top, top.active.id, "The run that this works for")

    def _full(self, state: ConversationState, run_id: str, run: str) -> str | None:
        """What subagents use counts as the run's own."""
        limits = self._services.limits
        steps = delegation.taken(state, run_id, self._services.subagents.known)
        if steps >= limits.steps_per_run:
            return f"{run} took {steps} steps, which is the limit (`limits.steps_per_run`)."
        started = state.runs[run_id].started_at
        now = self._services.clock.now()
        if started is not None and seconds_between(started, now) >= 60 * limits.minutes_per_run:
            return f"{run} took {limits.minutes_per_run} minutes, the limit (`limits.minutes_per_run`)."
        cost = delegation.usage(state, run_id).cost_usd or 0.0
        if limits.usd_per_run is not None and cost >= limits.usd_per_run:
            return f"{run} cost ${cost:.2f}; the limit is ${limits.usd_per_run:g} (`limits.usd_per_run`)."
        return None

    async def _today(self, state: ConversationState) -> float:
        """Of all conversations, as the ledger has them; this one as it is here."""
        today = self._services.clock.now()[:10]
        total = _cost(each for each in state.attempts.values() if each.created_at[:10] == today)
        total += _of_summaries(state.items.values(), today)
        for archived in (False, True):
            async for summary in self._of_today(today, archived=archived):
                if summary.conversation.id != state.conversation.id:
                    total += await self._of(summary, today)
        return total

    async def _of_today(self, today: str, *, archived: bool) -> AsyncIterator[Summary]:
        cursor: str | None = None
        while True:
            page, cursor = await self._services.ledger.conversations(ListQuery(cursor=cursor, archived=archived))
            for summary in page:
                if summary.conversation.updated_at[:10] >= today:
                    yield summary
            if cursor is None or not page or page[-1].conversation.updated_at[:10] < today:
                return

    async def _of(self, summary: Summary, today: str) -> float:
        """Read again only where something has happened since."""
        known = summary.conversation.id
        seen = (today, summary.seq)
        if known not in self._known or self._known[known][0] != seen:
            snapshot = await self._services.ledger.load(known)
            found = () if snapshot is None else snapshot.entities
            mine = [each for each in found if isinstance(each, Attempt) and each.created_at[:10] == today]
            summaries = _of_summaries((each for each in found if isinstance(each, Item)), today)
            self._known[known] = (seen, _cost(mine) + summaries)
        return self._known[known][1]


def _cost(attempts: Iterable[Attempt]) -> float:
    return sum(each.usage.cost_usd or 0.0 for each in attempts)


def _of_summaries(items: Iterable[Item], today: str) -> float:
    made = [item.payload for item in items if isinstance(item.payload, Compaction) and item.created_at[:10] == today]
    return sum(each.usage.cost_usd or 0.0 for each in made if each.usage is not None)


def _limit(message: str) -> Notice:
    return Notice(code="limit_reached", message=message, hint="Send `go on` to let it work further.")
