"""Merging a fork back: what came of it, in words, for the model that goes on with the conversation it was made of.

Owns what is told (what was asked and concluded, files, commands, what was decided, what is open), how much of it, and
where in the transcript it stands. Made from the items alone, without asking a model, so it is the same each time. Only
what is new since the fork began, or since it was last merged back, is told; nothing twice.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from agent_ls.core.conversation import Conversation
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.items import (
    AssistantMessage,
    Call,
    CallState,
    Handoff,
    Item,
    ItemKind,
    Plan,
    Question,
    ResultStatus,
    TodoList,
    UserMessage,
)
from agent_ls.core.projection import ConversationState
from agent_ls.core.questions import in_words
from agent_ls.core.run import Run, RunStatus

STRATEGY: Final = "merge_back"
# About 16,000 tokens, of which the lists take a small part at most.
LIMIT: Final = 64_000
LISTED: Final = 40
LINE: Final = 200
ASKED: Final = 1_000
ANSWERED: Final = 8_000


@dataclass(frozen=True, kw_only=True)
class MergeBack:
    """What is told: `text` covers the fork `from_id` after the place `after` up to the place `through`."""

    from_id: str
    text: str
    omitted: tuple[str, ...]
    after: int
    through: int


def merged_through(parent: ConversationState, from_id: str) -> int:
    """Up to which place of a fork its parent was told; 0 if nothing was merged back yet."""
    found = (item.payload for item in parent.items.values() if isinstance(item.payload, Handoff))
    return max((told.through for told in found if told.strategy == STRATEGY and told.from_ == from_id), default=0)


def outcome(fork: ConversationState, *, into: str, after: int) -> MergeBack | Refusal:
    """What the fork has that the conversation `into` was not told yet."""
    held = fork.conversation
    if held.forked_from is None or held.forked_from.conversation_id != into:
        return Refusal(
            Code.INVALID_PARAMS,
            "This conversation is no fork of the one that it is to be merged back into.",
            "Merge it into the conversation that it was made of.",
        )
    if fork.active is not None:
        return _busy("The fork")
    begin = max(after, held.forked_from.through)
    news = [item for item in fork.items.values() if item.ord > begin and _counts(fork, item)]
    if not news:
        return Refusal(
            Code.INVALID_PARAMS,
            "There is nothing new in this fork to merge back.",
            "Say something there first.",
        )
    text, omitted = _told(held, fork, news)
    through = max(item.ord for item in news)
    return MergeBack(from_id=held.id, text=text, omitted=omitted, after=after, through=through)


def merge(state: ConversationState, wish: MergeBack, at: str) -> Decision | Refusal:
    """As an item at the end: it goes with the next message, and stands there before anything is sent."""
    if state.active is not None:
        return _busy("The conversation that it is to be merged into")
    if merged_through(state, wish.from_id) != wish.after:
        return Refusal(
            Code.COMMAND_CONFLICT, "This fork was merged back in this moment by somebody else.", "Look what came of it."
        )
    begun = [run for run in state.runs.values() if run.started_at and run.status is not RunStatus.ROLLED_BACK]
    if not begun:
        return Refusal(
            Code.INVALID_PARAMS,
            "Nothing was said yet where it is to be merged into.",
            "Send a message there first.",
        )
    draft = Draft(state, at)
    run = max(begun, key=lambda run: run.ordinal)
    handed = Handoff(
        strategy=STRATEGY,
        from_=wish.from_id,
        to=state.conversation.id,
        text=wish.text,
        omitted=wish.omitted,
        through=wish.through,
    )
    draft.add_item(run.id, draft.fresh_note_id(run.id, "handoff"), ItemKind.HANDOFF, payload=handed)
    return draft.done()


def _busy(what: str) -> Refusal:
    return Refusal(
        Code.CONVERSATION_BUSY, f"{what} is at work.", "Merge it back once that is done, or stop it before.",
    )  # fmt: skip


def _counts(fork: ConversationState, item: Item) -> bool:
    return fork.runs[item.run_id].status is not RunStatus.ROLLED_BACK


def _told(held: Conversation, fork: ConversationState, news: Sequence[Item]) -> tuple[str, tuple[str, ...]]:
    lists = [*_files(news), *_commands(news), *_decided(news), *_open(news)]
    runs = list(dict.fromkeys(item.run_id for item in news))
    room = LIMIT - sum(map(len, lists))
    chosen: list[str] = []
    for run_id in reversed(runs):
        words = _run(fork.runs[run_id], [item for item in news if item.run_id == run_id])
        if chosen and len(words) > room:
            break
        chosen.insert(0, words)
        room -= len(words)
    left = len(runs) - len(chosen)
    omitted = (f"{left} earlier messages and their answers",) if left else ()
    head = f"What came of the fork “{_cut(held.title, LINE)}” of this conversation:"
    more = [f"(left out, as it would be too long: {words})" for words in omitted]
    return "\n\n".join([head, *lists, *more, *chosen]), omitted


def _run(run: Run, items: Iterable[Item]) -> str:
    asked, answer = "", ""
    for item in items:
        match item.payload:
            case UserMessage(content=content):
                asked += " " + " ".join(block.text or "" for block in content)
            case AssistantMessage(text=text) if text.strip():
                answer = text
            case _:
                pass
    ended = "" if run.status is RunStatus.COMPLETED else f" ({run.status})"
    return f"Asked there{ended}: {_cut(asked, ASKED)}\nAnswered: {_cut(answer, ANSWERED) or '(nothing)'}"


def _files(news: Iterable[Item]) -> Iterator[str]:
    changed: dict[str, None] = {}
    for call in _calls(news):
        if call.diff and call.result is not None and call.result.status is ResultStatus.OK:
            changed[str(call.uri or call.title or call.tool)] = None
    yield from _list("Files changed there", list(changed))


def _commands(news: Iterable[Item]) -> Iterator[str]:
    run = [call for call in _calls(news) if isinstance(call.input.get("command"), str)]
    yield from _list("Commands run there", [f"`{_cut(call.input['command'], LINE)}`: {_ended(call)}" for call in run])


def _ended(call: Call) -> str:
    if call.result is None:
        return "no result"
    code = call.result.exit_code
    return str(call.result.status) if code is None else f"exit {code}"


def _decided(news: Iterable[Item]) -> Iterator[str]:
    found: list[str] = []
    for item in news:
        match item.payload:
            case Plan(state="accepted", markdown=text):
                found.append(f"accepted plan: {_cut(text, ASKED)}")
            case Question(questions=questions, answers=answers) if answers:
                found.append(_cut(in_words(questions, answers), ASKED))
            case Call(state=CallState.DENIED) as call:
                why = call.result.output if call.result is not None else ""
                found.append(f"denied: {call.tool} {_cut(call.title or '', LINE)} {_cut(why, LINE)}".rstrip())
            case _:
                pass
    yield from _list("Decided there by the person", found)


def _open(news: Sequence[Item]) -> Iterator[str]:
    steps = next((item.payload.steps for item in reversed(news) if isinstance(item.payload, TodoList)), ())
    left = [str(step.get("text", "")) for step in steps if step.get("status") not in ("completed", "done")]
    yield from _list("Still open there", [_cut(step, LINE) for step in left])


def _calls(news: Iterable[Item]) -> Iterator[Call]:
    return (item.payload for item in news if isinstance(item.payload, Call) and item.payload.result is not None)


def _list(head: str, entries: Sequence[str]) -> Iterator[str]:
    """The last ones, and how many there were before."""
    if not entries:
        return
    shown = list(entries[-LISTED:])
    more = [f"- … and {len(entries) - len(shown)} before"] if len(entries) > len(shown) else []
    yield "\n".join([f"{head}:", *more, *(f"- {entry}" for entry in shown)])


def _cut(text: str, most: int) -> str:
    said = text.strip()
    return said if len(said) <= most else said[:most].rstrip() + " … (cut)"
