"""One window for most of these tests: opening one takes ten seconds, and a person has one too."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.editors.vscode.stage import Stage, stage
from tests.editors.vscode.testbed import EXTENSION
from tests.editors.vscode.window import Window, window

FAILURES = EXTENSION / "build" / "failures"


@pytest.fixture(scope="package")
async def scenery(anyio_backend: str) -> AsyncIterator[Stage]:
    async with stage() as found:
        yield found


@pytest.fixture(scope="package")
async def only_window(scenery: Stage) -> AsyncIterator[Window]:
    async with window(scenery.browser, scenery.code, scenery.home.workspace) as found:
        await found.show_agent()
        yield found


@pytest.fixture
async def vscode(scenery: Stage, only_window: Window, request: pytest.FixtureRequest) -> AsyncIterator[Window]:
    """In a conversation that is new, with no editor open. What a failing test saw is kept as a picture."""
    await only_window.fresh()
    yield only_window
    if getattr(request.node, "failed", False):
        await only_window.picture(_picture(request.node.name))
    await scenery.settle()


@pytest.hookimpl(tryfirst=True, hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> object:
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" and report.failed:
        item.failed = True  # type: ignore[attr-defined]
    return None


def _picture(name: str) -> Path:
    FAILURES.mkdir(parents=True, exist_ok=True)
    return FAILURES / f"{name}.png"
