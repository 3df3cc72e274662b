"""Entities of an older version, brought to the form of this one when they are read.

Owns which version each kind has and the steps that lead to it. An entity carries its version as `v` from the second on;
without one it is of the first. What has only got a new field with a default needs no step.

To change a kind: add a step at the end of its tuple. tests/replay holds ledgers of earlier versions that are read with
every later one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from agent_ls.core.events import EventKind

Step = Callable[[dict[str, Any]], dict[str, Any]]

STEPS: Final[Mapping[EventKind, Sequence[Step]]] = dict.fromkeys(EventKind, ())
"""By kind: the first step leads from version 1 to 2, and so on."""

VERSION: Final = "v"


class Newer(ValueError):
    """Written by a version that knows more of this kind."""


def current(kind: EventKind) -> int:
    return len(STEPS[kind]) + 1


def upcast(kind: EventKind, raw: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The entity in the form of this version, and whether it had another one. Raises Newer."""
    version = raw.get(VERSION, 1)
    if type(version) is not int or not 1 <= version <= current(kind):
        raise Newer(f"{kind} of version {version!r}")
    if version == current(kind):
        return raw, False
    for step in STEPS[kind][version - 1 :]:
        raw = step(raw)
    return raw, True
