"""Items, diffs and outputs as lines for a terminal, from wire objects.

Owns how the past looks. Pure: takes dicts as they came from the daemon, prints nothing, asks nothing.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from agent_ls.cli.places import short_path, uri_path
from agent_ls.cli.terminal import Style, prose, width
from agent_ls.core.call import NO_REASON
from agent_ls.core.display import named, one_line

Json = dict[str, Any]
_OUTPUT_LINES: Final = 12
_SIGNS: Final = {
    "pending": ("○", "dim"),
    "running": ("◐", "cyan"),
    "completed": ("●", "green"),
    "failed": ("✗", "red"),
    "cancelled": ("⊘", "yellow"),
    "interrupted": ("⊘", "yellow"),
}


def as_said(items: Iterable[Json]) -> Iterator[Json]:
    """What was being said when it was stopped is kept after the stop, and shown before it."""
    stop: Json | None = None
    for held in items:
        if stop and not (held.get("runId") == stop.get("runId") and held.get("status") == "interrupted"):
            yield stop
            stop = None
        if held.get("kind") == "interrupt":
            stop = held
        else:
            yield held
    if stop:
        yield stop


def item(held: Json, style: Style) -> list[str]:
    """A committed item as a transcript shows it; nothing for kinds that only mark a place."""
    payload: Json = held.get("payload") or {}
    match held.get("kind"):
        case "user_message":
            return _user(payload, style)
        case "assistant_message":
            return prose(str(payload.get("text", "")).rstrip()).split("\n")
        case "reasoning":
            return [style.dim(line) for line in prose(str(payload.get("text", "")).rstrip()).split("\n")]
        case "tool_call" | "command" | "file_change":
            return call(held, style)
        case "notice":
            return notice(payload, style, colour="yellow")
        case "error":
            return notice(payload, style, colour="red")
        case "interrupt":
            return [style.paint(f"■ Stopped by {one_line(str(payload.get('by', 'somebody')))}.", "yellow")]
        case "compaction":
            how = " (a digest: the model wrote none)" if payload.get("madeBy") == "digest" else ""
            count = payload.get("summarized")
            return [style.dim(f"✂ Compacted: from here on a summary stands for {count} older items{how}.")]
        case "handoff":
            first = one_line(str(payload.get("text", "")).partition("\n")[0], 200)
            return [style.dim(f"↩ {first}"), style.dim("  It goes with the next message.")]
        case _:
            # Questions and steps are shown by the calls that ask and set them, in their place.
            return []


def call(held: Json, style: Style, *, shown: bool = False) -> list[str]:
    """What the agent did and what came of it. `shown`: the person has seen its card just now."""
    payload: Json = held.get("payload") or {}
    result: Json = payload.get("result") or {}
    sign, colour = _SIGNS.get(str(held.get("status")), ("·", "dim"))
    text = str(payload.get("diff") or "")
    lines = [f"{style.paint(sign, colour)} {style.bold(call_title(payload))}{_outcome(payload, style)}"]
    if payload.get("tool") == "plan" and result.get("status") in {"ok", "denied"} and not shown:
        lines += indented(named(str((payload.get("input") or {}).get("markdown", "")).rstrip()).split("\n"))
    if payload.get("tool") in {"ask", "todo", "plan", "task"} and result.get("status") == "ok":
        return lines + (_steps(payload.get("input") or {}) if payload["tool"] == "todo" else _answered(result, style))
    if result.get("status") == "denied" and result.get("output") == NO_REASON:
        return lines
    if result.get("status") not in {None, "ok"} or held.get("kind") == "command":
        lines += indented(output(str(result.get("output", "")), style))
    elif text:
        lines[0] += style.dim(f"  {_count(text)}")
        lines += [] if shown else indented(diff(text, style, names=False))
    return lines


def call_title(payload: Json) -> str:
    """`read hello.py`, `$ make test`: what a person would call it."""
    tool, given = str(payload.get("tool", "tool")), payload.get("input")
    given = given if isinstance(given, dict) else {}
    if isinstance(given.get("command"), str):
        return "$ " + one_line(given["command"], width() - 20)
    target = next((given[name] for name in ("path", "pattern", "url") if given.get(name)), None)
    if target is None and payload.get("title"):
        return one_line(str(payload["title"]), width() - 20)
    return one_line(f"{tool} {target or ''}".rstrip(), width() - 20)


def diff(text: str, style: Style, *, names: bool = True) -> list[str]:
    """Line by line; `names` keeps the two lines that name the files."""
    lines = named(text.rstrip("\n")).split("\n")
    if not names and len(lines) > 1 and lines[0].startswith("--- ") and lines[1].startswith("+++ "):
        lines = lines[2:]
    return [_diff_line(line, style) for line in lines]


def output(text: str, style: Style, *, limit: int = _OUTPUT_LINES) -> list[str]:
    """The end of an output: that is where the outcome stands."""
    lines = named(text.rstrip()).split("\n") if text.strip() else []
    if len(lines) <= limit:
        return [style.dim(line) for line in lines]
    hidden = len(lines) - limit
    return [style.dim(f"… {hidden} more lines above"), *(style.dim(line) for line in lines[-limit:])]


def notice(payload: Json, style: Style, *, colour: str) -> list[str]:
    """A sentence; what it quotes, such as the last words of a command, stands beneath it in lines of its own."""
    said, _, quoted = str(payload.get("message", "")).partition("\n")
    lines = [style.paint(f"! {one_line(said, 500)}", colour), *indented(output(quoted, style))]
    hint = payload.get("hint")
    return lines + ([f"  {style.dim(one_line(str(hint), 500))}"] if hint else [])


def indented(lines: list[str], by: str = "    ") -> list[str]:
    return [f"{by}{line}".rstrip() for line in lines]


def _outcome(payload: Json, style: Style) -> str:
    match payload.get("state"):
        case "awaiting_approval":
            waits = "your answer" if payload.get("tool") in {"ask", "plan"} else "approval"
            return style.paint(f"  waits for {waits}", "yellow")
        case "denied":
            return style.paint("  denied", "yellow")
        case "not_run":
            return style.paint("  not run", "yellow")
    result: Json = payload.get("result") or {}
    status, code = result.get("status"), result.get("exitCode")
    if status in {None, "ok"}:
        return style.dim(f"  exit {code}") if code else ""
    return style.paint(f"  {status}" + (f", exit {code}" if code is not None else ""), "red")


def _user(payload: Json, style: Style) -> list[str]:
    lines: list[str] = []
    for block in payload.get("content") or []:
        match block.get("type"):
            case "text":
                lines += prose(str(block.get("text", "")).rstrip()).split("\n")
            case "file":
                lines.append(f"@{one_line(short_path(uri_path(str(block.get('uri', '')))))}")
            case kind:
                lines.append(f"[{one_line(str(kind))}]")
    marks = ["›", *[" "] * len(lines)]
    return [style.paint(f"{mark} {line}", "bold", "cyan") for mark, line in zip(marks, lines, strict=False)]


def _steps(given: Json) -> list[str]:
    signs = {"done": "☒", "active": "◐"}
    steps = [step for step in given.get("steps") or [] if isinstance(step, dict)]
    return [f"    {signs.get(str(step.get('status')), '☐')} {one_line(str(step.get('text', '')))}" for step in steps]


def _answered(result: Json, style: Style) -> list[str]:
    return indented(output(str(result.get("output", "")), style, limit=40))


def _count(text: str) -> str:
    lines = text.split("\n")
    added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("---") for line in lines)
    return f"+{added} -{removed}"


def _diff_line(line: str, style: Style) -> str:
    if line.startswith(("+++", "---")):
        return style.bold(line)
    if line.startswith("+"):
        return style.paint(line, "green")
    if line.startswith("-"):
        return style.paint(line, "red")
    return style.paint(line, "cyan") if line.startswith("@@") else line
