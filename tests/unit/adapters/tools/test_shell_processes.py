"""shell and its processes: ended for good, never waited for in vain, found again after a crash, nothing leaked."""

import json
import os
import resource
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_ls.adapters.host import process_table
from agent_ls.adapters.host.processes import LocalProcesses
from agent_ls.adapters.host.system import SystemClock
from agent_ls.adapters.tools.shell import ShellTool
from agent_ls.adapters.tools.shell_spool import path_of
from agent_ls.core.items import Call, ResultStatus, ToolResult
from tests.unit.adapters.tools.shell_bench import Bench, dead_children, end, is_running, start_child, subreaper

pytestmark = pytest.mark.anyio

STUBBORN = "bash -c 'trap \"\" TERM; echo $$; for i in 1 2 3 4 5 6 7 8 9; do sleep 1; done; touch P' & wait"


@pytest.fixture
def bench(state_dir: Path, runtime_dir: Path) -> Bench:
    return Bench(root=state_dir, spool=runtime_dir)


async def test_a_time_limit_ends_grandchildren_that_ignore_it(bench: Bench) -> None:
    result = await bench.call(STUBBORN, timeout=1)
    pid = int(result.output.splitlines()[0])
    assert not is_running(pid)
    assert result.status is ResultStatus.TIMEOUT
    assert result.output.endswith("[its time of 1 s was up, so it was ended with all it had started]")
    assert not (bench.root / "P").exists()


async def test_a_cancelled_command_is_gone_when_the_cancelling_is_over(bench: Bench) -> None:
    async with bench.running(STUBBORN) as scope:
        scope.cancel()
    assert not is_running(int(bench.emitted.split()[0]))


async def test_a_process_that_moved_to_a_session_of_its_own_is_ended_too(bench: Bench) -> None:
    async with bench.running("setsid bash -c 'echo $$; sleep 100' & wait; sleep 100") as scope:
        scope.cancel()
    assert not is_running(int(bench.emitted.split()[0]))


@pytest.mark.parametrize(
    "left",
    ["sleep 60", "sleep 60 >/dev/null", "sleep 60 2>/dev/null", "sleep 60 >/dev/null 2>&1", "setsid sleep 60"],
    ids=["holds both", "holds stderr", "holds stdout", "holds neither", "has a session of its own"],
)
async def test_a_child_that_is_left_behind_is_not_waited_for(bench: Bench, left: str) -> None:
    result = await bench.call(f"{left} & echo $!")
    pid = int(result.output)
    try:
        assert is_running(pid)
        assert result.status is ResultStatus.OK
    finally:
        end(pid)


async def test_a_flood_is_drained_in_bounded_memory_and_the_command_is_not_stalled(bench: Bench) -> None:
    await bench.call("true")
    before, since = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, anyio.current_time()
    result = await bench.call("yes | head -c 1G; head -c 1G /dev/zero | tr '\\0' x; echo END >&2", timeout=100)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert result.status is ResultStatus.OK
    assert result.output.startswith("y\ny\n")
    assert result.output.endswith("xxx" + "END\n")
    assert len(result.output) < 33 * 1024
    assert result.blob is not None
    assert len(bench.blobs[result.blob]) == 8 * 1024 * 1024
    # A burst, then so much a second, however long a busy machine takes for it; and the end once more.
    assert len(bench.emitted) < (64 + 16 * (anyio.current_time() - since) + 64) * 1024
    assert grown < 64 * 1024, f"{grown} KiB"


async def test_a_killed_daemon_leaves_enough_to_end_what_still_runs_and_tell_what_was_said(bench: Bench) -> None:
    bench.item_id = "c.r1.a1.s1.0.p0"
    left = start_child(["bash", "-c", "sleep 60 & echo $!; wait"], mark=bench.item_id)
    assert left.stdout is not None
    with left, left.stdout:
        pid = int(left.stdout.readline())
        started = bench.processes.started(left.pid)
        head = {"pid": left.pid, "startTime": started, "itemId": bench.item_id}
        Path(path_of(str(bench.spool), bench.item_id)).write_bytes(json.dumps(head).encode() + b"\nso far\r\n")
        with anyio.fail_after(20):
            found = await bench.tool.recover(_call(), bench.context())
    assert found == ToolResult(
        status=ResultStatus.UNKNOWN,
        output="so far\n[The daemon was killed while this ran. It may or may not have finished; "
        "some of it was still running and was ended now.]",
    )
    assert not is_running(pid)


