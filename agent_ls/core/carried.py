"""What is put in again when a conversation is compacted: from the ledger, word for word, and not from the summary.

Owns what is carried, its bounds, and the words in which a model is told of it and of the summary. What every request
holds anyway (instructions) is not carried.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from agent_ls.core import plans
from agent_ls.core.context import join, user_blocks
from agent_ls.core.display import one_line
from agent_ls.core.items import (
    Block,
    Call,
    Compaction,
    Item,
    Plan,
    ResultStatus,
    TodoList,
    UserMessage,
)
from agent_ls.core.messages import ModelMessage, UserTurn
from agent_ls.core.projection import ConversationState
from agent_ls.core.run import RunStatus
from agent_ls.core.uris import local_path

SAID_LIMIT: Final = 8_000
"""Characters of what the person said before; of one message at most a quarter."""

PLAN_LIMIT: Final = 16_000
ROWS: Final = 40
MESSAGE_LIMIT: Final = 64_000
MESSAGES: Final = 5

_HEAD: Final = (
    "[The beginning of this conversation was taken out to make room. This is a summary of it; go on from here, and do"
    " not answer the summary.]"
)
# What was done once is not to be done again.
_ANSWERED: Final = "[The person said this last, word for word. It has been dealt with.]"
_AT_WORK: Final = "[The person said this, word for word. You are at work on it.]"
_MARKS: Final = {"done": "x", "active": ">", "pending": " "}


def opening(state: ConversationState, held: Compaction) -> UserTurn:
    """What stands for all that the model is not sent any more."""
    blocks = [Block(type="text", text=f"{_HEAD}\n\n{held.summary}")]
    if held.carried:
        blocks.append(Block(type="text", text=held.carried))
    for item_id in held.messages:
        item = state.items.get(item_id)
        if item is not None and isinstance(item.payload, UserMessage):
            blocks.append(Block(type="text", text=_ANSWERED if held.answered else _AT_WORK))
            blocks += user_blocks(item.payload)
    return UserTurn(tuple(blocks))


def going(
    state: ConversationState, kept_from: int, build: Callable[[list[Item]], Sequence[ModelMessage]]
) -> tuple[ModelMessage, ...]:
    """What is to be summarized, as the model was sent it; the summary of before among it."""
    begin = () if state.compacted is None else (opening(state, state.compacted),)
    gone = [
        [item for item in state.items_of(run_id) if state.kept_from <= item.ord < kept_from]
        for run_id in state.run_items
    ]
    return join([begin, *(build(items) for items in gone if items)])


def messages(state: ConversationState, kept_from: int) -> tuple[str, ...]:
    """Ids of what the person said last: all of the newest run. What is very long is quoted instead (`text`)."""
    said = [item for item in _said(state) if item.ord < kept_from]
    newest = _newest_said(state)
    if newest is None or newest.ord >= kept_from:
        return ()
    mine = [item for item in said if item.run_id == newest.run_id and _length(item) <= MESSAGE_LIMIT]
    return tuple(item.id for item in (mine if len(mine) <= MESSAGES else [mine[0], *mine[1 - MESSAGES :]]))


def text(state: ConversationState, kept_from: int) -> str:
    """All else that is carried: short, and in the same order each time."""
    again = set(messages(state, kept_from))
    earlier = [item for item in _said(state) if item.ord < kept_from and item.id not in again]
    parts = [
        _section("What the person said before, word for word, newest first:", _quotes(earlier)),
        _plan(state),
        _todos(state),
        _section("The person (or a rule of theirs) said no to these; a no still holds:", _denials(state, kept_from)),
        _section("Files that have to be read again before they are edited:", _files(state, kept_from)),
    ]
    return "\n\n".join(part for part in parts if part)


def _quotes(items: Sequence[Item]) -> list[str]:
    left, rows = SAID_LIMIT, list[str]()
    for item in reversed(items):
        said = " ".join(block.text.strip() for block in _payload(item).content if block.type == "text" and block.text)
        quote = _cut(said, SAID_LIMIT // 4)
        if not said.strip():
            continue
        if len(quote) > left:
            rows.append(f"- ({len(items) - len(rows)} older messages are not repeated)")
            break
        left -= len(quote)
        rows.append(f"- {quote}")
    return rows


def _plan(state: ConversationState) -> str:
    found = [item for item in state.items.values() if _is_accepted(item)]
    if not found:
        return ""
    item = max(found, key=lambda item: item.ord)
    assert isinstance(item.payload, Plan)
    run = next((run for run in state.runs.values() if run.plan_id == item.id), None)
    if run is not None and run.status is RunStatus.COMPLETED:
        return "The plan that the person accepted has been carried out; do not do it again."
    return f"The plan that the person accepted, word for word:\n{_cut(item.payload.markdown, PLAN_LIMIT)}"


def _todos(state: ConversationState) -> str:
    found = [item for item in state.items.values() if isinstance(item.payload, TodoList)]
    if not found:
        return ""
    item = max(found, key=lambda item: item.ord)
    assert isinstance(item.payload, TodoList)
    steps = item.payload.steps
    if all(step.get("status") == "done" for step in steps):
        return f"All {len(steps)} steps of the newest list of steps are done; do not do them again."
    rows = [f"- [{_MARKS.get(str(step.get('status')), ' ')}] {step.get('text', '')}" for step in steps]
    return _section("The list of steps as it stands ([x] is done and stays so, [>] is being done):", rows)


def _denials(state: ConversationState, kept_from: int) -> list[str]:
    rows: dict[str, None] = {}
    for item in sorted(state.items.values(), key=lambda item: -item.ord):
        if item.ord < kept_from and isinstance(item.payload, Call) and (row := _denial(item.payload)):
            rows[row] = None
    return _bounded(list(rows))


def _denial(call: Call) -> str:
    result = call.result
    if result is None or result.status is not ResultStatus.DENIED:
        return ""
    what = call.input.get("command") or call.input.get("path") or call.title or ""
    shown = f" {one_line(str(what), 200)}" if what else ""
    return f"- {call.tool}{shown} — {one_line(result.output, 400) or 'no reason was given'}"


def _files(state: ConversationState, kept_from: int) -> list[str]:
    uris = dict.fromkeys(uri for uri, ord_ in state.read_at() if ord_ < kept_from)
    names = [path if isinstance(path := local_path(uri), str) else uri for uri in uris]
    root = state.root.rstrip("/") + "/"
    return _bounded([f"- {name.removeprefix(root)}" for name in sorted(names)])


def _is_accepted(item: Item) -> bool:
    return isinstance(item.payload, Plan) and item.payload.state == plans.ACCEPTED


def _said(state: ConversationState) -> list[Item]:
    found = [item for item in state.items.values() if isinstance(item.payload, UserMessage)]
    return sorted(found, key=lambda item: item.ord)


def _newest_said(state: ConversationState) -> Item | None:
    return next(reversed(_said(state)), None)


def _payload(item: Item) -> UserMessage:
    assert isinstance(item.payload, UserMessage)
    return item.payload


def _length(item: Item) -> int:
    """A text that is kept in a blob is longer than any that is repeated."""
    blocks = [block for block in user_blocks(_payload(item)) if block.type == "text"]
    return sum(MESSAGE_LIMIT + 1 if block.uri else len(block.text or "") for block in blocks)


def _section(head: str, rows: Iterable[str]) -> str:
    listed = "\n".join(rows)
    return f"{head}\n{listed}" if listed else ""


def _bounded(rows: list[str]) -> list[str]:
    return rows if len(rows) <= ROWS else [*rows[:ROWS], f"- (and {len(rows) - ROWS} more)"]


def _cut(said: str, limit: int) -> str:
    return said if len(said) <= limit else f"{said[: limit - 200]} … (cut) … {said[-150:]}"
