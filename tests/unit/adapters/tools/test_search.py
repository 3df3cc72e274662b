"""glob and grep: what they find, what they pass over, and that nothing they look at can hold up the daemon."""

import os
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from agent_ls.core.conversation import Mode
from agent_ls.core.items import ResultStatus, ToolResult
from agent_ls.core.rules import Ground, Rule, Ruling, Scope
from agent_ls.core.unread import Unread, unread
from agent_ls.ports.tools import Prepared, ToolEffect
from tests.unit.adapters.tools.desk import Desk

pytestmark = pytest.mark.anyio

RIPGREP = os.path.dirname(sys.executable)


@pytest.fixture(params=["python", "ripgrep"])
def both(request: pytest.FixtureRequest, desk: Desk) -> Desk:
    """With ripgrep and without."""
    if request.param == "ripgrep":
        assert os.access(os.path.join(RIPGREP, "rg"), os.X_OK), "make setup installs one"
        desk.path = RIPGREP
    return desk


def put(desk: Desk, **files: str | bytes) -> None:
    for name, content in files.items():
        write(desk, name, content)


def write(desk: Desk, name: str, content: str | bytes = "") -> Path:
    path = desk.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


async def grep(desk: Desk, pattern: str, **more: object) -> str:
    result = await desk.use("grep", pattern=pattern, **more)
    assert result.status is ResultStatus.OK, result
    return result.output


async def glob(desk: Desk, pattern: str, **more: object) -> list[str]:
    result = await desk.use("glob", pattern=pattern, **more)
    assert result.status is ResultStatus.OK, result
    return result.output.splitlines()


async def test_lines_stand_under_their_file_with_numbers(both: Desk) -> None:
    write(both, "src/b.py", "one\ntwo\nthree\n")
    write(both, "src/a.py", "two\r\n")
    write(both, "c.txt", "nothing")
    assert await grep(both, "t[wh]") == "c.txt\n1:nothing\n\nsrc/a.py\n1:two\n\nsrc/b.py\n2:two\n3:three\n"
    assert await grep(both, "^two$", path="src") == "src/a.py\n1:two\n\nsrc/b.py\n2:two\n"
    assert await grep(both, "two", path="src/b.py") == "src/b.py\n2:two\n"


async def test_context_files_and_counts(both: Desk) -> None:
    put(both, a="".join(f"line {n}\n" for n in range(1, 21)), b="line 3\n")
    assert await grep(both, "line (3|9)$", path="a", context=1) == "a\n2-line 2\n3:line 3\n4-line 4\n--\n8-line 8\n" + (
        "9:line 9\n10-line 10\n"
    )
    assert await grep(both, "line", mode="files") == "a\nb\n"
    assert await grep(both, "line", mode="count") == "a: 20\nb: 1\n"
    assert await grep(both, "line 3", glob="!a") == "b\n1:line 3\n"


async def test_what_git_ignores_is_passed_over_as_git_does(both: Desk) -> None:
    write(both, ".gitignore", "*.log\n/build/\n!kept.log\nodd[\n# no\n")
    write(both, "sub/.gitignore", "!deep.log\n/only\n")
    names = ["a.log", "kept.log", "build/x", "sub/build/x", "sub/deep.log", "sub/only", "sub/in/only", "sub/b.log"]
    for name in names:
        write(both, name, "hit")
    shown = git_lists(both.root)
    expected = sorted(name for name in shown if not name.endswith(".gitignore"))
    assert expected == ["kept.log", "sub/build/x", "sub/deep.log", "sub/in/only"]
    assert (await grep(both, "hit", mode="files")).split() == expected
    assert sorted(await glob(both, "**/*")) == expected
    # Rules of folders above count as well, but not for a place that was named.
    assert (await grep(both, "hit", path="sub", mode="files")).split() == expected[1:]
    assert (await grep(both, "hit", path="build", mode="files")).split() == ["build/x"]


