"""From core values to JSON: camelCase names, fields that are None left out, dicts as they are.

Owns the one way a dataclass of ours is spelled on the wire. Needs no pydantic, so that sending costs no start-up; what
comes in is checked by models.py.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from agent_ls.core.base import camel


def to_wire(value: Any) -> Any:
    """A tree of dicts, lists, strings, numbers. A None inside a dict stays: it is a tool's input or output."""
    if value is None or type(value) in _PLAIN:
        return value
    names = _names(type(value))
    if names is not None:
        return {wire: to_wire(held) for name, wire in names if (held := getattr(value, name)) is not None}
    match value:
        case Enum():
            return value.value
        case Mapping():
            return {str(key): to_wire(held) for key, held in value.items()}
        case list() | tuple() | set() | frozenset():
            return [to_wire(held) for held in value]
        case _:
            raise TypeError(f"{type(value).__name__} has no form on the wire")


_PLAIN = frozenset({str, int, float, bool})
_KNOWN: dict[type[Any], tuple[tuple[str, str], ...] | None] = {}


def _names(kind: type[Any]) -> tuple[tuple[str, str], ...] | None:
    """Field and wire name of each field of a dataclass, None for what is none."""
    if kind not in _KNOWN:
        _KNOWN[kind] = _spell(kind) if is_dataclass(kind) else None
    return _KNOWN[kind]


def _spell(kind: Any) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, camel(field.name)) for field in fields(kind))
