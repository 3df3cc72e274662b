"""What a window is told after it has attached: every event once, however late the feed comes to know of it."""

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent_ls.core.events import Event, EventKind
from agent_ls.core.run import Run, RunStatus
from agent_ls.editor.desk import Desk
from agent_ls.editor.window import Window
from agent_ls.runtime.feed import Feed

pytestmark = pytest.mark.anyio

AT = "2026-01-31T12:00:00.000Z"


class Still:
    def now(self) -> str:
        return AT

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError


def events(*seqs: int) -> list[Event]:
    run = Run(id="c1.r1", conversation_id="c1", ordinal=1, status=RunStatus.RUNNING, created_at=AT)
    return [Event("c1", seq, AT, EventKind.RUN, "running", run) for seq in seqs]


@pytest.fixture
def feed() -> Feed:
    return Feed(Still(), lambda *_: None)


@pytest.fixture
def window(feed: Feed) -> Window:
    desk = SimpleNamespace(services=SimpleNamespace(feed=feed))
    return Window(None, {}, desk=cast(Desk, desk), pid=1)


async def heard(window: Window) -> list[dict[str, Any]]:
    window.outbound.close()
    found: list[dict[str, Any]] = []
    while data := await window.outbound.get():
        for part in data.split(b"\r\n\r\n")[1:]:
            message: dict[str, Any] = json.JSONDecoder().raw_decode(part.decode())[0]
            found.append(message)
    return found


async def told(window: Window) -> Sequence[int]:
    return [event["seq"] for message in await heard(window) for event in message["params"]["events"]]


async def test_what_the_answer_of_an_attach_holds_already_is_not_told_when_the_feed_hears_of_it_later(
    window: Window, feed: Feed
) -> None:
    window.follow("c1")
    # The ledger is read by another thread: it shows a commit before whoever made it has published it.
    window.release("c1", 3)
    feed.publish("c1", events(2, 3))
    feed.publish("c1", events(4))
    assert await told(window) == [4]


async def test_what_was_missed_is_told_once_when_the_feed_hears_of_it_later(window: Window, feed: Feed) -> None:
    window.follow("c1")
    window.release("c1", 1, events(2, 3))
    feed.publish("c1", events(3, 4))
    assert await told(window) == [2, 3, 4]


async def test_what_is_committed_while_an_attach_is_answered_comes_after_the_answer(window: Window, feed: Feed) -> None:
    window.follow("c1")
    feed.publish("c1", events(3))
    feed.publish("c1", events(4))
    window.release("c1", 3)
    feed.publish("c1", events(5))
    assert await told(window) == [4, 5]


async def test_what_was_read_as_missed_and_heard_meanwhile_is_told_once(window: Window, feed: Feed) -> None:
    window.follow("c1")
    feed.publish("c1", events(3, 4))
    window.release("c1", 1, events(2, 3))
    assert await told(window) == [2, 3, 4]


async def test_who_attaches_again_from_an_earlier_place_is_told_all_of_it_again(window: Window) -> None:
    for _ in range(2):
        window.follow("c1")
        window.release("c1", 1, events(2, 3))
    assert await told(window) == [2, 3, 2, 3]


async def test_a_gap_is_never_told_the_window_has_to_attach_again(window: Window, feed: Feed) -> None:
    window.follow("c1")
    window.release("c1", 1)
    feed.publish("c1", events(2))
    feed.publish("c1", events(4))
    feed.publish("c1", events(5))
    assert [(message["method"], message["params"]) for message in await heard(window)] == [
        ("agent/resync", {"conversationId": "c1"})
    ]
    window.follow("c1")
    window.release("c1", 5)


async def test_an_attach_that_fails_leaves_a_window_as_it_was(feed: Feed, window: Window) -> None:
    window.follow("c1")
    window.release("c1", 1)
    assert window.follows("c1")
    window.follow("c1")
    feed.publish("c1", events(2))
    window.as_before("c1", followed=True)
    feed.publish("c1", events(3))
    window.follow("c2")
    window.as_before("c2", followed=False)
    assert not window.follows("c2")
    assert await told(window) == [2, 3]
