"""The types of the Neovim plugin as LuaCATS annotations, made from METHODS and written with the docs (schema.py).

Owns how a shape is spelled there. Does not own any shape: a change goes where schema.py says.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from agent_ls.core.items import PAYLOADS
from agent_ls.wire.described import TABLES, described, nullable, present

Json = dict[str, Any]
FILE: Final = Path("editors/neovim/lua/agent_ls/protocol.gen.lua")
"""Where it belongs, seen from the root of the repository."""

_HEAD: Final = """\
---@meta
-- Made by `python -m agent_ls.wire.schema docs/` from agent_ls/wire/methods.py. Do not edit.

"""
_SPACE: Final = "agent_ls.wire."
_PLAIN: Final = {"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "null": "nil"}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def luacats(schema: Json) -> str:
    """`schema` is what `schema.schema()` says."""
    parts = [_HEAD]
    parts += [_define(name, shape) for name, shape in schema["$defs"].items()]
    parts.append(_payloads())
    for name, summary, table in TABLES:
        parts.append(
            _table(name, summary, {method: described(schema["methods"], held) for method, held in table.items()})
        )
    return "\n".join(parts).replace("\n\n\n", "\n\n")


def _define(name: str, shape: Json) -> str:
    said = _comment(shape.get("description"))
    if "properties" not in shape:
        return f"{said}---@alias {_SPACE}{name} {_type(shape)}\n"
    return f"{said}---@class {_SPACE}{name}\n{''.join(_fields(shape))}"


def _fields(shape: Json) -> Iterator[str]:
    needed = set(shape.get("required", ()))
    for field, value in shape["properties"].items():
        mark = "" if field in needed and not nullable(value) else "?"
        yield f"---@field {_key(field)}{mark} {_type(present(value))}\n"


def _payloads() -> str:
    lines = [f"---@field {kind} {_SPACE}{payload.__name__}\n" for kind, payload in PAYLOADS.items()]
    return f"--- Payload of an item by its kind.\n---@class {_SPACE}Payloads\n{''.join(lines)}"


def _table(name: str, summary: str, of: Mapping[str, Json]) -> str:
    lines = [f"--- {summary}\n---@class {_SPACE}{name}\n"]
    for method, entry in of.items():
        result = f": {_type(entry['result'])}" if "result" in entry else ""
        lines.append(f"---@field {_key(method)} fun(params: {_type(entry['params'])}){result} {entry['summary']}\n")
    return "".join(lines)


def _type(shape: Json) -> str:
    if "$ref" in shape:
        return _SPACE + str(shape["$ref"]).rpartition("/")[2]
    if "enum" in shape:
        return "|".join(_literal(value) for value in shape["enum"])
    if "const" in shape:
        return _literal(shape["const"])
    if options := shape.get("anyOf") or shape.get("oneOf"):
        return "|".join(dict.fromkeys(_type(option) for option in options))
    match shape.get("type"):
        case "array":
            item = _type(shape.get("items", {}))
            return f"({item})[]" if "|" in item else f"{item}[]"
        case "object":
            held = shape.get("additionalProperties")
            return f"table<string, {_type(held) if isinstance(held, dict) else 'any'}>"
        case str(plain) if plain in _PLAIN:
            return _PLAIN[plain]
        case _:
            return "any"


def _literal(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).lower()


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else f"['{name}']"


def _comment(text: str | None) -> str:
    lines = [line.strip() for line in (text or "").splitlines()]
    return "".join(f"--- {line}".rstrip() + "\n" for line in lines) if any(lines) else ""
