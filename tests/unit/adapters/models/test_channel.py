"""The way to a model server: proxies of the environment, what goes along, in how many pieces it arrives."""

import gzip
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from agent_ls.adapters.models.broken import Broken, Trouble
from agent_ls.adapters.models.channel import Answer, Channel

pytestmark = pytest.mark.anyio


@dataclass
class Server:
    """Notes each piece that arrives, and gives the same answer to whatever it is asked."""

    answer: bytes
    port: int = 0
    heard: list[bytes] = field(default_factory=list)
    links: list[SocketStream] = field(default_factory=list)

    async def serve(self, stream: SocketStream) -> None:
        self.links.append(stream)
        async with stream:
            while True:
                try:
                    piece = await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return
                self.heard.append(piece)
                if piece.endswith((b"\r\n\r\n", b"}")):
                    await stream.send(self.answer)


@asynccontextmanager
async def serving(body: bytes = b"yes", *, more: bytes = b"") -> AsyncIterator[Server]:
    head = b"HTTP/1.1 200 OK\r\n%bContent-Length: %d\r\n\r\n" % (more, len(body))
    server = Server(head + body)
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as group:
        server.port = int(listener.extra(SocketAttribute.local_port))
        group.start_soon(listener.serve, server.serve)
        with anyio.fail_after(20):
            yield server
        group.cancel_scope.cancel()


@asynccontextmanager
async def channel(address: str, *, direct: bool = False) -> AsyncIterator[Channel]:
    found = Channel(address, {"X-Ours": "1"}, direct=direct, connect_s=10)
    try:
        yield found
    finally:
        await found.close()


async def body(answer: Answer) -> bytes:
    found = b"".join([piece async for piece in answer.pieces()])
    await answer.aclose()
    return found


async def test_head_and_body_of_a_request_arrive_in_one_piece() -> None:
    async with serving() as server, channel(f"http://127.0.0.1:{server.port}/v1", direct=True) as to:
        for _ in range(2):
            assert await body(await to.send("POST", "/ask", headers={"B": "2"}, content=b"{}")) == b"yes"
    request = (
        f"POST /v1/ask HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAccept-Encoding: identity\r\n"
        "User-Agent: agent-ls\r\nX-Ours: 1\r\nB: 2\r\nContent-Length: 2\r\n\r\n{}"
    )
    assert server.heard == [request.encode()] * 2


async def test_a_proxy_of_the_environment_is_asked_with_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as proxy:
        monkeypatch.setenv("http_proxy", f"http://me:s%40d@127.0.0.1:{proxy.port}")
        async with channel("http://models.invalid/v1") as to:
            assert await body(await to.send("GET", "/models", headers={})) == b"yes"
    assert proxy.heard[0].startswith(b"GET http://models.invalid/v1/models HTTP/1.1\r\n")
    assert b"\r\nProxy-Authorization: Basic bWU6c0Bk\r\n" in proxy.heard[0]


@pytest.mark.parametrize("none", ["127.0.0.1", "localhost,127.0.0.1:*,.example", "*"])
async def test_what_no_proxy_names_is_asked_itself(monkeypatch: pytest.MonkeyPatch, none: str) -> None:
    monkeypatch.setenv("all_proxy", "http://127.0.0.1:9")
    async with serving() as server:
        monkeypatch.setenv("no_proxy", none.replace("*,", f"{server.port},"))
        async with channel(f"http://127.0.0.1:{server.port}") as to:
            assert await body(await to.send("GET", "/models", headers={})) == b"yes"


async def test_name_and_password_in_an_address_go_along_and_are_no_part_of_the_host() -> None:
    async with serving() as server, channel(f"http://me:s%40d@127.0.0.1:{server.port}/v1", direct=True) as to:
        await body(await to.send("GET", "/models", headers={}))
    assert f"\r\nHost: 127.0.0.1:{server.port}\r\n".encode() in server.heard[0]
    assert b"\r\nAuthorization: Basic bWU6c0Bk\r\n" in server.heard[0]


@asynccontextmanager
async def saying(said: bytes) -> AsyncIterator[Answer]:
    """The answer of a server that says it is packed."""
    head = b"Content-Encoding: gzip\r\n"
    async with serving(said, more=head) as server, channel(f"http://127.0.0.1:{server.port}", direct=True) as to:
        yield await to.send("GET", "/", headers={})


async def test_a_body_that_is_packed_unasked_is_unpacked() -> None:
    async with saying(gzip.compress(b"yes " * 1000)) as answer:
        assert await body(answer) == b"yes " * 1000


async def test_a_body_that_is_not_packed_as_it_says_is_broken() -> None:
    async with saying(b"no gzip at all") as answer:
        with pytest.raises(Broken) as broken:
            await body(answer)
        await answer.aclose()
    assert broken.value.trouble is Trouble.BROKE


async def asked(to: Channel) -> Answer:
    return await to.send("POST", "/ask", headers={}, content=b"{}")


async def test_one_connection_serves_exchanges_one_after_the_other_and_each_of_two_at_once_has_its_own() -> None:
    async with serving() as server, channel(f"http://127.0.0.1:{server.port}", direct=True) as to:
        for _ in range(3):
            assert await body(await asked(to)) == b"yes"
        assert len(server.links) == 1
        one, other = await asked(to), await asked(to)
        assert [await body(one), await body(other)] == [b"yes", b"yes"]
        assert len(server.links) == 2


async def test_a_connection_that_the_server_hung_up_is_not_used_again() -> None:
    async with serving() as server, channel(f"http://127.0.0.1:{server.port}", direct=True) as to:
        assert await body(await asked(to)) == b"yes"
        await server.links[0].aclose()
        assert await body(await asked(to)) == b"yes"
    assert len(server.links) == 2


async def test_an_answer_that_was_left_in_its_middle_leaves_nothing_for_the_next() -> None:
    async with serving(b"y" * 1_000_000) as server, channel(f"http://127.0.0.1:{server.port}", direct=True) as to:
        left = await asked(to)
        async with aclosing(left.pieces()) as pieces:
            assert (await anext(pieces)).startswith(b"y")
        await left.aclose()
        assert await body(await asked(to)) == b"y" * 1_000_000
    assert len(server.links) == 2


@pytest.mark.parametrize(
    "said", [b"", b"HTTP/1.1 200", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1"]
)
async def test_a_server_that_hangs_up_or_talks_nonsense_has_broken_the_exchange(said: bytes) -> None:
    async def answer(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            if said:
                await stream.send(said)

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as group:
        port = listener.extra(SocketAttribute.local_port)
        group.start_soon(listener.serve, answer)
        with anyio.fail_after(20):
            async with channel(f"http://127.0.0.1:{port}", direct=True) as to:
                with pytest.raises(Broken) as broken:
                    await body(await asked(to))
        group.cancel_scope.cancel()
    assert broken.value.trouble is Trouble.BROKE


async def test_a_request_that_is_given_up_while_nothing_has_come_closes_its_connection() -> None:
    heard, gone = anyio.Event(), anyio.Event()

    async def silent(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            heard.set()
            with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                await stream.receive()
            gone.set()

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as group:
        port = listener.extra(SocketAttribute.local_port)
        group.start_soon(listener.serve, silent)
        with anyio.fail_after(20):
            async with channel(f"http://127.0.0.1:{port}", direct=True) as to, anyio.create_task_group() as asking:
                asking.start_soon(asked, to)
                await heard.wait()
                asking.cancel_scope.cancel()
            await gone.wait()
        group.cancel_scope.cancel()
