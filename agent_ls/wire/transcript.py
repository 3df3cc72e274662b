"""A conversation as a document that grows at its end: one piece of Markdown for each item that has settled.

Owns the form that `surface.outline` reads back: a heading for each run, `▸ ` before each call with its blocks beneath
it, links for files. Pure. Does not own where the document lies nor when it grows (surface.transcripts). It is another
text than an export: that one is written whole, this one is only ever added to.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import quote

from agent_ls.core.conversation import Conversation
from agent_ls.core.display import one_line
from agent_ls.core.fences import closed
from agent_ls.core.items import Block, Call, ContextItem, Item, UserMessage
from agent_ls.core.uris import NotLocal, local_path
from agent_ls.wire.markdown import fence, piece

CALL: Final = "▸ "
OUTPUT_LIMIT: Final = 20_000
TITLE_LIMIT: Final = 60
# What a model says is no heading of ours.
_HEADS: Final = re.compile(rf"^(?:## Run (?=\d)|{CALL})", re.MULTILINE)


def settled(item: Item) -> bool:
    return not item.open


def head(conversation: Conversation) -> str:
    title = one_line(conversation.title) or "Conversation"
    shown = f"# {title}\n\n{conversation.workspace} · {conversation.provider}/{conversation.model}\n"
    began = conversation.forked_from
    return shown if began is None else f"{shown}\nForked from “{one_line(began.title)}”{_up_to(began.run_id)}\n"


def heading(first: Item) -> str:
    """`## Run 3 · what was asked`."""
    words = " ".join(block.text or "" for block in _content(first))
    said = one_line(" ".join(words.split()), TITLE_LIMIT)
    return f"## Run {ordinal(first.run_id)}" + (f" · {said}" if said else "")


def ordinal(run_id: str) -> str:
    return run_id.rpartition(".r")[2]


def _up_to(run_id: str | None) -> str:
    return "" if run_id is None else f", up to run {ordinal(run_id)}"


def body(item: Item) -> str:
    """Without a line at its end; empty for what has nothing to say."""
    match item.payload:
        case Call() as call:
            return _call(call)
        case UserMessage() as said:
            lines = [*piece(item).split("\n"), *map(_attached, said.context)]
            return "\n".join(f"> {line}".rstrip() for line in lines)
        case _:
            return closed(_HEADS.sub(r"\\\g<0>", piece(item).rstrip()))


def grown(items: Iterable[Item], after: str | None) -> Iterator[str]:
    """What these items add to a document whose last run was `after`."""
    for item in items:
        text = body(item)
        if not text:
            continue
        if item.run_id != after:
            after = item.run_id
            yield f"\n{heading(item)}\n"
        yield f"\n{text}\n"


def _content(item: Item) -> tuple[Block, ...]:
    return item.payload.content if isinstance(item.payload, UserMessage) else ()


def _call(call: Call) -> str:
    parts = [CALL + _what(call) + _outcome(call)]
    command = call.input.get("command")
    if isinstance(command, str):
        parts.append(fence(f"$ {command}", "console"))
    if call.diff:
        parts.append(fence(_cut(call.diff), "diff"))
    if call.result is not None and call.result.output.strip():
        parts.append(fence(_cut(call.result.output)))
    return "\n".join(parts)


def _what(call: Call) -> str:
    command = call.input.get("command")
    if isinstance(command, str):
        return f"**{call.tool}** {_code(command)}"
    path = one_line(str(call.input.get("path") or call.title or ""))
    if call.uri is not None and not isinstance(local_path(call.uri), NotLocal):
        return f"**{call.tool}** {_link(path or call.uri, call.uri)}"
    return f"**{call.tool}** {_code(path)}".rstrip()


def _outcome(call: Call) -> str:
    if call.result is None:
        return ""
    words = str(call.result.status)
    if call.result.exit_code is not None:
        words += f", exit {call.result.exit_code}"
    if call.decided_by:
        words += f", decided by {one_line(call.decided_by)}"
        words += f" in {one_line(call.decided_from)}" if call.decided_from else ""
    return f" — {words}"


def _attached(item: ContextItem) -> str:
    if item.uri is None:
        return f"({one_line(item.type)})"
    return _link(item.uri.rpartition("/")[2] + _lines(item.range), item.uri)


def _lines(span: dict[str, Any] | None) -> str:
    """`:3-9`; a range that ends at the beginning of a line does not hold that line."""
    match span:
        case {"start": {"line": int(first)}, "end": {"line": int(last), "character": int(end)}}:
            last = last + (1 if end or last == first else 0)
            return f":{first + 1}" + (f"-{last}" if last > first + 1 else "")
        case _:
            return ""


def _link(name: str, uri: str) -> str:
    shown = one_line(name).replace("[", "(").replace("]", ")")
    return f"[{shown}](<{quote(uri, safe=':/%?&=+,;@!$*()~#-._')}>)"


def _code(text: str) -> str:
    line = one_line(text)
    return f"`{line}`" if line and "`" not in line else line


def _cut(text: str) -> str:
    return text if len(text) <= OUTPUT_LIMIT else text[:OUTPUT_LIMIT] + "\n… (cut)"
