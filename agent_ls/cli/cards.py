"""Requests as cards: all that an answer would allow, on a terminal.

Owns that nothing of it is cut and nothing in it can hide: an approval is worth what was shown. Pure: takes wire
objects, prints nothing, asks nothing.
"""

from typing import Any, Final

from agent_ls.cli.cells import untabbed, wrap
from agent_ls.cli.places import short_path, uri_path
from agent_ls.cli.render import diff
from agent_ls.cli.terminal import Style
from agent_ls.core.display import escaped, one_line, warning
from agent_ls.core.request import DONE

Json = dict[str, Any]
_BESIDE: Final = {
    "background": "in the background: it goes on when the run has ended",
    "outside": "outside the sandbox",
}


def card(request: Json, style: Style, *, answers: bool = True, columns: int | None = None) -> list[str]:
    """With `answers`, its last line says how to answer from a terminal; with `columns`, no row is wider."""
    edge = {part: style.paint(part, "yellow") for part in "╭│╰"}
    head = f"#{request.get('number')}  {_title(request)}"
    said = (*_origin(request, style), *_body(request, style), *_kept(request, style))
    body = [f"{edge['│']} {line}".rstrip() for line in said]
    foot = _how_to_answer(request) if answers and _pending(request) else decided(request)
    lines = [
        f"{edge['╭']} {style.paint(head, 'bold', 'yellow')}",
        *body,
        f"{edge['╰']} {style.dim(foot)}".rstrip(),
    ]
    if columns is None:
        return lines
    # A row that the terminal breaks would begin without the edge, as if it did not belong to the card.
    return [row for line in lines for row in wrap(untabbed(line), columns, f"{edge['│']} ")]


def decided(request: Json) -> str:
    """Who settled it, how and from where; nothing while it is pending."""
    if _pending(request):
        return ""
    by, place = request.get("decidedBy"), request.get("decidedFrom")
    return verb(request) + (f" by {one_line(str(by))}" if by else "") + (f" in {one_line(str(place))}" if place else "")


def verb(request: Json) -> str:
    """What became of it, in a word."""
    return DONE.get(str(request.get("decision")), str(request.get("status")))


def offered(request: Json) -> list[str]:
    """For how long it can be allowed beside this once; `prefix` is the wider rule for a conversation."""
    kept = [option for option in request.get("options") or [] if option.get("rule")]
    return ["prefix" if str(option["id"]).endswith("_prefix") else str(option.get("scope")) for option in kept]


def _body(request: Json, style: Style) -> list[str]:
    shown: Json = request.get("card") or {}
    if request.get("kind") == "question":
        return _questions(request, style)
    if request.get("kind") == "plan":
        return escaped(str((request.get("input") or {}).get("markdown", "")).rstrip()).split("\n")
    match shown.get("type"):
        case "command":
            return _command(shown, style)
        case "edit":
            return _edit(request, shown, style)
        case _:
            given: Json = request.get("input") or shown
            said = str(request.get("title", ""))
            return [
                f"{one_line(str(name))}: {escaped(str(value))}"
                for name, value in given.items()
                if len(given) > 1 or not said.endswith(f" {value}")
            ]


def _origin(request: Json, style: Style) -> list[str]:
    """Which part of the work asks, where it is not the conversation itself."""
    origin: Json = request.get("origin") or {}
    return [style.dim(f"asked by the subagent for: {one_line(str(origin.get('task', '')))}")] if origin else []


def _command(shown: Json, style: Style) -> list[str]:
    command = str(shown.get("command", ""))
    first, *more = escaped(command).split("\n")
    lines = [f"{style.dim('$')} {style.bold(first)}", *(f"  {style.bold(line)}" for line in more)]
    lines.append(style.dim(f"in {one_line(short_path(str(shown.get('cwd', ''))), 1000)}"))
    lines += [style.paint(said, "yellow") for name, said in _BESIDE.items() if shown.get(name)]
    if failed := shown.get("failed"):
        lines.append(style.paint(escaped(str(failed)), "yellow"))
        lines += [style.dim(f"  {line}") for line in escaped(str(shown.get("output", ""))).rstrip().split("\n")]
    for word, place in (shown.get("targets") or {}).items():
        lines.append(style.paint(f"{one_line(str(word), 1000)} is {one_line(str(place), 1000)}", "yellow"))
    for name, value in (shown.get("environment") or {}).items():
        said = f"without {name}" if value is None else f"with {name}={value}"
        lines.append(style.paint(escaped(said), "yellow"))
    return lines + _warned(command, style)