async def test_a_process_that_only_has_the_same_number_is_left_alone(bench: Bench) -> None:
    bench.item_id = "i1"
    with start_child(["sleep", "60"], mark="another") as other:
        head = {"pid": other.pid, "startTime": "another:1", "itemId": "i1"}
        Path(path_of(str(bench.spool), "i1")).write_bytes(json.dumps(head).encode() + b"\n")
        with anyio.fail_after(20):
            found = await bench.tool.recover(_call(), bench.context())
        assert is_running(other.pid)
        end(other.pid)
    assert found is not None
    assert found.output.endswith("nothing of it is running now.]")


@pytest.mark.parametrize("content", [None, b"", b"not json\n", b'{"pid": 1}\n'])
async def test_a_lost_or_broken_copy_is_still_an_unknown_outcome(bench: Bench, content: bytes | None) -> None:
    bench.item_id = "i1"
    if content is not None:
        Path(path_of(str(bench.spool), "i1")).write_bytes(content)
    found = await bench.tool.recover(_call(), bench.context())
    assert found is not None
    assert found.status is ResultStatus.UNKNOWN
    assert "may or may not have finished" in found.output


async def test_the_copy_names_its_process_and_holds_the_raw_output_while_it_runs(bench: Bench) -> None:
    async with bench.running(r"printf 'a\rb\n'; sleep 60") as scope:
        line, _, output = Path(path_of(str(bench.spool), bench.item_id)).read_bytes().partition(b"\n")
        head = json.loads(line)
        assert {name: head[name] for name in ("itemId", "startTime")} == {
            "itemId": bench.item_id,
            "startTime": bench.processes.started(head["pid"]),
        }
        assert output == b"a\rb\n"
        scope.cancel()


async def test_a_full_disk_costs_the_copy_and_nothing_else(bench: Bench) -> None:
    bench.spool = Path("/dev/full/x")
    result = await bench.call("seq 3")
    assert (result.status, result.output) == (ResultStatus.OK, "1\n2\n3\n")


async def test_five_hundred_calls_leave_no_descriptor_and_no_zombie(bench: Bench) -> None:
    await bench.call("true")
    before = os.listdir("/proc/self/fd")
    for _ in range(500):
        assert (await bench.call("echo x")).output == "x\n"
    assert len(os.listdir("/proc/self/fd")) == len(before)
    assert dead_children() == []
    assert os.listdir(bench.spool) == []


async def test_orphans_handed_to_the_daemon_do_not_stay_zombies(bench: Bench) -> None:
    class Later(SystemClock):
        ahead = 0.0

        def monotonic(self) -> float:
            return super().monotonic() + self.ahead

    clock = Later()
    bench.processes = LocalProcesses(clock)
    bench.tool = ShellTool(bench.processes, bench.background)
    with subreaper():
        # The reader sees the end of the pipe when both orphans have let go of it.
        await bench.call("(sleep 0 &) ; (setsid sleep 0 &) ; sleep 0.1")
        await bench.call("true")
        clock.ahead = 60.0
        await bench.call("true")
        assert dead_children() == []


async def test_a_call_starts_one_process_and_looks_up_no_other(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it costs beside a bare one is measured in benchmarks/pieces.py."""
    await bench.call("true")
    looked, started, popen = list[int](), list[int](), subprocess.Popen
    row = process_table._row

    def counted(*args: Any, **more: Any) -> Any:
        process = popen(*args, **more)
        started.append(process.pid)
        return process

    def seen(pid: int) -> process_table.Row | None:
        looked.append(pid)
        return row(pid)

    monkeypatch.setattr(subprocess, "Popen", counted)
    monkeypatch.setattr(process_table, "_row", seen)
    await bench.call("true")
    # How often it is looked at depends on whether it has ended before it is first waited for.
    assert (len(started), set(looked)) == (1, set(started))


def _call() -> Call:
    return Call(call_id="call_1", tool="shell", input={"command": "x"})
