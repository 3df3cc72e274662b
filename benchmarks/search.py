"""Searches and locks: `grep` and `glob` over a tree of 50,000 files beside ripgrep alone, and the lock table when full.

Owns the tree and the measuring. The floor of `glob` is ripgrep's own list of files with their times, that of `grep` one
ripgrep over the tree: both respect .gitignore, as ours do.
"""

import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final, NamedTuple

import anyio

from agent_ls.adapters.host.files import DiskFiles
from agent_ls.adapters.host.processes import LocalProcesses
from agent_ls.adapters.tools.glob import GlobTool
from agent_ls.adapters.tools.grep import GrepTool
from agent_ls.adapters.tools.search import Searcher
from agent_ls.core.items import ResultStatus
from agent_ls.core.locks import Line
from agent_ls.ports.tools import Prepared, Tool, ToolContext
from benchmarks import table
from benchmarks.rig import Rig

FILES: Final = 50_000
FOLDERS: Final = 500
RARE: Final = 1_000
CONVERSATIONS, KEYS = 64, 1_000
# What others do on the machine falls into some of the batches, and the median leaves it out.
BATCHES, BATCH = 40, 500
WORDS: Final = "the quick brown fox jumps over the lazy dog and runs away\n" * 20


def measure(rig: Rig) -> list[table.Row]:
    return [*searches(5 if rig.quick else 9), *locks()]


def searches(times: int) -> list[table.Row]:
    program = shutil.which("rg", path=os.path.dirname(sys.executable)) or shutil.which("rg")
    if program is None:
        return []
    folder = tempfile.mkdtemp(prefix="als-bench-", dir="/tmp")
    try:
        root = os.path.realpath(folder)
        grow(Path(root))
        return anyio.run(partial(_searches, program, root, times))
    finally:
        with suppress(OSError):
            shutil.rmtree(folder)


def grow(root: Path) -> None:
    """A thousandth of the files holds the word that is looked for; a tenth is ignored."""
    (root / ".gitignore").write_text("ignored/\n")
    (root / ".git").mkdir()
    for n in range(FOLDERS):
        place = root / ("ignored" if n % 10 == 9 else "src") / f"d{n // 20}" / f"e{n}"
        place.mkdir(parents=True)
        for m in range(FILES // FOLDERS):
            number = n * (FILES // FOLDERS) + m
            rare = "needle in a haystack\n" if number % RARE == 0 else ""
            (place / f"f{m}.{'py' if m % 4 else 'txt'}").write_text(WORDS + rare)


async def _searches(program: str, root: str, times: int) -> list[table.Row]:
    files, searcher = DiskFiles(), Searcher(LocalProcesses())
    context = _context(root, os.path.dirname(program))
    glob, grep = GlobTool(files, searcher), GrepTool(files, searcher)
    listed = [program, "--files", "--sortr=modified", "-g", "*.py"]
    found = [program, "-n", "--sort=path", "needle"]
    rows = []
    for name, tool, given, floor in (
        ("glob, 50,000 files", glob, {"pattern": "**/*.py"}, listed),
        ("grep, 50,000 files", grep, {"pattern": "needle"}, found),
    ):
        ours, alone = await _beside(times, partial(_use, tool, given, context), partial(_run, floor, root))
        note = f"of a processor {ours.cpu:.0f} ms, floor {alone.cpu:.0f}"
        rows.append(table.Row(name=name, unit="ms", ours=ours.wall, floor=alone.wall, ratio_at_most=1.5, note=note))
    return rows


class _Least(NamedTuple):
    """Milliseconds: what else the machine does only ever adds to them."""

    wall: float
    cpu: float


async def _beside(times: int, *works: Callable[[], Awaitable[None]]) -> list[_Least]:
    """In turns, so that a busy machine is unfair to none."""
    taken: list[list[_Least]] = [[] for _ in works]
    for _ in range(times):
        for found, work in zip(taken, works, strict=True):
            begin, before = perf_counter(), _children()
            await work()
            found.append(_Least((perf_counter() - begin) * 1000, (_children() - before) * 1000))
    return [_Least(min(each.wall for each in found), min(each.cpu for each in found)) for found in taken]


def _children() -> float:
    """Seconds of a processor that ended children took, and theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def _use(tool: Tool, given: dict[str, Any], context: ToolContext) -> None:
    prepared = await tool.prepare(given, context)
    assert isinstance(prepared, Prepared), prepared
    result = await tool.run(prepared, context)
    assert result.status is ResultStatus.OK, result.output
    assert "cut" not in result.output.splitlines()[-1] or tool.name == "glob", result.output


async def _run(argv: list[str], root: str) -> None:
    await anyio.run_process(argv, cwd=root)


def _context(root: str, path: str) -> ToolContext:
    async def keep(data: bytes) -> str:
        return ""

    return ToolContext(
        conversation_id="c", item_id="bench", root=root, cwd=root, environment={"PATH": path}, seen={}, spool=root,
        emit=lambda text: None, keep=keep,
    )  # fmt: skip


def locks() -> list[table.Row]:
    """64 conversations hold 1,000 files each; one call more takes a file and gives it back."""
    line = Line()
    for holder in range(CONVERSATIONS):
        line.ask(f"c{holder}", [f"file:///w{holder}/src/d{n // 100}/f{n}.py" for n in range(KEYS)])
    taken = []
    for _ in range(BATCHES):
        begin = perf_counter()
        for n in range(BATCH):
            line.release(line.ask("more", [f"file:///w{n % CONVERSATIONS}/src/d{n % 10}/new{n}.py"]))
        taken.append((perf_counter() - begin) / BATCH * 1_000_000)
    return [table.Row(name="lock and release, 64,000 held", unit="us", ours=median(taken), at_most=50)]
