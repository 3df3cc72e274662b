"""What the searching tools share: how a search is read, shown and run in a process of its own.

Owns the way from a model's input to the worker and back. A tool says what it looks for and how rows read.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from agent_ls.adapters.tools.base import OurTool, failed
from agent_ls.adapters.tools.file_input import moved, shown
from agent_ls.adapters.tools.search import Search, Searcher, reads
from agent_ls.core.digests import digest_of
from agent_ls.core.items import ToolResult
from agent_ls.ports.files import Files
from agent_ls.ports.tools import Invalid, Prepared, ToolContext


class SearchTool(OurTool, ABC):
    def __init__(self, files: Files, searcher: Searcher) -> None:
        super().__init__()
        self._files = files
        self._searcher = searcher

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        search = await self._search(arguments, context)
        if isinstance(search, Invalid):
            return search
        place, where = search.place, shown(search.place.path, context.root)
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=self._title(search) + ("" if place.path == context.root else f" in {where}"),
            digest=digest_of(tool=self.name, uri=place.uri, pattern=search.pattern, **search.more),
            card={"type": "other", "tool": self.name, "uri": place.uri, "path": where},
            reads=reads(place),
            uri=place.uri,
            apart=True,
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        search = await self._search(prepared.input, context)
        if isinstance(search, Invalid):
            return failed(search.message)
        if elsewhere := moved(prepared, search.place):
            return failed(elsewhere)
        found = await self._searcher.run(search, context)
        return failed(found) if isinstance(found, str) else self._shown(found, search, context)

    @abstractmethod
    async def _search(self, arguments: Mapping[str, Any], context: ToolContext) -> Search | Invalid: ...

    @abstractmethod
    def _title(self, search: Search) -> str: ...

    @abstractmethod
    def _shown(self, found: dict[str, Any], search: Search, context: ToolContext) -> ToolResult: ...
