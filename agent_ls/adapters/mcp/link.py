"""One server of tools (MCP): brought up, kept up, asked.

Owns the SDK's client, its restarts with growing pauses, and the list of tools as the server last gave it. Does not own
how a tool looks to a model (tools.py) nor which servers there are (servers.py). Trouble is told as a sentence.
"""

import logging
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import anyio

from agent_ls.adapters.mcp.sdk import Sdk, sdk
from agent_ls.adapters.mcp.transport import Transport, http, stdio
from agent_ls.core.masking import Masking, written_values
from agent_ls.core.tool_server import ToolServer
from agent_ls.ports.host import Clock

log = logging.getLogger(__name__)

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
STEADY_S: Final = 60.0
START_S: Final = 30.0
MOST_TOOLS: Final = 128
MOST_PAGES: Final = 20


@dataclass(frozen=True)
class Offered:
    """What a server says of one of its tools."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class Gone:
    """The server is not there to be asked; `reason` is a sentence."""

    reason: str


class ServerLink:
    """`run` keeps it up until `end`. `tools` are those it offered last; `state` says how it is: `up`, or why not;
    `last_end` how it ended the last time."""

    def __init__(self, server: ToolServer, *, folder: str, environment: Mapping[str, str], clock: Clock) -> None:
        self.server = server
        self.tools: tuple[Offered, ...] = ()
        self.state = "starting"
        self.starts = 0
        self.last_end: str | None = None
        self._folder = folder
        self._environment = dict(environment)
        self._clock = clock
        held = {value for table in (server.env, server.headers, environment) for value in written_values(table)}
        self._masking = Masking.of(held)
        self._client: Any = None
        self._settled = anyio.Event()
        self._down = anyio.Event()
        self._news = anyio.Event()
        self._cancel = anyio.CancelScope()

    @property
    def up(self) -> bool:
        return self._client is not None and not self._down.is_set()

    async def run(self) -> None:
        """Up, and up again after each end, with pauses that grow while it does not stay up."""
        pause = FIRST_PAUSE_S
        with anyio.CancelScope() as self._cancel:
            while True:
                began = self._clock.monotonic()
                reason = self._masking.text(await self._serve())
                self._settled.set()
                pause = FIRST_PAUSE_S if self._clock.monotonic() - began > STEADY_S else pause
                self.last_end = reason
                self.state = f"down: {reason} Started again in {pause:g} s."
                log.warning("MCP server %s is down, started again in %g s", self.server.name, pause)
                await self._clock.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_S)

    def end(self) -> None:
        self._cancel.cancel()

    async def settled(self) -> None:
        """Waits until it is up, or until its first try has failed."""
        await self._settled.wait()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """The SDK's CallToolResult, or Gone. Cancelling tells the server, as the protocol wants it."""
        client = self._client
        if client is None or self._down.is_set():
            how = "down: it has just ended." if self.state == "up" else self.state
            return Gone(f"MCP server `{self.server.name}` is {how}")
        lib = await sdk()
        try:
            return await client.call_tool(tool, dict(arguments), read_timeout_seconds=self.server.timeout_s)
        except lib.troubles as error:
            if self._client is not client or self._down.is_set():
                return Gone(f"MCP server `{self.server.name}` ended while it was asked, so what came of it is unknown.")
            return Gone(f"MCP server `{self.server.name}` did not do it: {lib.said(error)}")

    async def _serve(self) -> str:
        """One life of the server; says how it ended."""
        self._down = anyio.Event()
        self.starts += 1
        try:
            lib = await sdk()
        except ImportError:
            return "the package `mcp` is missing; run `make install EXTRAS=mcp`, then `agent-ls restart`."
        transport = self._transport(lib)
        try:
            # The limit is on coming up, and lifted then: the client's own scopes have to end within this one.
            with anyio.move_on_after(START_S) as starting:
                async with lib.client(transport.open(self._down), self._heard) as client:
                    await self._list(client)
                    starting.deadline = math.inf
                    self._client, self.state = client, "up"
                    self._settled.set()
                    await self._until_down(client)
        except lib.troubles as error:
            return f"{lib.said(error)}.{transport.last_words()}"
        finally:
            self._client = None
        how = f"did not answer within {START_S:g} s" if starting.cancelled_caught else "ended"
        return f"it {how}.{transport.last_words()}"

    def _transport(self, lib: Sdk) -> Transport:
        if self.server.url is not None:
            return http(lib, self.server)
        return stdio(lib, self.server, folder=self._folder, environment=self._environment)

    async def _heard(self, message: object) -> None:
        """Notifications of the server; of interest is that its tools are others now."""
        lib = await sdk()
        if isinstance(message, lib.tools_changed):
            self._news.set()

    async def _until_down(self, client: Any) -> None:
        """Lists the tools anew whenever the server says that they are others."""

        async def follow() -> None:
            while True:
                await self._news.wait()
                self._news = anyio.Event()
                await self._list(client)

        async def listen() -> None:
            """Servers of the newer protocol tell their news only to who asks for them."""
            lib = await sdk()
            with suppress(*lib.troubles):
                async with client.listen(tools_list_changed=True) as heard:
                    async for _ in heard:
                        self._news.set()

        async with anyio.create_task_group() as group:
            group.start_soon(follow)
            group.start_soon(listen)
            await self._down.wait()
            group.cancel_scope.cancel()

    async def _list(self, client: Any) -> None:
        found: list[Offered] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor, cache_mode="refresh")
            found += [Offered(tool.name, tool.description or "", dict(tool.input_schema)) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None or len(found) >= MOST_TOOLS:
                break
        # One that is named twice would make every request to a model a wrong one.
        first: dict[str, Offered] = {}
        for tool in found:
            first.setdefault(tool.name, tool)
        self.tools = tuple(first.values())[:MOST_TOOLS]
