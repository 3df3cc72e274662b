"""Taking over from a daemon that is there: the successor's part, before it is a daemon itself.

Owns the place in line (one successor at a time), asking the old daemon to hand over, and the wait for its end. Nothing
of the ledger is opened here. Does not own how the old one comes to its end (lifecycle) nor the state directory's
lock (listener).
"""

import fcntl
import importlib
import json
import os
import select
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from agent_ls import paths
from agent_ls.bridge.frames import FrameSplitter, frame
from agent_ls.bridge.start import NoDaemon, connect, newer, no_answer, peer
from agent_ls.daemon.listener import AlreadyRunning, CannotListen
from agent_ls.version import __version__

HELLO_S: Final = 5.0
# What the old daemon may take beyond its deadline: ending what it abandons, and closing.
GRACE_S: Final = 20.0
LINE_S: Final = 0.2
# Loaded late elsewhere, for a quick start. After an upgrade these files may be others than ours.
LATE: Final = (
    "agent_ls.adapters.models.channel",
    "genai_prices",
    "pathspec.patterns.gitignore",
    "agent_ls.adapters.host.probe",
)


@dataclass(frozen=True)
class Succession:
    """`upgrade`: only if the daemon that is there is older than we are."""

    deadline_ms: int
    upgrade: bool = False


class Line:
    """The place of the one who comes next; kept until `close`."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Raises AlreadyRunning where somebody else stands there already."""
        self._lock = os.open(paths.successor_lock_path(env), os.O_RDWR | os.O_CREAT, 0o600)
        until = time.monotonic() + LINE_S
        while not self._taken():
            # A client that only looks whether somebody waits holds it for an instant.
            if time.monotonic() > until:
                self.close()
                raise AlreadyRunning
            select.select([], [], [], 0.01)

    def close(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _taken(self) -> bool:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def load_all() -> None:
    """Everything that would be loaded later, while the files are those of this version."""
    for name in LATE:
        with suppress(ImportError):
            importlib.import_module(name)


def ask_for_the_place(env: Mapping[str, str], wanted: Succession) -> int | None:
    """Has the daemon that is there hand over and waits until it has hung up; its pid, None if there is no daemon.

    Raises AlreadyRunning where an upgrade is none, and CannotListen with the reason and the way out.
    """
    try:
        link = connect(env)
    except NoDaemon as error:
        raise CannotListen(str(error)) from None
    if link is None:
        return None
    with link:
        found = peer(link)
        talk = _Talk(link, env)
        version = talk.ask("initialize", _INITIALIZE).get("serverInfo", {}).get("version", "")
        if wanted.upgrade and not newer(__version__, str(version)):
            raise AlreadyRunning
        talk.ask("agent/drain", {"mode": "handoff", "deadlineMs": wanted.deadline_ms})
        talk.until_closed(wanted.deadline_ms / 1000 + GRACE_S)
    return found[0] if found else None


class _Talk:
    def __init__(self, link: socket.socket, env: Mapping[str, str]) -> None:
        self._link = link
        self._env = env
        self._frames = FrameSplitter()
        self._count = 0

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._count += 1
        request = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        until = time.monotonic() + HELLO_S
        try:
            self._link.settimeout(HELLO_S)
            self._link.sendall(frame(json.dumps(request).encode()))
            while data := self._receive(until):
                for body in self._frames.feed(data):
                    message = json.loads(body) if isinstance(body, bytes) else {}
                    if message.get("id") == self._count and "method" not in message:
                        return _result(message)
        except TimeoutError:
            raise CannotListen(no_answer(self._env)) from None
        except (OSError, ValueError):
            pass
        raise CannotListen("The daemon ended before it could hand over. Run `agent-ls start`.")

    def until_closed(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        try:
            while self._receive(until):
                pass
        except TimeoutError:
            raise CannotListen(
                f"The daemon was asked to hand over and still goes on after {seconds:.0f} s. "
                "End it with `agent-ls restart --force`."
            ) from None
        except OSError:
            pass

    def _receive(self, until: float) -> bytes:
        self._link.settimeout(max(0.001, until - time.monotonic()))
        return self._link.recv(65536)


def _result(message: dict[str, Any]) -> dict[str, Any]:
    if "error" in message:
        data = message["error"].get("data") or {}
        raise CannotListen(f"The daemon does not hand over: {data.get('message') or message['error'].get('message')}")
    result = message.get("result")
    return result if isinstance(result, dict) else {}


_INITIALIZE: Final = {
    "processId": None,
    "rootUri": None,
    "capabilities": {},
    "initializationOptions": {
        "agentLs": {"client": "successor", "version": __version__, "protocol": {"min": 1, "max": 1}}
    },
}
