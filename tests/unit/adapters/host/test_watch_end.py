"""Who watches files ends when the daemon does, not when the watcher's thread next looks up."""

from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest
import watchfiles

from agent_ls.adapters.host import file_watch
from agent_ls.adapters.host.file_watch import FileWatch
from agent_ls.adapters.host.watch_end import ended_when_cancelled
from agent_ls.adapters.host.watcher import watch_file

pytestmark = pytest.mark.anyio


async def of_the_configuration(path: Path) -> None:
    await watch_file(str(path), lambda: None)


async def of_files_that_wait(path: Path) -> None:
    watch = FileWatch(lambda paths: None)
    watch.follow([str(path)])
    await watch.watch()


@pytest.mark.parametrize("watch", [of_the_configuration, of_files_that_wait])
async def test_a_watch_that_is_cancelled_tells_the_thread_that_waits_for_changes(
    watch: Callable[[Path], Coroutine[Any, Any, None]], state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = anyio.Event()

    async def awatch(*folders: str, stop_event: anyio.Event, **more: Any) -> AsyncIterator[set[tuple[Any, str]]]:
        # A thread is not cancelled.
        with anyio.CancelScope(shield=True):
            begun.set()
            await stop_event.wait()
        for none in list[set[tuple[Any, str]]]():
            yield none

    monkeypatch.setattr(watchfiles, "awatch", awatch)
    monkeypatch.setattr(file_watch, "awatch", awatch)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch, state_dir / "f")
            await begun.wait()
            tasks.cancel_scope.cancel()


async def test_what_ends_by_itself_stops_nothing() -> None:
    stop = anyio.Event()
    async with ended_when_cancelled(stop):
        pass
    assert not stop.is_set()
