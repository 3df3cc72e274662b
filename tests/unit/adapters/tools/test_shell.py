"""shell: what a command says, how it ends, and that nothing of it can wait for a person (cases B46-B50)."""

import os
from pathlib import Path

import pytest

from agent_ls.core.items import ResultStatus, ToolResult
from agent_ls.ports.tools import Invalid, Prepared, ToolEffect
from tests.unit.adapters.tools.shell_bench import Bench, plain

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[False, True], ids=["started when it runs", "got ready before"])
def bench(state_dir: Path, runtime_dir: Path, request: pytest.FixtureRequest) -> Bench:
    return Bench(root=state_dir, spool=runtime_dir, ahead=request.param)


async def test_a_command_says_what_it_says_and_both_streams_keep_their_order(bench: Bench) -> None:
    assert await bench.call("echo a; echo b >&2; echo c") == ToolResult(
        status=ResultStatus.OK, output="a\nb\nc\n", exit_code=0, data={"cwd": str(bench.root)}
    )
    assert bench.emitted == "a\nb\nc\n"


async def test_what_is_shown_is_complete_and_what_is_approved_covers_all_that_decides(bench: Bench) -> None:
    (bench.root / "sub").mkdir()
    prepared = await bench.prepare("make\u202e x", cwd="sub", timeout=5)
    assert prepared == Prepared(
        tool="shell",
        input={"command": "make\u202e x", "cwd": "sub", "timeout": 5},
        effect=ToolEffect.SHELL,
        title="$ make⟨U+202E⟩ x",
        digest=prepared.digest,
        card={
            "type": "command",
            "command": "make\u202e x",
            "cwd": str(bench.root / "sub"),
            "timeout": 5,
            "environment": {},
            "shown": "make⟨U+202E⟩ x",
            "warning": "Holds characters that would not be seen; they are shown by name: ⟨U+202E⟩.",
        },
        keys=(bench.root.as_uri(),),
        command="make\u202e x",
    )
    others = [await bench.prepare("make x"), await bench.prepare("make x", timeout=5), await bench.prepare("make")]
    assert len({prepared.digest, *(other.digest for other in others)}) == 4


async def test_a_folder_outside_the_workspace_is_something_it_reads(bench: Bench) -> None:
    assert (await bench.prepare("ls", cwd="/")).reads == ("/",)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"command": "  \n"}, "the command is empty"),
        ({"command": 3}, "command: Input should be a valid string"),
        ({}, "command: Field required"),
        ({"command": "x\0y"}, "holds a NUL"),
        ({"command": "echo \ud800"}, "half of a surrogate pair"),
        ({"command": "x" * 100_001}, "write it to a file"),
        ({"command": "ls", "timeout": 601}, "less than or equal to 600"),
        ({"command": "ls", "cwd": "nowhere"}, "there is no folder `nowhere`"),
        ({"command": "ls", "shell": "zsh"}, "Extra inputs are not permitted"),
    ],
)
async def test_input_that_does_not_fit_is_never_run(bench: Bench, arguments: dict[str, object], said: str) -> None:
    answer = await bench.tool.prepare(arguments, bench.context())
    assert isinstance(answer, Invalid)
    assert said in answer.message


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("false", ToolResult(status=ResultStatus.ERROR, output="[exit code 1]", exit_code=1)),
        ("echo x; exit 3", ToolResult(status=ResultStatus.ERROR, output="x\n[exit code 3]", exit_code=3)),
        (
            "kill -9 $$",
            ToolResult(status=ResultStatus.ERROR, output="[ended by signal 9 (SIGKILL)]", exit_code=137),
        ),
        (
            "exit 143",
            ToolResult(
                status=ResultStatus.ERROR,
                output="[exit code 143, as when a command is ended by SIGTERM]",
                exit_code=143,
            ),
        ),
        (
            "-x",
            ToolResult(
                status=ResultStatus.ERROR, output="bash: line 1: -x: command not found\n[exit code 127]", exit_code=127
            ),
        ),
    ],
)
async def test_how_it_ended_is_said(bench: Bench, command: str, result: ToolResult) -> None:
    assert plain(await bench.call(command)) == result


async def test_a_command_that_cannot_be_read_is_an_error_that_shows_only_itself(bench: Bench) -> None:
    result = await bench.call("if then")
    assert (result.status, result.exit_code) == (ResultStatus.ERROR, 2)
    assert "syntax error" in result.output
    assert "trap" not in result.output


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (r"printf 'a\360'", "a\ufffd"),
        (r"printf 'a\0b'", "a\ufffdb"),
        (r"printf '\033[1;31mred\033[0m \033]0;title\007done'", "red done"),
        (r"for i in 1 2 3; do printf '\r%s%%' $i; done; printf '\r\nend\r\n'", "3%\nend\n"),
        (r"printf 'abc\b\b\bxyz'", "xyz"),
    ],
)
async def test_bytes_that_are_no_text_become_text(bench: Bench, command: str, said: str) -> None:
    assert (await bench.call(command)).output == said


