"""The bytes of a link: nothing is lost, a peer that does not read is waited for, and its end is told apart."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from agent_ls.adapters.models.plain import MOST_AHEAD
from agent_ls.daemon.link import Link

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def linked() -> AsyncIterator[tuple[Link, socket.socket]]:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    link = await Link.of(ours)
    try:
        with anyio.fail_after(20):
            yield link, theirs
    finally:
        await link.aclose()
        theirs.close()


async def heard(theirs: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        await anyio.wait_readable(theirs)
        found += theirs.recv(1 << 20)
    return found


async def test_what_comes_in_pieces_is_received_in_order_and_never_more_than_asked_for() -> None:
    async with linked() as (link, theirs):
        theirs.send(b"one")
        assert await link.receive() == b"one"
        theirs.send(b"twothree")
        assert [await link.receive(3), await link.receive()] == [b"two", b"three"]


async def test_a_peer_that_does_not_read_is_waited_for() -> None:
    said = bytes(range(256)) * 8192
    async with linked() as (link, theirs), anyio.create_task_group() as group:
        sent = anyio.Event()

        async def send() -> None:
            await link.send(said)
            sent.set()

        group.start_soon(send)
        await anyio.wait_readable(theirs)
        assert not sent.is_set()
        assert await heard(theirs, len(said)) == said
        await sent.wait()


async def test_no_more_than_a_bound_is_read_ahead_and_all_of_it_arrives() -> None:
    said = b"x" * (4 * MOST_AHEAD)
    async with linked() as (link, theirs), anyio.create_task_group() as group:

        async def send() -> None:
            left = memoryview(said)
            while left:
                await anyio.wait_writable(theirs)
                left = left[theirs.send(left) :]

        group.start_soon(send)
        got = b""
        while len(got) < len(said):
            piece = await link.receive(3 * MOST_AHEAD)
            assert len(piece) < 2 * MOST_AHEAD
            got += piece
        assert got == said


async def test_who_has_said_its_last_is_still_answered() -> None:
    async with linked() as (link, theirs):
        theirs.send(b"bye")
        theirs.shutdown(socket.SHUT_WR)
        assert await link.receive() == b"bye"
        with pytest.raises(anyio.EndOfStream):
            await link.receive()
        await link.send(b"bye, too")
        assert await heard(theirs, 8) == b"bye, too"


async def test_a_peer_that_is_gone_breaks_what_is_sent_to_it_even_while_it_is_waited_for() -> None:
    async with linked() as (link, theirs):
        async with anyio.create_task_group() as group:

            async def hang_up() -> None:
                await anyio.wait_readable(theirs)
                theirs.close()

            group.start_soon(hang_up)
            with pytest.raises(anyio.BrokenResourceError):
                await link.send(b"x" * (8 << 20))
        with pytest.raises(anyio.BrokenResourceError):
            await link.send(b"x")


async def test_a_link_that_is_closed_ends_who_waits_for_it_and_takes_nothing_more() -> None:
    async with linked() as (link, theirs):
        async with anyio.create_task_group() as group:

            async def receive() -> None:
                with pytest.raises(anyio.ClosedResourceError):
                    await link.receive()

            group.start_soon(receive)
            await anyio.lowlevel.checkpoint()
            await link.aclose()
        with pytest.raises(anyio.ClosedResourceError):
            await link.send(b"x")
        assert theirs.recv(1) == b""


async def test_a_cancelled_wait_loses_nothing() -> None:
    async with linked() as (link, theirs):
        with anyio.move_on_after(0):
            await link.receive()
        theirs.send(b"still here")
        assert await link.receive() == b"still here"


async def test_what_is_offered_is_taken_as_far_as_the_peer_has_room_and_nothing_overtakes_what_waits() -> None:
    said = bytes(range(256)) * 8192
    async with linked() as (link, theirs), anyio.create_task_group() as group:
        taken = link.offer(said)
        assert 0 < taken < len(said)
        assert link.offer(b"more") == 0
        group.start_soon(link.send, said[taken:])
        await anyio.wait_readable(theirs)
        assert link.offer(b"more") == 0
        assert await heard(theirs, len(said)) == said


async def test_a_link_that_is_over_takes_nothing() -> None:
    async with linked() as (link, theirs):
        theirs.close()
        await anyio.wait_all_tasks_blocked()
        assert link.offer(b"x") == 0
    assert link.offer(b"x") == 0
