"""What every stored thing has in common: how its fields are spelled outside Python.

Owns the camelCase rule and nothing else. The codec and the wire read it from `__pydantic_config__`, so the core
needs no pydantic to be encodable.
"""

from typing import Any, ClassVar


def camel(name: str) -> str:
    """`read_through` -> `readThrough`."""
    head, *tail = name.split("_")
    return head + "".join(part.title() for part in tail)


class Entity:
    """Base of every dataclass that is stored or sent. Unknown fields are ignored when read."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {
        "alias_generator": camel,
        "populate_by_name": True,
        "ser_json_bytes": "base64",
        "val_json_bytes": "base64",
    }


class IllegalTransition(Exception):
    """A fact that cannot follow from the state it was recorded in: always a bug, never the person's fault."""
