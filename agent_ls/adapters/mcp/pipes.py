"""A server of tools as a child process: one JSON message a line, both ways, and its end.

Owns the bounds that the SDK's own transport does not have: no line is longer than `LONGEST_LINE`, a long one is read in
time that grows with its length, and a large message is taken apart beside the loop. Does not own what messages mean.
"""

import os
import signal
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from subprocess import PIPE
from typing import IO, Any, Final

import anyio
from anyio import to_thread
from anyio.abc import Process

from agent_ls.adapters.mcp.sdk import Sdk

LONGEST_LINE: Final = 32 * 1024 * 1024
AT_ONCE: Final = 128 * 1024
_GRACE_S: Final = 2.0
_FLUSH_S: Final = 0.5
_PASSED: Final = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")


class TooLong(ValueError):
    """A line that nobody wants to hold."""


@asynccontextmanager
async def pipes(
    lib: Sdk, command: Sequence[str], *, environment: Mapping[str, str], folder: str, errors: IO[str]
) -> AsyncIterator[tuple[Any, Any]]:
    """(what comes, what goes), as the SDK's client wants them."""
    known = {name: os.environ[name] for name in _PASSED if name in os.environ}
    process = await anyio.open_process(
        list(command),
        env={**known, **environment},
        cwd=folder,
        stdin=PIPE,
        stdout=PIPE,
        stderr=errors,
        start_new_session=True,
    )
    heard, coming = anyio.create_memory_object_stream[Any](0)
    going, said = anyio.create_memory_object_stream[Any](0)
    written = anyio.Event()
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_hear, lib, process, heard)
            group.start_soon(partial(_say, process, said, heard=heard, written=written))
            try:
                yield coming, going
            finally:
                with anyio.CancelScope(shield=True):
                    coming.close()
                    going.close()
                    with anyio.move_on_after(_FLUSH_S):
                        await written.wait()
                    await _end(process)
                group.cancel_scope.cancel()
    finally:
        for stream in (heard, coming, going, said):
            stream.close()
        with anyio.CancelScope(shield=True):
            await process.aclose()


class Lines:
    """Bytes cut into lines. Raises TooLong before it holds more than it may."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        first, *rest = data.split(b"\n")
        self._held.append(first)
        self._size += len(first)
        for part in rest:
            yield b"".join(self._held)
            self._held, self._size = [part], len(part)
        if self._size > LONGEST_LINE:
            raise TooLong(f"it sent a message of more than {LONGEST_LINE // 1024 // 1024} MiB, and was ended")


async def _hear(lib: Sdk, process: Process, heard: Any) -> None:
    """Until nobody listens or the server ends. One that still wants to say something would wait for us, and not end."""
    try:
        async with heard:
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
                await _forward(lib, process, heard)
    finally:
        with anyio.CancelScope(shield=True):
            await _drain(process)


async def _forward(lib: Sdk, process: Process, heard: Any) -> None:
    assert process.stdout is not None
    lines = Lines()
    try:
        async for data in process.stdout:
            for line in lines.feed(data):
                await heard.send(await _read(lib, line))
    except TooLong as trouble:
        await heard.send(trouble)


async def _read(lib: Sdk, line: bytes) -> Any:
    """The message, or what is wrong with it: that is for the client to say."""
    try:
        if len(line) > AT_ONCE:
            return await to_thread.run_sync(lib.parse, line)
        return lib.parse(line)
    except ValueError as error:
        return error


async def _say(process: Process, said: Any, *, heard: Any, written: anyio.Event) -> None:
    assert process.stdin is not None
    try:
        async with said:
            async for message in said:
                await process.stdin.send(_line(message))
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        # Whoever waits for an answer learns that none comes.
        await heard.aclose()
    finally:
        written.set()


def _line(message: Any) -> bytes:
    text: str = message.message.model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode("utf-8", "replace") + b"\n"


async def _end(process: Process) -> None:
    """Its input is closed, then TERM, then KILL, to all that it has started in its session."""
    assert process.stdin is not None
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    for last in (None, signal.SIGTERM, signal.SIGKILL):
        if last is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, last)
        with anyio.move_on_after(_GRACE_S):
            await process.wait()
        if process.returncode is not None:
            break
    assert process.stdout is not None
    # Whoever still reads it is woken by that, also where a grandchild holds the other end.
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdout.aclose()


async def _drain(process: Process) -> None:
    assert process.stdout is not None
    with suppress(OSError, anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            await process.stdout.receive()
