"""How large a request to a model is, as far as that can be told without the model's own counting.

Owns the estimate: what the provider counted last, and characters for what came after that. Does not own when it is too
large (compaction.py). Blobs have to be put back before anything is measured.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from agent_ls.core import context
from agent_ls.core.attempt import Attempt
from agent_ls.core.ids import attempt_id
from agent_ls.core.items import Block, Item, Usage
from agent_ls.core.messages import (
    AssistantTurn,
    CallPart,
    ModelMessage,
    Part,
    ReasoningPart,
    ResultsTurn,
    TextPart,
    ToolSpec,
    UserTurn,
)
from agent_ls.core.projection import ConversationState

CHARACTERS: Final = 4
"""Of one token."""

IMAGE: Final = 1_200


@dataclass(frozen=True)
class Anchor:
    """What the provider counted with a step: all that was sent, and what it answered. `items` are those of the step."""

    tokens: int
    items: tuple[Item, ...]

    @property
    def ord(self) -> int:
        return self.items[-1].ord


def anchor(state: ConversationState) -> Anchor | None:
    """The newest step whose use was reported. One from before the newest compaction tells of what is not sent now."""
    after = 0 if state.compaction is None else state.compaction.ord
    for attempt in _newest_first(state):
        if attempt.last_usage is None or not attempt.steps:
            continue
        items = _newest_step(state, attempt)
        if items:
            return Anchor(counted(attempt.last_usage), items) if items[0].ord > after else None
    return None


def used(state: ConversationState) -> int:
    """About how much the next request holds, from what is at hand: long texts count by what is shown of them."""
    found, held = anchor(state), state.compaction
    if found is not None:
        later = context.messages(since(state, found), provider="", model="")
        return found.tokens + of_messages(later[1:])
    after = 0 if held is None else held.ord
    fresh = _after(state, after)
    before = 0 if state.compacted is None else state.compacted.tokens_after
    return before + of_messages(context.messages(fresh, provider="", model=""))


def since(state: ConversationState, found: Anchor) -> list[Item]:
    """What a request holds beyond what was counted, the step itself first: its results came after it."""
    later = _after(state, found.ord)
    return [*found.items, *later]


def counted(usage: Usage) -> int:
    return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens


def of_request(system: str, tools: Sequence[ToolSpec], messages: Iterable[ModelMessage]) -> int:
    return of_fixed(system, tools) + of_messages(messages)


def of_fixed(system: str, tools: Sequence[ToolSpec]) -> int:
    """What every request holds."""
    told = sum(len(tool.name) + len(tool.description) + len(json.dumps(tool.schema)) for tool in tools)
    return of_length(len(system) + told)


def of_messages(messages: Iterable[ModelMessage]) -> int:
    return sum(map(of_message, messages))


def of_message(message: ModelMessage) -> int:
    match message:
        case UserTurn(content):
            return sum(map(of_block, content))
        case AssistantTurn(parts):
            return sum(map(_of_part, parts))
        case ResultsTurn(results):
            return sum(of_length(len(each.text)) + sum(map(of_block, each.images)) for each in results)


def of_block(block: Block) -> int:
    return IMAGE if block.type == "image" else of_length(len(block.text or ""))


def of_text(text: str) -> int:
    return of_length(len(text))


def of_length(characters: int) -> int:
    return -(-characters // CHARACTERS)


def _of_part(part: Part) -> int:
    match part:
        case TextPart(text=text):
            return of_length(len(text))
        case ReasoningPart(text=text, raw=raw):
            return of_length(len(text) if raw is None else len(json.dumps(raw)))
        case CallPart(name=name, arguments=arguments):
            return of_length(len(name) + len(arguments))


def _newest_first(state: ConversationState) -> Iterator[Attempt]:
    for run_id in reversed(state.run_items):
        active = state.attempts.get(state.runs[run_id].active_attempt_id or "")
        for n in range(0 if active is None else active.n, 0, -1):
            attempt = state.attempts.get(attempt_id(run_id, n))
            if attempt is not None:
                yield attempt


def _after(state: ConversationState, ord_: int) -> list[Item]:
    """Items come into a state in the order of their places, so that only the tail is looked at."""
    return list(takewhile(lambda item: item.ord > ord_, reversed(state.items.values())))[::-1]


def _newest_step(state: ConversationState, attempt: Attempt) -> tuple[Item, ...]:
    """Looks only at the tail of the run."""
    begin, found = f"{attempt.id}.s{attempt.steps}.", list[Item]()
    for item_id in reversed(state.run_items.get(attempt.run_id, ())):
        item = state.items[item_id]
        if item.step_id is not None and item.step_id.startswith(begin):
            found.append(item)
        elif found:
            break
    return tuple(reversed(found))
