"""`prompts: "message"`: requests as `window/showMessageRequest`, for people who have asked for that.

Owns that a window has one of them open at a time, that it is taken back when it is answered elsewhere or changes, and
that nothing but one of its own titles counts: null, an error, silence and a window that goes leave the request as it
is. Off by default: in some editors it takes the keyboard. Does not own how an answer is given (the method does).
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from agent_ls.core.errors import Refused
from agent_ls.core.request import Request
from agent_ls.editor.book import Answered
from agent_ls.editor.surface.board import UNREAD_S, Viewer
from agent_ls.editor.surface.code_actions import commands
from agent_ls.editor.surface.diagnostics import message
from agent_ls.ports.host import Clock
from agent_ls.runtime.supervisor import Supervisor
from agent_ls.wire.capabilities import RESPOND

MESSAGE: Final = "message"
ANSWER_S: Final = 3600.0
TRIES: Final = 5
WARNING: Final = 2

Respond = Callable[[Any, dict[str, Any]], Awaitable[Any]]


@dataclass(eq=False)
class _Seat:
    """`closed`: what this window was asked and did not answer; not asked again until it changes."""

    waiting: list[Request] = field(default_factory=list)
    closed: set[tuple[str, str]] = field(default_factory=set)
    asked: Request | None = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class MessagePrompts:
    """`respond` takes a window and the parameters of `agent/request/respond`; it raises where that is refused."""

    def __init__(self, supervisor: Supervisor, clock: Clock, respond: Respond) -> None:
        self._supervisor = supervisor
        self._clock = clock
        self._respond = respond
        self._seats: dict[Viewer, _Seat] = {}

    def told(self, window: Viewer, pending: Sequence[Request]) -> None:
        """All that waits and concerns the window. One that has not asked for prompts gets none."""
        if window.prompts != MESSAGE:
            return
        seat = self._seats.setdefault(window, _Seat())
        seat.waiting = list(pending)
        asked = seat.asked
        if asked is None:
            self._next(window, seat)
        elif not any((each.id, each.digest) == (asked.id, asked.digest) for each in pending):
            seat.scope.cancel()

    def leave(self, window: Viewer) -> None:
        seat = self._seats.pop(window, None)
        if seat is not None:
            seat.scope.cancel()

    def _next(self, window: Viewer, seat: _Seat) -> None:
        fresh = [each for each in seat.waiting if (each.id, each.digest) not in seat.closed]
        if fresh and self._seats.get(window) is seat:
            request, seat.scope = min(fresh, key=lambda each: each.number), anyio.CancelScope()
            seat.asked = request
            if not self._supervisor.start("message prompt", lambda: self._ask(window, seat, request)):
                seat.asked = None

    async def _ask(self, window: Viewer, seat: _Seat, request: Request) -> None:
        try:
            with seat.scope:
                await self._asked(window, request)
            seat.closed.add((request.id, request.digest))
        finally:
            seat.asked = None
            self._next(window, seat)

    async def _asked(self, window: Viewer, request: Request) -> None:
        answers = {each["title"]: each["arguments"][0] for each in commands(request) if each["command"] == RESPOND}
        given = {"type": WARNING, "message": message(request), "actions": [{"title": title} for title in answers]}
        for _ in range(TRIES):
            since = self._clock.monotonic()
            outcome = await window.request("window/showMessageRequest", given, ANSWER_S)
            chosen = outcome.result if isinstance(outcome, Answered) else None
            title = chosen.get("title") if isinstance(chosen, dict) else None
            if not isinstance(title, str) or title not in answers:
                return
            if self._clock.monotonic() - since >= UNREAD_S:
                command = f"message {window.number} {request.id} {request.digest}"
                # Somebody was first, or it has changed: what waits is told anew either way.
                with suppress(Refused):
                    await self._respond(window, {"commandId": command, **answers[title]})
                return