def git_lists(folder: Path) -> list[str]:
    """What git itself would not ignore."""
    subprocess.run(["git", "init", "-q", folder], check=True)
    listed = ["git", "-C", str(folder), "ls-files", "-co", "--exclude-standard"]
    return subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()


async def test_only_rules_of_git_count_and_bring_back_nothing_hidden(both: Desk) -> None:
    write(both, ".gitignore", "*.x\n!.back.py\n!/.dir/\n")
    write(both, ".ignore", "a.py\n")
    write(both, ".rgignore", "b.py\n")
    write(both, ".git/info/exclude", "/sub/c.py\n")
    for name in (".back.py", ".dir/d.py", "a.py", "b.py", "e.x", "sub/c.py", "sub/f.py"):
        write(both, name, "hit")
    assert (await grep(both, "hit", mode="files")).split() == ["a.py", "b.py", "sub/f.py"]
    assert (await grep(both, "hit", mode="files", path="sub")).split() == ["sub/f.py"]
    assert sorted(await glob(both, "*.py")) == ["a.py", "b.py", "sub/f.py"]
    assert await glob(both, "*.x") == ["No file of 3 files fits."]


async def test_hidden_files_are_found_only_when_they_are_named(both: Desk) -> None:
    for name in (".github/x.yml", ".hidden", "plain", ".git/config"):
        write(both, name, "hit")
    assert (await grep(both, "hit", mode="files")).split() == ["plain"]
    assert (await grep(both, "hit", mode="files", path=".github")).split() == [".github/x.yml"]
    assert (await grep(both, "hit", mode="files", glob=".github/**")).split() == [".github/x.yml"]
    assert await glob(both, "**/.hidden") == [".hidden"]
    assert await glob(both, ".g*/**") == [".github/x.yml"]


