"""Text that was on the screen when a step ended before its answer did.

Owns that it stays, marked as interrupted, in the place that its part would have had.
"""

from collections.abc import Sequence

from agent_ls.core import ids
from agent_ls.core.attempt import Attempt
from agent_ls.core.draft import Draft
from agent_ls.core.items import AssistantMessage, ItemKind, ItemStatus
from agent_ls.core.messages import TextPart

Said = Sequence[tuple[int, TextPart]]
"""Text by its part of the reply."""


def keep_partial(draft: Draft, attempt: Attempt, said: Said) -> None:
    """`attempt` as it was when the model was asked."""
    for index, part in said:
        item_id = ids.part_id(attempt.step_id, index)
        if part.text.strip() and item_id not in draft.state.items:
            draft.add_item(
                attempt.run_id,
                item_id,
                ItemKind.ASSISTANT_MESSAGE,
                payload=AssistantMessage(text=part.text, full=part.blob),
                attempt_id=attempt.id,
                step_id=attempt.step_id,
                status=ItemStatus.INTERRUPTED,
            )