def _edit(request: Json, shown: Json, style: Style) -> list[str]:
    """The path where the title does not say it whole; of a patch over several files, each of them."""
    text = str(shown.get("diff", ""))
    if files := shown.get("files"):
        paths = [short_path(uri_path(str(one.get("uri", "")))) for one in files]
        return [*(style.dim(one_line(path, 1000)) for path in paths), *diff(text, style), *_warned(text, style)]
    path = short_path(uri_path(str(shown.get("uri") or shown.get("path") or "")))
    said = str(request.get("title", "")).endswith(f" {path}")
    where = [] if said else [style.dim(one_line(path, 1000))]
    return [*where, *diff(text, style, names=False), *_warned(text, style)]


def _kept(request: Json, style: Style) -> list[str]:
    """What an "always" would store, before it is stored."""
    kept = [option for option in request.get("options") or [] if option.get("rule")] if _pending(request) else []
    return [
        style.dim(f"{one_line(str(option['label']))}: keeps the rule {one_line(str(option['rule']), 10_100)}")
        for option in kept
    ]


def _title(request: Json) -> str:
    """A command stands in the body, complete; its title would say it twice, and cut."""
    title = one_line(str(request.get("title", "")))
    return "Run a command" if title.startswith("$ ") else title


def _warned(text: str, style: Style) -> list[str]:
    said = warning(text)
    return [style.paint(said, "red", "bold")] if said else []


def _questions(request: Json, style: Style) -> list[str]:
    questions: list[Json] = request.get("questions") or []
    lines: list[str] = []
    for asked in questions:
        first, *more = escaped(str(asked.get("text") or asked.get("header") or "")).split("\n")
        name = f"{one_line(str(asked.get('id')), 64)}: " if len(questions) > 1 else ""
        lines += [f"{style.paint(name, 'yellow')}{style.bold(first)}", *(style.bold(line) for line in more)]
        lines += _choices(asked.get("options") or [], style)
        lines += _free(asked, style)
    if not any(asked.get("options") for asked in questions):
        lines += _choices([one for one in request.get("options") or [] if one.get("decision") == "answer"], style)
    return lines


def _choices(options: list[Json], style: Style) -> list[str]:
    lines: list[str] = []
    for place, option in enumerate(options, 1):
        lines.append(f"  {place}. {one_line(str(option.get('label', '')), 400)}")
        if said := option.get("description"):
            lines += [style.dim(f"     {line}") for line in escaped(str(said)).split("\n")]
    return lines


def _free(asked: Json, style: Style) -> list[str]:
    """How the choices may be taken, where it is not one of them."""
    if not asked.get("options"):
        return []
    said = ["several, as 1,2"] if asked.get("multi") else []
    said += ["or in your own words"] if asked.get("free") else []
    return [style.dim(f"  ({', '.join(said)})")] if said else []


def _how_to_answer(request: Json) -> str:
    number = request.get("number")
    if request.get("kind") == "question":
        asked: list[Json] = request.get("questions") or []
        words = " ".join(f"{one_line(str(one.get('id')), 64)}=…" for one in asked) if len(asked) > 1 else '"…"'
        return f'agent-ls answer {number} {words}  ·  agent-ls deny {number} "why"'
    how = " [--mode edits] [--plan FILE]" if request.get("kind") == "plan" else ""
    if longer := offered(request):
        how = f" [--scope {'|'.join(longer)}]"
    return f'agent-ls approve {number}{how}  ·  agent-ls deny {number} "why"'


def _pending(request: Json) -> bool:
    return str(request.get("status", "pending")) == "pending"
