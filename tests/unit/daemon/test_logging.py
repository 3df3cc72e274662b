"""The daemon's log: lines, rotation, nothing that is a key."""

import logging
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_ls.daemon import logging as daemon_log


@pytest.fixture
def environ(state_dir: Path) -> Iterator[dict[str, str]]:
    root, ours = logging.getLogger(), logging.getLogger("agent_ls")
    levels = root.level, ours.level
    yield {"HOME": str(state_dir), "AGENT_LS_STATE_DIR": str(state_dir)}
    daemon_log.stop()
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


def log_file(environ: dict[str, str]) -> Path:
    return Path(environ["AGENT_LS_STATE_DIR"]) / "logs" / "daemon.log"


def written(environ: dict[str, str]) -> list[str]:
    """The lines without their times."""
    return [line.partition(" ")[2] for line in log_file(environ).read_text().splitlines()]


def test_a_record_is_one_line_with_what_it_names(environ: dict[str, str]) -> None:
    assert daemon_log.start(environ) is None
    log = logging.getLogger("agent_ls.daemon.test")
    log.info("attached", extra={"conversation": "c-1", "items": 3, "title": "two words"})
    log.warning("two\nlines")
    assert written(environ) == [
        'INFO agent_ls.daemon.test attached conversation=c-1 items=3 title="two words"',
        'WARNING agent_ls.daemon.test "two\\nlines"',
    ]


def test_the_time_is_utc_with_milliseconds() -> None:
    record = logging.makeLogRecord({"created": 0.25, "levelname": "INFO", "name": "n", "msg": "m"})
    assert daemon_log.LineFormatter().format(record) == "1970-01-01T00:00:00.250Z INFO n m"


def test_an_error_with_its_stack_is_one_line(environ: dict[str, str]) -> None:
    daemon_log.start(environ)
    try:
        raise ValueError("Bearer abcdefgh")
    except ValueError:
        logging.getLogger("agent_ls").exception("bug")
    [line] = written(environ)
    assert line.startswith('ERROR agent_ls bug error="Traceback')
    assert line.endswith('ValueError: Bearer •••"')


def test_keys_do_not_reach_the_file(environ: dict[str, str]) -> None:
    environ["OWN_KEY"] = "plain-looking"
    daemon_log.start(environ, {"OWN_KEY", "NOT_SET"})
    log = logging.getLogger("agent_ls")
    log.info("sent %s and %s", "plain-looking", "sk-abcdefgh12345678", extra={"header": "Bearer plain-looking"})
    assert written(environ) == ['INFO agent_ls sent ••• and ••• header="Bearer •••"']


@pytest.mark.parametrize(
    ("level", "kept"),
    [("", ["info", "error"]), ("debug", ["debug", "info", "error"]), ("ERROR", ["error"])],
)
def test_the_level_comes_from_the_environment(environ: dict[str, str], level: str, kept: list[str]) -> None:
    daemon_log.start({**environ, "AGENT_LS_LOG": level})
    log = logging.getLogger("agent_ls")
    log.debug("debug")
    log.info("info")
    log.error("error")
    logging.getLogger("httpx").info("HTTP Request: GET somewhere")
    assert [line.split()[-1] for line in written(environ)] == kept


def test_a_wrong_level_is_said(environ: dict[str, str]) -> None:
    daemon_log.start({**environ, "AGENT_LS_LOG": "loud"})
    assert written(environ) == [
        "WARNING agent_ls AGENT_LS_LOG should be one of debug, info, warning, error; info is used"
    ]


def test_the_log_is_rotated_and_for_its_owner_only(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon_log, "LARGEST_FILE", 200)
    daemon_log.start(environ)
    for number in range(30):
        logging.getLogger("agent_ls").info("a line that is rather long, number %d", number)
    files = sorted(log_file(environ).parent.iterdir())
    assert [file.name for file in files] == ["daemon.log", "daemon.log.1", "daemon.log.2", "daemon.log.3"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(log_file(environ).parent.stat().st_mode) == 0o700


def test_starting_again_does_not_double_lines(environ: dict[str, str]) -> None:
    daemon_log.start(environ)
    daemon_log.start(environ)
    logging.getLogger("agent_ls").info("once")
    assert written(environ) == ["INFO agent_ls once"]


def test_without_a_place_for_the_file_lines_go_to_standard_error(
    environ: dict[str, str], state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (state_dir / "logs").write_text("in the way")
    trouble = daemon_log.start(environ)
    assert trouble is not None
    assert trouble.startswith("Log lines go to standard error")
    logging.getLogger("agent_ls").info("still said")
    assert capsys.readouterr().err.endswith("INFO agent_ls still said\n")


def test_a_full_disk_stops_nothing(
    environ: dict[str, str], state_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (state_dir / "logs").mkdir(mode=0o700)
    log_file(environ).symlink_to("/dev/full")
    assert daemon_log.start(environ) is None
    logging.getLogger("agent_ls").info("lost")
    daemon_log.stop()
    assert capsys.readouterr().err == ""
