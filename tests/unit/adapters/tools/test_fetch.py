"""fetch: what may be asked, what a page reads like, and that nothing of the network leads anywhere else."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent_ls.adapters.tools.fetch import SHOWN, FetchTool
from agent_ls.adapters.tools.fetch_http import Fetcher, FetchLimits
from agent_ls.core.addresses import private_kind
from agent_ls.core.items import ResultStatus, ToolResult
from agent_ls.ports.tools import Invalid
from tests.unit.adapters.tools.shell_bench import Bench

pytestmark = pytest.mark.anyio


@dataclass
class Site:
    """Answers by path, and what was asked of it."""

    port: int = 0
    pages: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *headers = head.split("\r\n")
        host = next(line[6:] for line in headers if line.lower().startswith("host: "))
        self.asked.append(f"{host} {first.split()[1]}")
        writer.write(self.pages.get(first.split()[1], answer("", status="404 Not Found")))
        writer.close()


def answer(body: str | bytes, kind: str = "text/html; charset=utf-8", status: str = "200 OK", **more: str) -> bytes:
    content = body if isinstance(body, bytes) else body.encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(content)}", "Connection: close"]
    lines += [f"Content-Type: {kind}"] if kind else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
    return "\r\n".join([*lines, "", ""]).encode() + content


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    made = Site()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        await server.wait_closed()


@pytest.fixture
def bench(state_dir: Path, runtime_dir: Path) -> Bench:
    return Bench(root=state_dir, spool=runtime_dir)


async def fetch(bench: Bench, fetcher: Fetcher, url: str) -> ToolResult:
    tool = FetchTool(fetcher)
    prepared = await tool.prepare({"url": url}, bench.context())
    assert not isinstance(prepared, Invalid), prepared
    return await tool.run(prepared, bench.context())


def here(**more: object) -> Fetcher:
    return Fetcher(("127.0.0.1",), **more)  # type: ignore[arg-type]


async def test_a_page_reads_as_markdown_and_other_text_as_it_is(bench: Bench) -> None:
    async with site() as web:
        web.pages = {
            "/": answer("<h1>A &amp; B</h1><script>x()</script><p>One <a href='/two'>two</a></p><pre>  a\n  b</pre>"),
            "/data": answer('{"a": 1}', kind="application/json"),
            "/latin": answer("caf\xe9".encode("latin-1"), kind="text/plain; charset=latin-1"),
        }
        base = f"http://127.0.0.1:{web.port}"
        assert await fetch(bench, here(), base + "/") == ToolResult(
            status=ResultStatus.OK, output="# A & B\n\nOne [two](/two)\n\n```\n  a\n  b\n```"
        )
        assert (await fetch(bench, here(), base + "/data")).output == '{"a": 1}'
        assert (await fetch(bench, here(), base + "/latin")).output == "café"
        missing = await fetch(bench, here(), base + "/none")
        assert (missing.status, missing.output) == (ResultStatus.ERROR, "[status 404]")


async def test_what_is_no_text_is_named_and_not_shown(bench: Bench) -> None:
    async with site() as web:
        web.pages = {"/": answer(b"\x89PNG\0\0", kind="image/png"), "/x": answer(b"ab\0cd", kind="text/plain")}
        for path, kind in (("/", "image/png"), ("/x", "text/plain")):
            result = await fetch(bench, here(), f"http://127.0.0.1:{web.port}{path}")
            assert result.status is ResultStatus.ERROR
            assert f" is {kind}, " in result.output


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://2130706433:{port}/",
    ],
)
async def test_this_machine_is_not_asked_in_any_spelling(bench: Bench, url: str) -> None:
    async with site() as web:
        result = await fetch(bench, Fetcher(), url.format(port=web.port))
        assert result.status is ResultStatus.ERROR
        assert "such are not fetched" in result.output
        assert web.asked == []


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("10.1.2.3", "a private address"),
        ("172.16.0.1", "a private address"),
        ("192.168.1.1", "a private address"),
        ("100.64.0.1", "a private address"),
        ("169.254.169.254", "a link-local address"),
        ("0.0.0.0", "this machine"),
        ("::1", "this machine"),
        ("::ffff:10.0.0.1", "a private address"),
        ("64:ff9b::a00:1", "a private address"),
        ("2002:7f00:1::", "this machine"),
        ("fe80::1%eth0", "a link-local address"),
        ("fd00::1", "a private address"),
        ("224.0.0.1", "a multicast address"),
        ("255.255.255.255", "a private address"),
        ("page", "not an address"),
        ("151.101.0.223", None),
        ("2a04:4e42::223", None),
    ],
)
def test_what_lies_on_the_public_internet_is_told_from_what_does_not(address: str, kind: str | None) -> None:
    assert private_kind(address) == kind


async def test_a_name_is_resolved_once_and_the_connection_goes_to_what_was_judged(bench: Bench) -> None:
    looks: list[str] = []

    async def resolve(host: str, port: int) -> tuple[str, ...]:
        """A name server that leads elsewhere at its second look."""
        looks.append(host)
        return ("127.0.0.1",) if len(looks) == 1 else ("127.0.0.2",)

    async with site() as web:
        web.pages["/"] = answer("hi", kind="text/plain")
        fetcher = Fetcher(("127.0.0.1/32",), resolve=resolve)
        result = await fetch(bench, fetcher, f"http://page.test:{web.port}/")
        assert (result.output, looks) == ("hi", ["page.test"])
        assert web.asked == [f"page.test:{web.port} /"]
        result = await fetch(bench, fetcher, f"http://page.test:{web.port}/")
        assert "such are not fetched" in result.output
        assert len(web.asked) == 1


async def test_each_redirect_is_judged_again_and_another_host_is_told_and_not_asked(bench: Bench) -> None:
    looks: list[str] = []

    async def resolve(host: str, port: int) -> tuple[str, ...]:
        looks.append(host)
        return ("127.0.0.1",) if len(looks) < 3 else ("10.0.0.1",)

    async with site() as web:
        base = f"http://page.test:{web.port}"
        web.pages = {
            "/moved": answer("", status="302 Found", Location="/there"),
            "/there": answer("there", kind="text/plain"),
            "/away": answer("", status="301 Moved", Location="http://other.test/x"),
            "/file": answer("", status="301 Moved", Location="file:///etc/passwd"),
        }
        fetcher = Fetcher(("127.0.0.1",), resolve=resolve)
        assert (await fetch(bench, fetcher, f"{base}/moved")).output == "there"
        assert "such are not fetched" in (await fetch(bench, fetcher, f"{base}/moved")).output
        looks.clear()
        away = await fetch(bench, fetcher, f"{base}/away")
        assert "it leads to another host: http://other.test/x" in away.output
        assert looks == ["page.test"]
        looks.clear()
        assert "leads to something that is no page" in (await fetch(bench, fetcher, f"{base}/file")).output


async def test_redirects_time_and_size_have_an_end(bench: Bench) -> None:
    async with site() as web:
        base = f"http://127.0.0.1:{web.port}"
        web.pages = {
            "/round": answer("", status="302 Found", Location="/round"),
            "/long": answer("x" * (SHOWN + 10), kind="text/plain"),
            "/bomb": answer(gzip.compress(b"y" * 5_000_000), kind="text/plain", Content_Encoding="gzip"),
        }
        assert "from one address to the next without end" in (await fetch(bench, here(), f"{base}/round")).output
        long = await fetch(bench, here(), f"{base}/long")
        assert long.output.endswith(f"\n[10 of {SHOWN + 10:,} characters are left out here]")
        assert long.blob is not None
        assert len(bench.blobs[long.blob]) == SHOWN + 10
        small = here(limits=FetchLimits(size=1_000))
        assert (
            await fetch(bench, small, f"{base}/bomb")
        ).output == "y" * 1000 + "\n[only the first 1,000 bytes were taken]"

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        late = await fetch(bench, here(limits=FetchLimits(seconds=0.2)), url)
    assert late.output == f"{url} did not answer within 0.2 s."


async def test_a_proxy_of_the_environment_is_asked_instead(bench: Bench) -> None:
    async def nowhere(host: str, port: int) -> tuple[str, ...]:
        raise OSError(host)

    async with site() as proxy:
        proxy.pages["http://page.test/x"] = answer("through", kind="text/plain")
        bench.environment["http_proxy"] = f"http://127.0.0.1:{proxy.port}"
        fetcher = Fetcher(resolve=nowhere)
        assert (await fetch(bench, fetcher, "http://page.test/x")).output == "through"
        assert "leads nowhere" in (await fetch(bench, fetcher, "http://db.internal/x")).output
        bench.environment["no_proxy"] = "page.test"
        assert "leads nowhere" in (await fetch(bench, fetcher, "http://page.test/x")).output


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://a.test/", "only whole addresses"),
        ("page", "only whole addresses"),
        ("http://a.test\\@b.test/", "holds signs"),
        ("http://user:pw@a.test/", "with a login in it"),
        ("http://a.test:99999/", "that is no address"),
        ("http://a\u202e.test/", "holds signs"),
    ],
)
async def test_an_address_that_could_be_read_in_two_ways_is_refused(bench: Bench, url: str, said: str) -> None:
    answered = await FetchTool(Fetcher()).prepare({"url": url}, bench.context())
    assert isinstance(answered, Invalid)
    assert said in answered.message


async def test_the_person_is_asked_for_the_host_and_shown_the_address(bench: Bench) -> None:
    prepared = await FetchTool(Fetcher()).prepare({"url": "https://Docs.Python.org./3/?q=1"}, bench.context())
    assert not isinstance(prepared, Invalid)
    assert prepared.host == "docs.python.org"
    assert prepared.title == "Fetch https://Docs.Python.org./3/?q=1"
