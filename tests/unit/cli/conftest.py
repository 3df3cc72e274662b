"""A command line that talks to a fake daemon in private directories."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent_ls.cli.main import main
from tests.unit.cli.fake_daemon import Answer, FakeDaemon

Start = Callable[..., FakeDaemon]


@dataclass
class Said:
    """What a verb printed, and its exit code."""

    code: int
    out: str
    err: str


@dataclass
class CommandLine:
    """Runs verbs as a person would, without a terminal."""

    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Said:
        code = main(arguments)
        printed = self.capsys.readouterr()
        return Said(code, printed.out, printed.err)


@pytest.fixture
def private(state_dir: Path, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENT_LS_STATE_DIR", str(state_dir))
    monkeypatch.setenv("AGENT_LS_RUNTIME_DIR", str(runtime_dir))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return runtime_dir


@pytest.fixture
def command_line(private: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


@pytest.fixture
def daemon(private: Path) -> Iterator[Start]:
    with ExitStack() as stack:

        def start(answers: dict[str, Answer | dict[str, Any]]) -> FakeDaemon:
            return stack.enter_context(FakeDaemon(private, answers))

        yield start
