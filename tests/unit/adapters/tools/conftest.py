"""Fixtures of the tools' tests; what they are is beside them."""

from pathlib import Path

import pytest

from tests.unit.adapters.tools.desk import Desk


@pytest.fixture
def desk(state_dir: Path) -> Desk:
    return Desk(state_dir)
