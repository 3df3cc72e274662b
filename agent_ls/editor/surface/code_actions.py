"""Code actions that answer a request: one for each answer that it offers, and one that shows it.

Owns titles, what each carries and where they are offered. Each carries its command and the digest of what was shown,
so nothing is resolved later and an answer to something else is refused. None is preferred: no key may come to mean
"allow".
"""

from collections.abc import Callable, Sequence
from typing import Any

from agent_ls.core.request import Decision, Option, Request
from agent_ls.editor.documents import Documents
from agent_ls.editor.given import pick
from agent_ls.editor.surface import choosing
from agent_ls.editor.surface.board import Standing, Viewer
from agent_ls.editor.surface.card import title_of
from agent_ls.editor.surface.choosing import Chosen
from agent_ls.editor.surface.diagnostics import SOURCE, diagnostic
from agent_ls.wire.capabilities import QUICKFIX, RESPOND, SHOW

Json = dict[str, Any]


def offered(
    window: Viewer,
    here: Sequence[Standing],
    documents: Documents,
    *,
    chosen: Callable[[Request], Chosen],
    lines: tuple[int, int],
    context: Json,
) -> list[Json]:
    """For the requests on these lines; where none stands on them, for all of the document."""
    if not _wanted(context.get("only")):
        return []
    named = _named(context.get("diagnostics"))
    meant = [one for one in here if one.request.id in named or lines[0] <= one.place.line <= lines[1]]
    known = {one.request.id: one for one in meant or here}
    literal = takes_literals(window)
    return [
        _literal(command, diagnostic(one, window, documents)) if literal else command
        for one in known.values()
        for command in commands(one.request, chosen(one.request))
    ]


def commands(request: Request, chosen: Chosen | None = None) -> list[Json]:
    """Allow first, then deny, then show: as the request offers them. `chosen`: of several questions, so far."""
    several = choosing.commands(request, chosen or {}) if choosing.is_several(request) else []
    answers = [
        {"title": title_of(option, request), "command": RESPOND, "arguments": [_answer(option, request)]}
        for option in request.options
    ]
    shown = {"title": f"Show #{request.number}", "command": SHOW, "arguments": [{"requestId": request.id}]}
    return [*several, *answers, shown]


def takes_literals(window: Viewer) -> bool:
    return pick(window.capabilities, "textDocument", "codeAction", "codeActionLiteralSupport") is not None


def _answer(option: Option, request: Request) -> Json:
    answer: Json = {"requestId": request.id, "digest": request.digest, "decision": str(option.decision)}
    if option.scope is not None:
        answer["scope"] = option.scope
    unnamed = option.decision is Decision.ALLOW and option.scope is None
    if option.decision is Decision.ANSWER or unnamed or option.rule is not None:
        answer["optionId"] = option.id
    return answer


def _literal(command: Json, about: Json) -> Json:
    return {"title": command["title"], "kind": QUICKFIX, "diagnostics": [about], "command": command}


def _wanted(only: Any) -> bool:
    """`only` names kinds, each with all that are beneath it."""
    return not isinstance(only, list) or not only or any(kind in {"", QUICKFIX} for kind in only)


def _named(diagnostics: Any) -> set[str]:
    """The requests whose diagnostics the client says it asks about."""
    found = set()
    for given in diagnostics if isinstance(diagnostics, list) else []:
        if isinstance(given, dict) and given.get("source") == SOURCE and isinstance(given.get("data"), dict):
            found.add(str(given["data"].get("requestId")))
    return found
