"""docs/protocol.md and docs/protocol.schema.json, made from METHODS: `python -m agent_ls.wire.schema docs/`; with them
the types of the VS Code extension (typescript.py) and of the Neovim plugin (luacats.py).

Owns how the table is written down. Does not own anything that is said there; a change goes into methods.py, models.py,
results.py or the core.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from agent_ls.core.attempt import Attempt
from agent_ls.core.errors import HINTS, RETRYABLE, Code
from agent_ls.core.items import PAYLOADS, ContextItem
from agent_ls.wire import luacats, methods, results, typescript
from agent_ls.wire.methods import Direction, Method
from agent_ls.wire.shapes import Shapes

Json = dict[str, Any]
MARKDOWN: Final = "protocol.md"
SCHEMA: Final = "protocol.schema.json"

_TABLES: Final[tuple[tuple[Direction, str, Mapping[str, Method]], ...]] = (
    (Direction.REQUEST, "Requests: an editor asks the daemon", methods.METHODS),
    (Direction.CLIENT_NOTIFICATION, "Notifications: an editor tells the daemon", methods.CLIENT_NOTIFICATIONS),
    (Direction.NOTIFICATION, "Notifications: the daemon tells an editor", methods.NOTIFICATIONS),
    (Direction.SERVER_REQUEST, "Requests: the daemon asks an editor", methods.SERVER_REQUESTS),
)
_SHAPES: Final = (Attempt, ContextItem, results.ErrorData)
_INTRODUCTION: Final = """\
# Protocol

<!-- Made by `python -m agent_ls.wire.schema docs/` from agent_ls/wire/methods.py. Do not edit. -->

LSP 3.17 plus the methods below, on one JSON-RPC connection with `Content-Length` framing. Editors run
`agent-ls connect` as their language server; it starts the daemon if there is none and carries the bytes to its socket.

- Names are camelCase. `name?` may be left out; more fields than those named here may come, and are to be ignored.
- A method with `commandId` changes something. The client makes that id, fresh for each command. The same command sent
  again with the same id gives the same answer and happens once.
- `agent/conversation/attach` answers first; `agent/event` goes on after the `seq` of that answer, no gap, no repeat.
  An event carries the whole entity after its fact: keep entities by id and replace them.
- `agent/stream` is text in flight. It may be dropped at any time; the item that is committed afterwards supersedes it.
- A request of the person is answered with the `digest` that was shown. The first answer counts; nothing else ever does:
  not null, not an error, not a time-out, not a lost connection.
- An unknown method gets -32601. A method marked *later* is answered with `unsupported` by this version.
- Types in full: [protocol.schema.json](protocol.schema.json).
"""


def markdown() -> str:
    shapes = _collected()
    parts = [_INTRODUCTION]
    for direction, heading, table in _TABLES:
        parts += [f"## {heading}", "", *_rows(direction, table.values(), shapes), ""]
    parts += ["## Shapes", "", "```", *shapes.described(_SHAPES), "```", ""]
    parts += ["Payload of an item by kind:", "", *_payloads(), "", *_errors()]
    return "\n".join(parts)


def schema() -> Json:
    """Draft 2020-12: `$defs` holds every shape, `methods` says which one belongs where."""
    shapes = _collected()
    described: Json = {}
    for direction, _, table in _TABLES:
        for method in table.values():
            entry: Json = {"direction": str(direction), "built": method.built, "summary": method.summary}
            entry["params"] = shapes.of(method.params)
            if method.result is not None:
                entry["result"] = shapes.of(method.result)
            if method.feature is not None:
                entry["feature"] = method.feature
            described[f"{method.name} ({direction})" if method.name in described else method.name] = entry
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "agent-ls protocol",
        "protocol": methods.PROTOCOL,
        "methods": described,
        "$defs": shapes.definitions(),
    }


def write(folder: Path) -> None:
    (folder / MARKDOWN).write_text(markdown(), encoding="utf-8")
    (folder / SCHEMA).write_text(json.dumps(schema(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _collected() -> Shapes:
    everything: list[tuple[Any, bool]] = [(shape, False) for shape in _SHAPES]
    for direction, _, table in _TABLES:
        ours = direction in {Direction.REQUEST, Direction.CLIENT_NOTIFICATION}
        for method in table.values():
            everything.append((method.params, ours))
            if method.result is not None:
                everything.append((method.result, not ours))
    return Shapes(everything)


def _rows(direction: Direction, table: Iterable[Method], shapes: Shapes) -> list[str]:
    asked = direction in {Direction.REQUEST, Direction.SERVER_REQUEST}
    head = ["method", "params -> result" if asked else "params", "what it does"]
    lines = [_row(head), _row(["---"] * len(head))]
    for method in table:
        shape = f"`{shapes.inline(method.params)}`"
        if method.result is not None:
            shape += f" -> `{shapes.inline(method.result)}`"
        marks = "" if method.built else " *later*"
        marks += f" (feature `{method.feature}`)" if method.feature else ""
        lines.append(_row([f"`{method.name}`", shape, method.summary + marks]))
    return lines


def _payloads() -> list[str]:
    lines = [_row(["kind", "payload"]), _row(["---", "---"])]
    return lines + [_row([f"`{kind}`", f"`{payload.__name__}`"]) for kind, payload in PAYLOADS.items()]


def _errors() -> list[str]:
    lines = [
        "## Errors",
        "",
        "JSON-RPC code -32000 with `data: ErrorData`, -32602 for wrong parameters; `data.code` is stable.",
        "",
        _row(["code", "try again?", "what to do"]),
        _row(["---", "---", "---"]),
    ]
    return [*lines, *(_row([f"`{code}`", "yes" if code in RETRYABLE else "", HINTS[code]]) for code in Code), ""]


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def write_types(root: Path) -> None:
    """Where there is no plugin beside the docs, there is nothing to write."""
    for file, made in ((typescript.FILE, typescript.typescript), (luacats.FILE, luacats.luacats)):
        place = root / file
        if place.parent.is_dir():
            place.write_text(made(schema()), encoding="utf-8")


if __name__ == "__main__":
    docs = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
    write(docs)
    write_types(docs.resolve().parent)
