"""What every measurement stands on: a folder, a model server, a real daemon and the windows that talk to it.

Owns processes and times. The daemon is reached as an editor reaches it: by its socket, with its own state, runtime
and configuration below a temporary folder. Does not own what is measured.
"""

import compileall
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any
from uuid import UUID

import agent_ls
from agent_ls.bridge.start import alive
from agent_ls.cli.client import Client
from benchmarks.floor import Floor
from benchmarks.model import COMMAND, FILES

PATIENCE_S = 20.0
LINES = "".join(f"line {n}: some text as it stands in a file of code\n" for n in range(60))

CONFIG = f"""
provider = "scripted"
mode = "ask"

[providers.scripted]
kind = "openai-compatible"
base_url = "{{url}}"
model = "scripted-1"

[permissions]
allow = ["shell({COMMAND})"]
"""

Json = dict[str, Any]


def pause(seconds: float) -> None:
    threading.Event().wait(seconds)


def until(holds: Callable[[], bool], what: str) -> None:
    end = monotonic() + PATIENCE_S
    while not holds():
        if monotonic() > end:
            raise TimeoutError(f"{what} did not happen in {PATIENCE_S:g} s")
        pause(0.002)


def command_id() -> str:
    return str(UUID(bytes=os.urandom(16)))


def uri(path: Path) -> str:
    return f"file://{path}"


