"""A daemon that says what a test wrote down, over the real socket: what the command line is tested against.

Owns framing and the book of what was asked. It decides nothing; every answer is the test's.
"""

import json
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Answer = Callable[["Link", Json], Any]
WAIT_S = 10.0


class Refusal(Exception):
    """The answer is an error with this code."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.data = {"code": code, "message": message, "hint": hint, "retryable": False}


class Link:
    """One connection."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._lock = threading.Lock()

    def notify(self, method: str, params: Json) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def event(self, conversation_id: str, *events: Json) -> None:
        self.notify("agent/event", {"conversationId": conversation_id, "events": list(events)})

    def cut(self) -> None:
        self._link.shutdown(socket.SHUT_RDWR)

    def send(self, message: Json) -> None:
        body = json.dumps(message).encode()
        with self._lock:
            self._link.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


class FakeDaemon:
    """A context manager. `answers` may be changed at any time; what was asked is in `asked`."""

    def __init__(self, directory: Path, answers: Mapping[str, Answer | Json]) -> None:
        self.answers = dict(answers)
        self.asked: list[tuple[str, Json]] = []
        self._changed = threading.Condition()
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(directory / "daemon.sock"))
        self._server.listen()
        self._links: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> "FakeDaemon":
        self._run(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for link in self._links:
            link.close()
        for thread in self._threads:
            thread.join(WAIT_S)

    def sent(self, method: str) -> list[Json]:
        """Parameters of each request of this method, without command ids (which are fresh each time)."""
        return [
            {name: value for name, value in params.items() if name != "commandId"}
            for asked, params in self.asked
            if asked == method
        ]

    def wait_for(self, method: str, count: int = 1) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.sent(method)) >= count, WAIT_S), f"no {method} came"

    def _accept(self) -> None:
        while True:
            try:
                link, _ = self._server.accept()
            except OSError:
                return
            self._links.append(link)
            self._run(lambda link=link: self._serve(link))  # type: ignore[misc]

    def _serve(self, link: socket.socket) -> None:
        ours = Link(link)
        try:
            with link, link.makefile("rb") as file:
                while (message := _read(file)) is not None:
                    if "id" in message:
                        self._answer(ours, message)
        except OSError:
            return

    def _answer(self, link: Link, message: Json) -> None:
        method, params = message["method"], message.get("params") or {}
        if method == "initialize":
            link.send({"jsonrpc": "2.0", "id": message["id"], "result": {"capabilities": {}}})
            return
        with self._changed:
            self.asked.append((method, params))
            self._changed.notify_all()
        answer = self.answers.get(method, {})
        after: list[Callable[[], None]] = []
        try:
            result = answer(link, params) if callable(answer) else answer
            if isinstance(result, tuple):
                result, *after = result
            link.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        except Refusal as refusal:
            error = {"code": -32000, "message": str(refusal), "data": refusal.data}
            link.send({"jsonrpc": "2.0", "id": message["id"], "error": error})
        for then in after:
            then()

    def _run(self, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, daemon=True)
        self._threads.append(thread)
        thread.start()


def _read(file: Any) -> Json | None:
    length = 0
    while line := file.readline():
        if line == b"\r\n":
            message: Json = json.loads(file.read(length))
            return message
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return None
