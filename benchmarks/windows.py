"""Many windows: how far behind each is while ten conversations stream, how long a key waits, and for how long nobody
answers when the daemon is killed or makes room."""

import asyncio
import os
import random
import subprocess
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from subprocess import DEVNULL, PIPE
from time import monotonic
from typing import Any

import anyio
from anyio import to_thread
from anyio.streams.stapled import StapledByteStream

from agent_ls.testing.buffers import Buffers
from agent_ls.testing.editor import Editor, Refused
from benchmarks.rig import Json, Rig, pause
from benchmarks.table import Row

WINDOWS = 50
STREAMS = 10
STAMPS = 250  # tokens of each answer, one in 20 ms
FILES = 50_000
KEYS = 1_000
LINES = 5_000
MB = 1024 * 1024


class Watcher(Editor):
    """`behind`: for each frame of a stream, how long ago the model said the oldest token in it."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.behind: list[float] = []

    def _hear(self, method: str, params: Json) -> None:
        if method == "agent/stream" and params.get("delta"):
            stamps = [word for word in params["delta"].split(" ") if len(word) > 8]
            if stamps:
                self.behind.append(monotonic() - float(stamps[0]))
        super()._hear(method, params)


class Echo:
    """The floor: a process of its own session that gives back each byte at once. What it takes is the machine's."""

    def __init__(self) -> None:
        script = "import os\nwhile data := os.read(0, 1):\n    os.write(1, data)"
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", script], stdin=PIPE, stdout=PIPE, bufsize=0, start_new_session=True
        )
        self.took: list[float] = []
        self.ask()
        self.took.clear()

    def ask(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        begin = monotonic()
        self._process.stdin.write(b".")
        self._process.stdout.read(1)
        self.took.append(monotonic() - begin)

    def close(self) -> None:
        self._process.communicate()


def measure(rig: Rig) -> list[Row]:
    rig.window().client.close()
    echo, other = Echo(), Echo()
    behind, memory = asyncio.run(_fifty(rig, echo))
    keys = asyncio.run(_typing(rig, other))
    echo.close()
    other.close()
    killed = [asyncio.run(_away(rig, restart=False)) for _ in rig.times(10)]
    handed = [asyncio.run(_away(rig, restart=True)) for _ in rig.times(10)]
    rig.window().client.close()
    worst = max(max(each) for each in behind)
    usual = median(value for each in behind for value in each)
    return [
        Row(name=f"{WINDOWS} windows, {STREAMS} streaming: the furthest behind", unit="ms", ours=1000 * worst,
            floor=1000 * max(echo.took), at_most=250, note=f"usually {1000 * usual:.0f}; floor: a byte and back"),
        Row(name="RSS with them", unit="MB", ours=memory / MB, at_most=250),
        Row(name="didChange until the loop is free, 99 of 100", unit="ms", ours=_most(keys),
            floor=_most(other.took), at_most=20, note=f"{_files(rig):,} files; median {1000 * median(keys):.1f}"),
        Row(name="kill -9: until an editor is answered again", unit="ms", ours=1000 * median(killed), at_most=2000,
            note=f"worst {1000 * max(killed):.0f}"),
        Row(name="handoff: between the last answer and the next", unit="ms", ours=1000 * median(handed), at_most=1000,
            note=f"worst {1000 * max(handed):.0f}"),
    ]  # fmt: skip


def _most(seconds: list[float]) -> float:
    """What 99 of 100 stay under, in milliseconds."""
    return 1000 * quantiles(seconds, n=100)[98]


async def _fifty(rig: Rig, echo: Echo) -> tuple[list[list[float]], int]:
    async with AsyncExitStack() as all_:
        watchers = [await _window(rig, all_) for _ in range(WINDOWS)]
        made = [await watcher.create(rig.workspace) for watcher in watchers[:STREAMS]]
        mirrors = [*made, *[await w.attach(made[n % STREAMS].id) for n, w in enumerate(watchers[STREAMS:])]]
        for watcher, mirror in zip(watchers, made, strict=False):
            await watcher.send(mirror, f"clock {STAMPS // 3 if rig.quick else STAMPS}")
        async with anyio.create_task_group() as floor:
            floor.start_soon(_echoes, echo)
            async with anyio.create_task_group() as tasks:
                for watcher, mirror in zip(watchers, mirrors, strict=True):
                    tasks.start_soon(watcher.wait_for, lambda mirror=mirror: mirror.answers)
            floor.cancel_scope.cancel()
        return [watcher.behind for watcher in watchers], rig.daemon.rss()


async def _echoes(echo: Echo) -> None:
    while True:
        await to_thread.run_sync(echo.ask)
        await to_thread.run_sync(pause, 0.02)


async def _typing(rig: Rig, echo: Echo) -> list[float]:
    """Each key is followed by a question that the loop answers from memory: the time until it does."""
    folder = _many(rig)
    path = folder / "typed.py"
    path.write_text("".join(f"line {n}: '😋' of a file of code\n" for n in range(LINES)))
    chance, buffers, took = random.Random(1), Buffers(), []
    async with AsyncExitStack() as all_:
        typist, other = await _window(rig, all_), await _window(rig, all_)
        await typist.notify("textDocument/didOpen", buffers.open(path))
        searching, streaming = await other.create(folder), await other.create(rig.workspace)
        await other.send(searching, "grep 1000")
        await other.send(streaming, "clock 100000")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_reads, other)
            for _ in rig.times(KEYS):
                change = buffers.type(path, "x", chance.randrange(len(buffers[path].text)))
                begin = monotonic()
                await typist.notify("textDocument/didChange", change)
                await typist.request("textDocument/hover", {**_document(path), "position": {"line": 1, "character": 0}})
                took.append(monotonic() - begin)
                echo.ask()
            tasks.cancel_scope.cancel()
        for run_id in (*searching.runs, *streaming.runs):
            await typist.interrupt(run_id)
    return took