async def test_ten_thousand_steps_of_a_progress_bar_are_one_line(bench: Bench) -> None:
    loop = r"for i in $(seq 10000); do printf '\r\033[32m%5d/10000\033[0m' $i; done; echo"
    result = await bench.call(loop)
    assert plain(result) == ToolResult(status=ResultStatus.OK, output="10000/10000\n", exit_code=0)


async def test_random_bytes_and_a_name_that_is_no_text_stay_valid(bench: Bench) -> None:
    result = await bench.call(r"touch $'\355\240\200'; ls; head -c 4096 /dev/urandom")
    assert result.status is ResultStatus.OK
    assert "\0" not in result.output
    assert result.output.encode()


async def test_long_output_keeps_both_ends_and_says_what_is_missing(bench: Bench) -> None:
    result = await bench.call("printf 'é%.0s' $(seq 40000); echo; echo END")
    head, note, tail = result.output.partition("\n[… 47,238 bytes left out …]\n")
    assert note
    assert set(head) == {"é"}
    assert tail == "é" * ((16 * 1024 - 5) // 2) + "\nEND\n"
    assert result.blob is not None
    assert bench.blobs[result.blob] == b"\xc3\xa9" * 40000 + b"\nEND\n"


@pytest.mark.parametrize(
    "command",
    [
        "read x",
        "read x </dev/tty",
        "cat && false",
        "git -c user.name=a -c user.email=b@c commit --allow-empty",
        "git rebase -i --root",
        "ssh -o StrictHostKeyChecking=ask -o ConnectTimeout=1 127.0.0.1 true",
        "$EDITOR x",
        "test -t 0 || test -t 1",
    ],
)
async def test_nothing_waits_for_a_person(bench: Bench, command: str) -> None:
    await bench.call("git init -q . && git -c user.name=a -c user.email=b@c commit -qm x --allow-empty")
    assert (await bench.call(command, timeout=20)).status is ResultStatus.ERROR


async def test_a_child_gets_the_environment_of_its_workspace_and_nothing_that_asks(bench: Bench) -> None:
    bench.environment |= {"DISPLAY": ":0", "SSH_ASKPASS": "ask", "BASH_ENV": "/etc/x", "EDITOR": "vi", "MINE": "1"}
    seen = dict(line.split("=", 1) for line in (await bench.call("env")).output.splitlines())
    expected = {"MINE": "1", "EDITOR": "false", "GIT_TERMINAL_PROMPT": "0", "PAGER": "cat", "AGENT_LS": "1"}
    assert {name: seen.get(name) for name in expected} == expected
    assert not {"DISPLAY", "SSH_ASKPASS", "BASH_ENV"} & set(seen)


async def test_the_next_command_runs_where_the_last_one_ended(bench: Bench) -> None:
    (bench.root / "d").mkdir()
    assert (await bench.call("cd d; exit 4")).exit_code == 4
    assert (await bench.call("pwd")).output == f"{bench.root}/d\n"
    assert (await bench.call("(cd /); cd .. && pwd", cwd="d")).output == f"{bench.root}\n"


async def test_a_deleted_folder_falls_back_to_the_workspace_and_says_so(bench: Bench) -> None:
    await bench.call("mkdir d && cd d")
    await bench.call("rm -rf ../d")
    gone = f"[the folder {bench.root}/d is gone, so this ran in {bench.root}]"
    assert (await bench.call("pwd")).output == f"{bench.root}\n{gone}"
    assert (await bench.call("cd / && pwd")).output == "/\n"


async def test_a_workspace_that_is_gone_is_said_and_another_folder_still_works(bench: Bench) -> None:
    bench.root = bench.root / "moved"
    answer = await bench.tool.prepare({"command": "ls"}, bench.context())
    assert isinstance(answer, Invalid)
    assert answer.message.endswith("is gone; name a `cwd` that exists")
    assert (await bench.call("pwd", cwd="/")).output == "/\n"


async def test_a_folder_that_goes_between_approval_and_start_runs_nothing(bench: Bench) -> None:
    (bench.root / "d").mkdir()
    prepared = await bench.prepare("touch ../ran", cwd="d")
    (bench.root / "d").rmdir()
    result = await bench.tool.run(prepared, bench.context())
    assert result.status is ResultStatus.ERROR
    assert result.output == "The command could not be started: No such file or directory."
    assert os.listdir(bench.root) == []
