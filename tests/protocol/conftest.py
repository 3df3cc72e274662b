"""A fake daemon, and editors whose bridges find it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.protocol.bridge_editor import Editor
from tests.protocol.fake_daemon import FakeDaemon


@pytest.fixture
def env(state_dir: Path, runtime_dir: Path) -> dict[str, str]:
    ours = {"AGENT_LS_STATE_DIR": os.fspath(state_dir), "AGENT_LS_RUNTIME_DIR": os.fspath(runtime_dir)}
    return {"PATH": os.environ["PATH"], "HOME": os.fspath(state_dir), "MARK": "here", **ours}


@pytest.fixture
def daemon(runtime_dir: Path) -> Iterator[FakeDaemon]:
    with FakeDaemon(runtime_dir) as daemon:
        yield daemon


@pytest.fixture
def open_editor(env: dict[str, str]) -> Iterator[Callable[[], Editor]]:
    editors: list[Editor] = []

    def opened() -> Editor:
        editors.append(Editor(env))
        return editors[-1]

    yield opened
    for editor in editors:
        editor.close()


@pytest.fixture
def editor(daemon: FakeDaemon, open_editor: Callable[[], Editor]) -> Editor:
    return open_editor()
