"""No tool keeps the event loop from others: what is big is done elsewhere, or in small pieces.

Measured is the processor time of the loop's own thread between two beats, so that a busy machine changes nothing.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent_ls.adapters.tools.fetch_http import Fetcher
from agent_ls.core.items import ResultStatus
from tests.unit.adapters.tools.desk import Desk
from tests.unit.adapters.tools.shell_bench import Bench
from tests.unit.adapters.tools.test_fetch import answer, fetch, site

pytestmark = pytest.mark.anyio

LIMIT_S = 0.020
BEAT_S = 0.001


class Watchdog:
    """`longest`: processor seconds of this thread without a beat."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._at = time.thread_time()
        self._timer = self._loop.call_later(BEAT_S, self._beat)
        self.longest = 0.0

    def stop(self) -> None:
        self._beat()
        self._timer.cancel()

    def _beat(self) -> None:
        now = time.thread_time()
        self.longest = max(self.longest, now - self._at)
        self._at = now
        self._timer = self._loop.call_later(BEAT_S, self._beat)


@contextmanager
def watched() -> Iterator[None]:
    dog = Watchdog()
    try:
        yield
    finally:
        dog.stop()
    assert dog.longest < LIMIT_S, f"the loop stood still for {dog.longest * 1000:.0f} ms of processor time"


@pytest.fixture
def bench(state_dir: Path, runtime_dir: Path) -> Bench:
    return Bench(root=state_dir, spool=runtime_dir)


async def test_a_watchdog_sees_a_loop_that_stands_still() -> None:
    dog = Watchdog()
    until = time.thread_time() + LIMIT_S
    while time.thread_time() < until:
        pass
    dog.stop()
    assert dog.longest >= LIMIT_S


@pytest.mark.parametrize(
    "command",
    [
        "yes | head -c 60M",
        "head -c 60M /dev/zero | tr '\\0' x",
        "for i in $(seq 20000); do printf '\\r\\033[32m%5d' $i; done",
        "head -c 8M /dev/urandom",
    ],
    ids=["lines", "one line", "a progress bar", "noise"],
)
async def test_a_flood_of_output(bench: Bench, command: str) -> None:
    bench.environment["DEPLOY_TOKEN"] = "token-of-the-window"
    with watched():
        assert (await bench.call(command)).status is ResultStatus.OK


async def test_a_search_through_many_files(desk: Desk) -> None:
    for n in range(40):
        folder = desk.root / f"d{n}"
        folder.mkdir()
        for m in range(50):
            (folder / f"f{m}.txt").write_text(f"line {n}\n" * 50)
    with watched():
        assert (await desk.use("glob", pattern="**/*.txt")).status is ResultStatus.OK
        assert (await desk.use("grep", pattern="line 3")).status is ResultStatus.OK


async def test_a_large_file_is_read_and_changed(desk: Desk) -> None:
    (desk.root / "large").write_text("".join(f"line {n} of a large file\n" for n in range(150_000)))
    with watched():
        assert (await desk.use("read", path="large")).status is ResultStatus.OK
        given = [{"old": "line 70000 of", "new": "line seventy thousand of"}]
        assert (await desk.use("edit", path="large", edits=given)).status is ResultStatus.OK


async def test_a_large_page(bench: Bench) -> None:
    body = "<div><p>Some <b>words</b> and a <a href='/x'>link</a>.</p></div>" * 20_000
    async with site() as web:
        web.pages["/"] = answer(body)
        fetcher = Fetcher(("127.0.0.1",))
        await fetch(bench, fetcher, f"http://127.0.0.1:{web.port}/")
        with watched():
            assert (await fetch(bench, fetcher, f"http://127.0.0.1:{web.port}/")).status is ResultStatus.OK
