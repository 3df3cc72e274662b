"""Which files of instructions count, for whom, and that none of them can hurt."""

import os
from pathlib import Path

import pytest

from agent_ls.adapters.host import instruction_files
from agent_ls.daemon import instructions as folders
from agent_ls.daemon.instructions import Instructions
from tests.unit.core.world import conversation


def said(instructions: Instructions, root: Path, *, trusted: bool = True) -> list[str]:
    found = instructions.of(conversation(workspace=root.as_uri(), trusted=trusted))
    return [text.partition("\n")[2].strip() for text in found]


def test_the_nearest_one_comes_first_and_the_persons_own_last(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    root = repository / "part"
    root.mkdir(parents=True)
    (repository / ".git").mkdir()
    (tmp_path / "AGENTS.md").write_text("outside")
    (repository / "CLAUDE.md").write_text("repository")
    (root / "AGENTS.md").write_text("part")
    (root / "CLAUDE.md").write_text("the same in other words")
    own = tmp_path / "config"
    own.mkdir()
    (own / "AGENTS.md").write_text("own")
    instructions = Instructions(str(own / "config.toml"))
    assert said(instructions, root) == ["part", "repository", "own"]
    assert said(instructions, root, trusted=False) == ["own"]
    (root / "AGENTS.md").write_text("part, changed")
    assert said(instructions, root) == ["part, changed", "repository", "own"]


def test_above_a_folder_of_no_repository_nothing_counts_and_no_link_is_followed(tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    (tmp_path / "AGENTS.md").write_text("above")
    (root / "AGENTS.md").symlink_to(tmp_path / "AGENTS.md")
    instructions = Instructions(str(tmp_path / "none" / "config.toml"))
    assert said(instructions, root) == []
    (root / "AGENTS.md").unlink()
    (root / "AGENTS.md").write_text("x" * 40_000)
    (text,) = said(instructions, root)
    assert (len(text) < 33_000, text.endswith("(the rest of this file is left out)")) == (True, True)


@pytest.mark.parametrize("of_another", ["shared", "shared/.git"])
def test_a_repository_that_somebody_else_has_put_around_the_workspace_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_another: str
) -> None:
    root = tmp_path / "shared" / "w"
    root.mkdir(parents=True)
    (tmp_path / "shared" / ".git").mkdir()
    (tmp_path / "shared" / "AGENTS.md").write_text("of another user")
    (root / "AGENTS.md").write_text("own")
    instructions = Instructions(str(tmp_path / "none" / "config.toml"))
    assert said(instructions, root) == ["own", "of another user"]
    real = folders.owner
    foreign = str(tmp_path / of_another)
    monkeypatch.setattr(folders, "owner", lambda path: os.geteuid() + 1 if path == foreign else real(path))
    assert said(instructions, root) == ["own"]


def test_a_pipe_that_takes_the_place_of_a_file_while_it_is_read_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "AGENTS.md"
    os.mkfifo(pipe)
    monkeypatch.setattr(instruction_files, "_key", lambda path: (1, 1) if path == str(pipe) else None)
    writes = os.open(pipe, os.O_RDWR)
    try:
        assert said(Instructions(str(tmp_path / "none" / "config.toml")), tmp_path) == []
    finally:
        os.close(writes)
