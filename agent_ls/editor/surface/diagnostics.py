"""Pending requests and held files as diagnostics: what an editor without a plugin shows of them by itself.

Owns how a request looks as a diagnostic and what a client has been sent. Only windows that say that they show
diagnostics and do not draw cards of their own (`ui.approval`) are sent any: two signs for one question would be two
places to answer it. Code actions and hover are for all, so that stock keys work beside a plugin.
"""

from typing import Any, Final

from agent_ls.core.display import one_line
from agent_ls.core.request import Request, RequestKind
from agent_ls.core.text import Text, body
from agent_ls.editor.documents import Documents
from agent_ls.editor.given import pick
from agent_ls.editor.surface.board import Seat, Standing, Viewer

SOURCE: Final = "agent-ls"
WARNING: Final = 2
INFORMATION: Final = 3

Json = dict[str, Any]


def draw(seat: Seat, documents: Documents) -> None:
    """Sends what changed since the last time, file by file; a file where nothing stands any more is emptied."""
    if not draws(seat.window):
        return
    found: dict[str, list[Standing]] = {}
    for one in seat.standing():
        found.setdefault(one.place.uri, []).append(one)
    held = _held(seat, documents)
    for uri in dict.fromkeys([*found, *held, *seat.drawn]):
        here = found.get(uri, [])
        now = [(one.request.id, one.request.digest) for one in here] + [("held", said) for said in held.get(uri, ())]
        if uri in seat.drawn and seat.drawn[uri] == now:
            continue
        shown = [diagnostic(one, seat.window, documents) for one in here]
        shown += [_holding(said) for said in held.get(uri, ())]
        seat.window.notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": shown})
        if now:
            seat.drawn[uri] = now
        else:
            del seat.drawn[uri]


def draws(window: Viewer) -> bool:
    shows = isinstance(pick(window.capabilities, "textDocument", "publishDiagnostics"), dict)
    return shows and "ui.approval" not in window.features


def diagnostic(one: Standing, window: Viewer, documents: Documents) -> Json:
    request = one.request
    return {
        "range": _range(one, window, documents),
        "severity": WARNING,
        "source": SOURCE,
        "code": str(request.kind),
        "message": message(request),
        "data": {"requestId": request.id, "digest": request.digest},
    }


def message(request: Request) -> str:
    """The title keeps its end however long the command is; hover has all of it."""
    asker = f"The subagent for {one_line(request.origin.task, 60)}: " if request.origin is not None else ""
    title = f"{asker}{one_line(request.title)}"
    if request.kind is RequestKind.QUESTION:
        return f"#{request.number} asks: {title} (code action, or `agent-ls answer {request.number}`)"
    return f"#{request.number} waits for your answer: {title}"


def _held(seat: Seat, documents: Documents) -> dict[str, list[str]]:
    """The open files that are held themselves: with a folder, all of it would be marked. By the client's own names."""
    found: dict[str, list[str]] = {}
    for key, said in seat.held.items():
        for copy in documents.at(key):
            if copy.window is seat.window:
                found.setdefault(copy.uri, []).append(said)
    return found


def _holding(said: str) -> Json:
    start = {"line": 0, "character": 0}
    return {
        "range": {"start": start, "end": start},
        "severity": INFORMATION,
        "source": SOURCE,
        "code": "lock",
        "message": said,
    }


def _range(one: Standing, window: Viewer, documents: Documents) -> Json:
    """The whole line where its text is known, its beginning where not."""
    start = {"line": one.place.line, "character": 0}
    overlay = documents.of(window, one.place.uri)
    if overlay is not None:
        text = overlay.text
    else:
        before = (one.request.card or {}).get("before")
        if not isinstance(before, str):
            return {"start": start, "end": start}
        text = Text(before, window.encoding)
    line = min(one.place.line, len(text.lines) - 1)
    return {"start": {"line": line, "character": 0}, "end": text.position(line, body(text.lines[line]))}
