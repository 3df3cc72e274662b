"""Where a value came from, so that `agent-ls doctor` can say it.

Owns the kinds of origin and their words. Does not own which value wins (load).
"""

from dataclasses import dataclass
from typing import assert_never


@dataclass(frozen=True)
class Default:
    pass


@dataclass(frozen=True)
class UserFile:
    path: str
    key: str


@dataclass(frozen=True)
class Environment:
    name: str


@dataclass(frozen=True)
class Found:
    what: str


Origin = Default | UserFile | Environment | Found


def describe(origin: Origin) -> str:
    match origin:
        case Default():
            return "default"
        case UserFile(path=path, key=key):
            return f"{path}, {key}"
        case Environment(name=name):
            return f"environment {name}"
        case Found(what=what):
            return f"found: {what}"
        case _:
            assert_never(origin)
