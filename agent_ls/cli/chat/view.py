"""The rows below the conversation: what is in flight, what waits, the input line, where we are.

Owns how they look and which of them give way on a small terminal. Pure: draws from the talk and the editor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent_ls.cli.cells import clip, width
from agent_ls.cli.chat.asking import KEYS, scopes
from agent_ls.cli.chat.editor import Editor, rows
from agent_ls.cli.chat.screen import Live
from agent_ls.cli.chat.talk import Talk
from agent_ls.cli.chat.transcript import spinner
from agent_ls.cli.places import short_path
from agent_ls.cli.terminal import Style
from agent_ls.core.display import one_line

Json = dict[str, Any]
PROMPT: Final = "› "
_QUEUED: Final = 3
_SAYS: Final = {
    "thinking": "thinking",
    "answering": "answering",
    "retrying": "waiting to try again",
    "compacting": "making room",
    "waiting": "waiting",
}


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What the loop knows beside the conversation."""

    beat: int
    seconds: int
    online: bool
    resting: bool
    leaving: bool
    choices: Sequence[str] = ()


def live(talk: Talk, editor: Editor, moment: Moment, *, columns: int, height: int) -> Live:
    style = talk.style
    typed, cursor = _input(editor, columns, most=max(1, min(10, height // 3)), style=style)
    below = [*_choices(moment.choices, columns, style), _status(talk, moment, columns)]
    above = [*_queued(talk, columns), *_asked(talk, editor, columns), style.dim("─" * (columns - 1))]
    room = height - 2 - len(typed) - len(below) - len(above)
    flight = talk.transcript.live(moment.beat)
    flight = flight[-room:] if room > 0 else []
    lead = [""] if not flight or talk.transcript.apart else []
    gap = [""] if flight else []
    drawn = [*(lead[:room] if room > 0 else []), *flight, *gap, *above]
    return Live((*drawn, *typed, *below), (len(drawn) + cursor[0], cursor[1]))


def _input(editor: Editor, columns: int, *, most: int, style: Style) -> tuple[list[str], tuple[int, int]]:
    """A long text shows the rows around the cursor."""
    lead = len(PROMPT)
    made, (row, column) = rows(editor, columns - lead - 1)
    first = max(0, min(row - most // 2, len(made) - most))
    marked = [
        (style.paint(PROMPT, "bold", "cyan") if first + at == 0 else " " * lead) + text
        for at, text in enumerate(made[first : first + most])
    ]
    return marked, (row - first, column + lead)


def _queued(talk: Talk, columns: int) -> list[str]:
    style = talk.style
    waiting = talk.queued()
    lines = [f"  ↪ {first_text(message)}" for message in talk.joining[:_QUEUED]]
    lines += [f"  ⧗ {first_text(run)}" for run in waiting[:_QUEUED]]
    if len(waiting) > _QUEUED:
        lines.append(f"  ⧗ … {len(waiting) - _QUEUED} more, /queue")
    if waiting and talk.conversation.get("queueHeld"):
        lines.append("  ⧗ held: `/queue go` sends them")
    if talk.link.client is None:
        lines += [f"  ↻ {one_line(text, 200)}" for text in talk.sending.values()]
    return [style.dim(clip(line, columns - 1)) for line in lines]


def first_text(run: Json) -> str:
    texts = [str(block.get("text", "")) for block in run.get("content") or [] if block.get("type") == "text"]
    return one_line(texts[0] if texts else "(attachments)", 200)


def _asked(talk: Talk, editor: Editor, columns: int) -> list[str]:
    request, style = talk.asking.current, talk.style
    if request is None:
        return []
    number = request["number"]
    head = style.paint(f"▲ #{number}", "bold", "yellow")
    if request["kind"] == "question":
        said = _how_to_answer(request)
    elif talk.asking.held:
        return [clip(f"{head} {style.paint(_meant(talk.asking.held), 'yellow')} {style.dim('…')}", columns - 1)]
    elif editor.text:
        said = f"waits. Empty the line to answer with one key, or /allow {number}, /deny {number} why"
    else:
        always = f"{_key('c', style)} always in this conversation" if "conversation" in scopes(request) else ""
        edits = style.dim("/allow edits: its edits unasked") if request["kind"] == "plan" else ""
        keys = [f"{_key('y', style)} allow", f"{_key('n', style)} deny", always, edits, style.dim("/deny why")]
        said = "   ".join(key for key in keys if key)
    others = len(talk.asking.waiting) - 1
    more = style.dim(f"   {others} more after it") if others else ""
    return [clip(f"{head}  {said}{more}", columns - 1)]


def _how_to_answer(request: Json) -> str:
    asked: list[Json] = request.get("questions") or []
    if len(asked) > 1:
        return "/answer " + " ".join(f"{one_line(str(one.get('id')), 64)}=…" for one in asked)
    return "/answer 1, or /answer and your words" if _has_choices(request) else "/answer and your words"


def _has_choices(request: Json) -> bool:
    return bool(request.get("options")) or any(asked.get("options") for asked in request.get("questions") or [])


def _meant(key: str) -> str:
    return {"allow": "allow", "deny": "deny", "conversation": "allow in this conversation"}[KEYS[key]]


def _key(sign: str, style: Style) -> str:
    return style.paint(sign, "bold", "yellow")


def _choices(choices: Sequence[str], columns: int, style: Style) -> list[str]:
    if not choices:
        return []
    return [style.dim(clip("  " + "  ".join(choices), columns - 1))]


def _status(talk: Talk, moment: Moment, columns: int) -> str:
    style = talk.style
    left = "  ".join(part for part in (_mode(talk), _model(talk), short_path(talk.workspace)) if part)
    right, colour = _doing(talk, moment)
    left = clip(f"  {left}", max(8, columns - 3 - width(right)))
    blank = " " * max(2, columns - 1 - width(left) - width(right))
    return clip(style.dim(left) + blank + style.paint(right, colour), columns - 1)


def _mode(talk: Talk) -> str:
    return f"mode {talk.conversation.get('mode', 'ask')}"


def _model(talk: Talk) -> str:
    return one_line(str(talk.conversation.get("model", "")), 40)


def _doing(talk: Talk, moment: Moment) -> tuple[str, str]:
    if moment.resting:
        return "the daemon was stopped; what you say starts it", "dim"
    if not moment.online:
        return f"{spinner(moment.beat)} waiting for the daemon", "yellow"
    if moment.leaving:
        return "Ctrl-C again leaves", "yellow"
    if talk.run_id is None and talk.conversation.get("compacting"):
        return f"{spinner(moment.beat)} making room  Ctrl-C stops", "cyan"
    if talk.run_id is None:
        elsewhere = f"{talk.elsewhere} waiting elsewhere  " if talk.elsewhere else ""
        return f"{elsewhere}/help  Ctrl-D leaves", "dim"
    if talk.stopping:
        return "stopping; Ctrl-C again leaves", "yellow"
    if talk.asking.current is not None:
        return "waits for you  Ctrl-C stops", "yellow"
    says = _SAYS.get(talk.phase, "working")
    return f"{spinner(moment.beat)} {says} {moment.seconds} s  Ctrl-C stops", "cyan"
