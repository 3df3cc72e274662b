"""The life of a link and the one reply to each request, over a pair of sockets in process."""

import json
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import UNIXSocketStream

from agent_ls.core.errors import Code, Refusal, Refused
from agent_ls.editor.book import Answered, Unanswered
from agent_ls.editor.connection import Connection, Handler
from agent_ls.editor.framing import MessageDecoder, encode
from agent_ls.editor.outbound import Outbound

pytestmark = pytest.mark.anyio


class Served(Connection):
    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.closed = anyio.Event()

    def on_ready(self) -> None:
        self.notify("agent/hello", {"protocol": 1})

    async def on_close(self) -> None:
        self.closed.set()


class Peer:
    """The client's end: sends what it is told, byte for byte, and reads messages one by one."""

    def __init__(self, stream: UNIXSocketStream, connection: Connection) -> None:
        self.stream = stream
        self.connection = connection
        self._decoder = MessageDecoder()
        self._messages: list[Any] = []

    async def send(self, *messages: Mapping[str, Any]) -> None:
        await self.stream.send(b"".join(encode({"jsonrpc": "2.0", **message}) for message in messages))

    async def next(self) -> dict[str, Any]:
        with anyio.fail_after(5):
            while not self._messages:
                self._messages += self._decoder.feed(await self.stream.receive())
        message = dict(self._messages.pop(0))
        assert message.pop("jsonrpc") == "2.0"
        return message

    async def take(self, count: int) -> list[dict[str, Any]]:
        return [await self.next() for _ in range(count)]

    async def ended(self) -> list[dict[str, Any]]:
        """What comes until the link ends."""
        found = []
        while True:
            try:
                found.append(await self.next())
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return found


@asynccontextmanager
async def link(
    handlers: Mapping[str, Handler] | None = None, *, ready: bool = True, **options: Any
) -> AsyncIterator[Peer]:
    ours, theirs = socket.socketpair()
    stream = await UNIXSocketStream.from_socket(theirs)
    connection = Served(await UNIXSocketStream.from_socket(ours), handlers or {}, **options)
    peer = Peer(stream, connection)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.serve)
            async with stream:
                if ready:
                    await peer.send({"id": 0, "method": "initialize", "params": {}})
                    assert [message.get("method") for message in await peer.take(2)] == [None, "agent/hello"]
                yield peer
            await connection.closed.wait()


def error(key: Any, code: int, sentence: str) -> dict[str, Any]:
    return {"id": key, "error": {"code": code, "message": sentence}}


async def test_initialize_is_answered_before_the_daemon_says_hello() -> None:
    async with link(ready=False) as peer:
        await peer.send({"id": "a", "method": "initialize", "params": {}})
        assert await peer.take(2) == [
            {"id": "a", "result": {"capabilities": {}}},
            {"method": "agent/hello", "params": {"protocol": 1}},
        ]


async def test_each_wrong_order_has_its_code_and_the_link_lives_on() -> None:
    async with link(ready=False) as peer:
        await peer.send({"id": 1, "method": "agent/status"})
        assert await peer.next() == error(1, -32002, "agent/status came before initialize. Send that first.")
        await peer.send({"id": 2, "method": "initialize", "params": {}}, {"id": 3, "method": "initialize"})
        assert (await peer.take(3))[2] == error(3, -32600, "This connection is initialized already.")
        await peer.send({"id": 4, "method": "no/such"}, {"method": "no/such"}, {"id": 5, "method": "$/no"})
        assert await peer.take(2) == [
            error(4, -32601, "agent-ls has no method no/such."),
            error(5, -32601, "agent-ls has no method $/no."),
        ]
        await peer.send({"id": 6, "method": "shutdown"}, {"id": 7, "method": "agent/status"})
        assert await peer.take(2) == [
            {"id": 6, "result": None},
            error(7, -32600, "agent/status came after shutdown. Open a new connection."),
        ]
        await peer.send({"id": 8, "method": "initialize"})
        assert await peer.next() == error(8, -32600, "This connection is initialized already.")


