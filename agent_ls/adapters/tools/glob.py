"""glob: files by name, newest first.

Owns the tool's input and how rows read. What is passed over is search_walk's.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse
from agent_ls.adapters.tools.search import ROWS, Search, counted, locate, named, notes
from agent_ls.adapters.tools.search_tool import SearchTool
from agent_ls.core.globs import regex_of, split
from agent_ls.core.items import ResultStatus, ToolResult
from agent_ls.ports.files import Place
from agent_ls.ports.tools import Invalid, ToolContext

_DESCRIPTION: Final = (
    f"Finds files by name, newest first, up to {ROWS}: `**/*.py`, `src/**/test_*.{{ts,tsx}}`, `*.md` (in all folders). "
    "Leaves out what git ignores, and hidden files unless the pattern names them. Does not follow links."
)


class GlobInput(Arguments):
    pattern: str = Field(min_length=1, max_length=1000, description="Relative to path")
    path: str | None = Field(default=None, description="Folder to look in; the workspace if left out")


class GlobTool(SearchTool):
    name = "glob"
    description = _DESCRIPTION
    input = GlobInput

    async def _search(self, arguments: Mapping[str, Any], context: ToolContext) -> Search | Invalid:
        given = parse(GlobInput, arguments)
        if isinstance(given, Invalid):
            return given
        path, pattern = given.path, given.pattern
        if pattern.startswith(("/", "~/", "../")):
            # Such a pattern says itself where to look.
            begin, pattern = split(pattern)
            path = f"{path}/{begin}" if path and begin.startswith("..") else begin
        if not pattern or regex_of(pattern) is None:
            return Invalid(f"`{given.pattern}` is not a pattern for files, such as `**/*.py`")
        place = await locate(self._files, path, context, folder=True)
        return place if isinstance(place, Invalid) else Search("glob", place, pattern, {})

    def _title(self, search: Search) -> str:
        return f"Find {search.pattern}"

    def _shown(self, found: dict[str, Any], search: Search, context: ToolContext) -> ToolResult:
        return _shown(found, search.place, context)


def _shown(found: dict[str, Any], place: Place, context: ToolContext) -> ToolResult:
    lines = [named(place, path, context.root) for path in found["rows"]]
    said = notes(found, narrower=f"{counted(found['total'])} fit, make pattern or path narrower")
    if not lines:
        lines = [f"No file of {counted(found['seen'])} fits."]
    return ToolResult(status=ResultStatus.OK, output="\n".join([*lines, *(f"[{note}]" for note in said)]) + "\n")
