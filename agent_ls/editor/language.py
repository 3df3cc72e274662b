"""What windows know from their language servers: diagnostics that they sent, and requests that they pass on.

Owns which window is asked for which workspace, and that what a window sends stays within bounds. Implements
ports.language. Does not own how it reads to a model (adapters.tools).
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

import anyio

from agent_ls.core.uris import NotLocal, file_uri, local_path
from agent_ls.editor.book import Answered, Outcome
from agent_ls.editor.given import pick
from agent_ls.editor.surface.diagnostics import SOURCE
from agent_ls.ports.language import Remark, Unavailable

PROXY: Final = "lsp.proxy"
DIAGNOSTICS: Final = "diagnostics"
FRESH_S: Final = 2.0
ANSWER_S: Final = 10.0
MOST_FILES: Final = 2_000
MOST_OF_A_FILE: Final = 200
LONGEST: Final = 1_000


class SpeakingWindow(Protocol):
    client: str
    folders: tuple[str, ...]
    features: frozenset[str]

    async def request(self, method: str, params: Mapping[str, Any], timeout: float = ...) -> Outcome: ...


class _Heard:
    """What one window has sent; by real path. `version` is that of the text which it is about."""

    def __init__(self) -> None:
        self.remarks: dict[str, tuple[Remark, ...]] = {}
        self.versions: dict[str, int] = {}


class WindowLanguage:
    """`version_of` a path in a window's copy: None where it has none open."""

    def __init__(self, version_of: Callable[[Any, str], int | None]) -> None:
        self._version_of = version_of
        self._windows: dict[SpeakingWindow, _Heard] = {}
        self._news = anyio.Event()

    def join(self, window: SpeakingWindow) -> None:
        self._windows[window] = _Heard()

    def leave(self, window: SpeakingWindow) -> None:
        self._windows.pop(window, None)

    def take(self, window: SpeakingWindow, params: Mapping[str, Any]) -> None:
        """`agent/diagnostics`. What is said of a file replaces what was said of it; ours are not repeated to us."""
        heard = self._windows.get(window)
        path = _path(params.get("uri"))
        given = params.get("diagnostics")
        if heard is None or path is None or not isinstance(given, list):
            return
        found = [_remark(path, each) for each in given[:MOST_OF_A_FILE] if isinstance(each, dict)]
        heard.remarks.pop(path, None)
        remarks = tuple(sorted(each for each in found if each.source != SOURCE))
        if remarks:
            heard.remarks[path] = remarks
        while len(heard.remarks) > MOST_FILES:
            heard.remarks.pop(next(iter(heard.remarks)))
        version = params.get("version")
        if isinstance(version, int):
            heard.versions[path] = version
        news, self._news = self._news, anyio.Event()
        news.set()

    def offers(self, root: str) -> frozenset[str]:
        names = {DIAGNOSTICS: DIAGNOSTICS, PROXY: "proxy"}
        return frozenset(names[feature] for window in self._of(root) for feature in window.features if feature in names)

    async def remarks(self, root: str, path: str | None) -> Sequence[Remark] | Unavailable:
        windows = [window for window in self._of(root) if DIAGNOSTICS in window.features]
        if not windows:
            return Unavailable(
                "No window of this workspace sends what its language servers say; run a checker instead."
            )
        if path is not None:
            await self._fresh(windows, path)
        found: set[Remark] = set()
        for window in windows:
            heard = self._windows[window].remarks if window in self._windows else {}
            for known, remarks in heard.items():
                if known == path or (path is None and _beneath(known, root)):
                    found.update(remarks)
        return sorted(found)

    async def ask(self, root: str, method: str, params: dict[str, Any]) -> Any | Unavailable:
        window = next((window for window in self._of(root) if PROXY in window.features), None)
        if window is None:
            return Unavailable("No window of this workspace passes questions on to language servers; use grep instead.")
        outcome = await window.request("agent/lsp/request", {"method": method, "params": params}, ANSWER_S)
        if isinstance(outcome, Answered):
            return outcome.result
        return Unavailable(f"The language servers of {window.client} gave no answer: {outcome.sentence[:LONGEST]}")

    async def _fresh(self, windows: Sequence[SpeakingWindow], path: str) -> None:
        """An edit of a moment ago is checked by the language server only now."""
        with anyio.move_on_after(FRESH_S):
            while any(self._behind(window, path) for window in windows):
                await self._news.wait()

    def _behind(self, window: SpeakingWindow, path: str) -> bool:
        open_at = self._version_of(window, path)
        heard = self._windows.get(window)
        told = None if heard is None else heard.versions.get(path)
        return open_at is not None and told is not None and told < open_at

    def _of(self, root: str) -> list[SpeakingWindow]:
        """Windows that have this workspace open, or a folder that holds it."""
        folders = {window: [_path(folder) for folder in window.folders] for window in self._windows}
        return [window for window, paths in folders.items() if any(path and _beneath(root, path) for path in paths)]


def _path(uri: Any) -> str | None:
    path = local_path(uri) if isinstance(uri, str) else None
    return None if path is None or isinstance(path, NotLocal) else os.path.realpath(path)


def _beneath(path: str, folder: str) -> bool:
    return file_uri(path) == file_uri(folder) or path.startswith(folder.rstrip("/") + "/")


def _remark(path: str, given: Mapping[str, Any]) -> Remark:
    severity = given.get("severity")
    return Remark(
        path,
        severity if isinstance(severity, int) and 1 <= severity <= 4 else 1,
        _count(pick(given, "range", "start", "line")),
        _count(pick(given, "range", "start", "character")),
        str(given.get("message", ""))[:LONGEST],
        str(given.get("source") or "")[:60],
    )


def _count(value: Any) -> int:
    return value + 1 if isinstance(value, int) and 0 <= value < 1 << 31 else 1
