"""The editor's side of a bridge: its pipes, message by message, and the first handshake."""

import json
import os
import subprocess
import sys
from typing import Any

from agent_ls.bridge.frames import FrameSplitter, frame
from tests.protocol.fake_daemon import Link

COMMAND_ID = "00000000-0000-4000-8000-000000000001"


class Editor:
    """The editor's side of the bridge's pipes."""

    def __init__(self, env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agent_ls", "connect"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd="/",
        )
        self._frames = FrameSplitter()
        self._messages: list[bytes] = []

    def send(self, **message: Any) -> None:
        self.write(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    def write(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def next(self) -> dict[str, Any]:
        assert self.process.stdout
        while not self._messages:
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            assert data, "the bridge has ended"
            self._messages += [body for body in self._frames.feed(data) if isinstance(body, bytes)]
        message = json.loads(self._messages.pop(0))
        assert isinstance(message, dict)
        return message

    def hang_up(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def code(self, within: float = 5) -> int:
        return self.process.wait(timeout=within)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            pipe.close()


def initialized(editor: Editor, link: Link, *, process_id: int | None = None) -> dict[str, Any]:
    """Both have shaken hands; what the daemon was sent."""
    editor.send(id=1, method="initialize", params={"processId": process_id, "capabilities": {}})
    message = link.next()
    link.send(id=1, result={"capabilities": {}})
    assert editor.next() == {"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {}}}
    editor.send(method="initialized", params={})
    assert link.next() == {"jsonrpc": "2.0", "method": "initialized", "params": {}}
    return message