async def test_links_devices_and_binary_files_are_passed_over(both: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("hit")
    write(both, "in/f", "hit")
    write(both, "binary", b"hit\0hit\n")
    write(both, "utf16", "hit\n".encode("utf-16"))
    write(both, "stray", b"\xff\xfe\xfd hit"[2:])
    (both.root / "link").symlink_to(outside)
    (both.root / "file-link").symlink_to(outside / "f")
    os.mkfifo(both.root / "fifo")
    assert (await grep(both, "hit", mode="files")).split() == ["in/f", "stray", "utf16"]
    assert sorted(await glob(both, "*")) == ["binary", "in/f", "stray", "utf16"]


async def test_what_read_would_have_to_ask_for_is_left_out_and_said(both: Desk) -> None:
    rules = (
        Rule(Ruling.DENY, "read(private/**)", Scope.USER, "u"),
        Rule(Ruling.ASK, "read(drafts/**)", Scope.USER, "u"),
        Rule(Ruling.ALLOW, "read(x)", Scope.USER, "u"),
    )
    root = os.path.realpath(both.root)
    both.unread = unread(rules, Ground(root, "/home/ada"), Mode.ASK)
    for name in ("private/deep/a", "drafts/a", "server.pem", "x", "sub/id_rsa"):
        write(both, name, "hit")
    expected = "x\n[4 files left out (rules on reads, or likely secrets)]\n"
    assert await grep(both, "hit", mode="files") == expected
    # Names are no secret, but what is denied is not even named.
    found = await glob(both, "**/*")
    assert sorted(found[:-1]) == ["drafts/a", "server.pem", "sub/id_rsa", "x"]
    assert found[-1] == "[1 file left out (rules on reads, or likely secrets)]"
    # The person is asked about a file that is named, and has said yes.
    assert await grep(both, "hit", path="server.pem", mode="files") == "server.pem\n"


async def test_rows_and_lines_have_a_limit_and_that_is_said(both: Desk) -> None:
    write(both, "many", "x\n" * 500)
    write(both, "long", "a" * 1000 + "needle" + "b" * 1000)
    lines = (await grep(both, "x")).splitlines()
    assert (lines[0], lines[1], lines[200]) == ("many", "1:x", "200:x")
    assert lines[201:] == ["[cut here, there is more; make pattern, path or glob narrower]"]
    long = await grep(both, "needle")
    assert long == f"long\n1:…{'a' * 80}needle{'b' * 214}… (2,006 characters)\n"
    for n in range(250):
        write(both, f"f/{n}")
    names = await glob(both, "f/*")
    assert len(names) == 201
    assert names[-1] == "[cut here, there is more; 250 files fit, make pattern or path narrower]"


async def test_the_newest_file_comes_first(desk: Desk) -> None:
    for age, name in enumerate(["c", "a", "b"]):
        os.utime(write(desk, name), (1_000_000 - age, 1_000_000 - age))
    assert await glob(desk, "*") == ["c", "a", "b"]


async def test_patterns_of_every_kind(desk: Desk) -> None:
    for name in ("a.py", "s/b.py", "s/t/c.ts", "s/t/d.tsx", "we{i}rd"):
        write(desk, name)

    async def found(pattern: str, **more: object) -> list[str]:
        return sorted(await glob(desk, pattern, **more))

    assert await found("*.py") == ["a.py", "s/b.py"]
    assert await found("./s/*.py") == ["s/b.py"]
    assert await found("**/*.{ts,tsx}") == ["s/t/c.ts", "s/t/d.tsx"]
    assert await found("s/**") == ["s/b.py", "s/t/c.ts", "s/t/d.tsx"]
    assert await found("[ab].py") == ["a.py", "s/b.py"]
    assert await found("?.py", path="s") == ["s/b.py"]
    assert await found(f"{os.path.realpath(desk.root)}/s/*.py") == ["s/b.py"]
    assert await found(r"we\{i\}rd") == ["we{i}rd"]
    assert await found("nothing") == ["No file of 5 files fits."]


async def test_what_they_look_at_is_told_to_policy(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    other = os.path.realpath(tmp_path / "elsewhere")
    (desk.root / "link").symlink_to(other)
    root = os.path.realpath(desk.root)
    prepared = await desk.prepared("grep", pattern="x", path="link")
    assert prepared == Prepared(
        tool="grep",
        input={"pattern": "x", "path": "link"},
        effect=ToolEffect.READ,
        title=f"Search x in {other}",
        digest=prepared.digest,
        card={"type": "other", "tool": "grep", "uri": f"file://{other}", "path": other},
        reads=(f"{root}/link/", f"{other}/"),
        uri=f"file://{other}",
        apart=True,
    )
    assert (await desk.prepared("glob", pattern=f"{other}/**/*.py")).reads == (f"{other}/",)
    assert (await desk.prepared("glob", pattern="*.py")).title == "Find *.py"


async def test_a_link_that_was_turned_round_after_the_decision_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (desk.root / "link").symlink_to(tmp_path / "one")
    prepared = await desk.prepared("grep", pattern="x", path="link")
    (desk.root / "link").unlink()
    (desk.root / "link").symlink_to(tmp_path / "two")
    result = await desk.run(prepared)
    assert (result.status, result.output.partition(":")[0]) == (ResultStatus.ERROR, "stale")


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("grep", {"pattern": "a\nb"}, "the pattern holds a line break"),
        ("grep", {"pattern": "x", "path": "gone"}, "gone does not exist"),
        ("grep", {"pattern": "x", "glob": "{a"}, "`{a` is not a pattern for files"),
        ("grep", {"pattern": "x", "mode": "all"}, "the input does not fit: mode"),
        ("glob", {"pattern": "[a"}, "`[a` is not a pattern for files"),
        ("glob", {"pattern": "*", "path": "file"}, "file is not a folder"),
    ],
)
async def test_input_that_makes_no_sense_is_refused(
    desk: Desk, tool: str, arguments: dict[str, str], said: str
) -> None:
    write(desk, "file")
    assert said in await desk.refused(tool, **arguments)


