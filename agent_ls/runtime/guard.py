"""Tools at arm's length: what one raises is an answer about its call, never the end of a run.

Owns what is said of a tool's bug. Cancellation passes, it is not the tool's to answer.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final

from agent_ls.core.items import Call, ResultStatus, ToolResult
from agent_ls.ports.tools import Invalid, Prepared, Tool, ToolContext

log = logging.getLogger(__name__)

FAILED: Final = "tool %s failed"


async def look(tool: Tool, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
    try:
        return await tool.prepare(arguments, context)
    except Exception as error:
        log.exception(FAILED, tool.name)
        return Invalid(_said(error))


async def run(tool: Tool, prepared: Prepared, context: ToolContext) -> ToolResult:
    try:
        return await tool.run(prepared, context)
    except Exception as error:
        log.exception(FAILED, tool.name)
        return ToolResult(status=ResultStatus.ERROR, output=_said(error))


async def find_out(tool: Tool, call: Call, context: ToolContext) -> ToolResult | None:
    """What happened to a lost call; a tool that cannot say leaves it unknown."""
    try:
        return await tool.recover(call, context)
    except Exception as error:
        log.exception(FAILED, tool.name)
        return ToolResult(status=ResultStatus.UNKNOWN, output=_said(error))


def _said(error: Exception) -> str:
    return f"The tool failed: {type(error).__name__}: {error}"
