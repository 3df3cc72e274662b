"""What the generators of editors' types share: how the schema is walked, shape by shape.

Owns what may be left out, which methods belong together and how a type is put together of others. Does not own how any
language writes it: a `Spelling` says the words, its module the lines around them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from agent_ls.wire import methods
from agent_ls.wire.methods import Method

Json = dict[str, Any]

_TABLES: Final[tuple[tuple[str, str, Mapping[str, Method]], ...]] = (
    ("Requests", "What an editor asks the daemon.", methods.METHODS),
    ("ClientNotifications", "What an editor tells the daemon.", methods.CLIENT_NOTIFICATIONS),
    ("Notifications", "What the daemon tells an editor.", methods.NOTIFICATIONS),
    ("ServerRequests", "What the daemon asks an editor.", methods.SERVER_REQUESTS),
)


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """How a language writes types. `table` takes the type of the values; `name` is what needs no quotes as a key."""

    plain: Mapping[str, str]
    anything: str
    either: str
    table: str
    literal: Callable[[object], str]
    quoted_key: str
    name: re.Pattern[str]
    space: str = ""

    def type_of(self, shape: Json) -> str:
        if "$ref" in shape:
            return self.space + str(shape["$ref"]).rpartition("/")[2]
        if "enum" in shape:
            return self.either.join(self.literal(value) for value in shape["enum"])
        if "const" in shape:
            return self.literal(shape["const"])
        if options := shape.get("anyOf") or shape.get("oneOf"):
            return self.either.join(dict.fromkeys(self.type_of(option) for option in options))
        match shape.get("type"):
            case "array":
                item = self.type_of(shape.get("items", {}))
                return f"({item})[]" if self.either in item else f"{item}[]"
            case "object":
                held = shape.get("additionalProperties")
                return self.table.format(self.type_of(held) if isinstance(held, dict) else self.anything)
            case str(plain) if plain in self.plain:
                return self.plain[plain]
            case _:
                return self.anything

    def fields(self, shape: Json) -> Iterator[tuple[str, str]]:
        """Each field's key, with `?` where it may be left out, and the type that it has where it is there."""
        needed = set(shape.get("required", ()))
        for field, value in shape["properties"].items():
            mark = "" if field in needed and not _nullable(value) else "?"
            yield self.key(field) + mark, self.type_of(_present(value))

    def key(self, name: str) -> str:
        return name if self.name.fullmatch(name) else self.quoted_key.format(name)


def tables(schema: Json) -> Iterator[tuple[str, str, Mapping[str, Json]]]:
    """Each table's name, what it is, and the entries of its methods."""
    of: Json = schema["methods"]
    for name, summary, table in _TABLES:
        yield name, summary, {method: _entry(of, held) for method, held in table.items()}


def _entry(of: Json, method: Method) -> Json:
    found: Json = of.get(f"{method.name} ({method.direction})") or of[method.name]
    return found


def _present(shape: Json) -> Json:
    if not _nullable(shape):
        return shape
    return {**shape, "anyOf": [option for option in shape["anyOf"] if option.get("type") != "null"]}


def _nullable(shape: Json) -> bool:
    return any(option.get("type") == "null" for option in shape.get("anyOf", ()))
