"""The summary that stands for what is taken out: how a model is asked for it, and what is written without one.

Owns the fixed prompt, how the request for it is made to fit, and the digest: put together from items alone, the same
each time. Does not own what is carried beside it (carried.py) nor when there is a compaction (compaction.py).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from agent_ls.core import sizes
from agent_ls.core.context import join
from agent_ls.core.display import one_line
from agent_ls.core.items import (
    AssistantMessage,
    Block,
    Call,
    CallState,
    Handoff,
    Item,
    ItemKind,
    ResultStatus,
    UserMessage,
)
from agent_ls.core.messages import ModelMessage, Reply, ResultPart, ResultsTurn, TextPart, UserTurn
from agent_ls.core.tool_effect import ToolEffect

LONGEST: Final = 16_000
"""Tokens of a summary that is taken."""

DIGEST: Final = 2_000
_RESULTS: Final = (8_000, 2_000, 400)

PROMPT: Final = """\
[The conversation so far is about to be taken out to make room. Write the summary that takes its place, for yourself: \
you will go on from it and see nothing else of the above. Use no tools and answer nothing; write only the summary, in \
the language of the conversation. Say, as far as there is any of it:
- what the person wants, what was decided, and why;
- what the person said must or must not be done, in their words;
- files that were read or changed, by path, and the state in which each one is now;
- commands and tests that were run, and what came of them;
- what is still open, and what comes next.
Leave out what no longer matters. Do not say that something is done unless it was seen to be done.]"""


def question(instructions: str | None) -> str:
    """`instructions`: what the person wants to be kept in it."""
    return PROMPT if not instructions else f"{PROMPT}\n\n[The person asks of this summary: {instructions}]"


def request(going: Sequence[ModelMessage], instructions: str | None) -> tuple[ModelMessage, ...]:
    return join([going, [UserTurn((Block(type="text", text=question(instructions)),))]])


def fitting(messages: Sequence[ModelMessage], room: int | None) -> tuple[ModelMessage, ...] | None:
    """The same with long results shortened and without pictures where it would not fit; None if it never does."""
    if room is None or sizes.of_messages(messages) <= room:
        return tuple(messages)
    for longest in _RESULTS:
        shorter = tuple(_shortened(message, longest) for message in messages)
        if sizes.of_messages(shorter) <= room:
            return shorter
    return None


def text_of(reply: Reply) -> str:
    return "\n\n".join(part.text.strip() for part in reply.parts if isinstance(part, TextPart)).strip()


def is_usable(size: int, replaced: int) -> bool:
    """Whether a summary of that many tokens is worth what it stands for."""
    return 0 < size < min(replaced, LONGEST)


def digest(items: Iterable[Item], *, earlier: str, most: int) -> str:
    """What is on record, newest last, in about so many tokens at most.

    `earlier`: the summary that goes as well. Its beginning has up to half of the room: it is nowhere else.
    """
    room = min(DIGEST, most) * sizes.CHARACTERS
    before = f"{earlier[: room // 2]}\n\n" if earlier else ""
    room -= len(before)
    rows = [row for item in items for row in _rows(item)]
    kept: list[str] = []
    for row in reversed(rows):
        room -= len(row) + 1
        if room < 0:
            kept.append(f"- … ({len(rows) - len(kept)} older entries are left out)")
            break
        kept.append(row)
    return before + "\n".join(reversed(kept))


def _rows(item: Item) -> Iterator[str]:
    match item.payload:
        case UserMessage(content=content):
            said = " ".join(block.text for block in content if block.text)
            yield f"- The person: {one_line(said, 300)}"
        case AssistantMessage(text=said):
            yield f"- You: {one_line(said, 300)}"
        case Handoff(text=told):
            yield f"- You were told: {one_line(told, 1_000)}"
        case Call(state=CallState.FINISHED | CallState.DENIED) as call if call.effect != ToolEffect.READ or _failed(
            call
        ):
            yield f"- {_call(call, item.kind)}"
        case _:
            pass


def _failed(call: Call) -> bool:
    return call.result is not None and call.result.status is not ResultStatus.OK


def _call(call: Call, kind: ItemKind) -> str:
    what = call.input.get("command") if kind is ItemKind.COMMAND else call.input.get("path") or call.title
    status = "" if call.result is None else str(call.result.status)
    if call.result is not None and call.result.exit_code is not None:
        status += f", exit {call.result.exit_code}"
    why = f": {one_line(call.result.output, 200)}" if call.result is not None and _failed(call) else ""
    return f"{call.tool} {one_line(str(what or ''), 200)} ({status}){why}"


def _shortened(message: ModelMessage, longest: int) -> ModelMessage:
    match message:
        case ResultsTurn(results):
            return ResultsTurn(tuple(_short_result(each, longest) for each in results))
        case UserTurn(content):
            return UserTurn(tuple(map(_without_picture, content)))
        case _:
            return message


def _short_result(result: ResultPart, longest: int) -> ResultPart:
    cut = len(result.text) - longest
    if cut > 0:
        text = f"{result.text[: longest // 2]}\n… ({cut:,} characters left out) …\n{result.text[-longest // 2 :]}"
        return replace(result, text=text, images=())
    return replace(result, images=())


def _without_picture(block: Block) -> Block:
    return Block(type="text", text="(a picture)") if block.type == "image" else block
