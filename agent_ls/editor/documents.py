"""What windows have open: one overlay for each window and URI, kept in step by text synchronisation.

Owns the text of each window's copy, whether it is dirty and what it was dirty against. Does not own what follows from
that for a file (standing) nor the disk. Never one shared text for two windows; what is no file is text only, keyed by
its whole URI. Nothing a client sends here raises: what makes no sense is logged, and the copy that it concerns counts
as lost until its whole text comes.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Protocol

import anyio

from agent_ls.core.text import ENCODINGS, UTF_16, BadChange, Text
from agent_ls.core.textfile import sha256
from agent_ls.core.uris import file_uri
from agent_ls.editor.book import Outcome
from agent_ls.editor.given import document_uri, pick
from agent_ls.editor.returning import Nowhere, Returning

SAVES: Final = "document.save"

log = logging.getLogger(__name__)


class EditingWindow(Protocol):
    """A window, as far as the documents that it has open need to know it."""

    number: int
    client: str
    features: frozenset[str]
    encoding: str

    async def request(self, method: str, params: Mapping[str, Any], timeout: float = ...) -> Outcome: ...


@dataclass(eq=False, slots=True)
class Overlay:
    """One window's copy. `uri` is the client's spelling, `key` the canonical one that locks have too.

    `dirty`: changed since it was opened or last saved; `base` is the print of its text then. `lost`: a change came
    that could not be made, so its text is not known. `by_agent`: holds an edit of ours that nobody has saved yet.
    `changed` is set, and replaced by a fresh event, at whatever happens to it; `settled` once the disk was looked at.
    `known_s`: it came back from a daemon before this one, and its text was that of `base` so many seconds ago;
    `unfinished` until the change that it had then has come too.
    """

    window: EditingWindow
    uri: str
    key: str
    version: int | None
    text: Text
    base: str
    used: int
    dirty: bool = False
    lost: bool = False
    closed: bool = False
    by_agent: bool = False
    known_s: float | None = None
    unfinished: bool = False
    changed: anyio.Event = field(default_factory=anyio.Event)
    settled: anyio.Event = field(default_factory=anyio.Event)

    @property
    def saves(self) -> bool:
        return SAVES in self.window.features

    def as_on_disk(self, print: str) -> None:
        """The disk was seen to hold the very text."""
        self.base, self.dirty, self.by_agent = print, False, False

    def touch(self) -> None:
        happened, self.changed = self.changed, anyio.Event()
        happened.set()


class Documents:
    """`key_of` gives the canonical key of a URI (the disk knows links and folding volumes).

    `touched` hears of files whose text a window has changed or saved. That a window goes away changes no text;
    `dropped` hears, by the URI, of each copy that is gone.
    """

    def __init__(self, key_of: Callable[[str], str], returning: Returning | None = None) -> None:
        self._key_of = key_of
        self.touched: Callable[[str], None] = lambda key: None
        self.dropped: Callable[[str], None] = lambda uri: None
        self.returning = returning or Returning(Nowhere())
        self._copies: dict[tuple[EditingWindow, str], Overlay] = {}
        self._by_key: dict[str, list[Overlay]] = {}
        self._senders: dict[str, EditingWindow] = {}
        self._uses = count(1)

    def at(self, key: str) -> Sequence[Overlay]:
        """Every window's copy of a file, the one used last first."""
        return sorted(self._by_key.get(key, ()), key=lambda overlay: -overlay.used)

    def of(self, window: EditingWindow, uri: str) -> Overlay | None:
        return self._copies.get((window, uri))

    def version_of(self, window: EditingWindow, path: str) -> int | None:
        """Of this window's copy of the file at a real path; None where it has none open."""
        return next((copy.version for copy in self.at(file_uri(path)) if copy.window is window), None)

    def key(self, uri: str) -> str:
        """The canonical key of a client's spelling."""
        return self._key(uri)

    def everything(self) -> Sequence[Overlay]:
        return tuple(self._copies.values())

    def open(self, window: EditingWindow, params: Mapping[str, Any]) -> Overlay | None:
        """None when it could not be read."""
        uri, text = document_uri(params), pick(params, "textDocument", "text")
        if uri is None or not isinstance(text, str):
            _log(window, "didOpen without a uri or a text")
            return None
        if (window, uri) in self._copies:
            _log(window, "didOpen of a document that is open; the newer text counts")
            self._drop(self._copies[window, uri])
        version = _version(params.get("textDocument"))
        overlay = Overlay(
            window, uri, self._key(uri), version, Text(text, window.encoding), fingerprint(text), self._use()
        )
        overlay.known_s, overlay.unfinished = _replay(params)
        self._copies[window, uri] = overlay
        self._know_key(overlay)
        return overlay

    def change(self, window: EditingWindow, params: Mapping[str, Any]) -> Overlay | None:
        """The copy if it was clean until now, and that is news."""
        overlay = self._known(window, params, "didChange")
        if overlay is None:
            return None
        changes, version = params.get("contentChanges"), _version(params.get("textDocument"))
        whole = _is_whole(changes)
        if not whole and overlay.version is not None and version is not None and version <= overlay.version:
            _log(window, f"didChange to version {version} after version {overlay.version}; its whole text is awaited")
            overlay.lost = True
        elif not overlay.lost or whole:
            self._make(overlay, changes, version=version)
        was_clean, overlay.dirty = not overlay.dirty and not overlay.unfinished, True
        overlay.unfinished = False
        overlay.used = self._use()
        overlay.touch()
        self.touched(overlay.key)
        return overlay if was_clean else None

    def save(self, window: EditingWindow, params: Mapping[str, Any]) -> None:
        overlay = self._known(window, params, "didSave")
        if overlay is None:
            return
        text = params.get("text")
        if isinstance(text, str) and (overlay.lost or text != str(overlay.text)):
            _log(window, "the text of a didSave is not what its changes have made; the text counts")
            overlay.text, overlay.lost = Text(text, window.encoding), False
        overlay.base = fingerprint(str(overlay.text))
        overlay.dirty = overlay.by_agent = False
        self._move(overlay, self._key(overlay.uri))
        overlay.used = self._use()
        overlay.touch()
        self.touched(overlay.key)

    def close(self, window: EditingWindow, params: Mapping[str, Any]) -> None:
        overlay = self._known(window, params, "didClose")
        if overlay is not None:
            self._drop(overlay)

    def leave(self, window: EditingWindow) -> None:
        """The window is gone: nothing of it stays."""
        for overlay in [found for found in self._copies.values() if found.window is window]:
            self._drop(overlay)
        for conversation_id in [known for known, sender in self._senders.items() if sender is window]:
            del self._senders[conversation_id]

    def sent(self, conversation_id: str, window: EditingWindow) -> None:
        """A message came from this window: what the conversation edits is edited there first."""
        self._senders[conversation_id] = window

    def sender(self, conversation_id: str) -> EditingWindow | None:
        return self._senders.get(conversation_id)

    def _make(self, overlay: Overlay, changes: Any, *, version: int | None) -> None:
        try:
            overlay.text.change(changes)
        except BadChange as bad:
            _log(overlay.window, f"didChange that cannot be made ({bad}); its whole text is awaited")
            overlay.lost = True
        else:
            overlay.version, overlay.lost = version, False

    def _known(self, window: EditingWindow, params: Mapping[str, Any], method: str) -> Overlay | None:
        uri = document_uri(params)
        overlay = None if uri is None else self._copies.get((window, uri))
        if overlay is None:
            _log(window, f"{method} for a document that is not open; nothing was done")
        return overlay

    def _drop(self, overlay: Overlay) -> None:
        del self._copies[overlay.window, overlay.uri]
        self._forget_key(overlay)
        overlay.closed = True
        overlay.settled.set()
        overlay.touch()
        self.dropped(overlay.uri)

    def _move(self, overlay: Overlay, key: str) -> None:
        """A file that was new, or a link that was turned elsewhere."""
        if key != overlay.key:
            self._forget_key(overlay)
            overlay.key = key
            self._know_key(overlay)

    def _know_key(self, overlay: Overlay) -> None:
        self._by_key.setdefault(overlay.key, []).append(overlay)
        self.returning.opened(overlay.key)

    def _forget_key(self, overlay: Overlay) -> None:
        beside = self._by_key[overlay.key]
        beside.remove(overlay)
        if not beside:
            del self._by_key[overlay.key]
        self.returning.closed(overlay.key)

    def _key(self, uri: str) -> str:
        try:
            return self._key_of(uri)
        except (OSError, ValueError):
            return uri

    def _use(self) -> int:
        return next(self._uses)


