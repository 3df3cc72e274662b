"""Commands in a sandbox: what they may touch, and that a failure that comes of it is told as one."""

import os
import subprocess
from pathlib import Path

import pytest

from agent_ls.adapters.tools.shell_sandbox import Blame, Sandbox, blamed, find
from agent_ls.core.call import WALLED
from agent_ls.core.items import ResultStatus
from agent_ls.ports.tools import Invalid
from tests.unit.adapters.tools.shell_bench import Bench

pytestmark = pytest.mark.anyio


def why_not() -> str:
    """Why no sandbox can be had here; empty where one can."""
    found = find(network=False, writable=(), hidden=())
    if isinstance(found, str):
        return found
    tried = subprocess.run(
        [found.program, "--ro-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "--unshare-net", "true"],
        capture_output=True,
        check=False,
    )
    return "" if tried.returncode == 0 else f"bubblewrap cannot run here: {tried.stderr.decode().strip()}"


@pytest.fixture
def bench(state_dir: Path, runtime_dir: Path) -> Bench:
    if reason := why_not():
        pytest.skip(reason)
    made = Bench(root=state_dir, spool=runtime_dir)
    made.tool.sandbox = find(network=False, writable=(), hidden=(str(made.spool),))
    return made


async def test_the_workspace_is_written_and_the_rest_is_only_read(bench: Bench) -> None:
    (bench.root / ".agent-ls").mkdir()
    elsewhere = Path("/var/tmp") / f"{bench.root.name}-x"
    script = f"echo in > a; echo x > {elsewhere}; echo x > .agent-ls/config.toml; ls /etc >/dev/null && echo read"
    result = await bench.call(script)
    assert (bench.root / "a").read_text() == "in\n"
    assert not elsewhere.exists()
    assert list((bench.root / ".agent-ls").iterdir()) == []
    assert "read" in result.output.splitlines()
    assert result.output.count("Read-only file system") == 2


async def test_where_it_ended_and_how_are_learned_as_ever(bench: Bench) -> None:
    (bench.root / "d").mkdir()
    assert (await bench.call("cd d; exit 4")).exit_code == 4
    assert (await bench.call("pwd; echo $TMPDIR")).output == f"{bench.root}/d\n/tmp\n"
    late = await bench.call("sleep 60", timeout=1)
    assert late.status is ResultStatus.TIMEOUT


async def test_the_network_the_daemon_and_other_processes_are_out_of_sight(bench: Bench) -> None:
    (bench.spool / "secret").write_text("x")
    assert (await bench.call(f"ls {bench.spool} | grep -c secret")).output.startswith("0\n")
    assert (await bench.call("cat /proc/net/dev | grep -vc -e face -e Receive -e lo:")).output.startswith("0\n")
    seen = await bench.call("ls /proc | grep -c '^[0-9]'")
    assert int(seen.output.split()[0]) < 10


async def test_a_failure_that_comes_of_it_is_told_as_one(bench: Bench) -> None:
    result = await bench.call("touch /etc/x")
    assert result.status is ResultStatus.ERROR
    assert result.output.endswith("[the sandbox is why, it seems: it may not write there]")
    said = "touch: cannot touch '/etc/x': Read-only file system"
    assert result.data == {"cwd": str(bench.root), WALLED: {"why": "it may not write there", "said": said}}
    plain = await bench.call("false")
    assert ("sandbox" in plain.output, plain.data) == (False, {"cwd": str(bench.root)})


async def test_outside_is_asked_for_shown_and_run_outside(bench: Bench) -> None:
    inside = await bench.prepare("ls /run")
    outside = await bench.prepare("ls /run", outside=True)
    assert outside.asks == "commands outside the sandbox"
    assert outside.title == "$ ls /run (outside the sandbox)"
    assert outside.card["outside"] is True
    assert (inside.asks, inside.card.get("outside")) == (None, None)
    assert inside.digest != outside.digest
    elsewhere = Path("/var/tmp") / f"{bench.root.name}-x"
    try:
        assert (await bench.call(f"touch {elsewhere}", outside=True)).status is ResultStatus.OK
        assert elsewhere.exists()
    finally:
        elsewhere.unlink(missing_ok=True)


async def test_without_one_nothing_is_run_and_outside_means_nothing_where_none_is_wanted(
    state_dir: Path, runtime_dir: Path
) -> None:
    bench = Bench(root=state_dir, spool=runtime_dir)
    assert (await bench.prepare("ls", outside=True)).asks is None
    bench.tool.sandbox = "there is none"
    assert await bench.tool.prepare({"command": "ls"}, bench.context()) == Invalid("there is none")
    assert (await bench.prepare("ls", outside=True)).asks == "commands outside the sandbox"


def test_seatbelt_gets_a_profile_in_which_the_last_word_counts(tmp_path: Path) -> None:
    note = tmp_path / "note"
    sandbox = Sandbox(program="/usr/bin/sandbox-exec", hidden=('/state "x"',))
    words = sandbox.words(["bash"], root="/w", cwd="/w", note=os.fspath(note))
    assert (words[:2], words[3:]) == (["/usr/bin/sandbox-exec", "-p"], ["bash"])
    assert words[2].splitlines() == [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        '(allow file-write* (subpath "/w"))',
        '(allow file-write* (subpath "/private/tmp"))',
        '(allow file-write* (subpath "/private/var/folders"))',
        '(allow file-write* (subpath "/dev"))',
        '(deny file-write* (subpath "/w/.agent-ls"))',
        '(deny file-read* file-write* network* (subpath "/state \\"x\\""))',
        f'(allow file-read* file-write* (literal "{note}"))',
        "(deny network*)",
    ]


@pytest.mark.parametrize(
    ("output", "code", "why"),
    [
        ("touch: cannot touch 'x': Read-only file system", 1, "it may not write there"),
        ("curl: (6) Could not resolve host: a.test", 6, "it has no network"),
        ("bwrap: No permissions to create new namespace", 1, "it could not be set up"),
        ("OSError: [Errno 30] Read-only file system: '/x'", 1, "it may not write there"),
        ("error: EROFS: read-only file system, open '/x'", 1, "it may not write there"),
        ("npm error code EAI_AGAIN", 1, "it has no network"),
        ("connect: Network is unreachable", 2, "it has no network"),
        ("wget: unable to resolve host address 'a.test'", 4, "it has no network"),
        ("dial tcp: lookup a.test: no such host", 1, "it has no network"),
        ("chown: changing ownership of 'x': Operation not permitted", 1, "it may not do that"),
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", 1, "it may not do that"),
        ("touch: cannot touch '/etc/x': Permission denied", 1, None),
        ("Read-only file system", 0, None),
        ("no such file", 1, None),
    ],
)
def test_what_is_blamed_on_it(output: str, code: int, why: str | None) -> None:
    blame = blamed(output, code)
    assert blame == (None if why is None else Blame(why, output))


def test_with_a_network_a_missing_name_is_not_blamed_on_it() -> None:
    assert blamed("curl: (6) Could not resolve host: a.test", 6, network=True) is None


def test_of_a_long_output_the_lines_around_the_sign_are_shown() -> None:
    long = [f"line {n}" for n in range(40)]
    long[30] = "x: Read-only file system"
    blame = blamed("\n".join(long), 1)
    assert blame is not None
    assert blame.said.split("\n") == ["…", *long[24:36], "…"]
