"""Requests are answered once, in both directions, whatever order cancels and answers come in (B68)."""

import anyio
import pytest

from agent_ls.editor.book import CLOSED, Answered, Entry, IncomingBook, OutgoingBook, Unanswered

pytestmark = pytest.mark.anyio


def opened(book: IncomingBook, key: int) -> Entry:
    entry = book.open(key, "m", {})
    assert isinstance(entry, Entry)
    return entry


async def test_of_70_queued_requests_the_60_that_are_cancelled_never_start() -> None:
    book = IncomingBook(most_running=1)
    entries = [opened(book, key) for key in range(70)]
    cancelled = [book.cancel(key) for key in range(10, 70)]
    assert cancelled == entries[10:]
    for entry in entries[10:]:
        assert book.settle(entry)
    started = []
    while entry := book.next():
        started.append(entry.key)
        assert book.settle(entry)
        book.ended(entry)
    assert started == list(range(10))


async def test_requests_start_in_order_and_only_some_at_a_time() -> None:
    book = IncomingBook(most_running=2)
    first, second, third = (opened(book, key) for key in (3, 1, 2))
    assert (book.next(), book.next(), book.next()) == (first, second, None)
    book.settle(second)
    book.ended(second)
    assert (book.next(), book.next()) == (third, None)


async def test_a_request_is_settled_once() -> None:
    book = IncomingBook()
    entry = opened(book, 1)
    assert [book.settle(entry), book.settle(entry)] == [True, False]


async def test_a_cancel_of_a_running_request_ends_its_scope_and_leaves_the_reply_to_it() -> None:
    book = IncomingBook()
    entry = opened(book, 1)
    assert book.next() is entry
    assert book.cancel(1) is None
    assert entry.scope.cancel_called


async def test_a_cancel_after_the_reply_or_of_an_unknown_id_changes_nothing() -> None:
    book = IncomingBook()
    entry = opened(book, 1)
    book.settle(entry)
    assert (book.cancel(1), book.cancel(2), entry.scope.cancel_called) == (None, None, False)


async def test_an_id_may_be_used_again_after_its_reply_and_not_before() -> None:
    book = IncomingBook()
    entry = opened(book, 1)
    assert book.open(1, "m", {}) == "duplicate"
    book.settle(entry)
    assert isinstance(book.open(1, "m", {}), Entry)


async def test_the_line_is_bounded() -> None:
    book = IncomingBook(most_queued=2)
    opened(book, 1)
    opened(book, 2)
    assert book.open(3, "m", {}) == "full"


async def test_idle_ends_when_the_last_request_is_settled() -> None:
    book = IncomingBook()
    entry = opened(book, 1)
    with anyio.move_on_after(0):
        await book.idle()
        pytest.fail("it is not idle while a reply is owed")
    book.settle(entry)
    with anyio.fail_after(5):
        await book.idle()


async def answered(book: OutgoingBook, message: dict[str, object]) -> object:
    key = book.ask()
    assert book.answer({"id": key, **message})
    with anyio.fail_after(5):
        return await book.wait(key, timeout=5)


async def test_an_answer_of_the_client_is_given_to_who_asked() -> None:
    book = OutgoingBook("1.1")
    assert await answered(book, {"result": {"applied": True}}) == Answered({"applied": True})
    assert await answered(book, {"result": None}) == Answered(None)
    assert await answered(book, {"error": {"code": -32601, "message": "no"}}) == Unanswered("error", "no")


async def test_a_late_a_second_and_an_unknown_answer_are_dropped() -> None:
    book = OutgoingBook("1.1")
    key = book.ask()
    assert await book.wait(key, timeout=0) == Unanswered("timeout", "The window did not answer within 0 s.")
    assert not book.answer({"id": key, "result": 1})
    second = book.ask()
    assert [book.answer({"id": second, "result": n}) for n in (1, 2)] == [True, False]
    assert await book.wait(second, timeout=5) == Answered(1)
    assert not book.answer({"id": 17, "result": 1})


async def test_whoever_waits_when_the_link_ends_is_told() -> None:
    book = OutgoingBook("1.1")
    key = book.ask()
    book.close()
    with anyio.fail_after(5):
        assert await book.wait(key, timeout=60) == CLOSED


async def test_ids_differ_from_those_of_another_connection() -> None:
    first, second = OutgoingBook("1.1"), OutgoingBook("1.2")
    assert len({first.ask(), first.ask(), second.ask(), second.ask()}) == 4
