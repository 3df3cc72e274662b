"""A window that does not read: what it misses, and that it is told."""

from typing import Any

import anyio
import pytest

from agent_ls.editor.framing import MessageDecoder
from agent_ls.editor.outbound import Outbound

pytestmark = pytest.mark.anyio


def stream(conversation: str, item: str, cursor: int, delta: str) -> dict[str, Any]:
    params = {"conversationId": conversation, "itemId": item, "cursor": cursor, "delta": delta}
    return {"jsonrpc": "2.0", "method": "agent/stream", "params": params}


def event(conversation: str, seq: int, text: str = "") -> dict[str, Any]:
    params = {"conversationId": conversation, "events": [{"seq": seq, "text": text}]}
    return {"jsonrpc": "2.0", "method": "agent/event", "params": params}


def reply(key: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": key, "result": None}


def resync(conversation: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "agent/resync", "params": {"conversationId": conversation}}


async def everything(outbound: Outbound) -> list[Any]:
    """What a window that reads again gets, up to the moment when nothing waits."""
    outbound.close()
    decoder = MessageDecoder()
    found: list[Any] = []
    while (data := await outbound.get()) is not None:
        found += decoder.feed(data)
    return found


async def test_messages_come_in_the_order_they_were_put_in() -> None:
    outbound = Outbound()
    messages = [reply(1), event("c", 1), stream("c", "i", 2, "ab"), event("d", 1), reply(2)]
    for message in messages:
        outbound.put(message)
    assert await everything(outbound) == messages


async def test_frames_of_one_item_become_one_while_they_wait() -> None:
    outbound = Outbound()
    for message in (stream("c", "i", 2, "ab"), stream("c", "j", 1, "x"), event("c", 1), stream("c", "i", 4, "cd")):
        outbound.put(message)
    assert await everything(outbound) == [stream("c", "i", 4, "abcd"), stream("c", "j", 1, "x"), event("c", 1)]


async def test_a_whole_text_replaces_the_deltas_before_it_and_takes_those_after_it() -> None:
    outbound = Outbound()
    outbound.put(stream("c", "i", 2, "ab"))
    params = {"conversationId": "c", "itemId": "i", "cursor": 4, "text": "abcd"}
    outbound.put({"jsonrpc": "2.0", "method": "agent/stream", "params": params})
    outbound.put(stream("c", "i", 6, "ef"))
    whole = {"conversationId": "c", "itemId": "i", "cursor": 6, "text": "abcdef"}
    assert await everything(outbound) == [{"jsonrpc": "2.0", "method": "agent/stream", "params": whole}]


async def test_frames_are_dropped_before_events_and_the_window_is_told_once() -> None:
    outbound = Outbound(most_messages=4)
    for n in range(3):
        outbound.put(stream("c", f"i{n}", 1, "x"))
    outbound.put(event("c", 1))
    outbound.put(event("c", 2))
    outbound.put(stream("c", "i9", 1, "dropped too: the window has a hole already"))
    assert await everything(outbound) == [event("c", 1), event("c", 2), resync("c")]


async def test_a_conversation_over_the_limit_is_cut_whole_and_the_others_stay() -> None:
    cut: list[str] = []
    outbound = Outbound(most_messages=5, on_cut=cut.append)
    outbound.put(reply(1))
    outbound.put(event("quiet", 1))
    for seq in range(1, 5):
        outbound.put(event("loud", seq))
    outbound.put(event("loud", 5))
    assert cut == ["loud"]
    assert await everything(outbound) == [reply(1), event("quiet", 1), resync("loud")]


async def test_bytes_count_as_well_as_messages() -> None:
    outbound = Outbound(most_bytes=10_000)
    outbound.put(event("c", 1, "x" * 6_000))
    outbound.put(event("c", 2, "x" * 6_000))
    outbound.put(reply(1))
    assert await everything(outbound) == [reply(1), resync("c")]


async def test_after_a_resync_the_conversation_is_sent_again() -> None:
    outbound = Outbound(most_messages=2)
    for seq in range(1, 4):
        outbound.put(event("c", seq))
    first = await outbound.get()
    outbound.put(event("c", 9))
    second = await outbound.get()
    assert first
    assert second
    assert MessageDecoder().feed(first + second) == [resync("c"), event("c", 9)]


async def test_a_window_that_attached_again_by_itself_gets_no_resync() -> None:
    outbound = Outbound(most_messages=2)
    for seq in range(1, 4):
        outbound.put(event("c", seq))
    outbound.attached("c")
    outbound.put(event("c", 4))
    assert await everything(outbound) == [event("c", 4)]


async def test_answers_are_never_skipped_and_a_window_that_only_asks_overflows() -> None:
    outbound = Outbound(most_messages=3)
    answers = [reply(n) for n in range(7)]
    for answer in answers[:6]:
        outbound.put(answer)
    assert not outbound.overflowed.is_set()
    outbound.put(answers[6])
    assert outbound.overflowed.is_set()
    assert await everything(outbound) == answers


async def test_one_long_answer_makes_no_slow_window() -> None:
    outbound = Outbound()
    long = {"jsonrpc": "2.0", "id": 1, "result": "x" * (20 * 1024 * 1024)}
    outbound.put(event("c", 1))
    outbound.put(long)
    assert not outbound.overflowed.is_set()
    assert await everything(outbound) == [event("c", 1), long]


async def test_the_writer_waits_for_the_next_message() -> None:
    outbound = Outbound()
    found: list[bytes | None] = []

    async def write() -> None:
        found.append(await outbound.get())

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            await anyio.wait_all_tasks_blocked()
            assert found == []
            outbound.put(reply(1))
    assert found[0] is not None
    assert MessageDecoder().feed(found[0]) == [reply(1)]


class Taker:
    """What takes bytes at once, as many as there is room for."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.taken = b""

    def offer(self, data: bytes) -> int:
        size = min(self.room, len(data))
        self.room -= size
        self.taken += data[:size]
        return size


EVENT = b'{"seq":1}'


def told(conversation: str) -> dict[str, Any]:
    params = {"conversationId": conversation, "events": [{"seq": 1}]}
    return {"jsonrpc": "2.0", "method": "agent/event", "params": params}


@pytest.mark.parametrize("room", [0, 1, 30, 100, 10_000])
async def test_events_go_out_at_once_as_far_as_there_is_room_and_the_rest_in_order_after_them(room: int) -> None:
    outbound, taker = Outbound(most_messages=2), Taker(room)

    async def write() -> None:
        while (data := await outbound.get()) is not None:
            taker.taken += data

    outbound.offer = taker.offer
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write)
            await anyio.wait_all_tasks_blocked()
            outbound.put_events("c", [EVENT])
            outbound.put(reply(1))
            outbound.put_events("c", [EVENT])
            outbound.put(reply(2))
            outbound.close()
    # Whatever was given up for want of room, no message is cut in two, and answers are never given up.
    found = MessageDecoder().feed(taker.taken)
    assert found[0] == (told("c") if room else reply(1))
    assert [message for message in found if message in (reply(1), reply(2))] == [reply(1), reply(2)]


async def test_nothing_overtakes_what_waits() -> None:
    outbound, taker = Outbound(), Taker(10_000)
    outbound.offer = taker.offer
    messages = [reply(1), told("c"), reply(2)]
    outbound.put(reply(1))
    outbound.put_events("c", [EVENT])
    outbound.put(reply(2))
    assert (await everything(outbound), taker.taken) == (messages, b"")
