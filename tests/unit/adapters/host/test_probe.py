"""Local model servers are found by their answer, not by their port."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Thread

import pytest

from agent_ls.adapters.host.probe import local_models

MODELS = b'{"object": "list", "data": [{"id": "m1"}, {"id": "m2"}, {"id": 3}, 4]}'


@contextmanager
def server(answer: bytes | None) -> Iterator[str]:
    """Answers one connection with these bytes; None: takes it and stays silent."""
    with socket.create_server(("127.0.0.1", 0)) as listening, ExitStack() as held:
        listening.settimeout(5)

        def serve() -> None:
            connection, _ = listening.accept()
            held.enter_context(connection)
            connection.settimeout(5)
            connection.recv(4096)
            if answer is not None:
                connection.sendall(answer)
                connection.shutdown(socket.SHUT_WR)

        thread = Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        finally:
            thread.join(5)


def http(body: bytes, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def nobody() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


def test_servers_that_answer_are_given_in_the_order_asked_with_their_models() -> None:
    with server(http(MODELS)) as one, server(http(b'{"data": []}')) as two:
        found = local_models([two, nobody(), one], limit_s=5.0)
    assert list(found.items()) == [(two, ()), (one, ("m1", "m2"))]


@pytest.mark.parametrize(
    "answer",
    [
        http(MODELS, "404 Not Found"),
        http(b"<html>"),
        http(b"[]"),
        http(b'{"data": {}}'),
        http(b"[" * 100_000),
        b"SSH-2.0-x\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{",
        b"",
    ],
)
def test_something_else_on_that_port_is_not_a_model_server(answer: bytes) -> None:
    with server(answer) as url:
        assert local_models([url], limit_s=5.0) == {}


def test_a_silent_server_is_not_waited_for_beyond_the_limit() -> None:
    with server(None) as url:
        # It says nothing until the end of this block: an answer here is one that the limit made.
        assert local_models([url], limit_s=0.2) == {}
