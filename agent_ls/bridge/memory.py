"""What the bridge remembers of a link, so that a new daemon can take the old one's place unseen by the editor.

Owns reading messages as far as a replay needs it, what is added to them (commandId, environment), and which requests
are sent again. Does not own bytes, sockets (pump) nor the texts of documents (mirror). No I/O apart from random bytes
for a commandId and a look at the clock.

When a daemon goes: `initialize` is replayed, with the folders of now, and its answer kept from the editor; then the
open documents, as they are by then, and where the person is; a request that carries a commandId is sent again, because
the same id gives the same answer; every other one is answered with ContentModified, on which editors ask again or give
up without a word. A command that is sent again says when it was given. One over which daemon after daemon ends is
answered with an error. Progress that nobody would end is ended. What the editor still answers to the old daemon
reaches nobody.
"""

from __future__ import annotations

import json
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TypeGuard

    from agent_ls.bridge.mirror import Mirror

CONTENT_MODIFIED = -32801
REQUEST_FAILED = -32803
COMMAND_PREFIX = "agent-ls."
EXECUTE = "workspace/executeCommand"
MOST_TRIES = 6
REPLAY_ID = "agent-ls-bridge:initialize"
# Said without a wish of the person: no reason to start a daemon that somebody stopped.
IDLE = frozenset(
    {"agent/window/focus", "agent/diagnostics", "agent/conversation/draft", "$/setTrace", "$/cancelRequest"}
)
# What holds until it is said anew.
LATEST = frozenset({"agent/window/focus", "$/setTrace"})
FOLDERS = "workspace/didChangeWorkspaceFolders"
DOCUMENTS = frozenset({f"textDocument/did{done}" for done in ("Open", "Change", "Save", "Close")})
# One that goes on while the machine sleeps, as the times of files do.
CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Outgoing:
    """A message on its way to the daemon. `key` is a request's id.

    Not `lasting`: an answer to the daemon's own question, or a piece of text that a replay brings anyway. The next
    daemon does not get it. `idle`: nothing that a daemon would have to be started for.
    """

    __slots__ = ("body", "idle", "key", "lasting")

    def __init__(self, body: bytes, *, key: int | str | None = None, lasting: bool = True, idle: bool = False) -> None:
        self.body = body
        self.key = key
        self.lasting = lasting
        self.idle = idle


class _Waiting:
    __slots__ = ("again", "at", "body", "method", "tries")

    def __init__(self, method: str, body: bytes, *, again: bool) -> None:
        self.method = method
        self.body = body
        self.again = again
        self.at = time.clock_gettime(time.CLOCK_REALTIME)
        self.tries = 0


