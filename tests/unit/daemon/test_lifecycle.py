"""How a daemon that cannot start says so: one sentence for who waits for it, the rest in the log."""

from pathlib import Path
from typing import Any

import pytest

from agent_ls import paths
from agent_ls.daemon import lifecycle


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("the cellar\nis flooded"), "(RuntimeError: the cellar is flooded)"),
        (ExceptionGroup("in a group", [ValueError("inner")]), "(ValueError: inner)"),
        (KeyError(), "(KeyError)"),
    ],
)
def test_what_nobody_expected_is_one_sentence_and_its_place_is_in_the_log(
    error: Exception,
    told: str,
    state_dir: Path,
    runtime_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setenv("AGENT_LS_STATE_DIR", str(state_dir))
    monkeypatch.setenv("AGENT_LS_RUNTIME_DIR", str(runtime_dir))
    monkeypatch.setattr(lifecycle, "_settings", lambda _: None)
    monkeypatch.setattr(lifecycle, "_start", fails)
    assert lifecycle.run(foreground=False) == 1
    said = capsys.readouterr().err
    assert said == f"agent-ls: agent-ls met something that it did not expect {told}. `agent-ls log` shows where.\n"
    log = Path(paths.log_path()).read_text()
    assert ("Traceback" in log, "the daemon ends because of a mistake of agent-ls" in log) == (True, True)
    assert paths.read_holder() is None