def agreed_encoding(initialize: Mapping[str, Any]) -> str:
    """The first that the client lists and we know: it lists them as it likes them. utf-16 when it lists none."""
    offered = pick(initialize, "capabilities", "general", "positionEncodings")
    known = [name for name in offered if name in ENCODINGS] if isinstance(offered, list) else []
    return str(known[0]) if known else UTF_16


def fingerprint(text: str) -> str:
    """The same for texts that differ only in how lines end and whether the last one does: editors send them so."""
    flat = text.replace("\r\n", "\n").removeprefix("\ufeff").removesuffix("\n")
    return sha256(flat.encode("utf-8", "surrogatepass"))


def _is_whole(changes: Any) -> bool:
    """Whether the changes begin with a whole new text, so that what was before does not matter."""
    return bool(isinstance(changes, list) and changes and isinstance(changes[0], dict) and not changes[0].get("range"))


def _replay(params: Mapping[str, Any]) -> tuple[float | None, bool]:
    """What the bridge says of a document that a daemon before this one knew: (known_s, unfinished)."""
    replay = pick(params, "agentLs", "replay")
    seconds = pick(replay, "secondsAgo")
    return (float(seconds), pick(replay, "changed") is True) if isinstance(seconds, int | float) else (None, False)


def _version(document: Any) -> int | None:
    version = pick(document, "version")
    return version if isinstance(version, int) and not isinstance(version, bool) else None


def _log(window: EditingWindow, what: str) -> None:
    log.warning("window %d (%s): %s", window.number, window.client, what)
