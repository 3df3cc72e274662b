"""fetch: the text of a page.

Owns the tool's input, what a person is asked (the host, with the whole address shown) and what the model reads of an
answer. How it gets here is fetch_http's, how a page becomes text fetch_page's.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from anyio import to_thread
from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse
from agent_ls.adapters.tools.base import OurTool, failed
from agent_ls.adapters.tools.fetch_http import Elsewhere, Failed, Fetcher, Page
from agent_ls.adapters.tools.fetch_page import readable
from agent_ls.core.addresses import plain_host
from agent_ls.core.digests import digest_of
from agent_ls.core.display import one_line
from agent_ls.core.items import ResultStatus, ToolResult
from agent_ls.ports.tools import Invalid, Prepared, ToolContext

SHOWN: Final = 40_000
_LONGEST_URL: Final = 4096
_DESCRIPTION: Final = (
    "Gets a page from the web as text; HTML becomes Markdown. The person is asked for each host. It has no login and "
    "no cookies, and private networks are out of reach."
)


class FetchInput(Arguments):
    url: str = Field(max_length=_LONGEST_URL, description="A whole address, https:// or http://")


class FetchTool(OurTool):
    name = "fetch"
    description = _DESCRIPTION
    input = FetchInput

    def __init__(self, fetcher: Fetcher) -> None:
        super().__init__()
        self._fetcher = fetcher

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        given = parse(FetchInput, arguments)
        if isinstance(given, Invalid):
            return given
        host = _host(given.url)
        if isinstance(host, Invalid):
            return host
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=f"Fetch {one_line(given.url, 400)}",
            digest=digest_of(tool=self.name, url=given.url),
            card={"type": "other", "tool": self.name, "url": given.url, "host": host},
            host=host,
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        got = await self._fetcher.get(str(prepared.input["url"]), context.environment)
        match got:
            case Failed():
                return failed(got.why)
            case Elsewhere():
                return ToolResult(
                    status=ResultStatus.OK,
                    output=f"[it leads to another host: {got.url} - fetch that, if it is what you want]",
                )
            case Page():
                return await _told(got, context)


async def _told(page: Page, context: ToolContext) -> ToolResult:
    # A thread: a page of two megabytes takes its time, and nobody else may wait for it.
    text = await to_thread.run_sync(readable, page.body, page.content_type, page.charset)
    if text is None:
        kind = page.content_type or "of a kind that it does not name"
        return failed(f"{page.url} is {kind}, {len(page.body):,} bytes: no text. Use shell to download it.")
    notes = [] if page.status == 200 else [f"status {page.status}"]
    if page.cut:
        notes.append(f"only the first {len(page.body):,} bytes were taken")
    blob = None
    if len(text) > SHOWN:
        blob = await context.keep(text.encode())
        notes.append(f"{len(text) - SHOWN:,} of {len(text):,} characters are left out here")
        text = text[:SHOWN]
    said = "\n".join(f"[{note}]" for note in notes)
    status = ResultStatus.OK if page.status < 400 else ResultStatus.ERROR
    return ToolResult(status=status, output=f"{text.rstrip()}\n{said}".strip(), blob=blob)


def _host(url: str) -> str | Invalid:
    """As rules name it. What two readers of an address could take for two hosts is refused."""
    if not url.isprintable() or any(sign in url for sign in ' \\"<>^`{|}'):
        return Invalid("the address holds signs that an address has to escape. Expected {url}")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
        name = plain_host(host).encode("idna").decode() if not host.isascii() else plain_host(host)
    except ValueError:
        return Invalid("that is no address. Expected {url}, for example https://docs.python.org/3/")
    if parts.scheme not in {"http", "https"} or not name:
        return Invalid("only whole addresses with https:// or http:// can be fetched. Expected {url}")
    if parts.username is not None or parts.password is not None:
        return Invalid("an address with a login in it is not fetched; leave out what stands before the @")
    return name
