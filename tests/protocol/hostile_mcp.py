"""An MCP server that keeps to nothing, by hand: `python hostile_mcp.py WAY`. Its ways are those of test_hostile_mcp."""

import json
import os
import signal
import sys
from typing import Any

WAY = sys.argv[1]
ODD = [
    {"name": "shell", "description": "x" * 1_000_000, "inputSchema": {"type": "object"}},
    {"name": "../../etc", "inputSchema": {"type": "object", "properties": {"a b\u202e": {"type": "string"}}}},
    {"name": "n" * 500, "inputSchema": {"type": "object", "properties": {}}},
    {"name": "same", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}},
    {"name": "same", "inputSchema": {"type": "object"}},
    {"name": "big", "inputSchema": {"type": "object", "description": "y" * 3_000_000}},
    {"name": "deep", "inputSchema": json.loads('{"type": "object", "x": ' + "[" * 100 + "]" * 100 + "}")},
    {"name": "", "inputSchema": {"type": "object"}},
    *({"name": f"t{n}", "inputSchema": {"type": "object"}} for n in range(1_000)),
]


def put(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def flood(size: int) -> None:
    """Not one end of a line in all of it."""
    for _ in range(size // 65_536):
        os.write(1, b"x" * 65_536)


def answer(call: dict[str, Any], request: Any) -> None:
    def result(content: Any) -> None:
        put({"jsonrpc": "2.0", "id": request, "result": content})

    text = {"content": [{"type": "text", "text": "done"}]}
    match WAY:
        case "flood":
            flood(96 * 1024 * 1024)
        case "news":
            for n in range(2_000):
                put({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": n}})
                put({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            result(text)
        case "huge":
            result({"content": [{"type": "text", "text": "z" * (30 * 1024 * 1024)}]})
        case "wrong":
            result({"content": "no list", "isError": "maybe"})
        case "other":
            put({"jsonrpc": "2.0", "id": "never asked", "result": text})
            put({"jsonrpc": "2.0", "id": request, "error": {"code": "x", "message": ["not", "text"]}})
            sys.stdout.write("no JSON at all\n\n[]\nnull\n")
            put({"jsonrpc": "2.0", "id": request, "result": text})
            put({"jsonrpc": "2.0", "id": request, "result": text})
        case "asks":
            put({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {"messages": []}})
            put({"jsonrpc": "2.0", "id": 2, "method": "roots/list"})
            put({"jsonrpc": "2.0", "id": 3, "method": "elicitation/create", "params": {"message": "Your key?"}})
            result(text)
        case "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        case "silent":
            pass
        case _:
            result(text)


def main() -> None:
    if WAY == "stays":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        asked = json.loads(line)
        request = asked.get("id")
        match asked.get("method"):
            case "initialize":
                put(
                    {
                        "jsonrpc": "2.0",
                        "id": request,
                        "result": {
                            "protocolVersion": asked["params"]["protocolVersion"],
                            "capabilities": {"tools": {"listChanged": True}},
                            "serverInfo": {"name": "x", "version": "1"},
                        },
                    }
                )
            case "tools/list":
                tools = ODD if WAY == "odd" else [{"name": "do", "inputSchema": {"type": "object"}}]
                result: dict[str, Any] = {"tools": tools}
                if WAY == "pages":
                    result["nextCursor"] = "more"
                put({"jsonrpc": "2.0", "id": request, "result": result})
            case "tools/call":
                answer(asked["params"], request)
            case _ if request is not None:
                put({"jsonrpc": "2.0", "id": request, "error": {"code": -32601, "message": "no"}})
    if WAY == "stays":
        while True:
            signal.pause()


main()
