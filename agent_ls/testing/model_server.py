"""A scripted model server on loopback: plays a scenario on the wire and refuses what a real server would refuse.

In a test:

    async with serve_model(InOrder([use("read", path="a.py"), say("Done.")])) as server:
        ...  # base_url=server.base_url, model "scripted-1"
        assert [request.last_user_text for request in server.requests] == [...]

As a process, with a scenario out of a file (model_file describes it):

    python -m agent_ls.testing.model_server --port 0 --scenario file.json --log requests.jsonl

Owns the socket, the record of requests and the playing of steps. What a request must look like and how a reply is
spelled belongs to the dialects (model_dialects); replies and scenarios to model_scenario.
"""

import asyncio
import json
import sys
from argparse import ArgumentParser
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, assert_never

import anyio

from agent_ls.adapters.host.system import SystemClock
from agent_ls.testing.model_dialects import CHAT, Dialect, Speaker, spoken_in
from agent_ls.testing.model_file import load
from agent_ls.testing.model_http import HttpConnection, HttpRequest
from agent_ls.testing.model_scenario import (
    Cut,
    Gate,
    Http,
    Pause,
    Raw,
    RequestView,
    Say,
    Scenario,
    Silence,
    Stream,
    Think,
    UseTool,
    Wait,
)

DEFAULT_MODEL: Final = "scripted-1"


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A request that was answered with an error by the checks, and why."""

    path: str
    status: int
    reason: str
    body: Any


class ModelServer:
    """`requests`: those that passed all checks, in order. `refused`: the others; most tests want it to stay empty."""

    def __init__(self, scenario: Scenario, *, models: Sequence[str], key: str | None) -> None:
        self._scenario = scenario
        self._models = tuple(models)
        self._key = key
        self._connections: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self.gates: dict[str, Gate] = {}
        self.port = 0
        self.requests: list[RequestView] = []
        self.refused: list[Refused] = []
        self.abandoned = 0  # answers that the client did not wait for
        self.connections = 0
        self.on_request: Callable[[RequestView], None] | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def gate(self, name: str) -> Gate:
        """The gate of that name, made at its first use."""
        return self.gates.setdefault(name, Gate(name))

    async def until(self, holds: Callable[[], bool]) -> None:
        """Returns once `holds()`; looked at whenever a request comes or an answer ends."""
        while not holds():
            self._changed.clear()
            await self._changed.wait()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection until either side closes it."""
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        self.connections += 1
        connection = HttpConnection(reader, writer)
        try:
            with suppress(ConnectionError):
                while (request := await connection.request()) is not None:
                    if not await self._answer(connection, request):
                        break
        except asyncio.CancelledError:
            # Only `close` cancels, and a task that asyncio started itself would complain about it.
            pass
        finally:
            self._connections.discard(task)
            self._notify()
            await connection.close()

    async def close(self) -> None:
        tasks = list(self._connections)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(self, connection: HttpConnection, request: HttpRequest) -> bool:
        """Whether the connection can take another request."""
        if request.path.startswith("/control/"):
            await self._control(connection, request.path.split("/")[2:])
            return True
        path = request.path.removeprefix("/v1")
        dialect = spoken_in(path, request.headers)
        if reason := self._key_fault(dialect or CHAT, request):
            wrong = (dialect or CHAT).error_body(reason, code="invalid_api_key")
            return await self._refuse(connection, request, status=401, body=wrong)
        if request.method == "GET" and path == "/models":
            data = [{"id": name, "object": "model", "owned_by": "scripted"} for name in self._models]
            await connection.whole(200, {"object": "list", "data": data}, {})
            return True
        if dialect is None or request.method != "POST":
            return await self._refuse(connection, request, status=404, body=CHAT.error_body("unknown address"))
        try:
            body: Any = json.loads(request.body)
        except ValueError:
            body = None
        missing = [name for name in dialect.headers if name not in request.headers]
        if reason := f"{missing[0]}: header is required" if missing else dialect.fault(body):
            return await self._refuse(connection, request, status=400, body=dialect.error_body(reason))
        if body["model"] not in self._models:
            reason = f"The model `{body['model']}` does not exist or you do not have access to it."
            unknown = dialect.error_body(reason, code="model_not_found")
            return await self._refuse(connection, request, status=404, body=unknown)
        view = dialect.view(body, request.headers, len(self.requests))
        self._note(view)
        return await self._play(connection, view, dialect.speaker(view.model, view.number))

    def _key_fault(self, dialect: Dialect, request: HttpRequest) -> str | None:
        header, prefix = dialect.key
        right = self._key is None or request.headers.get(header) == f"{prefix}{self._key}"
        return None if right else "Incorrect API key provided."

    async def _play(self, connection: HttpConnection, view: RequestView, speaker: Speaker) -> bool:
        answer = self._scenario(view)
        finished = False
        async with anyio.create_task_group() as group:

            async def until_gone() -> None:
                await connection.gone()
                group.cancel_scope.cancel()

            group.start_soon(until_gone)
            with suppress(ConnectionError):
                match answer:
                    case Http(status=status, body=body, headers=headers, gate=gate):
                        if gate is not None:
                            await gate.passed()
                        await connection.whole(status, body, headers)
                        finished = True
                    case Stream():
                        finished = await self._stream(connection, answer, speaker)
                    case _:
                        assert_never(answer)
            group.cancel_scope.cancel()
        if group.cancel_scope.cancelled_caught and not finished:
            self.abandoned += 1
        self._notify()
        return finished and not (isinstance(answer, Stream) and answer.until_close)

    async def _stream(self, connection: HttpConnection, stream: Stream, speaker: Speaker) -> bool:
        async def send(data: bytes) -> None:
            size = stream.fragment or len(data) or 1
            for at in range(0, len(data), size):
                await connection.piece(data[at : at + size])

        await connection.begin(until_close=stream.until_close)
        if not (stream.steps and isinstance(stream.steps[0], Raw | Cut | Silence)):
            await send(speaker.before())
        for step in stream.steps:
            match step:
                case Say() | Think() | UseTool():
                    for event in speaker.step(step):
                        await send(event)
                case Wait(gate):
                    await gate.passed()
                case Pause(seconds):
                    await SystemClock().sleep(seconds)
                case Silence():
                    await anyio.sleep_forever()
                case Raw(body):
                    await send(body)
                case Cut(reset):
                    if reset:
                        connection.reset()
                    return False
                case _:
                    assert_never(step)
        for event in speaker.after(stream):
            await send(event)
        await connection.end()
        return True

    async def _control(self, connection: HttpConnection, words: list[str]) -> None:
        match words:
            case ["gates", name, "open"]:
                self.gate(name).open()
                await connection.whole(200, {"open": name}, {})
            case ["gates", name, "reached"]:
                await self.gate(name).reached()
                await connection.whole(200, {"reached": name}, {})
            case ["requests"]:
                await connection.whole(200, {"requests": [view.body for view in self.requests]}, {})
            case _:
                await connection.whole(404, {"error": "unknown control"}, {})

    async def _refuse(self, connection: HttpConnection, request: HttpRequest, *, status: int, body: Any) -> bool:
        sent = request.body.decode("utf-8", "replace")
        reason = str(body["error"]["message"])
        self.refused.append(Refused(path=request.path, status=status, reason=reason, body=sent))
        self._notify()
        await connection.whole(status, body, {})
        return True

    def _note(self, view: RequestView) -> None:
        self.requests.append(view)
        if self.on_request is not None:
            self.on_request(view)
        self._notify()

    def _notify(self) -> None:
        self._changed.set()


