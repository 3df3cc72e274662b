"""What a model is sent: the transcript as messages that every server accepts.

Owns pairing (each call has exactly one result, right after it), order and the absence of empty text. Does not own how
a wire spells it.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from agent_ls.core.amend import told
from agent_ls.core.call import SETTLED
from agent_ls.core.items import (
    BLOB_SCHEME,
    AssistantMessage,
    Block,
    Call,
    ContextItem,
    Handoff,
    Item,
    ItemStatus,
    Notice,
    Reasoning,
    UserMessage,
)
from agent_ls.core.items import ResultStatus as Status
from agent_ls.core.messages import (
    AssistantTurn,
    CallPart,
    ModelMessage,
    Part,
    ReasoningPart,
    ResultPart,
    ResultsTurn,
    TextPart,
    UserTurn,
)
from agent_ls.core.shells import ENDED

TOLD: Final = frozenset({ENDED})
"""Codes of notices that a model hears as well: what happened while it did something else."""


def messages(items: Iterable[Item], *, provider: str, model: str) -> tuple[ModelMessage, ...]:
    """Items in order of `ord`. Reasoning is replayed only to the provider and model that made it."""
    built: list[ModelMessage] = []
    group: list[Item] = []
    for item in items:
        if item.step_id is not None:
            if group and group[0].step_id != item.step_id:
                _close(built, group, provider=provider, model=model)
                group = []
            group.append(item)
            continue
        if isinstance(item.payload, UserMessage):
            _close(built, group, provider=provider, model=model)
            group = []
            _add_user(built, item.payload)
        elif (note := note_of(item)) is not None:
            _close(built, group, provider=provider, model=model)
            group = []
            _add_note(built, note)
    _close(built, group, provider=provider, model=model)
    return tuple(built)


def join(runs: Iterable[Sequence[ModelMessage]]) -> tuple[ModelMessage, ...]:
    """Messages of several runs in a row; two of the person that meet become one."""
    built: list[ModelMessage] = []
    for run in runs:
        for message in run:
            last = built[-1] if built else None
            if isinstance(message, UserTurn) and isinstance(last, UserTurn):
                built[-1] = UserTurn((*last.content, *message.content))
            else:
                built.append(message)
    return tuple(built)


def asked(messages: tuple[ModelMessage, ...]) -> tuple[ModelMessage, ...]:
    """Without an answer that broke off at the end: it is asked for anew."""
    return messages[:-1] if messages and isinstance(messages[-1], AssistantTurn) else messages


def user_blocks(message: UserMessage) -> tuple[Block, ...]:
    """What the person said, then what their editor attached; never empty text."""
    said = [block for block in message.content if block.type != "text" or (block.text or "").strip()]
    attached = [_attachment(item) for item in message.context]
    # One whose text could not be kept with the message is still named.
    held = [(item.uri, item.range) for item in message.context]
    files = [
        Block(type="text", text=f"Attached file: {block.uri}")
        for block in said
        if block.type == "file" and (block.uri, block.range) not in held
    ]
    kept = [block for block in said if block.type != "file"]
    return (*kept, *files, *attached)


def note_of(item: Item) -> str | None:
    """What the model hears besides what is said to it."""
    match item.payload:
        case Notice(code=code, message=message) if code in TOLD:
            return message
        case Handoff(text=text):
            return text
        case _:
            return None


def _add_user(built: list[ModelMessage], message: UserMessage) -> None:
    blocks = user_blocks(message) or (Block(type="text", text="(empty message)"),)
    built[:] = join([built, [UserTurn(blocks)]])


def _add_note(built: list[ModelMessage], note: str) -> None:
    """In the person's place, as no server takes a word of anybody else there; in brackets, as none of theirs."""
    built[:] = join([built, [UserTurn((Block(type="text", text=f"[{note}]"),))]])


def _close(built: list[ModelMessage], group: Sequence[Item], *, provider: str, model: str) -> None:
    parts: list[Part] = []
    results: list[ResultPart] = []
    for item in group:
        payload = item.payload
        match payload:
            case AssistantMessage() if payload.text.strip():
                parts.append(TextPart(payload.text, payload.full))
            case Reasoning() if (payload.provider, payload.model) == (provider, model) and (
                payload.raw or payload.full
            ):
                parts.append(ReasoningPart(payload.text, payload.raw, payload.full))
            case Call():
                parts.append(_call_part(payload))
                results.append(_result_part(payload))
            case _:
                pass
    if not any(not isinstance(part, ReasoningPart) for part in parts):
        return
    if not results and group[-1].status is ItemStatus.INTERRUPTED:
        parts.append(TextPart("(this answer was cut off here)"))
    if built and isinstance(built[-1], AssistantTurn):
        # The answer before it broke off and was asked for anew: two in a row are legal nowhere.
        built.pop()
    built.append(AssistantTurn(tuple(parts)))
    if results:
        built.append(ResultsTurn(tuple(results)))


def _call_part(call: Call) -> CallPart:
    """As the model made it, whatever the person has changed: that stands before its result."""
    given, blob = (call.input, call.input_blob) if call.original is None else (call.original, call.original_blob)
    return CallPart(call.call_id, call.tool, json.dumps(given, ensure_ascii=False, separators=(",", ":")), blob=blob)


def _result_part(call: Call) -> ResultPart:
    result = call.result
    if result is None or call.state not in SETTLED:
        return ResultPart(call.call_id, "not_run: the call has no result.", is_error=True)
    return ResultPart(
        call.call_id,
        (amended := told(call)) + result.for_model(),
        is_error=result.status is not Status.OK,
        images=result.images,
        blob=result.full,
        prefix=amended + result.prefix,
    )


def _attachment(item: ContextItem) -> Block:
    return Block(type="text", text=attached(item), uri=None if item.blob is None else BLOB_SCHEME + item.blob)


def attached(item: ContextItem) -> str:
    """What an editor attached, in words for the model."""
    where = f" {item.uri}" if item.uri else ""
    match item.range:
        case {"start": {"line": int(line)}}:
            where += f" from line {line + 1}"
    body = item.text if item.text is not None else ("" if item.data is None else str(item.data))
    return f"[{item.type}{where}]\n{body}".strip()
