"""A command that is got ready while its start is written down: no effect before it runs, none if it never does."""

import os
from pathlib import Path
from subprocess import PIPE

import anyio
import pytest

from tests.unit.adapters.tools.shell_bench import Bench, dead_children, is_running

pytestmark = pytest.mark.anyio


@pytest.fixture
def bench(state_dir: Path, runtime_dir: Path) -> Bench:
    return Bench(root=state_dir, spool=runtime_dir)


async def got_ready(bench: Bench, command: str) -> int:
    """The shell's process, once it waits: all it does before that is behind it."""
    bench.item_id = f"{bench.spool.name}.ready"
    bench.tool.ready(await bench.prepare(command), bench.context())
    pid = bench.tool._held[bench.item_id].child.id.pid
    with anyio.fail_after(20):
        while not _sleeps(pid):
            await anyio.lowlevel.checkpoint()
    return pid


def _sleeps(pid: int) -> bool:
    """As bash, not as what it was before."""
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state == "S" and Path(f"/proc/{pid}/comm").read_text() == "bash\n"


async def test_nothing_of_it_happens_before_it_runs(bench: Bench) -> None:
    await got_ready(bench, "touch made; pwd; cat; echo end")
    item_id, bench.item_id = bench.item_id, "another"
    await bench.call("true")
    assert not (bench.root / "made").exists()
    bench.item_id = item_id
    with anyio.fail_after(20):
        result = await bench.tool.run(await bench.prepare("touch made; pwd; cat; echo end"), bench.context())
    assert result.output == f"{bench.root}\nend\n"
    assert (bench.root / "made").exists()


async def test_what_does_not_begin_after_all_leaves_nothing(bench: Bench) -> None:
    pid = await got_ready(bench, "touch made")
    bench.tool.put_back(bench.item_id, str(bench.spool))
    with anyio.fail_after(20):
        while is_running(pid) or pid in dead_children():
            await anyio.lowlevel.checkpoint()
    assert not (bench.root / "made").exists()
    assert os.listdir(bench.spool) == []
    bench.tool.put_back(bench.item_id, str(bench.spool))


@pytest.mark.parametrize("more", [{"background": True}, {"cwd": "gone"}], ids=["stays", "cannot be started"])
async def test_what_cannot_be_got_ready_is_started_when_it_runs(bench: Bench, more: dict[str, object]) -> None:
    (bench.root / "gone").mkdir()
    bench.item_id = f"{bench.spool.name}.ready"
    prepared = await bench.prepare("echo hi", **more)
    (bench.root / "gone").rmdir()
    bench.tool.ready(prepared, bench.context())
    assert bench.tool._held == {}
    with anyio.fail_after(20):
        result = await bench.tool.run(prepared, bench.context())
    assert result.output in {"hi\n", "The command could not be started: No such file or directory."}
    bench.tool.forget(bench.item_id, str(bench.spool))
    assert os.listdir(bench.spool) == []


async def test_where_a_function_could_stand_for_what_holds_the_shell_nothing_is_got_ready(bench: Bench) -> None:
    bench.environment["BASH_FUNC_read%%"] = "() { touch made; }"
    bench.item_id = f"{bench.spool.name}.ready"
    bench.tool.ready(await bench.prepare("true"), bench.context())
    assert bench.tool._held == {}


async def test_a_commit_may_take_longer_than_a_person_may_take_to_type(bench: Bench) -> None:
    """TMOUT ends a `read` that waits for input; here it is a slow disk that is waited for."""
    bench.environment["TMOUT"] = "1"
    await got_ready(bench, "echo $TMOUT")
    read = ["bash", "-c", "read -r _"]
    with anyio.fail_after(20):
        async with await anyio.open_process(read, stdin=PIPE, env=bench.environment) as another:
            assert await another.wait() != 0
        result = await bench.tool.run(await bench.prepare("echo $TMOUT"), bench.context())
    assert (result.exit_code, result.output) == (0, "1\n")


async def test_where_bash_writes_its_trace_does_not_depend_on_whether_it_was_got_ready(bench: Bench) -> None:
    bench.environment["BASH_XTRACEFD"] = "0"
    await got_ready(bench, "echo hi")
    with anyio.fail_after(20):
        result = await bench.tool.run(await bench.prepare("echo hi"), bench.context())
    assert result.output == "hi\n"