@pytest.mark.parametrize("before", [[], [{"id": 1, "method": "shutdown"}]])
async def test_exit_ends_the_link(before: list[dict[str, Any]]) -> None:
    async with link() as peer:
        await peer.send(*before, {"method": "exit"})
        assert await peer.ended() == [{"id": 1, "result": None} for _ in before]


async def test_bad_messages_are_answered_and_the_link_lives() -> None:
    async with link() as peer:
        for body in (b"{", b"[]", b"{}", b'{"id":null,"method":"x"}', b'{"id":9,"method":"x","params":[1]}'):
            await peer.stream.send(b"content-length:%d\n\n" % len(body) + body)
        codes = [(message["id"], message["error"]["code"]) for message in await peer.take(5)]
        assert codes == [(None, -32700), (None, -32600), (None, -32600), (None, -32600), (9, -32602)]


async def test_a_lost_border_is_told_logged_and_ends_the_link(caplog: pytest.LogCaptureFixture) -> None:
    sentence = "The border between two messages is lost: a header has no Content-Length."
    async with link() as peer:
        await peer.stream.send(b"Content-Type: secret\r\n\r\n{}")
        assert await peer.ended() == [error(None, -32700, sentence)]
    assert [
        record.getMessage().partition(": ")[2] for record in caplog.records if record.levelno == logging.WARNING
    ] == [sentence]


async def test_parameters_arrive_exactly_as_they_were_sent() -> None:
    async def echo(_: Connection, params: dict[str, Any]) -> Any:
        return params

    odd = {
        "from": 1,
        "files": {"src/a.py": 1},
        "nested": {"jsonrpc": "2.0", "method": "x"},
        "lines": "a\u2028b\u0085c\f",
    }
    async with link({"echo": echo}) as peer:
        await peer.send({"id": 1, "method": "echo", "params": odd})
        assert await peer.next() == {"id": 1, "result": odd}


