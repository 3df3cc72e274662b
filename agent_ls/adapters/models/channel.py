"""The way to one model server: through which proxy if any, over which connections, and a request out on it.

Owns the pool of connections and what goes along with every request. Time limits and what trouble means are http's.
"""

import base64
import ssl
import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from contextlib import aclosing
from importlib import import_module
from typing import Any, Final, cast
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore

from agent_ls.adapters.models.broken import Broken, Trouble, words
from agent_ls.adapters.models.direct import DirectPool
from agent_ls.adapters.models.joined import JoiningBackend

KEPT_OPEN: Final = 20
KEPT_OPEN_S: Final = 60.0
_BROKEN: Final = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
)
_PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})


class Channel:
    """`direct`: no proxy is asked, whatever the environment says.

    Raises OSError, ValueError or ImportError where it cannot be made: a proxy that is none or of a kind that needs
    another library, no more files, a trust store that cannot be read.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str], *, direct: bool, connect_s: float) -> None:
        self._base_url = base_url
        self._headers = {"Accept-Encoding": "identity", "User-Agent": "agent-ls", **_basic(base_url), **headers}
        self._targets: dict[str, tuple[httpcore.URL, str]] = {}
        # Silence is measured over the whole exchange: only the connect limit is the library's.
        self._extensions: dict[str, Any] = {"timeout": {"connect": connect_s}}
        self._pool = _pool(None if direct else _proxy(base_url), secure=base_url.startswith("https:"))

    async def send(self, method: str, path: str, *, headers: Mapping[str, str], content: bytes = b"") -> "Answer":
        """The answer's head; whoever asked closes it. Raises Broken."""
        url, host = self._target(path)
        head = {"Host": host, **self._headers, **headers}
        if content:
            head["Content-Length"] = str(len(content))
        try:
            request = httpcore.Request(
                method, url, headers=tuple(head.items()), content=content, extensions=self._extensions
            )
            return Answer(await self._pool.handle_async_request(request))
        except UnicodeEncodeError as error:
            raise Broken(Trouble.NO_ADDRESS, f"a header has signs that no header can have: {words(error)}") from None
        except _BROKEN as error:
            raise _told(error) from error

    async def close(self) -> None:
        await self._pool.aclose()

    def _target(self, path: str) -> tuple[httpcore.URL, str]:
        known = self._targets.get(path)
        if known is None:
            known = self._targets[path] = _parsed(self._base_url + path)
        return known


class Answer:
    """A head that has come, and a body that is still coming."""

    def __init__(self, response: httpcore.Response) -> None:
        self.status = response.status
        self._response = response

    def header(self, name: str) -> str | None:
        wanted = name.encode("ascii")
        found = (value for known, value in self._response.headers if known.lower() == wanted)
        return next((value.decode("latin-1").strip() for value in found), None)

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes, unpacked where a server packs it unasked; to be closed. Raises Broken."""
        # A generator in truth, which its type does not say; unclosed ones are left to the garbage collector.
        stream = cast("AsyncGenerator[bytes, None]", aiter(cast("AsyncIterable[bytes]", self._response.stream)))
        unpacked = zlib.decompressobj(zlib.MAX_WBITS | 32) if self.header("content-encoding") in _PACKED else None
        try:
            async with aclosing(stream):
                async for piece in stream:
                    yield piece if unpacked is None else unpacked.decompress(piece)
        except _BROKEN as error:
            raise _told(error) from error
        except zlib.error as error:
            raise Broken(Trouble.BROKE, words(error)) from error

    async def aclose(self) -> None:
        await self._response.aclose()


def _told(error: Exception) -> Broken:
    match error:
        case httpcore.ConnectTimeout():
            trouble = Trouble.CONNECT_TIMEOUT
        case httpcore.UnsupportedProtocol() | httpcore.LocalProtocolError():
            trouble = Trouble.NO_ADDRESS
        case httpcore.ConnectError() if "CERTIFICATE" in str(error).upper():
            trouble = Trouble.CERTIFICATE
        case httpcore.ConnectError() | httpcore.ProxyError():
            trouble = Trouble.UNREACHED
        case _:
            trouble = Trouble.BROKE
    return Broken(trouble, words(error))


def _parsed(address: str) -> tuple[httpcore.URL, str]:
    """What is asked for, and the Host to name."""
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").encode("idna"), parts.port
    except ValueError as error:
        raise Broken(Trouble.NO_ADDRESS, words(error)) from None
    if parts.scheme not in {"http", "https"} or not host:
        raise Broken(Trouble.NO_ADDRESS, "an address begins with http:// or https:// and a host")
    target = quote(parts.path, safe="/%:@!$&'()*+,;=~") + (f"?{parts.query}" if parts.query else "")
    named = f"[{host.decode('ascii')}]" if b":" in host else host.decode("ascii")
    named = named if port is None else f"{named}:{port}"
    return httpcore.URL(scheme=parts.scheme, host=host, port=port, target=target.encode("utf-8", "replace")), named


def _pool(proxy: str | None, *, secure: bool) -> DirectPool | httpcore.AsyncConnectionPool:
    # The system's trust store, not a bundled one; reading it is spared where nothing is encrypted.
    context = ssl.create_default_context() if secure else None
    if proxy is None:
        return DirectPool(context=context, kept=KEPT_OPEN, kept_s=KEPT_OPEN_S)
    common: dict[str, Any] = {
        "ssl_context": context,
        "max_connections": None,
        "max_keepalive_connections": KEPT_OPEN,
        "keepalive_expiry": KEPT_OPEN_S,
        "network_backend": JoiningBackend(),
    }
    parts = urlsplit(proxy)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    common["proxy_auth"] = (user.encode(), password.encode()) if user or password else None
    address = httpcore.URL(scheme=parts.scheme, host=parts.hostname or "", port=parts.port, target="/")
    if parts.scheme in {"http", "https"} and parts.hostname:
        return httpcore.AsyncHTTPProxy(address, **common)
    if parts.scheme in {"socks5", "socks5h"} and parts.hostname:
        import_module("socksio")  # httpcore says at the first request only that it is missing
        return httpcore.AsyncSOCKSProxy(address, **common)
    raise ValueError(f"a proxy's address begins with http, https or socks5, this one with {parts.scheme!r}")


def _proxy(base_url: str) -> str | None:
    """As the environment says (HTTPS_PROXY, ALL_PROXY, NO_PROXY …); on macOS also as the system does."""
    scheme, _, rest = base_url.partition("://")
    named = getproxies()
    found = named.get(scheme) or named.get("all")
    if not found or proxy_bypass(rest.partition("/")[0].rpartition("@")[2]):
        return None
    return found if "://" in found else f"http://{found}"


def _basic(base_url: str) -> dict[str, str]:
    """`https://name:password@host` is how some servers are handed around."""
    given, at, _ = base_url.partition("://")[2].partition("/")[0].rpartition("@")
    return {"Authorization": "Basic " + base64.b64encode(unquote(given).encode()).decode("ascii")} if at else {}
