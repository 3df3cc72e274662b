"""Single pieces in this process, beside their bare counterparts: what a test could only say of a quiet machine."""

import os
import subprocess
from collections.abc import Awaitable, Callable
from time import monotonic

import anyio

from agent_ls.adapters.host.processes import LocalProcesses
from agent_ls.adapters.tools.shell import ShellTool
from agent_ls.adapters.tools.shell_background import BackgroundShells
from agent_ls.core.locks import Line
from agent_ls.ports.tools import Prepared, ToolContext
from benchmarks.rig import Rig, ms
from benchmarks.table import Row

LOCKS = 64_000
LOOK_UPS = 100


def measure(rig: Rig) -> list[Row]:
    ours, bare = anyio.run(_shells, rig)
    full, empty = (_look_ups(rig, locks) for locks in (LOCKS, 0))
    return [
        Row(name="a call of the shell tool (bash -c true)", unit="ms", ours=ms(ours), floor=ms(bare), ratio_at_most=2),
        Row(name=f"a lock got and given back, {LOCKS:,} held", unit="us", ours=1e6 * full, floor=1e6 * empty,
            ratio_at_most=2, at_most=50, note="floor: none held"),
    ]  # fmt: skip


async def _shells(rig: Rig) -> tuple[list[float], list[float]]:
    processes = LocalProcesses()
    tool = ShellTool(processes, BackgroundShells(processes))
    context = ToolContext(
        conversation_id="c",
        item_id="bench",
        root=str(rig.workspace),
        cwd=str(rig.workspace),
        environment=dict(os.environ),
        seen={},
        spool=str(rig.folder / "spool"),
        emit=lambda text: None,
        keep=_kept,
    )
    ours: list[float] = []
    bare: list[float] = []
    for _ in rig.times(40):
        ours.append(await _timed(lambda: _call(tool, context)))
        bare.append(_bare())
    return ours, bare


async def _call(tool: ShellTool, context: ToolContext) -> None:
    prepared = await tool.prepare({"command": "true"}, context)
    assert isinstance(prepared, Prepared), prepared
    await tool.run(prepared, context)
    tool.forget(context.item_id, context.spool)


async def _timed(work: Callable[[], Awaitable[None]]) -> float:
    begin = monotonic()
    await work()
    return monotonic() - begin


def _bare() -> float:
    begin = monotonic()
    subprocess.run(["bash", "--noprofile", "--norc", "-c", "true"], capture_output=True, check=True)
    return monotonic() - begin


async def _kept(content: bytes) -> str:
    return ""


def _look_ups(rig: Rig, locks: int) -> float:
    """Seconds for one, the best of several rounds."""
    line = Line()
    for n in range(locks):
        line.ask(f"c{n % 64}", [f"file:///home/me/w{n % 64}/src/f{n}.py"])
    rounds: list[float] = []
    for _ in rig.times(20):
        begin = monotonic()
        for n in range(LOOK_UPS):
            line.release(line.ask("other", [f"file:///srv/w/src/f{n}.py"]))
        rounds.append((monotonic() - begin) / LOOK_UPS)
    return min(rounds)