async def _reads(editor: Editor) -> None:
    """For as long as it is let."""
    while True:
        heard = len(editor.notices)
        await editor.wait_for(partial(_more, editor, heard))


def _more(editor: Editor, heard: int) -> bool:
    return len(editor.notices) > heard


@dataclass
class _Service:
    """Answers of one editor's bridge, asked one after the other."""

    editor: Editor
    last: float = 0.0
    gaps: list[float] = field(default_factory=list)

    async def once(self) -> None:
        while True:
            try:
                await self.editor.request("agent/lock/list", {})
            except Refused:  # ContentModified: an editor asks again
                continue
            now = monotonic()
            if self.last:
                self.gaps.append(now - self.last)
            self.last = now
            return


async def _away(rig: Rig, *, restart: bool) -> float:
    command = [sys.executable, "-I", "-m", "agent_ls"]
    async with await anyio.open_process([*command, "connect"], env=rig.daemon.env, stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        editor = Editor(StapledByteStream(process.stdin, process.stdout), name="bench")
        await editor.initialize(rig.workspace)
        service, boot = _Service(editor), editor.hello["bootId"]
        await service.once()
        rig.daemon.pid = int((await editor.request("agent/status", {}))["pid"])
        if restart:
            done = await anyio.open_process([*command, "restart"], env=rig.daemon.env, stdout=DEVNULL, stderr=DEVNULL)
        else:
            service.last = rig.daemon.kill()
            done = None
        service.gaps.clear()
        while editor.hello["bootId"] == boot:
            await service.once()
        rig.daemon.pid = int((await editor.request("agent/status", {}))["pid"])
        if done is not None:
            await done.wait()
        process.kill()
        return max(service.gaps)


async def _window(rig: Rig, all_: AsyncExitStack) -> Watcher:
    stream = await all_.enter_async_context(await anyio.connect_unix(os.fspath(rig.daemon.socket)))
    watcher = Watcher(stream, name="bench")
    await watcher.initialize(rig.workspace)
    return watcher


def _many(rig: Rig) -> Path:
    folder = rig.folder / "many"
    for n in range(_files(rig)):
        if n % 500 == 0:
            (folder / str(n)).mkdir(parents=True, exist_ok=True)
        (folder / str(n - n % 500) / f"{n}.txt").write_text("some text as it stands in a file of code\n")
    return folder


def _files(rig: Rig) -> int:
    return FILES // 10 if rig.quick else FILES


def _document(path: Path) -> Json:
    return {"textDocument": {"uri": path.as_uri()}}
