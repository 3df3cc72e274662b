"""A page by HTTP: from its address to its bytes, and nowhere that it may not go.

Owns that names are resolved once, judged, and connected to just as they were judged (a name that leads elsewhere at the
second look gains nothing), that each redirect is judged again, and the limits of time and size. Asks nobody: that the
host may be asked at all is policy's. A proxy of the environment resolves for itself: then only what can be seen from
here is judged.
"""

import ipaddress
import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]

import anyio
from anyio import to_thread

from agent_ls.core.addresses import plain_host, private_kind
from agent_ls.core.display import one_line

if TYPE_CHECKING:
    import httpx

_HEADERS: Final = {
    "User-Agent": "agent-ls",
    "Accept": "text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1",
    "Accept-Encoding": "identity",
}
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_ADDRESSES: Final = 4


@dataclass(frozen=True, kw_only=True)
class FetchLimits:
    """`redirects`: how many are followed, on the same host only."""

    seconds: float = 30.0
    connect_s: float = 10.0
    size: int = 2 * 1024 * 1024
    redirects: int = 5


@dataclass(frozen=True, kw_only=True)
class Page:
    """`cut`: there is more of it. `content_type` without parameters, empty where the server named none."""

    url: str
    status: int
    content_type: str
    charset: str | None
    body: bytes
    cut: bool


@dataclass(frozen=True)
class Elsewhere:
    """Another host: that is for the person to allow."""

    url: str


@dataclass(frozen=True)
class Failed:
    why: str


@dataclass(frozen=True)
class _Route:
    """Where a request goes: through `proxy`, or straight to one of the `addresses`."""

    proxy: str | None = None
    addresses: tuple[str, ...] = ()


async def _resolved(host: str, port: int) -> tuple[str, ...]:
    rows = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(row[4][0]) for row in rows))


Resolve = Callable[[str, int], Awaitable[tuple[str, ...]]]
"""Raises OSError for a name that leads nowhere."""


