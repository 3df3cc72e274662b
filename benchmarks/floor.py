"""The floor: the least that a durable agent loop can do, and no more.

httpx streams from the model server, each message is committed to SQLite (WAL, synchronous=FULL) before the next step,
a read opens a file, a command is a subprocess. No daemon, no windows, no approvals, no locks.

`python -m benchmarks.floor DATABASE URL FOLDER [TEXT]` takes up what the database holds and asks again: the floor of a
recovery. With TEXT it begins a conversation.
"""

import json
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, process_time
from typing import Any

import httpx

SYSTEM = "You are a coding agent. " * 40


def _tool(name: str, field: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}
    return {"type": "function", "function": {"name": name, "description": f"The {name} tool.", "parameters": schema}}


TOOLS = [_tool("read", "path"), _tool("write", "path"), _tool("edit", "path"), _tool("shell", "command")]


@dataclass(frozen=True)
class Floored:
    """One exchange, in seconds of CLOCK_MONOTONIC. `text`: the whole text was there; `cpu`: seconds."""

    sent: float
    text: float
    done: float
    cpu: float


class Floor:
    def __init__(self, database: Path, base_url: str, folder: Path) -> None:
        self._db = sqlite3.connect(database, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("CREATE TABLE IF NOT EXISTS message (id INTEGER PRIMARY KEY, body TEXT)")
        rows = self._db.execute("SELECT body FROM message ORDER BY id")
        self.messages: list[dict[str, Any]] = [json.loads(body) for (body,) in rows]
        self._http = httpx.Client(timeout=60, trust_env=False)
        self._url = f"{base_url}/chat/completions"
        self._folder = folder
        self._text_at = 0.0

    def fresh(self) -> None:
        """Another conversation in the same database."""
        self._db.execute("DELETE FROM message")
        self.messages = []

    def exchange(self, text: str) -> Floored:
        cpu, sent = process_time(), monotonic()
        self._commit({"role": "user", "content": text})
        self.loop()
        return Floored(sent, self._text_at, monotonic(), process_time() - cpu)

    def loop(self) -> None:
        while calls := self._ask():
            for call in calls:
                output = self._run(call["function"]["name"], json.loads(call["function"]["arguments"]))
                self._commit({"role": "tool", "tool_call_id": call["id"], "content": output})

    def last(self, count: int) -> list[Any]:
        rows = self._db.execute("SELECT body FROM message ORDER BY id DESC LIMIT ?", (count,))
        return [json.loads(body) for (body,) in rows]

    def fill(self, messages: list[dict[str, Any]]) -> None:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO message (body) VALUES (?)", [(json.dumps(m),) for m in messages])
        self._db.execute("COMMIT")

    def close(self) -> None:
        self._http.close()
        self._db.close()

    def _ask(self) -> list[dict[str, Any]]:
        body = {
            "model": "scripted-1",
            "stream": True,
            "stream_options": {"include_usage": True},
            "messages": [{"role": "system", "content": SYSTEM}, *self.messages],
            "tools": TOOLS,
        }
        said: list[str] = []
        calls: dict[int, dict[str, Any]] = {}
        with self._http.stream("POST", self._url, json=body) as response:
            response.raise_for_status()
            for line in response.iter_lines():
                if line.startswith("data: {"):
                    self._take(json.loads(line[6:]), said, calls)
        self._text_at = monotonic()
        message: dict[str, Any] = {"role": "assistant", "content": "".join(said) or None}
        if calls:
            message["tool_calls"] = list(calls.values())
        self._commit(message)
        return message.get("tool_calls", [])

    def _take(self, event: dict[str, Any], said: list[str], calls: dict[int, dict[str, Any]]) -> None:
        for choice in event.get("choices", ()):
            delta = choice.get("delta", {})
            if text := delta.get("content"):
                said.append(text)
            for part in delta.get("tool_calls") or ():
                empty = {"id": part.get("id"), "type": "function", "function": {"name": "", "arguments": ""}}
                call = calls.setdefault(part["index"], empty)
                for field in ("name", "arguments"):
                    call["function"][field] += part["function"].get(field) or ""

    def _run(self, tool: str, arguments: dict[str, Any]) -> str:
        if tool == "read":
            return (self._folder / arguments["path"]).read_text()
        ran = subprocess.run(
            ["bash", "-c", arguments["command"]], cwd=self._folder, capture_output=True, text=True, check=False
        )
        return ran.stdout + ran.stderr

    def _commit(self, message: dict[str, Any]) -> None:
        self._db.execute("INSERT INTO message (body) VALUES (?)", (json.dumps(message),))
        self.messages.append(message)


def main() -> None:
    database, url, folder, *text = sys.argv[1:]
    floor = Floor(Path(database), url, Path(folder))
    if text:
        floor.exchange(text[0])
    else:
        floor.loop()


if __name__ == "__main__":
    main()
