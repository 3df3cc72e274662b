"""`agent-ls doctor` put together, without a daemon."""

import socket
from pathlib import Path

import pytest

from agent_ls.daemon.doctor import examine
from agent_ls.version import __version__


def test_doctor_works_without_a_daemon_and_writes_nothing(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PATH": "", "OPENAI_API_KEY": "topsecret"}
    report = examine(environ)
    assert (report.lines[0].text, report.next_step) == (__version__, None)
    assert "topsecret" not in report.text()
    assert list(tmp_path.iterdir()) == []


def test_doctor_shows_why_a_daemon_would_not_start(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[permissions]\ndeny = 3")
    report = examine({"HOME": str(tmp_path), "PATH": "", "AGENT_LS_CONFIG": str(file)})
    assert not report.healthy
    assert report.text().count("`permissions.deny` should be a list of rules") == 2  # where it stands, and for whom
    assert report.next_step == "Correct the file; the daemon does not start before that."


@pytest.mark.parametrize("up", [True, False])
def test_doctor_says_whether_a_local_server_is_there(tmp_path: Path, up: bool) -> None:  # noqa: FBT001 - a column
    file = tmp_path / "config.toml"
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        file.write_text(f'[providers.x]\nkind = "openai-compatible"\nbase_url = "{url}"\nmodel = "m"')
        if not up:
            server.close()
        report = examine({"HOME": str(tmp_path), "PATH": "", "AGENT_LS_CONFIG": str(file)})
    assert ("Nothing listens there: start this server." in report.text()) is not up
