"""What the contract suites ask for: each wire in turn."""

from collections.abc import Callable

import pytest

from agent_ls.ports.provider import Model
from tests.contract.model_line import WIRES


@pytest.fixture(params=sorted(WIRES))
def wire(request: pytest.FixtureRequest) -> Callable[..., Model]:
    return WIRES[request.param]
