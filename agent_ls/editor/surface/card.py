"""A request in words, complete: what a person reads before they answer in an editor that has no card of ours.

Owns that nothing of it is cut, that nothing in it can hide (core.display) and that nothing in it is taken for markup.
Does not own where it is shown (hover, features).
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from agent_ls.core.conversation import Conversation
from agent_ls.core.display import escaped, named, one_line, warning
from agent_ls.core.plans import MARKDOWN
from agent_ls.core.request import Option, Request, RequestKind
from agent_ls.editor.surface.choosing import is_several, name_of

COMMAND: Final = "Run a command"
LONGEST_PATH: Final = 1_000
_BESIDE: Final = {
    "background": "In the background: it goes on when the run has ended.",
    "outside": "Outside the sandbox.",
}
_TICKS: Final = re.compile(r"`+")


def page(request: Request, conversation: Conversation | None, *, markdown: bool) -> str:
    """As Markdown, or as plain text for a client that shows nothing else."""
    made = _Page(markdown)
    said = heading(request)
    made.say(made.strong(f"#{request.number}"), " ", said if said == COMMAND else made.exact(said))
    _what(made, request)
    for option in request.options:
        if option.rule:
            made.say(f"“{one_line(option.label)}” keeps the rule ", made.exact(option.rule))
    if request.origin is not None:
        made.say("Asked by the subagent for ", made.exact(request.origin.task))
    if conversation is not None:
        made.say(
            "Asked in the conversation ", made.exact(conversation.title or conversation.id),
            " by ", made.exact(conversation.model), " (", made.exact(conversation.provider), ").",
        )  # fmt: skip
    made.say(*_how(made, request))
    return made.text()


def heading(request: Request) -> str:
    """One line, safe to show. A command stands below it whole; a title would say it twice, and cut."""
    title = one_line(request.title)
    return COMMAND if title.startswith("$ ") else title


def title_of(option: Option, request: Request) -> str:
    return f"{one_line(option.label)} #{request.number}"


class _Page:
    """Paragraphs and blocks. What is not our own words goes through `exact` or `block`."""

    def __init__(self, markdown: bool) -> None:  # noqa: FBT001
        self._markdown = markdown
        self._parts: list[str] = []

    def say(self, *parts: str) -> None:
        self._parts.append("".join(parts))

    def block(self, text: str, language: str) -> None:
        """`text` has been made safe to show; here it only has to stay inside its block."""
        text = text.removesuffix("\n")
        if self._markdown:
            fence = "`" * max(3, _longest(text) + 1)
            text = f"{fence}{language}\n{text}\n{fence}"
        self._parts.append(text)

    def exact(self, text: str) -> str:
        line = one_line(text, LONGEST_PATH)
        if not self._markdown:
            return line
        ticks = "`" * (_longest(line) + 1)
        pad = " " if line[:1] == "`" or line[-1:] == "`" or not line.strip() else ""
        return f"{ticks}{pad}{line or ' '}{pad}{ticks}"

    def strong(self, text: str) -> str:
        return f"**{text}**" if self._markdown else text

    def text(self) -> str:
        return "\n\n".join(self._parts) + "\n"


def _what(page: _Page, request: Request) -> None:
    shown = request.card or {}
    match shown.get("type"):
        case "command":
            _command(page, shown)
        case "edit":
            page.say("In ", page.exact(str(shown.get("path") or shown.get("uri", ""))))
            _warn(page, str(shown.get("diff", "")))
            page.block(named(str(shown.get("diff", ""))), "diff")
        case _ if request.kind is RequestKind.QUESTION:
            _questions(page, request)
        case _ if request.kind is RequestKind.PLAN:
            page.block(escaped(str((request.input or {}).get(MARKDOWN, ""))), "markdown")
        case _:
            for name, value in (request.input or shown).items():
                page.say(page.exact(str(name)), ":")
                page.block(escaped(str(value)), "")


def _command(page: _Page, shown: Mapping[str, Any]) -> None:
    command = str(shown.get("command", ""))
    page.block(escaped(command), "sh")
    _warn(page, command)
    page.say("In ", page.exact(str(shown.get("cwd", ""))))
    for name, said in _BESIDE.items():
        if shown.get(name):
            page.say(page.strong(said))
    if failed := shown.get("failed"):
        page.say(escaped(str(failed)))
        page.block(escaped(str(shown.get("output", ""))), "")
    for word, place in (shown.get("targets") or {}).items():
        page.say(page.exact(str(word)), " is ", page.exact(str(place)))
    for name, value in (shown.get("environment") or {}).items():
        page.say("Without " if value is None else "With ", page.exact(name if value is None else f"{name}={value}"))


def _questions(page: _Page, request: Request) -> None:
    for place, asked in enumerate(request.questions, 1):
        if is_several(request):
            page.say(page.strong(f"#{request.number}.{place}"), " ", page.exact(name_of(asked)))
        page.block(escaped(str(asked.get("text") or asked.get("header") or "")), "")
        for row, option in enumerate(asked.get("options") or [], 1):
            label = option.get("label", "") if isinstance(option, dict) else option
            page.say(f"{row}. ", page.exact(str(label)))


def _how(page: _Page, request: Request) -> list[str]:
    number, where = request.number, "Answer by code action where it is marked, or in a terminal: "
    if request.kind is RequestKind.QUESTION:
        names = " ".join(f"{name_of(asked)}=…" for asked in request.questions)
        return [where, page.exact(f"agent-ls answer {number} " + (names if len(request.questions) > 1 else '"…"'))]
    return [where, page.exact(f"agent-ls approve {number}"), " or ", page.exact(f'agent-ls deny {number} "why"')]


def _warn(page: _Page, text: str) -> None:
    if said := warning(text):
        page.say(page.strong(said))


def _longest(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
