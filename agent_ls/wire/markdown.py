"""A conversation as a Markdown text, for `agent-ls export` and whoever reads it later.

Owns who speaks (a heading where that changes), fences and what is folded away. Pure: items in, lines out. Does not own
paging (the handler feeds pages).
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from urllib.parse import unquote

from agent_ls.core.conversation import Conversation
from agent_ls.core.items import (
    AssistantMessage,
    Block,
    Call,
    Compaction,
    Handoff,
    Interruption,
    Item,
    ItemKind,
    ItemStatus,
    Notice,
    Plan,
    Question,
    Reasoning,
    Subagent,
    TodoList,
    UserMessage,
)
from agent_ls.core.questions import in_words

OUTPUT_LIMIT = 20_000
YOU = "You"


def markdown(conversation: Conversation, items: Iterable[Item]) -> Iterator[str]:
    """Piece by piece, each ending in a newline, so that a long conversation never stands in memory at once."""
    found = _as_said(items)
    first = next(found, None)
    yield f"# {_title(conversation, first)}\n\n"
    yield f"{conversation.workspace} · {conversation.provider}/{conversation.model} · {conversation.created_at}\n"
    if conversation.forked_from is not None:
        yield f"\nForked from “{_line(conversation.forked_from.title)}” ({conversation.forked_from.conversation_id})\n"
    speaker = ""
    for item in chain([first] if first else [], found):
        text = piece(item)
        if not text:
            continue
        if heading := _speaker(item, conversation):
            # Each message of the person is one; what the model says and does until the next one is another.
            if heading != speaker or heading == YOU:
                yield f"\n## {heading}\n"
            speaker = heading
        yield f"\n{text.rstrip()}\n"


def _title(conversation: Conversation, first: Item | None) -> str:
    """A title that is no more than the first message would say it twice."""
    title = _line(conversation.title)
    message = first.payload if first is not None else None
    said = _line(" ".join(each.text or "" for each in message.content)) if isinstance(message, UserMessage) else ""
    if title and not said.startswith(title.rstrip("…").rstrip()):
        return title
    folder = conversation.workspace.rstrip("/").rpartition("/")[2]
    return f"Conversation in {_line(unquote(folder)) or conversation.workspace}"


def _speaker(item: Item, conversation: Conversation) -> str:
    """Empty for what nobody says: notices, stops, answers."""
    match item.payload:
        case UserMessage():
            return YOU
        case AssistantMessage() | Reasoning() | Call() | Plan() | TodoList() | Subagent():
            return _line(conversation.model) or "Agent"
        case _:
            return ""


def _as_said(items: Iterable[Item]) -> Iterator[Item]:
    """What was being said when it was stopped is kept after the stop, and told before it."""
    stop: Item | None = None
    for item in items:
        if stop is not None and not (item.run_id == stop.run_id and item.status is ItemStatus.INTERRUPTED):
            yield stop
            stop = None
        if isinstance(item.payload, Interruption):
            stop = item
        else:
            yield item
    if stop is not None:
        yield stop


def piece(item: Item) -> str:
    """One item, without who says it."""
    match item.payload:
        case UserMessage(content=content):
            return "\n\n".join(_block(block) for block in content)
        case AssistantMessage(text=text):
            return text
        case Reasoning(text=text):
            return _folded("Reasoning", text) if text.strip() else ""
        case Call():
            return _call(item.payload)
        case Notice(message=message):
            return f"> **{'Error' if item.kind is ItemKind.ERROR else 'Note'}:** {_line(message)}"
        case Interruption(by=by):
            return f"> **Stopped** by {_line(by)}"
        case Question(questions=questions, answers=answers):
            asked = "\n".join(str(question.get("text", "")) for question in questions)
            words = in_words(questions, answers) if answers else asked
            said = "\n".join(f"> {_line(line)}" for line in words.split("\n"))
            return f"> **Question**\n{said}" + ("" if answers else "\n> (no answer)")
        case Compaction():
            return _compaction(item.payload)
        case Plan(markdown=text, state=state):
            return f"> **Plan** ({_line(state)})\n\n{text}"
        case Subagent(task=task, status=status, conversation_id=known):
            return f"*Subagent: {_line(task)} ({_line(status)}, conversation {known})*"
        case Handoff(text=text, from_=known):
            return _folded(f"Merged back from conversation {_line(known)}", text)
        case TodoList(steps=steps):
            return "\n".join(f"- [{_tick(step)}] {_line(str(step.get('text', '')))}" for step in steps)


def _compaction(held: Compaction) -> str:
    how = " The model did not summarize them, so this is a digest of what is on record." if held.trouble else ""
    told = f"> **Compacted**: from here on the model is sent a summary of {held.summarized} older items.{how}"
    return f"{told}\n\n{_folded('Summary', held.summary)}"


def _call(call: Call) -> str:
    command = call.input.get("command")
    if isinstance(command, str):
        parts = [fence(f"$ {command}", "console")]
    else:
        parts = [f"**{call.tool}** {_code(str(call.input.get('path') or call.title or ''))}".rstrip()]
    if call.diff:
        parts.append(fence(call.diff, "diff"))
    if call.result is not None:
        words = str(call.result.status)
        if call.result.exit_code is not None:
            words += f", exit {call.result.exit_code}"
        if call.decided_by:
            words += f" (decided by {_line(call.decided_by)})"
        parts.append(_folded(words, call.result.output) if call.result.output.strip() else f"*{words}*")
    return "\n\n".join(parts)


def _block(block: Block) -> str:
    match block.type:
        case "text":
            return block.text or ""
        case "file":
            return f"[{_line(block.uri or '')}](<{block.uri}>)"
        case other:
            return f"*({_line(other)})*"


def _folded(summary: str, text: str) -> str:
    shown = text if len(text) <= OUTPUT_LIMIT else text[:OUTPUT_LIMIT] + "\n… (cut)"
    return f"<details><summary>{summary}</summary>\n\n{fence(shown)}\n\n</details>"


def fence(text: str, language: str = "") -> str:
    """A fence longer than any run of backticks inside."""
    longest, run = 0, 0
    for sign in text:
        run = run + 1 if sign == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _code(text: str) -> str:
    return f"`{_line(text)}`" if text and "`" not in text else _line(text)


def _line(text: str) -> str:
    return " ".join(text.split())


def _tick(step: dict[str, object]) -> str:
    return "x" if step.get("status") in {"completed", "done"} else " "