async def test_an_expression_that_is_none_is_an_error(both: Desk) -> None:
    write(both, "f", "x")
    result = await both.use("grep", pattern="(x")
    assert result.status is ResultStatus.ERROR
    assert result.output.startswith("the pattern is not a regular expression that can be used: ")


async def test_what_only_python_knows_is_found_where_ripgrep_is_there_too(both: Desk) -> None:
    put(both, a="foobar\nfoo\n", b="xx\nxy\n")
    assert await grep(both, r"foo(?!bar)") == "a\n2:foo\n"
    assert await grep(both, r"(.)\1", mode="count") == "a: 2\nb: 1\n"


async def test_an_expression_that_never_ends_is_cut_and_what_was_found_is_told(desk: Desk) -> None:
    desk.seconds = 0.5
    desk.__post_init__()
    put(desk, a="aab\n", b="a" * 60 + "!\n")
    output = await grep(desk, "(a+a+)+b$")
    assert output == ("a\n1:aab\n[cut after 0.5 s, so there may be more; make pattern, path or glob narrower]\n")


async def test_ripgrep_of_the_workspace_is_not_started(desk: Desk) -> None:
    program = write(desk, "bin/rg", f"#!/bin/sh\ntouch {desk.root}/started\n")
    program.chmod(0o755)
    desk.path = str(program.parent)
    assert await grep(desk, "touch", mode="files") == "bin/rg\n"
    assert not (desk.root / "started").exists()


async def test_a_hard_link_brings_nothing_out_of_a_guarded_folder(desk: Desk) -> None:
    inside = write(desk, "secret/key", "hit")
    plain = write(desk, "plain", "hit")
    os.link(inside, desk.root / "innocent")
    os.link(plain, desk.root / "second")
    deny = (Rule(Ruling.DENY, "read(secret/**)", Scope.USER, "config"),)
    desk.unread = unread(deny, Ground(str(desk.root), "/h"), Mode.AUTO)
    assert (await grep(desk, "hit", mode="files")).split("\n")[:2] == ["plain", "second"]
    assert "innocent" not in await grep(desk, "hit", mode="files")
    assert "hit" not in await grep(desk, "hit", path="innocent")


async def test_a_search_without_rules_in_mode_auto_reads_what_read_would(desk: Desk) -> None:
    write(desk, "a.pem", "hit")
    assert unread((), Ground("/w", "/h"), Mode.AUTO) == Unread()
    assert await grep(desk, "hit", mode="files") == "a.pem\n"


async def test_cancelling_ends_the_process(desk: Desk) -> None:
    write(desk, "a", "a" * 200 + "!")
    prepared = await desk.prepared("grep", pattern="(a+a+)+b")
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(desk.run, prepared)
            while not (mine := children()):
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
    assert mine
    assert children() == set()


def children() -> set[int]:
    """Processes that search for this test's process."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1]) if entry.name.isdigit() else 0
            if parent == os.getpid() and b"search_worker" in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
        except OSError:
            continue
    return found


async def test_a_search_through_20_000_files_leaves_the_loop_free(desk: Desk) -> None:
    """Measured as the loop's own work between two ticks: a busy machine cannot make it look worse than it is."""
    for folder in range(100):
        where = desk.root / f"d{folder}"
        where.mkdir()
        for n in range(200):
            (where / f"{n}.txt").write_bytes(b"some words\nneedle\n")
    worst = 0.0
    done: list[ToolResult] = []

    async def search() -> None:
        done.append(await desk.use("grep", pattern="needle", mode="count"))
        done.append(await desk.use("glob", pattern="**/*.txt"))
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(search)
        while True:
            before = time.thread_time()
            try:
                await anyio.lowlevel.checkpoint()
            finally:
                worst = max(worst, time.thread_time() - before)
            if len(done) == 2:
                break
    assert [result.output.count("\n") for result in done] == [201, 201]
    assert worst < 0.02