class Fetcher:
    """`private`: hosts and networks off the public internet that the person's own configuration lets in."""

    def __init__(
        self, private: tuple[str, ...] = (), *, limits: FetchLimits | None = None, resolve: Resolve | None = None
    ) -> None:
        self.private = private
        self._limits = limits or FetchLimits()
        self._resolve = resolve or _resolved
        self._trust: ssl.SSLContext | None = None

    async def get(self, url: str, environment: Mapping[str, str]) -> Page | Elsewhere | Failed:
        with anyio.move_on_after(self._limits.seconds):
            return await self._get(url, environment)
        return Failed(f"{_shown(url)} did not answer within {self._limits.seconds:g} s.")

    async def _get(self, url: str, environment: Mapping[str, str]) -> Page | Elsewhere | Failed:
        host = _host_of(url)
        for _ in range(self._limits.redirects + 1):
            route = await self._route(url, environment)
            if isinstance(route, Failed):
                return route
            got = await self._request(url, route)
            if not isinstance(got, str):
                return got
            if urlsplit(got).scheme not in {"http", "https"}:
                return Failed(f"{_shown(url)} leads to something that is no page ({one_line(got, 200)}).")
            if _host_of(got) != host:
                return Elsewhere(_shown(got))
            url = got
        return Failed(f"{_shown(url)} leads from one address to the next without end.")

    async def _route(self, url: str, environment: Mapping[str, str]) -> _Route | Failed:
        parts = urlsplit(url)
        host = _host_of(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        proxy = _proxy(parts.scheme, f"{host}:{port}", environment)
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError):
            # Behind a proxy there often is no name server either.
            if proxy is not None and not _is_local_name(host):
                return _Route(proxy)
            return Failed(f"There is no host `{host}`: its name leads nowhere from here.")
        kinds = [kind for address in addresses if (kind := private_kind(address))]
        if kinds and not self._lets_in(host, addresses):
            return Failed(
                f"`{host}` is {kinds[0]}, and such are not fetched. A person can let it in: "
                f'private = ["{host}"] under [fetch] in config.toml. For a server of your own use shell with curl.'
            )
        return _Route(proxy, () if proxy is not None else addresses[:_ADDRESSES])

    def _lets_in(self, host: str, addresses: tuple[str, ...]) -> bool:
        if host in self.private:
            return True
        networks = [network for entry in self.private if (network := _network(entry)) is not None]
        return all(any(_lies_in(address, network) for network in networks) for address in addresses)

    async def _request(self, url: str, route: _Route) -> Page | Failed | str:
        """A string: where it leads. Addresses are tried in their order, until one takes the connection."""
        import httpx

        trouble = ""
        for address in route.addresses or (None,):
            try:
                async with await self._client(route.proxy) as client:
                    return await self._answer(client, url, address)
            except httpx.ConnectError as error:
                trouble = str(error) or type(error).__name__
            except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, ImportError) as error:
                return Failed(
                    f"{_shown(url)} could not be fetched: {one_line(str(error), 200) or type(error).__name__}."
                )
        return Failed(f"{_shown(url)} takes no connection ({one_line(trouble, 200)}).")

    async def _client(self, proxy: str | None) -> "httpx.AsyncClient":
        import httpx

        if self._trust is None:
            # The system's trust store, not a bundled one; reading it takes a while.
            self._trust = await to_thread.run_sync(ssl.create_default_context)
        timeout = httpx.Timeout(self._limits.seconds, connect=self._limits.connect_s)
        return httpx.AsyncClient(
            verify=self._trust, trust_env=False, proxy=proxy, timeout=timeout, follow_redirects=False, headers=_HEADERS
        )

    async def _answer(self, client: "httpx.AsyncClient", url: str, address: str | None) -> Page | str:
        import httpx

        asked = httpx.URL(url)
        headers: dict[str, str] = {}
        extensions: dict[str, Any] = {}
        if address is not None:
            # Straight to what was judged; the name goes into the request and into the check of the certificate.
            headers["Host"] = asked.netloc.decode()
            extensions["sni_hostname"] = _host_of(url)
            asked = asked.copy_with(host=address)
        async with client.stream("GET", asked, headers=headers, extensions=extensions) as response:
            if response.status_code in _REDIRECTS and (to := response.headers.get("location")):
                return str(urljoin(url, to))
            body, cut = await self._body(response)
            kind, _, _ = response.headers.get("content-type", "").partition(";")
            return Page(
                url=_shown(url),
                status=response.status_code,
                content_type=kind.strip().lower(),
                charset=response.charset_encoding,
                body=body,
                cut=cut,
            )

    async def _body(self, response: "httpx.Response") -> tuple[bytes, bool]:
        """As much as is taken. What comes packed is unpacked by us, so that no few bytes become a flood."""
        size = self._limits.size
        raw = bytearray()
        async for chunk in response.aiter_raw():
            raw += chunk
            if len(raw) > size:
                break
        packed = response.headers.get("content-encoding", "identity").lower()
        if packed == "identity":
            return bytes(raw[:size]), len(raw) > size
        if packed not in {"gzip", "x-gzip", "deflate"}:
            raise ValueError(f"it is packed as {packed}, which was not asked for")
        try:
            body = zlib.decompressobj(47).decompress(bytes(raw), size + 1)
        except zlib.error:
            raise ValueError("what came is not packed as it says") from None
        return body[:size], len(body) > size or len(raw) > size


def _proxy(scheme: str, host_and_port: str, environment: Mapping[str, str]) -> str | None:
    """As curl reads it: `http_proxy` in small letters only, since a CGI client can set the other."""
    names = [f"{scheme}_proxy", "all_proxy"]
    if scheme == "https":
        names[1:1] = ["HTTPS_PROXY"]
    found = next((value for name in [*names, "ALL_PROXY"] if (value := environment.get(name))), None)
    excepted = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    if found is None or proxy_bypass_environment(host_and_port, {"no": excepted}):
        return None
    return found if "://" in found else f"http://{found}"


def _host_of(url: str) -> str:
    host = plain_host(urlsplit(url).hostname or "")
    return host if host.isascii() else host.encode("idna").decode()


def _is_local_name(host: str) -> bool:
    """What a proxy must not be asked for: names that only mean something on its side of the network."""
    local = host == "localhost" or "." not in host or host.endswith((".localhost", ".local", ".internal", ".lan"))
    return local and ":" not in host


def _network(entry: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return None


def _lies_in(address: str, network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
    try:
        return ipaddress.ip_address(address.partition("%")[0]) in network
    except ValueError:
        return False


def _shown(url: str) -> str:
    return one_line(url, 400)
