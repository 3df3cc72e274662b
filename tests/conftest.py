"""What every test may ask for: the loop it runs on and private directories with short names.

Does not hold fakes or scripted servers; those are shipped in `agent_ls.testing`.
"""

import compileall
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from xdist.scheduler import LoadScopeScheduling

import agent_ls
from agent_ls.testing.postgres import NoPostgres, PostgresServer, serve_postgres


def pytest_configure() -> None:
    """Once, not at each of a thousand starts: where PYTHONDONTWRITEBYTECODE is set, the daemon would compile itself."""
    compileall.compile_dir(str(Path(agent_ls.__file__).parent), quiet=2)


# What is dear to start is started once: the tests of such a folder run in one process. Others stay together by file.
TOGETHER: Final = ("tests/editors/vscode/",)


class ByPlace(LoadScopeScheduling):
    """Which tests run in one process, where `pytest -n 2` runs several."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        return next((folder for folder in TOGETHER if path.startswith(folder)), path)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByPlace:
    return ByPlace(config, log)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def state_dir() -> Iterator[Path]:
    yield from _short_directory("als-s-")


@pytest.fixture
def runtime_dir() -> Iterator[Path]:
    yield from _short_directory("als-r-")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One for the whole run; each test takes a database of its own."""
    try:
        with serve_postgres() as server:
            yield server
    except NoPostgres as why:
        pytest.skip(str(why))


def _short_directory(prefix: str) -> Iterator[Path]:
    # pytest's own tmp_path is too long: the path of a Unix socket ends at about 100 bytes.
    path = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
