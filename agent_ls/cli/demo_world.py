"""Where the demo happens: directories, configuration and a daemon of its own, in one folder that goes away.

Owns that nothing of the person's is touched: no state, no configuration, no key of theirs is read.
"""

import os
import shutil
import signal
import tempfile
from typing import Final, Self

from agent_ls import paths
from agent_ls.bridge.start import alive
from agent_ls.cli.client import Client, ClientError
from agent_ls.cli.processes import ended
from agent_ls.cli.terminal import aside

FILE: Final = "hello.py"
_TEXT: Final = 'print("Helo, wrold!")\n'
_CONFIG: Final = 'provider = "demo"\n\n[providers.demo]\nkind = "demo"\n'
_STOP_S: Final = 5.0
_LOG_LINES: Final = 15


class World:
    """A context manager; leaving it ends the daemon and removes the folder."""

    def __enter__(self) -> Self:
        # Not TMPDIR: where that is long, the socket's path would not fit and fall back to a shared directory.
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="agent-ls-demo-", dir="/tmp"))
        self.workspace = os.path.join(self.root, "hello")
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("AGENT_LS_")}
        self.env |= {
            "AGENT_LS_STATE_DIR": os.path.join(self.root, "state"),
            "AGENT_LS_RUNTIME_DIR": os.path.join(self.root, "run"),
            "AGENT_LS_CONFIG": os.path.join(self.root, "config.toml"),
        }
        os.mkdir(self.workspace)
        _write(os.path.join(self.workspace, FILE), _TEXT)
        _write(self.env["AGENT_LS_CONFIG"], _CONFIG)
        return self

    def __exit__(self, *_: object) -> None:
        # Whoever presses Ctrl-C once more would leave a daemon and a folder behind.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            self._stop()
            shutil.rmtree(self.root, ignore_errors=True)
        finally:
            signal.signal(signal.SIGINT, before)

    def connect(self) -> Client:
        return Client.connect(start=True, env=self.env, client="demo")

    def file_text(self) -> str:
        with open(os.path.join(self.workspace, FILE), encoding="utf-8") as file:
            return file.read()

    def tell_log(self) -> None:
        """The end of the log that is about to be removed: what to report when the demo fails."""
        for path in (paths.start_log_path(self.env), paths.log_path(self.env)):
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    lines = file.readlines()[-_LOG_LINES:]
            except OSError:
                continue
            for line in lines:
                aside(f"  {line.rstrip()}")

    def _stop(self) -> None:
        holder = paths.read_holder(self.env)
        if holder is None or not alive(holder.pid):
            return
        try:
            with Client.connect(start=False, env=self.env, timeout=_STOP_S) as client:
                client.call("agent/drain", {"mode": "shutdown", "deadlineMs": 2_000}, timeout=_STOP_S)
        except ClientError:
            pass
        if not ended(holder.pid, _STOP_S):
            os.kill(holder.pid, signal.SIGKILL)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
