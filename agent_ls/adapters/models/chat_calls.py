"""Which tool call a fragment of a Chat Completions stream belongs to.

Owns the guess for servers that number their calls, name them by id, do neither, or use one number for all. Does not
judge names or arguments: both are kept as the model wrote them.
"""

import json
from typing import Any

from agent_ls.adapters.models.draft import OpenCall


class CallBook:
    """All calls of one reply."""

    def __init__(self) -> None:
        self._by_index: dict[int, OpenCall] = {}
        self._by_id: dict[str, OpenCall] = {}
        self._last: OpenCall | None = None

    def find(self, fragment: dict[str, Any], name: str, arguments: str) -> OpenCall | None:
        """The call that this fragment goes on with; None if it begins another one."""
        index, call_id = fragment.get("index"), _text(fragment.get("id"))
        if isinstance(index, int):
            call = self._by_index.get(index)
        elif call_id:
            call = self._by_id.get(call_id)
        else:
            call = self._last
        if call is None or (call_id and call.id and call_id != call.id):
            return None
        # A name that comes again is a repetition while arguments are on their way, a second call after they are whole.
        if name and call.name and (name != call.name or (arguments and _is_json(call.arguments))):
            return None
        return call

    def add(self, fragment: dict[str, Any], call: OpenCall) -> None:
        self.touch(fragment, call)
        if isinstance(index := fragment.get("index"), int):
            self._by_index[index] = call

    def touch(self, fragment: dict[str, Any], call: OpenCall) -> None:
        if call_id := _text(fragment.get("id")):
            call.id = call.id or call_id
            self._by_id[call_id] = call
        self._last = call


def arguments_text(value: Any) -> str:
    """Some servers send arguments as an object instead of its text."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