@asynccontextmanager
async def serve_model(
    scenario: Scenario | None = None,
    *,
    models: Sequence[str] = (DEFAULT_MODEL,),
    key: str | None = None,
    port: int = 0,
    scenario_file: Path | None = None,
) -> AsyncIterator[ModelServer]:
    """Serves until the block ends. `key`: requests need it as a bearer token. `server.gate(name)`: gates of a file."""
    gates: dict[str, Gate] = {}
    if scenario_file is not None:
        described = json.loads(scenario_file.read_text(encoding="utf-8"))
        scenario = load(described, lambda name: gates.setdefault(name, Gate(name)))
    assert scenario is not None, "either a scenario or a file"
    server = ModelServer(scenario, models=models, key=key)
    server.gates = gates
    listener = await asyncio.start_server(server.handle, "127.0.0.1", port)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        await server.close()
        await listener.wait_closed()


async def _serve_process(port: int, scenario: Path, *, log: Path | None, key: str | None, models: list[str]) -> None:
    async with serve_model(scenario_file=scenario, port=port, key=key, models=models) as server:
        with log.open("a", encoding="utf-8") if log is not None else nullcontext() as file:

            def write(view: RequestView) -> None:
                if file is not None:
                    file.write(json.dumps({"number": view.number, "dialect": view.dialect, "body": view.body}) + "\n")
                    file.flush()

            server.on_request = write
            sys.stdout.write(f"{server.port}\n")
            sys.stdout.flush()
            await anyio.sleep_forever()


def main() -> None:
    parser = ArgumentParser(description="A scripted model server on loopback. Prints its port.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument(
        "--scenario", type=Path, required=True, help="JSON; agent_ls/testing/model_file.py describes it"
    )
    parser.add_argument("--log", type=Path, help="append each accepted request as a line of JSON")
    parser.add_argument("--key", help="requests need this bearer token")
    parser.add_argument("--model", action="append", help=f"a model that is known; default {DEFAULT_MODEL}")
    given = parser.parse_args()
    models = given.model or [DEFAULT_MODEL]
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve_process(given.port, given.scenario, log=given.log, key=given.key, models=models))


if __name__ == "__main__":
    main()
