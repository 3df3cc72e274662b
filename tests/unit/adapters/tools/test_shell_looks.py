"""What a command would really look at, and the environment in which a harmless one stays harmless."""

import os
from pathlib import Path

import pytest

from agent_ls.adapters.tools.shell_looks import outer_path, sights, targets, undisturbed
from agent_ls.core.harmless import Seen
from agent_ls.core.harmless_table import Sight

ENV = {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def root(state_dir: Path) -> Path:
    (state_dir / "src").mkdir()
    (state_dir / "a.py").write_text("a")
    (state_dir / "link").symlink_to("/etc")
    (state_dir / "same").symlink_to("a.py")
    return state_dir


def seen(command: str, root: Path, env: dict[str, str] = ENV) -> list[list[tuple[str, bool]] | None]:
    found = sights(command, env, cwd=os.fspath(root), root=os.fspath(root))
    return [None if one is None else [(each.path, each.folder) for each in one] for one in found]


def test_paths_are_found_for_real_from_every_folder_that_a_command_may_stand_in(root: Path) -> None:
    assert sights("ls", ENV, cwd=f"{root}", root=f"{root}") == ((Seen(f"{root}", Sight.NAME, folder=True),),)
    assert seen("cat a.py link/passwd", root) == [[(f"{root}/a.py", False), ("/etc/passwd", False)]]
    assert seen("cd src && cat a.py", root) == [
        [(f"{root}/src", True)],
        [(f"{root}/a.py", False), (f"{root}/src/a.py", False)],
    ]
    assert seen("cd src; cd ..; cd src; ls", root) == [None] * 4
    assert seen("ls > f", root) == []


def test_beside_another_program_only_what_looks_at_no_file_is_harmless(root: Path) -> None:
    assert seen("make | tail -5", root) == [None, []]
    assert seen("make; cat a.py", root) == [None, None]


def test_a_program_of_the_workspace_is_never_taken_for_the_one_of_that_name(root: Path) -> None:
    own = root / ".venv" / "bin"
    own.mkdir(parents=True)
    env = {"PATH": f"{own}:relative::{ENV['PATH']}", "BASH_FUNC_ls%%": "() { touch P; }", "GIT_DIR": "x", "LANG": "C"}
    assert outer_path(env["PATH"], os.fspath(root)) == ENV["PATH"]
    assert undisturbed(env, os.fspath(root)) == {"PATH": ENV["PATH"], "LANG": "C"}
    assert seen("make | tail", root, env) == [None, []]
    (own / "tail").write_text("#!/bin/sh\ntouch P\n")
    (own / "tail").chmod(0o755)
    assert seen("make | tail", root, env) == [None, None]
    assert seen("make | ls -d", root, ENV) == [None, None]
    assert seen("make | wc", root, {**ENV, "BASH_FUNC_wc%%": "() { touch P; }"}) == [None, None]
    (root / "elsewhere").symlink_to(own)
    assert outer_path(f"{root}/elsewhere:/bin", os.fspath(root)) == "/bin"


def test_words_that_lead_elsewhere_are_named_with_their_real_place(root: Path) -> None:
    leads = {"link/passwd": "/etc/passwd", "same": f"{root}/a.py"}
    assert targets("rm -f link/passwd same a.py && echo x > f", os.fspath(root)) == leads
    assert targets("rm a.py", os.fspath(root)) == {}
