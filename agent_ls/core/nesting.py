"""How deep a JSON value from outside may be nested.

Owns the limit and the measuring. What is deeper can be neither stored nor read again by every part of us, so it is
refused where it comes in (runtime.triage, wire.models).
"""

from typing import Any, Final

DEEPEST: Final = 64


def too_deep(value: Any) -> bool:
    """Level by level, so that the value's own depth costs no stack."""
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for held in level for inner in _within(held)]
        if not level:
            return False
    return True


def _within(value: Any) -> list[Any]:
    match value:
        case dict():
            return [held for held in value.values() if isinstance(held, dict | list)]
        case list():
            return [held for held in value if isinstance(held, dict | list)]
        case _:
            return []
