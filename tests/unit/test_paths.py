"""Where things are: the table of docs/protocol.md, and what is refused."""

import os
from pathlib import Path

import pytest

from agent_ls import paths

HOME = {"HOME": "/home/me"}


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, "/home/me/.local/state/agent-ls/run/daemon.sock"),
        ({"XDG_RUNTIME_DIR": "/run/user/7"}, "/run/user/7/agent-ls/daemon.sock"),
        ({"XDG_RUNTIME_DIR": "/run/user/7", "AGENT_LS_RUNTIME_DIR": "/r"}, "/r/daemon.sock"),
        ({"XDG_RUNTIME_DIR": "relative", "TMPDIR": "/t"}, "/home/me/.local/state/agent-ls/run/daemon.sock"),
        ({"XDG_STATE_HOME": "/s"}, "/s/agent-ls/run/daemon.sock"),
        ({"AGENT_LS_STATE_DIR": "/own"}, "/own/run/daemon.sock"),
        ({"AGENT_LS_RUNTIME_DIR": "/" + "x" * 87}, "/" + "x" * 87 + "/daemon.sock"),
        ({"AGENT_LS_RUNTIME_DIR": "/" + "x" * 88}, f"/tmp/agent-ls-{os.getuid()}/daemon.sock"),
        ({"AGENT_LS_RUNTIME_DIR": "/" + "ä" * 45}, f"/tmp/agent-ls-{os.getuid()}/daemon.sock"),
    ],
)
def test_the_socket_is_where_the_protocol_says(env: dict[str, str], expected: str) -> None:
    assert paths.socket_path(HOME | env) == expected


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, "/home/me/.config/agent-ls/config.toml"),
        ({"XDG_CONFIG_HOME": "/c"}, "/c/agent-ls/config.toml"),
        ({"XDG_CONFIG_HOME": "/c", "AGENT_LS_CONFIG": "/mine.toml"}, "/mine.toml"),
    ],
)
def test_the_configuration_is_where_the_protocol_says(env: dict[str, str], expected: str) -> None:
    assert paths.config_path(HOME | env) == expected


def test_a_daemon_that_runs_elsewhere_gets_absolute_paths() -> None:
    env = {"AGENT_LS_STATE_DIR": "state", "OTHER": "x"}
    assert paths.absolute(env) == {"AGENT_LS_STATE_DIR": os.path.abspath("state"), "OTHER": "x"}


def test_a_directory_is_made_private_or_tightened(tmp_path: Path) -> None:
    made, loose = tmp_path / "a" / "b", tmp_path / "loose"
    loose.mkdir(mode=0o755)
    for path in (made, loose):
        assert paths.private_directory(os.fspath(path)) == os.fspath(path)
    assert [path.stat().st_mode & 0o777 for path in (made, loose)] == [0o700, 0o700]


def test_a_directory_that_cannot_be_trusted_is_refused_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o707)
    with pytest.raises(paths.UnsafePath, match=rf"Others may write to .* run `chmod 700 {tmp_path}`"):
        paths.private_directory(os.fspath(tmp_path))
    tmp_path.chmod(0o700)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(paths.UnsafePath, match="belongs to another user"):
        paths.private_directory(os.fspath(tmp_path))


@pytest.mark.parametrize("text", ["", "x\n/s\n", "12\n", "12\nrelative\n", "-1\n/s\n"])
def test_a_start_lock_that_says_nothing_usable_names_nobody(tmp_path: Path, text: str) -> None:
    env = {"AGENT_LS_STATE_DIR": os.fspath(tmp_path)}
    Path(paths.lock_path(env)).write_text(text)
    assert paths.read_holder(env) is None


def test_the_start_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    env = {"AGENT_LS_STATE_DIR": os.fspath(tmp_path)}
    Path(paths.lock_path(env)).write_bytes(paths.holder_line(12, "/run/ä/daemon.sock"))
    holder = paths.read_holder(env)
    assert holder
    assert (holder.pid, holder.socket) == (12, "/run/ä/daemon.sock")
