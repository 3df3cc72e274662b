"""The command line's link to the daemon: blocking, standard library only, so that `pending` feels instant.

Owns one request after another and the notices that come between. Does not own verbs nor what they print, and does
not start a loop: nothing here imports asyncio, anyio or pydantic.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from agent_ls.bridge.frames import FrameSplitter, TooLong, frame
from agent_ls.bridge.start import (
    NoDaemon,
    connect,
    ensure_daemon,
    last_words,
    newer,
    no_answer,
    start_successor,
    successor_waits,
)
from agent_ls.paths import state_dir
from agent_ls.version import __version__

CALL_S = 30.0
HELLO_S = 5.0  # a daemon that does not answer within it is stuck
UPGRADE_S = 5.0
READ = 256 * 1024
PROTOCOL = {"min": 1, "max": 1}
LONGEST = 1024 * 1024 * 1024


class ClientError(Exception):
    """A call that gave no result. `code` is stable; `message` and `hint` are for a person.

    Codes of its own: `no_daemon`, `connection_lost`, `timeout`, `protocol`; the rest is the daemon's.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


class Client:
    """One link, initialized. Made by `connect`; a context manager."""

    def __init__(self, link: socket.socket) -> None:
        self.server: dict[str, Any] = {}  # the result of `initialize`
        self._link = link
        self._frames = FrameSplitter(LONGEST)
        self._messages: deque[dict[str, Any]] = deque()
        self._notices: deque[tuple[str, dict[str, Any]]] = deque()
        self._answers: list[dict[str, Any]] = []  # to what was posted, read while another answer was waited for
        self._count = 0

    @classmethod
    def connect(
        cls,
        *,
        start: bool,
        env: Mapping[str, str] = os.environ,
        timeout: float = CALL_S,
        client: str = "cli",
        pause: Callable[[float], None] | None = None,
    ) -> Self:
        """A link to the daemon; with `start`, one is started if there is none. `pause` fills the wait for it."""
        for last in (False, True):
            try:
                return cls._connect(env, timeout, client, start=start, pause=pause)
            except ClientError as error:
                # Killed a moment ago, it may still have taken the connection: once more is enough.
                if not start or error.code != "connection_lost":
                    raise
                if last:
                    raise _ended(env) or error from None
        raise AssertionError("the last try returns or raises")

    @classmethod
    def _connect(
        cls,
        env: Mapping[str, str],
        timeout: float,
        client: str,
        *,
        start: bool,
        pause: Callable[[float], None] | None,
    ) -> Self:
        try:
            link = ensure_daemon(env, pause=pause) if start else connect(env)
        except NoDaemon as error:
            raise ClientError("no_daemon", str(error)) from None
        if link is None:
            raise ClientError("no_daemon", "No daemon is running.", "`agent-ls start` starts one.")
        made = cls(link)
        try:
            made._initialize(env, min(timeout, HELLO_S), client)
            older = made._is_older()
        except BaseException:
            made.close()
            raise
        if start and older and _call_successor(env):
            # What is being done there may take longer; it is served until it ends.
            made._until_gone(UPGRADE_S)
            made.close()
            return cls._connect(env, timeout, client, start=True, pause=pause)
        return made

    def call(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float = CALL_S) -> Any:
        """The result of one request. Notices that come meanwhile are kept for `events`."""
        key = self.post(method, params)
        until = time.monotonic() + timeout
        while True:
            message = self._receive(until)
            if message is None:
                self._send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": key}})
                raise ClientError("timeout", f"The daemon did not answer {method} in {timeout:g} s.", _LOG)
            if "method" in message:
                self._keep(message)
            elif message.get("id") == key:
                if "error" in message:
                    raise error_of(message["error"])
                return message.get("result")
            elif message.get("id") is None and "error" in message:
                raise error_of(message["error"])
            else:
                self._answers.append(message)

    def post(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Sends a request and does not wait; its answer comes with `arrived` under the id that is returned."""
        self._count += 1
        self._send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params or {}})
        return self._count

    @property
    def has_arrived(self) -> bool:
        """Whether `arrived` has something to say that was read already; `select` does not see that."""
        return bool(self._answers or self._notices or self._messages)

    def fileno(self) -> int:
        """For `select`: readable means that `arrived` has something to say."""
        return self._link.fileno()

    def arrived(self) -> list[dict[str, Any]]:
        """Every message that is here, without waiting: notices, and answers to what was posted."""
        kept = self._answers + [{"method": method, "params": params} for method, params in self._notices]
        self._answers = []
        self._notices.clear()
        self._link.settimeout(0)
        try:
            data = self._link.recv(READ)
        except (BlockingIOError, InterruptedError):
            data = None
        except OSError:
            raise _lost() from None
        if data == b"":
            raise _lost()
        if data:
            self._take(data)
        new = [message for message in self._messages if not self._asked_us(message)]
        self._messages.clear()
        return kept + new

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def events(self, timeout: float | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """(method, params) of each notice, as they come; ends when none came for `timeout` seconds."""
        while True:
            while self._notices:
                yield self._notices.popleft()
            message = self._receive(None if timeout is None else time.monotonic() + timeout)
            if message is None:
                return
            if "method" in message:
                self._keep(message)

    def close(self) -> None:
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _initialize(self, env: Mapping[str, str], timeout: float, client: str) -> None:
        environment = {name: value for name, value in env.items() if _is_text(name + value)}
        ours = {"client": client, "version": __version__, "protocol": PROTOCOL, "environment": environment}
        params = {
            "processId": os.getpid(),
            "clientInfo": {"name": f"agent-ls {client}", "version": __version__},
            "rootUri": None,
            "capabilities": {},
            "initializationOptions": {"agentLs": ours},
        }
        try:
            self.server = self.call("initialize", params, timeout=timeout)
        except ClientError as error:
            raise (ClientError("timeout", no_answer(env)) if error.code == "timeout" else error) from None
        self.notify("initialized")

    def _is_older(self) -> bool:
        """Whether the daemon is of an older version than we are."""
        info = self.server.get("serverInfo")
        return isinstance(info, dict) and newer(__version__, str(info.get("version", "")))

    def _until_gone(self, seconds: float) -> None:
        """Until the daemon has ended the link; it may go on for longer."""
        until = time.monotonic() + seconds
        try:
            while self._receive(until):
                pass
        except ClientError:
            pass

    def _keep(self, message: dict[str, Any]) -> None:
        if not self._asked_us(message):
            self._notices.append((str(message["method"]), message.get("params") or {}))

    def _asked_us(self, message: dict[str, Any]) -> bool:
        """Whether it was a request to us, which is refused with this."""
        if "method" not in message or "id" not in message:
            return False
        error = {"code": -32601, "message": "The command line has no such method."}
        self._send({"jsonrpc": "2.0", "id": message["id"], "error": error})
        return True

    def _take(self, data: bytes) -> None:
        self._messages.extend(_message(body) for body in self._frames.feed(data))
        if self._frames.lost:
            raise ClientError("protocol", self._frames.lost, _LOG)

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._link.settimeout(CALL_S)
            self._link.sendall(frame(json.dumps(message, separators=(",", ":")).encode()))
        except OSError:
            raise _lost() from None

    def _receive(self, until: float | None) -> dict[str, Any] | None:
        """The next message, None when the time is over."""
        while not self._messages:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return None
            self._link.settimeout(left)
            try:
                data = self._link.recv(READ)
            except TimeoutError:
                return None
            except OSError:
                raise _lost() from None
            if not data:
                raise _lost()
            self._take(data)
        return self._messages.popleft()


_LOG = "`agent-ls log` shows what the daemon was doing."


def _message(body: bytes | TooLong) -> dict[str, Any]:
    try:
        message = json.loads(body) if isinstance(body, bytes) else None
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise ClientError("protocol", "The daemon sent something that is no message.", _LOG)
    return message


def error_of(error: Any) -> ClientError:
    """The `error` of an answer."""
    if not isinstance(error, dict):
        return ClientError("protocol", "The daemon sent an error without a form.", _LOG)
    data = error.get("data")
    data = data if isinstance(data, dict) else {}
    code = str(data.get("code") or error.get("code"))
    return ClientError(code, str(data.get("message") or error.get("message", "")), str(data.get("hint", "")))


def _lost() -> ClientError:
    return ClientError("connection_lost", "The daemon has gone.", "Run the command again: it starts a new one.")


def _ended(env: Mapping[str, str]) -> ClientError | None:
    """Why a daemon that was just started is gone, where it has said so."""
    reason = last_words(env)
    return ClientError("no_daemon", f"The daemon did not start: {reason}") if reason else None


_CALLED: set[str] = set()  # state directories for which a successor was called: once is enough


def _call_successor(env: Mapping[str, str]) -> bool:
    """Has a daemon of our version take the place of an older one. False if that was tried already."""
    state = state_dir(env)
    if state in _CALLED:
        return False
    _CALLED.add(state)
    try:
        return successor_waits(env) or bool(start_successor(env, "--upgrade"))
    except NoDaemon:
        return False


def _is_text(value: str) -> bool:
    return value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value)
