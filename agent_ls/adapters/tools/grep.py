"""grep: lines of files that fit a regular expression.

Owns the tool's input and how rows read. What is passed over is search_walk's, what fits search_match's.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse
from agent_ls.adapters.tools.search import ROWS, Search, counted, locate, named, notes
from agent_ls.adapters.tools.search_tool import SearchTool
from agent_ls.core.display import one_line
from agent_ls.core.globs import regex_of
from agent_ls.core.items import ResultStatus, ToolResult
from agent_ls.core.textfile import printable
from agent_ls.ports.tools import Invalid, ToolContext

_DESCRIPTION: Final = (
    f"Finds lines by regular expression, one line at a time, up to {ROWS} rows. Leaves out what git ignores, hidden "
    "files unless path or glob names them, binary files, and files that may hold secrets. Does not follow links."
)


class GrepInput(Arguments):
    pattern: str = Field(min_length=1, max_length=1000, description="Regular expression; (?i) ignores case")
    path: str | None = Field(default=None, description="File or folder; the workspace if left out")
    glob: str | None = Field(default=None, max_length=1000, description="Only such files: `*.py`, `src/**`, `!*.lock`")
    context: int = Field(default=0, ge=0, le=10, description="Lines shown around each")
    mode: Literal["content", "files", "count"] = Field(
        default="content", description="The lines, or only the files, or how many lines in each"
    )


class GrepTool(SearchTool):
    name = "grep"
    description = _DESCRIPTION
    input = GrepInput

    async def _search(self, arguments: Mapping[str, Any], context: ToolContext) -> Search | Invalid:
        given = parse(GrepInput, arguments)
        if isinstance(given, Invalid):
            return given
        if "\n" in given.pattern:
            return Invalid("the pattern holds a line break, and lines are looked at one by one; search for one of them")
        if given.glob is not None and regex_of(given.glob.removeprefix("!")) is None:
            return Invalid(f"`{given.glob}` is not a pattern for files, such as `*.py`")
        place = await locate(self._files, given.path, context, folder=False)
        if isinstance(place, Invalid):
            return place
        more = {"glob": given.glob, "context": given.context, "mode": given.mode}
        return Search("grep", place, given.pattern, more)

    def _title(self, search: Search) -> str:
        return f"Search {one_line(search.pattern, 80)}"

    def _shown(self, found: dict[str, Any], search: Search, context: ToolContext) -> ToolResult:
        return _shown(found, search, context)


def _shown(found: dict[str, Any], search: Search, context: ToolContext) -> ToolResult:
    parts = [_file(path, rows, search, root=context.root) for path, rows in found["rows"]]
    between = "\n\n" if search.more["mode"] == "content" else "\n"
    body = between.join(parts) or f"No line fits{_looked(found)}."
    said = "".join(f"\n[{note}]" for note in notes(found, narrower="make pattern, path or glob narrower"))
    return ToolResult(status=ResultStatus.OK, output=body + said + "\n")


def _looked(found: dict[str, Any]) -> str:
    return f" in {counted(found['seen'])}" if found["seen"] else ""


def _file(path: str, rows: list[list[Any]], search: Search, *, root: str) -> str:
    name = named(search.place, path, root)
    match search.more["mode"]:
        case "files":
            return name
        case "count":
            return f"{name}: {rows[0][0]}"
    lines, last = [name], 0
    for number, text, fits in rows:
        if search.more["context"] and last and number > last + 1:
            lines.append("--")
        lines.append(f"{number}{':' if fits else '-'}{printable(text)}")
        last = number
    return "\n".join(lines)