class Model:
    """The scripted server, and when it was asked and had answered since the last look."""

    def __init__(self, folder: Path) -> None:
        self._marks = folder / "marks"
        self._marks.touch()
        command = [sys.executable, "-m", "benchmarks.model", str(self._marks)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        self._file = self._marks.open()

    def marks(self) -> tuple[list[float], list[float]]:
        """(asked, answered) since the last call."""
        asked: list[float] = []
        answered: list[float] = []
        for line in self._file:
            word, at = line.split()
            (asked if word == "asked" else answered).append(float(at))
        return asked, answered

    def wait_asked(self) -> float:
        found: list[float] = []
        until(lambda: bool(found.extend(self.marks()[0]) or found), "a request to the model")
        return found[0]

    def close(self) -> None:
        self._file.close()
        self._process.communicate()


@dataclass(frozen=True)
class Exchange:
    """Of one run, in seconds of CLOCK_MONOTONIC: sent, whole text and done at the window, asked and answered
    at the model."""

    sent: float
    text: float
    done: float
    asked: list[float]
    answered: list[float]
    events: int

    @property
    def rounds(self) -> list[float]:
        """From one request to the next: answer read, tool run, everything committed."""
        return [after - before for before, after in zip(self.asked, self.asked[1:], strict=False)]

    @property
    def answers(self) -> list[float]:
        """How long the model took to say each answer."""
        return [after - before for before, after in zip(self.asked, self.answered, strict=True)]

    @property
    def gaps(self) -> list[float]:
        """From the last byte of an answer to the next request: what the loop itself takes."""
        return [asked - answered for answered, asked in zip(self.answered, self.asked[1:], strict=False)]


class Window:
    """One client on one conversation."""

    def __init__(self, client: Client, model: Model, folder: Path) -> None:
        self.client = client
        self._model = model
        self._folder = folder
        self.conversation = ""

    def call(self, method: str, **params: Any) -> Json:
        return self.client.call(method, params, timeout=PATIENCE_S)

    def open(self, conversation: str | None = None) -> str:
        """A new conversation, or one that is there, and attached to."""
        if conversation is None:
            made = self.call("agent/conversation/create", commandId=command_id(), workspace=uri(self._folder))
            conversation = str(made["conversation"]["id"])
        self.conversation = conversation
        self.call("agent/conversation/attach", conversationId=conversation)
        return conversation

    def leave(self) -> None:
        self.call("agent/conversation/detach", conversationId=self.conversation)

    def send(self, text: str) -> str:
        content = [{"type": "text", "text": text}]
        command = command_id()
        sent = self.call("agent/message/send", commandId=command, conversationId=self.conversation, content=content)
        return str(sent["runId"])

    def run(self, text: str, *, shows: int = 0) -> Exchange:
        """One message until its run has ended. `shows`: length of the answer, to see when the stream had all of it."""
        self._model.marks()
        sent = monotonic()
        return self.follow(self.send(text), sent, shows=shows)

    def follow(self, run: str, sent: float, *, shows: int = 0) -> Exchange:
        whole = 0.0
        length = events = 0
        for method, params in self.client.events(PATIENCE_S):
            if method == "agent/stream":
                length += len(params.get("delta", ""))
                if shows and length >= shows:
                    whole = whole or monotonic()
            for event in params["events"] if method == "agent/event" else ():
                events += 1
                entity = event["entity"]
                if event["kind"] == "item" and entity["kind"] == "assistant_message":
                    whole = whole or monotonic()
                if event["kind"] == "run" and entity["id"] == run and entity["status"] in ENDED:
                    done = monotonic()
                    if entity["status"] != "completed":
                        raise RuntimeError(f"the run ended as {entity['status']}: {entity.get('error')}")
                    asked, answered = self._model.marks()
                    return Exchange(sent, whole, done, asked, answered, events)
        raise TimeoutError("the run did not end")


ENDED = {"completed", "failed", "cancelled", "interrupted"}


class Daemon:
    """A daemon of its own below `folder`; started by whoever connects first."""

    def __init__(self, folder: Path, url: str) -> None:
        self.state = folder / "state"
        self.socket = folder / "run" / "daemon.sock"
        config = folder / "config.toml"
        config.write_text(CONFIG.format(url=url))
        keys = {"PATH", "HOME", "LANG", "LC_ALL", "VIRTUAL_ENV", "PYTHONPATH"}
        self.env = {name: value for name, value in os.environ.items() if name in keys}
        self.env |= {
            "AGENT_LS_STATE_DIR": str(self.state),
            "AGENT_LS_RUNTIME_DIR": str(folder / "run"),
            "AGENT_LS_CONFIG": str(config),
        }
        self.pid = 0

    def connect(self) -> Client:
        client = Client.connect(start=True, env=self.env, client="bench")
        self.pid = int(client.call("agent/status")["pid"])
        return client

    def kill(self) -> float:
        """When it was killed."""
        at = monotonic()
        os.kill(self.pid, signal.SIGKILL)
        return at

    def stop(self) -> None:
        if self.pid and alive(self.pid):
            os.kill(self.pid, signal.SIGTERM)
            until(lambda: not alive(self.pid), "the daemon's end")

    def cpu(self) -> float:
        return cpu(self.pid)

    def rss(self) -> int:
        return rss(self.pid)


def cpu(pid: int) -> float:
    """Seconds on a processor, all threads: to the nanosecond where the kernel keeps that, else in ticks."""
    try:
        total = 0
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9
    except (FileNotFoundError, ProcessLookupError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@dataclass
class Rig:
    """`quick`: fewer repetitions, for a look while working; the numbers are less steady."""

    folder: Path
    workspace: Path
    model: Model
    daemon: Daemon
    floor: Floor
    quick: bool

    def times(self, count: int) -> range:
        return range(max(3, count // 3) if self.quick else count)

    def window(self) -> Window:
        return Window(self.daemon.connect(), self.model, self.workspace)

    def floored(self, text: str) -> Exchange:
        """One exchange of the floor, in the same measures."""
        self.model.marks()
        done = self.floor.exchange(text)
        asked, answered = self.model.marks()
        return Exchange(done.sent, done.text, done.done, asked, answered, 0)


@contextmanager
def built(*, quick: bool, place: str | None = None) -> Iterator[Rig]:
    # As it is installed: else a checkout that was edited pays for the compiler at each start.
    compileall.compile_dir(str(Path(agent_ls.__file__).parent), quiet=1)
    folder = Path(tempfile.mkdtemp(prefix="agent-ls-bench-", dir=place))
    workspace = folder / "workspace"
    workspace.mkdir()
    for n in range(FILES):
        (workspace / f"file{n}.txt").write_text(LINES)
    model = Model(folder)
    daemon = Daemon(folder, model.url)
    floor = Floor(folder / "floor.db", model.url, workspace)
    try:
        yield Rig(folder, workspace, model, daemon, floor, quick)
    finally:
        daemon.stop()
        floor.close()
        model.close()
        shutil.rmtree(folder, ignore_errors=True)


def ms(seconds: list[float]) -> float:
    """Median, in milliseconds."""
    return 1000 * median(seconds)
