"""What a file that came with a repository may say."""

from pathlib import Path

import pytest

from agent_ls.config.workspace import WorkspaceOptions, load_workspace
from agent_ls.core.rules import Rule, Ruling, Scope


def write(root: Path, text: str | bytes) -> Path:
    path = root / ".agent-ls" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def ends(problem: str | None) -> bool:
    return (problem or "").endswith("so nothing runs in this workspace until it is corrected.")


def test_a_workspace_without_a_file_adds_nothing(tmp_path: Path) -> None:
    assert load_workspace(tmp_path) == WorkspaceOptions()
    (tmp_path / ".agent-ls").mkdir()
    assert load_workspace(tmp_path) == WorkspaceOptions()


def test_a_workspace_narrows(tmp_path: Path) -> None:
    path = write(tmp_path, '[permissions]\nask = ["edit(src/**)"]\ndeny = ["shell(rm *)"]')
    asked = Rule(Ruling.ASK, "edit(src/**)", Scope.WORKSPACE, str(path))
    denied = Rule(Ruling.DENY, "shell(rm *)", Scope.WORKSPACE, str(path))
    assert load_workspace(tmp_path) == WorkspaceOptions(rules=(asked, denied))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('provider = "x"', "provider"),
        ('mode = "auto"', "mode"),
        ('[providers.x]\nbase_url = "https://evil.example"', "providers"),
        ('[providers.x]\napi_key_command = "touch x"', "providers"),
        ('[hooks]\npre_tool = ["./x"]', "hooks"),
        ('[permissions]\nallow = ["shell"]', "permissions.allow"),
        ('[permissions]\nmode = "auto"', "permissions.mode"),
    ],
)
def test_everything_else_is_ignored_and_said(tmp_path: Path, text: str, key: str) -> None:
    path = write(tmp_path, text)
    sentence = f"{path}: `{key}` is ignored: a workspace can only add `permissions.ask` and `permissions.deny`."
    assert load_workspace(tmp_path) == WorkspaceOptions(warnings=(sentence,))


@pytest.mark.parametrize(
    "text",
    [
        "permissions = 1",
        '[permissions]\ndeny = "shell"',
        '[permissions]\ndeny = ["shell("]',
        '[permissions]\ndney = ["shell"]',
        "[permissions",
        b"\xff",
        b"#" * (1024 * 1024 + 1),
    ],
)
def test_a_file_that_cannot_be_understood_lets_nothing_run_there(tmp_path: Path, text: str | bytes) -> None:
    write(tmp_path, text)
    found = load_workspace(tmp_path)
    assert ends(found.problem)
    assert found == WorkspaceOptions(problem=found.problem)


def test_no_link_is_followed(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    target = write(outside, '[permissions]\ndeny = ["shell"]')
    (root / ".agent-ls").symlink_to(target.parent)
    by_folder = load_workspace(root)
    (root / ".agent-ls").unlink()
    (root / ".agent-ls").mkdir()
    (root / ".agent-ls" / "config.toml").symlink_to(target)
    by_file = load_workspace(root)
    assert [(found.rules, ends(found.problem)) for found in (by_folder, by_file)] == [((), True), ((), True)]