async def test_a_refusal_says_what_to_do_and_a_bug_says_nothing_of_what_it_held(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refusing(refusal: Refusal) -> Handler:
        async def handler(_: Connection, params: dict[str, Any]) -> Any:
            raise Refused(refusal)

        return handler

    async def broken(_: Connection, params: dict[str, Any]) -> Any:
        raise KeyError(params["key"])

    async def unsendable(_: Connection, params: dict[str, Any]) -> Any:
        return {"value": object()}

    handlers = {
        "refused": refusing(Refusal(Code.NOT_FOUND, "No conversation c1.")),
        "invalid": refusing(Refusal(Code.INVALID_PARAMS, "title is not a string.")),
        "broken": broken,
        "unsendable": unsendable,
    }
    async with link(handlers) as peer:
        await peer.send({"id": 1, "method": "refused"})
        assert await peer.next() == {
            "id": 1,
            "error": {
                "code": -32000,
                "message": "No conversation c1.",
                "data": {
                    "code": "not_found",
                    "message": "No conversation c1.",
                    "hint": "`agent-ls conversations` lists what there is.",
                    "retryable": False,
                },
            },
        }
        await peer.send({"id": 2, "method": "invalid"})
        invalid = (await peer.next())["error"]
        assert (invalid["code"], invalid["data"]["code"]) == (-32602, "invalid_params")
        await peer.send({"id": 3, "method": "broken", "params": {"key": "sk-secret"}})
        assert await peer.next() == error(3, -32603, "broken failed inside agent-ls. `agent-ls log` has the details.")
        await peer.send({"id": 4, "method": "unsendable"})
        assert (await peer.next())["error"]["code"] == -32603
    assert "KeyError" in caplog.text
    assert "sk-secret" not in caplog.text


async def test_handlers_start_in_order_and_a_slow_one_blocks_nobody() -> None:
    started: list[Any] = []
    release = anyio.Event()

    async def slow(_: Connection, params: dict[str, Any]) -> Any:
        started.append(params["n"])
        await release.wait()
        return params["n"]

    async def quick(_: Connection, params: dict[str, Any]) -> Any:
        started.append(params["n"])
        return params["n"]

    async with link({"slow": slow, "quick": quick}) as peer:
        await peer.send(
            {"id": 1, "method": "slow", "params": {"n": 1}},
            {"method": "quick", "params": {"n": 2}},
            {"id": 3, "method": "quick", "params": {"n": 3}},
        )
        assert await peer.next() == {"id": 3, "result": 3}
        assert started == [1, 2, 3]
        release.set()
        assert await peer.next() == {"id": 1, "result": 1}


async def test_of_70_requests_the_60_cancelled_at_once_do_not_run_and_each_gets_one_reply() -> None:
    ran: list[int] = []

    async def handler(_: Connection, params: dict[str, Any]) -> Any:
        ran.append(params["n"])
        return params["n"]

    async with link({"m": handler}) as peer:
        await peer.send(
            *({"id": n, "method": "m", "params": {"n": n}} for n in range(1, 71)),
            *({"method": "$/cancelRequest", "params": {"id": n}} for n in (*range(11, 71), 500, None)),
            {"id": 99, "method": "m", "params": {"n": 99}},
        )
        replies = await peer.take(71)
        cancelled = [error(n, -32800, "The request was cancelled.") for n in range(11, 71)]
        answered = [{"id": n, "result": n} for n in (*range(1, 11), 99)]
        assert sorted(replies, key=lambda reply: reply["id"]) == sorted(
            cancelled + answered, key=lambda reply: reply["id"]
        )
        await peer.send(
            {"method": "$/cancelRequest", "params": {"id": 1}}, {"id": 100, "method": "m", "params": {"n": 100}}
        )
        assert await peer.next() == {"id": 100, "result": 100}
    assert ran == [*range(1, 11), 99, 100]


async def test_a_cancelled_request_that_runs_is_stopped_and_answered_once() -> None:
    running, stopped = anyio.Event(), anyio.Event()

    async def handler(_: Connection, params: dict[str, Any]) -> Any:
        running.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    async with link({"m": handler}) as peer:
        await peer.send({"id": 1, "method": "m"})
        await running.wait()
        await peer.send({"method": "$/cancelRequest", "params": {"id": 1}})
        assert await peer.next() == error(1, -32800, "The request was cancelled.")
        assert stopped.is_set()


async def test_a_request_to_the_client_has_one_outcome_and_late_answers_are_ignored() -> None:
    outcomes: list[object] = []

    def asking(timeout: float) -> Callable[[Connection, dict[str, Any]], Awaitable[Any]]:
        async def handler(connection: Connection, params: dict[str, Any]) -> Any:
            outcomes.append(await connection.request("agent/ui/reveal", {"uri": "file:///x"}, timeout))
            return "done"

        return handler

    async with link({"patient": asking(60), "hasty": asking(0)}) as peer:
        await peer.send({"id": 1, "method": "patient"})
        asked = await peer.next()
        assert (asked["method"], asked["params"]) == ("agent/ui/reveal", {"uri": "file:///x"})
        await peer.send(
            {"id": asked["id"], "result": 1}, {"id": asked["id"], "result": 2}, {"id": "never", "result": 3}
        )
        assert await peer.next() == {"id": 1, "result": "done"}
        await peer.send({"id": 2, "method": "hasty"})
        late = await peer.next()
        assert await peer.next() == {"method": "$/cancelRequest", "params": {"id": late["id"]}}
        assert await peer.next() == {"id": 2, "result": "done"}
        await peer.send({"id": late["id"], "result": 4}, {"id": 3, "method": "nothing"})
        assert (await peer.next())["id"] == 3
    assert outcomes == [Answered(1), Unanswered("timeout", "The window did not answer within 0 s.")]


async def test_a_peer_that_is_denied_gets_that_answer_to_whatever_it_asks() -> None:
    denied = Refused(Refusal(Code.PERMISSION_DENIED, "A process that the agent runs may not talk to the daemon."))
    async with link(ready=False, denied=denied) as peer:
        await peer.send(
            *({"id": n, "method": m} for n, m in enumerate(["initialize", "agent/status", "shutdown", "x"]))
        )
        replies = await peer.take(4)
        assert [(reply["id"], reply["error"]["data"]["code"]) for reply in replies] == [
            (n, "permission_denied") for n in range(4)
        ]


async def test_reading_goes_on_while_the_client_does_not_read() -> None:
    seen = anyio.Event()

    async def flood(connection: Connection, params: dict[str, Any]) -> Any:
        for seq in range(3_000):
            connection.notify("agent/event", {"conversationId": "c", "events": [{"seq": seq, "text": "x" * 5_000}]})
        return "flooded"

    async def see(_: Connection, params: dict[str, Any]) -> Any:
        seen.set()

    async with link({"flood": flood, "see": see}) as peer:
        await peer.send({"id": 1, "method": "flood"})
        await peer.send({"method": "see"})
        with anyio.fail_after(5):
            await seen.wait()
        found = [await peer.next()]
        while found[-1].get("method") != "agent/resync":
            found.append(await peer.next())
        assert {"id": 1, "result": "flooded"} in found
        events = [message["params"]["events"][0]["seq"] for message in found if message.get("method") == "agent/event"]
        assert events == list(range(len(events))), "what comes before the resync has no hole"


async def test_a_client_that_asks_and_does_not_read_is_let_go() -> None:
    async def long(_: Connection, params: dict[str, Any]) -> Any:
        return "x" * 100_000

    async with link({"long": long}, outbound=Outbound(most_messages=5)) as peer:
        await peer.send(*({"id": n, "method": "long"} for n in range(1, 60)))
        await peer.ended()


async def test_what_was_asked_before_the_client_ended_its_side_is_still_answered() -> None:
    async def handler(_: Connection, params: dict[str, Any]) -> Any:
        await anyio.lowlevel.checkpoint()
        return "there"

    async with link({"m": handler}) as peer:
        await peer.send({"id": 1, "method": "m"})
        await peer.stream.send_eof()
        assert await peer.ended() == [{"id": 1, "result": "there"}]


async def test_the_daemon_may_end_a_link_and_what_it_said_last_arrives() -> None:
    async with link() as peer:
        peer.connection.notify("agent/drain", {"retryAfterMs": 100, "reason": "restart"})
        peer.connection.end("restart")
        assert await peer.ended() == [{"method": "agent/drain", "params": {"retryAfterMs": 100, "reason": "restart"}}]


async def test_a_message_of_30_mb_is_taken_while_it_comes_in_pieces() -> None:
    async def size(_: Connection, params: dict[str, Any]) -> Any:
        return len(params["text"])

    async with link({"size": size}) as peer:
        text = "北京😀" * 3_000_000
        wire = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "size", "params": {"text": text}}, ensure_ascii=False
        ).encode()
        await peer.stream.send(b"Content-Length: %d\r\n\r\n" % len(wire) + wire)
        assert await peer.next() == {"id": 1, "result": 9_000_000}


async def test_ten_thousand_notifications_in_one_go_are_all_handled_in_their_order() -> None:
    seen: list[int] = []

    async def note(connection: Connection, params: dict[str, Any]) -> None:
        seen.append(params["n"])

    async def ask(connection: Connection, params: dict[str, Any]) -> int:
        return len(seen)

    async with link({"note": note, "ask": ask}) as peer:
        notes = [{"method": "note", "params": {"n": n}} for n in range(10_000)]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peer.send, *notes, {"id": 1, "method": "ask", "params": {}})
            assert await peer.next() == {"id": 1, "result": 10_000}
    assert seen == list(range(10_000))
