"""What a run has used up: steps, minutes, money. At a limit it ends with a notice, and the person may let it go on.

Owns the comparison and its words. Does not own prices (adapters.models) nor what follows from a limit (ring.py).
"""

from datetime import datetime

from agent_ls.core.attempt import Attempt
from agent_ls.core.items import Notice
from agent_ls.core.projection import ConversationState
from agent_ls.runtime.services import Services


class Spent:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def over_limit(self, state: ConversationState, attempt: Attempt) -> Notice | None:
        limits = self._services.limits
        mine = [each for each in state.attempts.values() if each.run_id == attempt.run_id]
        steps = sum(each.steps for each in mine)
        if steps >= limits.steps_per_run:
            return _limit(f"This run took {steps} steps, which is the limit (`limits.steps_per_run`).")
        started = state.runs[attempt.run_id].started_at
        if started is not None and _minutes(started, self._services.clock.now()) >= limits.minutes_per_run:
            return _limit(f"This run took {limits.minutes_per_run} minutes, the limit (`limits.minutes_per_run`).")
        cost = sum(each.usage.cost_usd or 0.0 for each in mine)
        if limits.usd_per_run is not None and cost >= limits.usd_per_run:
            return _limit(f"This run cost ${cost:.2f}; the limit is ${limits.usd_per_run:g} (`limits.usd_per_run`).")
        return None


def _limit(message: str) -> Notice:
    return Notice(code="limit_reached", message=message, hint="Send `go on` to let it work further.")


def _minutes(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() / 60
