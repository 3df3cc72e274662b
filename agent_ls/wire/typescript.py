"""The types of the VS Code extension, made from METHODS and written together with the docs (schema.py).

Owns how a shape is spelled in TypeScript. Does not own any shape: a change goes where schema.py says.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from agent_ls.core.items import PAYLOADS
from agent_ls.wire.described import TABLES, described, nullable, present

Json = dict[str, Any]
FILE: Final = Path("editors/vscode/src/protocol.gen.ts")
"""Where it belongs, seen from the root of the repository."""

_HEAD: Final = """\
// Made by `python -m agent_ls.wire.schema docs/` from agent_ls/wire/methods.py. Do not edit.

"""
_PLAIN: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def typescript(schema: Json) -> str:
    """`schema` is what `schema.schema()` says."""
    parts = [f"{_HEAD}export const PROTOCOL = {schema['protocol']};\n"]
    parts += [_define(name, shape) for name, shape in schema["$defs"].items()]
    parts.append(_payloads())
    of: Json = schema["methods"]
    for name, summary, table in TABLES:
        parts.append(_table(name, summary, {method: described(of, held) for method, held in table.items()}))
    return "\n".join(parts)


def _define(name: str, shape: Json) -> str:
    said = _comment(shape.get("description"), "")
    if "properties" not in shape:
        return f"{said}export type {name} = {_type(shape)};\n"
    return f"{said}export interface {name} {{\n{''.join(_fields(shape))}}}\n"


def _fields(shape: Json) -> Iterator[str]:
    needed = set(shape.get("required", ()))
    for field, value in shape["properties"].items():
        mark = "" if field in needed and not nullable(value) else "?"
        yield f"  {_key(field)}{mark}: {_type(present(value))};\n"


def _payloads() -> str:
    lines = [f"  {kind}: {payload.__name__};\n" for kind, payload in PAYLOADS.items()]
    return f"/** Payload of an item by its kind. */\nexport interface Payloads {{\n{''.join(lines)}}}\n"


def _table(name: str, summary: str, of: Mapping[str, Json]) -> str:
    lines: list[str] = []
    for method, entry in of.items():
        result = f" result: {_type(entry['result'])};" if "result" in entry else ""
        lines.append(_comment(entry["summary"], "  "))
        lines.append(f"  {_key(method)}: {{ params: {_type(entry['params'])};{result} }};\n")
    return f"{_comment(summary, '')}export interface {name} {{\n{''.join(lines)}}}\n"


def _type(shape: Json) -> str:
    if "$ref" in shape:
        return str(shape["$ref"]).rpartition("/")[2]
    if "enum" in shape:
        return " | ".join(json.dumps(value) for value in shape["enum"])
    if "const" in shape:
        return json.dumps(shape["const"])
    if options := shape.get("anyOf") or shape.get("oneOf"):
        return " | ".join(dict.fromkeys(_type(option) for option in options))
    match shape.get("type"):
        case "array":
            item = _type(shape.get("items", {}))
            return f"({item})[]" if " | " in item else f"{item}[]"
        case "object":
            held = shape.get("additionalProperties")
            return f"Record<string, {_type(held) if isinstance(held, dict) else 'unknown'}>"
        case str(plain) if plain in _PLAIN:
            return _PLAIN[plain]
        case _:
            return "unknown"


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else json.dumps(name)


def _comment(text: str | None, indent: str) -> str:
    lines = [line.strip() for line in (text or "").replace("*/", "* /").splitlines()]
    if not any(lines):
        return ""
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines) + f"{indent} */\n"
