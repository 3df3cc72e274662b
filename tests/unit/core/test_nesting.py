"""How deep a value is nested, whatever it is made of."""

from collections.abc import Callable
from typing import Any

import pytest

from agent_ls.core.nesting import DEEPEST, too_deep


@pytest.mark.parametrize("around", [lambda value: [0, value], lambda value: {"a": value, "b": 1}])
@pytest.mark.parametrize("depth", [0, 1, DEEPEST, DEEPEST + 1, 100_000])
def test_only_what_is_deeper_than_the_limit_is_too_deep(around: Callable[[Any], Any], depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = around(value)
    assert too_deep(value) is (depth > DEEPEST)
