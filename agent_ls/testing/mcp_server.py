"""An MCP server for tests, run as a process of its own: `python -m agent_ls.testing.mcp_server [--http PORT]`.

Its tools show what a client has to get right: a result, an error, an image, a long text, the environment and folder
that it runs in, a list of tools that changes, and its own death.
"""

import os
import sys
from typing import Any

from mcp.server.mcpserver import Context, Image, MCPServer

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


def made() -> MCPServer:
    server = MCPServer("notes")

    @server.tool(description="Adds two numbers.")
    def add(a: int, b: int) -> str:
        return str(a + b)

    @server.tool(description="Fails, and says why.")
    def fail() -> str:
        raise ValueError("no luck")

    @server.tool(description="One pixel.")
    def picture() -> Image:
        return Image(data=PIXEL, format="png")

    @server.tool(description="A long text.")
    def long(size: int) -> str:
        return "x" * size

    @server.tool(description="Where it runs, and what it knows of the named variable.")
    def where(variable: str) -> str:
        return f"{os.getcwd()} {os.environ.get(variable, 'unset')}"

    @server.tool(description="Ends the server.")
    def die() -> str:
        os.write(sys.stderr.fileno(), b"that was all\n")
        os._exit(3)

    @server.tool(description="Adds another tool.")
    async def learn(ctx: Context[Any, Any]) -> str:
        def learned() -> str:
            return "I know that."

        server.add_tool(learned, name="learned", description="Learned meanwhile.")
        await ctx.notify_tools_changed()
        return "learned"

    return server


if __name__ == "__main__":
    if "--http" in sys.argv:
        made().run("streamable-http", port=int(sys.argv[-1]))
    else:
        made().run()
