"""A daemon of a few lines for tests of the bridge: a socket, frames, and what it was told.

Owns nothing that the real one does: it answers what the test tells it to.
"""

import json
import os
import queue
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from agent_ls.bridge.frames import FrameSplitter, frame


class Link:
    """One accepted connection: `next` is the next message that came, `send` answers."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._messages: queue.Queue[bytes | None] = queue.Queue()
        self._deaf = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def raw(self) -> bytes | None:
        """The next body, None when the link has ended."""
        return self._messages.get(timeout=10)

    def next(self) -> dict[str, Any]:
        body = self.raw()
        assert body is not None, "the link has ended"
        message = json.loads(body)
        assert isinstance(message, dict)
        return message

    def send(self, **message: Any) -> None:
        self._link.sendall(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    def send_raw(self, data: bytes) -> None:
        self._link.sendall(data)

    def read_no_more(self) -> None:
        """But what comes next, at most."""
        self._deaf = True

    def close(self) -> None:
        with suppress(OSError):
            self._link.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=10)
        self._link.close()

    def _read(self) -> None:
        frames = FrameSplitter()
        while not self._deaf:
            try:
                data = self._link.recv(1 << 20)
            except OSError:
                data = b""
            if not data:
                self._messages.put(None)
                return
            for body in frames.feed(data):
                assert isinstance(body, bytes)
                self._messages.put(body)


class FakeDaemon:
    """Listens at the usual path of a runtime directory."""

    def __init__(self, runtime: Path) -> None:
        runtime.mkdir(mode=0o700, exist_ok=True)
        self._path = runtime / "daemon.sock"
        self._links: list[Link] = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(10)
        self._socket.bind(os.fspath(self._path))
        self._socket.listen(64)

    def accept(self) -> Link:
        link = Link(self._socket.accept()[0])
        self._links.append(link)
        return link

    def close(self) -> None:
        """Gone as after kill -9: the links end, the socket stays behind, dead."""
        self._socket.close()
        for link in self._links:
            link.close()

    def replaced(self, runtime: Path) -> "FakeDaemon":
        """This one is gone and the next one listens."""
        self._socket.close()
        self._path.unlink()
        after = FakeDaemon(runtime)
        for link in self._links:
            link.close()
        return after

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
