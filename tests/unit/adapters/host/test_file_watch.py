"""Only folders of files that somebody waits for are watched, and their changes are told."""

from collections.abc import Collection
from pathlib import Path

import anyio
import pytest

from agent_ls.adapters.host.file_watch import FileWatch

pytestmark = pytest.mark.anyio


async def test_a_change_is_told_of_what_is_followed_now_and_of_nothing_else(state_dir: Path) -> None:
    folder, other = state_dir / "a", state_dir / "b"
    folder.mkdir()
    other.mkdir()
    told: list[str] = []
    news = anyio.Event()

    def changed(paths: Collection[str]) -> None:
        nonlocal news
        told.extend(Path(path).name for path in paths)
        news.set()

    watch = FileWatch(changed)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch.watch)
            for place, name in ((folder, "one"), (other, "two")):
                watch.follow([str(place / name), str(state_dir / "gone" / "f")])
                news = anyio.Event()
                # Once is enough, although the watcher has not begun to look: it says what it may have missed.
                (place / name).write_text("x")
                await news.wait()
            (folder / "three").write_text("x")
            watch.follow([])
            tasks.cancel_scope.cancel()
    assert set(told) == {"one", "two"}