class Memory:
    def __init__(self, env: Mapping[str, str]) -> None:
        self.process_id: int | None = None
        self.exit_code: int | None = None  # set by `exit`
        self.stopped = False  # the daemon said that it was stopped on purpose
        self.replaced = False  # the daemon said that another one takes its place
        self.daemon_version = ""  # as it said hello
        self._env = env
        self._initialize: dict[str, Any] | None = None
        self._initialized: bytes | None = None
        self._served = False  # the editor has its answer to `initialize`
        self._shutdown = False
        self._replaying = False
        self._waiting: dict[int | str, _Waiting] = {}
        self._asked: set[int | str] = set()
        self._stale: set[int | str] = set()
        self._progress: set[int | str] = set()
        self._encoding: str | None = None
        self._mirror: Mirror | None = None
        self._latest: dict[str, bytes] = {}

    @property
    def waits(self) -> bool:
        """Whether the editor is owed an answer."""
        return bool(self._waiting)

    @property
    def replaying(self) -> bool:
        """Whether everything else has to wait for the answer to a replayed `initialize`."""
        return self._replaying

    def from_editor(self, body: bytes) -> Outgoing | None:
        """What goes to the daemon; None for an answer that only the old daemon wanted."""
        message = _parse(body)
        if message is None:
            return Outgoing(body)  # the daemon says what is wrong with it
        method, key = message.get("method"), message.get("id")
        if not isinstance(method, str):
            return self._reply(key, body)
        if not _is_id(key):
            return self._notification(method, body, message.get("params"))
        body = self._amended(method, message, body)
        again = method == "initialize" or _carries_command(method, message.get("params"))
        self._waiting[key] = _Waiting(method, body, again=again)
        return Outgoing(body, key=key)

    def from_daemon(self, body: bytes) -> bool:
        """Whether the editor is to see it: all but the answer to a replay."""
        message = _parse(body)
        if message is None:
            return True
        method, key = message.get("method"), message.get("id")
        if isinstance(method, str):
            if _is_id(key):
                self._asked.add(key)
            elif method == "agent/drain":
                reason = _text(message.get("params"), "reason")
                self.stopped, self.replaced = reason == "shutdown", reason == "handoff"
            elif method == "agent/hello":
                self.daemon_version = _text(message.get("params"), "daemonVersion")
            elif method == "$/progress":
                self._note_progress(message.get("params"))
            return True
        if self._replaying and key == REPLAY_ID:
            self._replaying = False
            return False
        waiting = self._waiting.pop(key, None) if _is_id(key) else None
        if waiting and waiting.method == "initialize" and "result" in message:
            self._served = True
            self._agree(message["result"])
        return True

    def daemon_gone(self, unsent: list[Outgoing]) -> tuple[list[Outgoing], list[bytes]]:
        """(what to send to the next daemon, after `replay`; what to answer the editor now)."""
        self._stale |= self._asked
        self._asked.clear()
        self._replaying = False
        kept = {message.key for message in unsent if message.key is not None}
        again, answers = [], []
        for key, waiting in list(self._waiting.items()):
            if key in kept:
                continue
            waiting.tries += 1
            if waiting.again and waiting.tries < MOST_TRIES:
                again.append(Outgoing(waiting.body, key=key))
            elif waiting.again:
                answers.append(error_body(key, REQUEST_FAILED, _TOO_OFTEN))
                del self._waiting[key]
            else:
                answers.append(_answer_for(key, waiting.method))
                del self._waiting[key]
        answers += [_progress_end(token) for token in self._progress]
        self._progress.clear()
        return [self._dated(message) for message in (*again, *_lasting(unsent))], answers

    def give_up(self, sentence: str) -> list[bytes]:
        """There is no daemon to be had: an answer for everything that waits."""
        answers = [error_body(key, REQUEST_FAILED, sentence) for key in self._waiting]
        self._waiting.clear()
        return answers

    def replay(self) -> Outgoing | None:
        """The first message for a new daemon, if the editor has been served by an old one."""
        if not self._served or self._initialize is None:
            return None
        self._replaying = True
        return Outgoing(_encode({**self._initialize, "id": REPLAY_ID}))

    def after_replay(self, unsent: Iterable[Outgoing]) -> list[Outgoing]:
        """What to send once a replayed `initialize` is answered: what is open now, then what has waited."""
        first = [Outgoing(self._initialized)] if self._initialized else []
        told = self._mirror.replay() if self._mirror else []
        again = [*(_encode(message) for message in told), *self._latest.values()]
        return [*first, *(Outgoing(body, lasting=False) for body in again), *_lasting(unsent)]

    def _dated(self, message: Outgoing) -> Outgoing:
        """A command says when it was given: the next daemon shows anew what it answers."""
        waiting = None if message.key is None else self._waiting.get(message.key)
        if waiting is None or waiting.method != EXECUTE:
            return message
        told = _parse(waiting.body) or {}
        params = told.get("params")
        if isinstance(params, dict):
            params["agentLs"] = {"givenAt": round(waiting.at * 1000)}
        return Outgoing(_encode(told), key=message.key)

    def _reply(self, key: object, body: bytes) -> Outgoing | None:
        if _is_id(key):
            if key in self._stale:
                self._stale.discard(key)
                return None
            self._asked.discard(key)
        return Outgoing(body, lasting=False)

    def _notification(self, method: str, body: bytes, params: Any) -> Outgoing:
        if method in DOCUMENTS:
            self._documents().take(method, params)
            return Outgoing(body, lasting=not self._served)
        if method == "exit":
            self.exit_code = 0 if self._shutdown else 1
        elif method == "initialized":
            self._initialized = body
        elif method == FOLDERS and self._initialize is not None:
            _move_folders(self._initialize, params)
            return Outgoing(body, lasting=not self._served)
        elif method in LATEST:
            self._latest[method] = body
            return Outgoing(body, lasting=not self._served, idle=True)
        return Outgoing(body, idle=method in IDLE)

    def _documents(self) -> Mirror:
        if self._mirror is None:
            from agent_ls.bridge.mirror import Mirror

            self._mirror = Mirror(lambda: time.clock_gettime(CLOCK))
            if self._encoding:
                self._mirror.agree(self._encoding)
        return self._mirror

    def _agree(self, answer: Any) -> None:
        encoding = at(answer, "capabilities", "positionEncoding")
        if isinstance(encoding, str):
            self._encoding = encoding
            if self._mirror:
                self._mirror.agree(encoding)

    def _note_progress(self, params: Any) -> None:
        kind, token = at(params, "value", "kind"), at(params, "token")
        if kind == "begin" and _is_id(token):
            self._progress.add(token)
        elif kind == "end" and _is_id(token):
            self._progress.discard(token)

    def _amended(self, method: str, message: dict[str, Any], body: bytes) -> bytes:
        if method == "initialize" and self._initialize is None:
            params = message.get("params")
            if isinstance(params, dict):
                pid = params.get("processId")
                self.process_id = pid if isinstance(pid, int) and not isinstance(pid, bool) and pid > 0 else None
                _add_environment(params, self._env)
                body = _encode(message)
            self._initialize = message
        elif method == "shutdown":
            self._shutdown = True
        elif method == EXECUTE and _stamp(message.get("params")):
            body = _encode(message)
        return body


