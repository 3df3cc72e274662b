"""The request that the person is asked now, and which single keys may answer it.

Owns that an answer is meant: one request at a time, its card shown, 400 ms passed since, the input line empty, and the
key pressed alone, since the first letter of a message is a key too. Pure: time enters as a value.
"""

from dataclasses import dataclass
from typing import Any, Final

Json = dict[str, Any]
GUARD_S: Final = 0.4
ALONE_S: Final = 0.35
KEYS: Final = {"y": "allow", "n": "deny", "c": "conversation"}


@dataclass(frozen=True)
class Meant:
    """An answer by key: `how` is allow, deny or conversation."""

    how: str
    request: Json


class Asking:
    """Requests that wait, by id; `current` is the one with the lowest number."""

    def __init__(self) -> None:
        self.waiting: dict[str, Json] = {}
        self._shown: dict[str, str] = {}
        self._card: tuple[str, str] | None = None
        self._since = 0.0
        self._held: tuple[str, float] | None = None

    @property
    def current(self) -> Json | None:
        return min(self.waiting.values(), key=lambda request: int(request["number"]), default=None)

    @property
    def held(self) -> str:
        """The key that was pressed and may still turn out to be text."""
        return self._held[0] if self._held else ""

    def find(self, number: int) -> Json | None:
        return next((request for request in self.waiting.values() if request["number"] == number), None)

    def put(self, request: Json) -> Json | None:
        """The request as it was known, where it has just been settled."""
        known = self.waiting.pop(request["id"], None)
        if request.get("status", "pending") == "pending":
            self.waiting[request["id"]] = request
            return None
        return known

    def to_show(self) -> Json | None:
        """The current request, where its card as it is now was not shown as the last one."""
        now = self.current
        if now is None or self._card == (now["id"], now["digest"]):
            return None
        return now

    def showed(self, request: Json, at: float) -> None:
        self._shown[request["id"]] = request["digest"]
        if self.current is request:
            self._card = (request["id"], request["digest"])
            self._since = at
            self._held = None

    def was_shown(self, request: Json) -> bool:
        return self._shown.get(request["id"]) == str(request["digest"])

    def press(self, sign: str, at: float) -> bool:
        """Whether this key, on an empty line, may be an answer; it is one when nothing follows it until `due`."""
        now = self.current
        if sign not in KEYS or now is None or now["kind"] == "question" or self._card != (now["id"], now["digest"]):
            return False
        if at - self._since < GUARD_S or (KEYS[sign] == "conversation" and "conversation" not in scopes(now)):
            return False
        self._held = (sign, at + ALONE_S)
        return True

    def confirm(self) -> Meant | None:
        """The key that is held is meant: Enter said so, or nothing followed."""
        held, self._held = self._held, None
        now = self.current
        # Settled elsewhere or changed since the key went down: what is asked now was not answered.
        if held is None or now is None or self._card != (now["id"], now["digest"]):
            return None
        return Meant(KEYS[held[0]], now)

    def let_go(self) -> None:
        """Something followed the key: it was text."""
        self._held = None

    def due(self, at: float) -> float | None:
        """Seconds until the held key counts; None where none is held."""
        return None if self._held is None else max(0.0, self._held[1] - at)


def scopes(request: Json) -> set[str]:
    """For what it can be allowed."""
    return {str(option["scope"]) for option in request.get("options") or [] if option.get("scope")}
