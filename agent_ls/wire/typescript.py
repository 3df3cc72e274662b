"""The types of the VS Code extension, made from METHODS and written together with the docs (schema.py).

Owns how a shape is spelled in TypeScript. Does not own any shape: a change goes where schema.py says.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from agent_ls.core.items import PAYLOADS
from agent_ls.wire.described import Spelling, tables

Json = dict[str, Any]
FILE: Final = Path("editors/vscode/src/protocol.gen.ts")
"""Where it belongs, seen from the root of the repository."""

_HEAD: Final = """\
// Made by `python -m agent_ls.wire.schema docs/` from agent_ls/wire/methods.py. Do not edit.

"""
_TS: Final = Spelling(
    plain={"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"},
    anything="unknown",
    either=" | ",
    table="Record<string, {}>",
    literal=json.dumps,
    quoted_key='"{}"',
    name=re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*"),
)


def typescript(schema: Json) -> str:
    """`schema` is what `schema.schema()` says."""
    parts = [f"{_HEAD}export const PROTOCOL = {schema['protocol']};\n"]
    parts += [_define(name, shape) for name, shape in schema["$defs"].items()]
    parts.append(_payloads())
    parts += [_table(name, summary, of) for name, summary, of in tables(schema)]
    return "\n".join(parts)


def _define(name: str, shape: Json) -> str:
    said = _comment(shape.get("description"), "")
    if "properties" not in shape:
        return f"{said}export type {name} = {_TS.type_of(shape)};\n"
    fields = "".join(f"  {key}: {held};\n" for key, held in _TS.fields(shape))
    return f"{said}export interface {name} {{\n{fields}}}\n"


def _payloads() -> str:
    lines = [f"  {kind}: {payload.__name__};\n" for kind, payload in PAYLOADS.items()]
    return f"/** Payload of an item by its kind. */\nexport interface Payloads {{\n{''.join(lines)}}}\n"


def _table(name: str, summary: str, of: Mapping[str, Json]) -> str:
    lines: list[str] = []
    for method, entry in of.items():
        result = f" result: {_TS.type_of(entry['result'])};" if "result" in entry else ""
        lines.append(_comment(entry["summary"], "  "))
        lines.append(f"  {_TS.key(method)}: {{ params: {_TS.type_of(entry['params'])};{result} }};\n")
    return f"{_comment(summary, '')}export interface {name} {{\n{''.join(lines)}}}\n"


def _comment(text: str | None, indent: str) -> str:
    lines = [line.strip() for line in (text or "").replace("*/", "* /").splitlines()]
    if not any(lines):
        return ""
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines) + f"{indent} */\n"