_TOO_OFTEN = "The daemon has ended again and again while it worked on this. `agent-ls log` shows why."


def error_body(key: int | str | None, code: int, sentence: str) -> bytes:
    return _encode({"jsonrpc": "2.0", "id": key, "error": {"code": code, "message": sentence}})


def message_body(sentence: str) -> bytes:
    """`window/showMessage`: the one notice that an editor takes even before `initialize` is answered."""
    return _encode({"jsonrpc": "2.0", "method": "window/showMessage", "params": {"type": 1, "message": sentence}})


def _lasting(unsent: Iterable[Outgoing]) -> list[Outgoing]:
    return [message for message in unsent if message.lasting]


def _progress_end(token: int | str) -> bytes:
    return _encode({"jsonrpc": "2.0", "method": "$/progress", "params": {"token": token, "value": {"kind": "end"}}})


def _answer_for(key: int | str, method: str) -> bytes:
    if method == "shutdown":
        return _encode({"jsonrpc": "2.0", "id": key, "result": None})
    return error_body(key, CONTENT_MODIFIED, "The daemon was replaced by a new one. Ask again.")


def _carries_command(method: str, params: Any) -> bool:
    if method == EXECUTE:
        params = _command_argument(params)
    return isinstance(at(params, "commandId"), str)


def _command_argument(params: Any) -> Any:
    """The one object argument of a command of ours."""
    if not isinstance(params, dict) or not str(params.get("command", "")).startswith(COMMAND_PREFIX):
        return None
    arguments = params.get("arguments")
    return arguments[0] if isinstance(arguments, list) and arguments else None


def _stamp(params: Any) -> bool:
    """Give a command of ours the id that makes it safe to send twice; whether anything was changed."""
    if not isinstance(params, dict) or not str(params.get("command", "")).startswith(COMMAND_PREFIX):
        return False
    if not params.get("arguments"):
        params["arguments"] = [{}]
    argument = _command_argument(params)
    if not isinstance(argument, dict) or "commandId" in argument:
        return False
    argument["commandId"] = _random_uuid()
    return True


def _random_uuid() -> str:
    # `uuid` is not imported: it costs more than these two lines.
    raw = bytearray(os.urandom(16))
    raw[6], raw[8] = raw[6] & 0x0F | 0x40, raw[8] & 0x3F | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _add_environment(params: dict[str, Any], env: Mapping[str, str]) -> None:
    """The window's environment for child processes, unless the window sent one itself."""
    options = params.setdefault("initializationOptions", {})
    if options is None:
        options = params["initializationOptions"] = {}
    if not isinstance(options, dict):
        return
    ours = options.setdefault("agentLs", {})
    if isinstance(ours, dict) and "environment" not in ours:
        ours["environment"] = {name: value for name, value in env.items() if _is_text(name + value)}


def _move_folders(initialize: dict[str, Any], params: Any) -> None:
    """The next daemon is greeted with the folders that there are now."""
    event, held = at(params, "event"), initialize.get("params")
    if not isinstance(event, dict) or not isinstance(held, dict):
        return
    gone, come = ([f for f in event.get(name) or [] if isinstance(f, dict)] for name in ("removed", "added"))
    before = [folder for folder in held.get("workspaceFolders") or [] if isinstance(folder, dict)]
    left = {folder.get("uri") for folder in gone}
    held["workspaceFolders"] = [folder for folder in before if folder.get("uri") not in left] + come


def at(value: Any, *names: str) -> Any:
    """What stands there, or None."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _text(params: Any, name: str) -> str:
    value = at(params, name)
    return value if isinstance(value, str) else ""


def _is_text(value: str) -> bool:
    """Bytes that are no UTF-8 cannot travel in JSON."""
    return not any("\ud800" <= char <= "\udfff" for char in value) if not value.isascii() else True


def _is_id(key: object) -> TypeGuard[int | str]:
    return isinstance(key, int | str) and not isinstance(key, bool)


def _parse(body: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _encode(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()
