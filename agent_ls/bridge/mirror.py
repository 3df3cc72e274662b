"""What the editor has open, mirrored, so that a daemon that knows nothing of it can be told.

Owns the text of each open document as the editor has it, the text that it had when it was opened or last saved, and
the messages that bring a new daemon to the state that the old one had (editor/documents reads them). Does not own
when they are sent (memory, pump). Loaded with the first document: the bridge's start has no time for it.

Like the daemon it keeps a sane state whatever comes: a change that cannot be made leaves a text that is lost until
the whole of it comes.
"""

from __future__ import annotations

from agent_ls.core.text import UTF_16, BadChange, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Copy:
    """`saved` and `saved_version` are as of the opening or the last save; None while nothing has changed since."""

    __slots__ = ("lost", "params", "saved", "saved_version", "since", "text", "version")

    def __init__(self, params: dict[str, Any], text: Text, version: int | None, *, since: float) -> None:
        self.params = params
        self.text = text
        self.version = version
        self.saved: str | None = None
        self.saved_version: int | None = None
        self.since = since
        self.lost = False


class Mirror:
    """`seconds` is a clock that only goes forward."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._encoding = UTF_16
        self._copies: dict[str, _Copy] = {}

    def agree(self, encoding: str) -> None:
        """The units of positions, as the daemon's answer to `initialize` names them."""
        self._encoding = encoding
        for copy in self._copies.values():
            copy.text.encoding = encoding

    def take(self, method: str, params: Any) -> None:
        """A `textDocument/did…` of the editor's."""
        document = params.get("textDocument") if isinstance(params, dict) else None
        uri = document.get("uri") if isinstance(document, dict) else None
        if not isinstance(uri, str) or not isinstance(document, dict):
            return
        if method == "textDocument/didOpen":
            self._open(uri, params, document)
        elif method == "textDocument/didClose":
            self._copies.pop(uri, None)
        elif copy := self._copies.pop(uri, None):
            self._copies[uri] = copy  # the one used last is told of last
            if method == "textDocument/didChange":
                _change(copy, params.get("contentChanges"), _version(document))
            elif method == "textDocument/didSave":
                self._save(copy, params.get("text"))

    def replay(self) -> list[dict[str, Any]]:
        """A didOpen for each document as it was saved, and a didChange to what it is now where it was changed since.

        `agentLs.replay` is for our daemon: how long ago the text of the didOpen was that of the document, and whether
        a didChange follows. Whether the disk had that text then, it finds out from that.
        """
        now = self._seconds()
        return [message for copy in self._copies.values() for message in _told(copy, now)]

    def _open(self, uri: str, params: dict[str, Any], document: dict[str, Any]) -> None:
        text = document.pop("text", None)
        if isinstance(text, str):
            self._copies.pop(uri, None)
            held = Text(text, self._encoding)
            self._copies[uri] = _Copy(params, held, _version(document), since=self._seconds())

    def _save(self, copy: _Copy, text: Any) -> None:
        if isinstance(text, str) and (copy.lost or text != str(copy.text)):
            copy.text, copy.lost = Text(text, self._encoding), False
        copy.saved, copy.since = None, self._seconds()


def _change(copy: _Copy, changes: Any, version: int | None) -> None:
    if copy.saved is None:
        copy.saved, copy.saved_version = str(copy.text), copy.version
    whole = bool(isinstance(changes, list) and changes and isinstance(changes[0], dict) and not changes[0].get("range"))
    gone_back = version is not None and copy.version is not None and version <= copy.version
    if not whole and (gone_back or copy.lost):
        copy.lost = True
        return
    try:
        copy.text.change(changes)
    except BadChange:
        copy.lost = True
    else:
        copy.version, copy.lost = version, False


def _told(copy: _Copy, now: float) -> list[dict[str, Any]]:
    text, version = copy.saved, copy.saved_version
    if text is None:
        text, version = str(copy.text), copy.version
    document = {**copy.params["textDocument"], "version": version, "text": text}
    replay = {"secondsAgo": round(now - copy.since, 3), "changed": copy.saved is not None}
    params = {**copy.params, "textDocument": document, "agentLs": {"replay": replay}}
    told = [_notification("textDocument/didOpen", params)]
    now_held = {"uri": document["uri"], "version": copy.version}
    if copy.saved is not None:
        changes = [{"text": str(copy.text)}]
        told.append(_notification("textDocument/didChange", {"textDocument": now_held, "contentChanges": changes}))
    if copy.lost:
        # What is lost here is lost there too: a didChange without changes cannot be made.
        told.append(_notification("textDocument/didChange", {"textDocument": now_held, "contentChanges": None}))
    return told


def _notification(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _version(document: dict[str, Any]) -> int | None:
    version = document.get("version")
    return version if isinstance(version, int) and not isinstance(version, bool) else None
