"""The feed: committed events in order, text in flight coalesced, and a cursor that never lies."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from agent_ls.core.events import Event, EventKind
from agent_ls.core.items import AssistantMessage, Item, ItemKind, ItemStatus
from agent_ls.core.stream import Phase, Stream
from agent_ls.runtime.feed import OUTPUT_TAIL, Feed, StreamUpdate
from tests.unit.runtime.house import HandClock, Told

pytestmark = pytest.mark.anyio


class Pumped:
    def __init__(self) -> None:
        self.clock = HandClock()
        self.kept: list[tuple[str, str, str]] = []
        self.feed = Feed(self.clock, lambda *partial: self.kept.append(partial))
        self.told = Told()
        self.feed.subscribe("c", self.told)

    async def frame(self) -> None:
        """One round of the pump: it has sent what had gathered and sleeps until the next frame."""
        await self.clock.wake()
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def pumped() -> AsyncIterator[Pumped]:
    made = Pumped()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(made.feed.pump)
            yield made
            group.cancel_scope.cancel()


def settled(item_id: str, status: ItemStatus = ItemStatus.COMPLETED) -> Event:
    item = Item(
        id=item_id,
        conversation_id="c",
        run_id="r",
        ord=1,
        kind=ItemKind.ASSISTANT_MESSAGE,
        status=status,
        payload=AssistantMessage(text="whole"),
        created_at="t",
    )
    return Event("c", 1, "t", EventKind.ITEM, "added", item)


async def test_text_of_one_frame_is_sent_in_one_piece_for_each_item() -> None:
    async with pumped() as given:
        for delta in ("He", "ll", "o"):
            given.feed.text("c", "i1", delta, phase=Phase.ANSWERING)
        given.feed.output("c", "i2", "building")
        await given.frame()
        assert given.told.frames == [
            StreamUpdate("i1", 5, "Hello", phase=Phase.ANSWERING, is_output=False),
            StreamUpdate("i2", 8, "building", phase=Phase.TOOL, is_output=True),
        ]


async def test_no_two_frames_within_33_milliseconds() -> None:
    async with pumped() as given:
        given.feed.text("c", "i1", "one", phase=Phase.ANSWERING)
        await given.clock.someone_sleeps()
        given.feed.text("c", "i1", " two", phase=Phase.ANSWERING)
        given.feed.text("c", "i1", " three", phase=Phase.ANSWERING)
        await anyio.lowlevel.checkpoint()
        assert [frame.delta for frame in given.told.frames] == ["one"]
        await given.frame()
        await given.frame()
        assert [(frame.cursor, frame.delta) for frame in given.told.frames] == [(3, "one"), (13, " two three")]


async def test_who_attaches_in_between_gets_the_text_so_far_and_then_exactly_the_rest() -> None:
    async with pumped() as given:
        given.feed.text("c", "i1", "Hello", phase=Phase.ANSWERING)
        await given.frame()
        given.feed.text("c", "i1", " wor", phase=Phase.ANSWERING)
        assert given.feed.streams("c") == [Stream(item_id="i1", cursor=5, text="Hello", phase=Phase.ANSWERING)]
        late = Told()
        given.feed.subscribe("c", late)
        given.feed.text("c", "i1", "ld", phase=Phase.ANSWERING)
        await given.frame()
        assert late.frames == [StreamUpdate("i1", 11, " world", phase=Phase.ANSWERING, is_output=False)]


async def test_a_committed_item_takes_the_place_of_its_text_in_flight() -> None:
    async with pumped() as given:
        given.feed.text("c", "i1", "Hel", phase=Phase.ANSWERING)
        given.feed.text("c", "i2", "other", phase=Phase.ANSWERING)
        given.feed.publish("c", [settled("i1")])
        await given.frame()
        assert [frame.item_id for frame in given.told.frames] == ["i2"]
        assert [stream.item_id for stream in given.feed.streams("c")] == ["i2"]
        assert given.feed.said("c", "i1") == ""


async def test_output_of_a_call_that_has_just_begun_stays() -> None:
    feed = Feed(HandClock(), lambda *_: None)
    feed.output("c", "i1", "building")
    feed.publish("c", [settled("i1", ItemStatus.RUNNING)])
    assert feed.said("c", "i1") == "building"


async def test_of_long_output_the_end_is_kept_and_the_cursor_counts_all_of_it() -> None:
    async with pumped() as given:
        for _ in range(300):
            given.feed.output("c", "i1", "x" * 1024)
        (before,) = given.feed.streams("c")
        assert (before.cursor, before.output) == (0, "")
        await given.frame()
        (shown,) = given.feed.streams("c")
        assert shown.cursor == 300 * 1024
        assert shown.output is not None
        assert OUTPUT_TAIL <= len(shown.output) < 300 * 1024


async def test_output_that_was_not_sent_yet_is_never_shown_as_sent() -> None:
    async with pumped() as given:
        for _ in range(200):
            given.feed.output("c", "i1", "a" * 10)
        await given.frame()
        for _ in range(60):
            given.feed.output("c", "i1", "b" * 1500)
        (shown,) = given.feed.streams("c")
        assert shown.cursor == 2000
        assert shown.output is not None
        assert "b" not in shown.output


async def test_other_conversations_and_those_who_left_are_told_nothing() -> None:
    async with pumped() as given:
        other = Told()
        given.feed.subscribe("another", other)
        given.feed.unsubscribe("c", given.told)
        given.feed.text("c", "i1", "hi", phase=Phase.ANSWERING)
        given.feed.publish("c", [settled("i2")])
        await given.frame()
        assert (given.told.frames, given.told.events, other.frames, other.events) == ([], [], [], [])
        assert (given.feed.attached("c"), given.feed.attached("another")) == (0, 1)


async def test_subscribing_twice_tells_once() -> None:
    feed, told = Feed(HandClock(), lambda *_: None), Told()
    feed.subscribe("c", told)
    feed.subscribe("c", told)
    feed.publish("c", [settled("i1")])
    assert len(told.events) == 1


async def test_text_is_kept_for_a_crash_although_nothing_follows_it() -> None:
    """A model that stalls after a few words: what a window shows is kept within a second."""
    async with pumped() as given:
        given.feed.text("c", "i1", "Hello", phase=Phase.ANSWERING)
        given.feed.text("c", "i2", "hm", phase=Phase.THINKING)
        given.feed.output("c", "i3", "building")
        for _ in range(40):
            await given.frame()
            if given.kept:
                break
        assert given.kept == [("c", "i1", "Hello")]
        given.feed.text("c", "i1", " world", phase=Phase.ANSWERING)
        for _ in range(40):
            await given.frame()
            if len(given.kept) > 1:
                break
        assert given.kept[1:] == [("c", "i1", "Hello world")]


async def test_while_it_is_not_sure_whose_the_conversation_is_nothing_is_said_and_then_all_of_it() -> None:
    async with pumped() as given:
        sure = False
        given.feed.may_send = lambda: sure
        given.feed.text("c", "i1", "Hel", phase=Phase.ANSWERING)
        await anyio.wait_all_tasks_blocked()
        assert given.told.frames == []
        sure = True
        given.feed.text("c", "i1", "lo", phase=Phase.ANSWERING)
        given.feed.go_on()
        await given.frame()
        assert given.told.frames == [StreamUpdate("i1", 5, "Hello", phase=Phase.ANSWERING, is_output=False)]


async def test_what_is_said_in_a_conversation_that_was_taken_over_is_forgotten() -> None:
    async with pumped() as given:
        given.feed.text("c", "i1", "Hel", phase=Phase.ANSWERING)
        given.feed.mute("c")
        given.feed.text("c", "i1", "lo", phase=Phase.ANSWERING)
        given.feed.unmute("c")
        given.feed.text("c", "i2", "New", phase=Phase.ANSWERING)
        await given.frame()
        assert given.told.frames == [StreamUpdate("i2", 3, "New", phase=Phase.ANSWERING, is_output=False)]


async def test_text_of_another_daemon_goes_on_where_it_was_or_takes_the_place_of_what_was_shown() -> None:
    async with pumped() as given:
        for texts in ({"i1": "Hel"}, {"i1": "Hello"}, {"i1": "Hello"}, {"i1": "Other"}, {"i2": "Next"}):
            given.feed.show("c", texts)
            await given.frame()
        assert [(f.item_id, f.cursor, f.delta, f.whole) for f in given.told.frames] == [
            ("i1", 3, "Hel", True),
            ("i1", 5, "lo", False),
            ("i1", 5, "Other", True),
            ("i2", 4, "Next", True),
        ]
        assert [stream.item_id for stream in given.feed.streams("c")] == ["i2"]
        given.feed.show("c", {})
        assert given.feed.streams("c") == []
        assert given.kept == []


async def test_an_answer_that_is_asked_for_again_here_takes_the_place_of_the_other_daemons() -> None:
    async with pumped() as given:
        given.feed.show("c", {"i1": "Hel"})
        await given.frame()
        given.feed.clear_all("c")
        for delta in ("Hel", "lo"):
            given.feed.text("c", "i1", delta, phase=Phase.ANSWERING)
            await given.frame()
        assert [(f.cursor, f.delta, f.whole) for f in given.told.frames] == [
            (3, "Hel", True),
            (3, "Hel", True),
            (5, "lo", False),
        ]
