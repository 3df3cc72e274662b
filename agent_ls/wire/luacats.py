"""The types of the Neovim plugin as LuaCATS annotations, made from METHODS and written with the docs (schema.py).

Owns how a shape is spelled there. Does not own any shape: a change goes where schema.py says.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from agent_ls.core.items import PAYLOADS
from agent_ls.wire.described import Spelling, tables

Json = dict[str, Any]
FILE: Final = Path("editors/neovim/lua/agent_ls/protocol.gen.lua")
"""Where it belongs, seen from the root of the repository."""

_HEAD: Final = """\
---@meta
-- Made by `python -m agent_ls.wire.schema docs/` from agent_ls/wire/methods.py. Do not edit.

"""


def luacats(schema: Json) -> str:
    """`schema` is what `schema.schema()` says."""
    parts = [_HEAD]
    parts += [_define(name, shape) for name, shape in schema["$defs"].items()]
    parts.append(_payloads())
    parts += [_table(name, summary, of) for name, summary, of in tables(schema)]
    return "\n".join(parts).replace("\n\n\n", "\n\n")


def _define(name: str, shape: Json) -> str:
    said = _comment(shape.get("description"))
    if "properties" not in shape:
        return f"{said}---@alias {_LUA.space}{name} {_LUA.type_of(shape)}\n"
    fields = "".join(f"---@field {key} {held}\n" for key, held in _LUA.fields(shape))
    return f"{said}---@class {_LUA.space}{name}\n{fields}"


def _payloads() -> str:
    lines = [f"---@field {kind} {_LUA.space}{payload.__name__}\n" for kind, payload in PAYLOADS.items()]
    return f"--- Payload of an item by its kind.\n---@class {_LUA.space}Payloads\n{''.join(lines)}"


def _table(name: str, summary: str, of: Mapping[str, Json]) -> str:
    lines = [f"--- {summary}\n---@class {_LUA.space}{name}\n"]
    for method, entry in of.items():
        params = _LUA.type_of(entry["params"])
        result = f": {_LUA.type_of(entry['result'])}" if "result" in entry else ""
        lines.append(f"---@field {_LUA.key(method)} fun(params: {params}){result} {entry['summary']}\n")
    return "".join(lines)


def _literal(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else str(value).lower()


def _comment(text: str | None) -> str:
    lines = [line.strip() for line in (text or "").splitlines()]
    return "".join(f"--- {line}".rstrip() + "\n" for line in lines) if any(lines) else ""


_LUA: Final = Spelling(
    plain={"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "null": "nil"},
    anything="any",
    either="|",
    table="table<string, {}>",
    literal=_literal,
    quoted_key="['{}']",
    name=re.compile(r"[A-Za-z_][A-Za-z0-9_]*"),
    space="agent_ls.wire.",
)
