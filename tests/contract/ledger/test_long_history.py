"""What a page, a list and a fork cost does not depend on how long the history is (B60): counted in what SQLite does."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Final

import pytest

from agent_ls.adapters.ledger import reads, writes
from agent_ls.adapters.ledger.files import connect, make_private
from agent_ls.adapters.ledger.plan import prepare
from agent_ls.adapters.ledger.schema import migrate
from agent_ls.core.errors import Refusal
from agent_ls.core.ids import user_item_id
from agent_ls.core.lineage import Base
from agent_ls.ports.ledger import Commit, ListQuery, cursor_at
from tests import long_history
from tests.contract.ledger.make import commit, conversation

LONG: Final = "clong"
SHORT: Final = "cshort"
EVERY: Final = 20


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path = tmp_path_factory.mktemp("long") / "ledger.db"
    make_private(path)
    with closing(connect(path, busy_s=1)) as connection:
        migrate(connection, path)
        connection.execute("PRAGMA synchronous = OFF")
        for known, runs in ((LONG, long_history.RUNS), (SHORT, 10)):
            writes.claim(connection, known, "seed")
            large = long_history.LARGE if known == LONG else 0
            for part in long_history.parts(long_history.facts(known, "file:///w1", runs=runs, large=large)):
                write(connection, Commit(conversation_id=known, epoch=1, at=long_history.AT, facts=part))
        yield connection


def write(db: sqlite3.Connection, wanted: Commit) -> None:
    db.execute("BEGIN IMMEDIATE")
    done = writes.append(db, prepare(wanted))
    db.execute("COMMIT")
    assert not isinstance(done, Refusal), done


def fork(db: sqlite3.Connection, known: str, of: str, *, through: int) -> None:
    writes.claim(db, known, "seed")
    base = Base(conversation_id=of, through=through)
    write(db, commit(conversation(known), conversation_id=known, base=base))


def last_place(db: sqlite3.Connection, known: str) -> int:
    return int(reads.page(db, known, before=None, limit=1).items[0].ord)


def cost(db: sqlite3.Connection, work: Callable[[], object]) -> int:
    """How many times twenty instructions SQLite's machine has run for it."""
    with counted(db) as count:
        work()
    return count[0]


@contextmanager
def counted(db: sqlite3.Connection) -> Iterator[list[int]]:
    count = [0]

    def one_more() -> int:
        count[0] += 1
        return 0

    db.set_progress_handler(one_more, EVERY)
    yield count
    db.set_progress_handler(None, 0)


def test_there_are_twenty_thousand_events_and_all_are_read_by_what_reads_all(db: sqlite3.Connection) -> None:
    """Else the counts of the other tests would say nothing."""
    assert db.execute("SELECT count(*) FROM event WHERE conversation_id = ?", (LONG,)).fetchone()[0] >= 20_000
    short, long = (cost(db, lambda known=known: reads.load(db, known)) for known in (SHORT, LONG))  # type: ignore[misc]
    assert long > 10 * short


READS: Final[dict[str, Callable[[sqlite3.Connection, str], object]]] = {
    "the newest page": lambda db, known: reads.page(db, known, before=None, limit=50),
    "a page of the past": lambda db, known: reads.page(
        db, known, before=cursor_at(last_place(db, known) // 2), limit=50
    ),
    "what an attach needs besides": reads.head,
    "a summary": reads.summary,
    "one item": lambda db, known: reads.find(db, user_item_id(f"{known}.r3", 1)),
    "one run": lambda db, known: reads.find(db, f"{known}.r3"),
}


@pytest.mark.parametrize("what", READS)
def test_looking_costs_the_same(db: sqlite3.Connection, what: str) -> None:
    short, long = (cost(db, lambda known=known: READS[what](db, known)) for known in (SHORT, LONG))  # type: ignore[misc]
    assert long <= 2 * short + 5


def test_a_list_costs_the_same(db: sqlite3.Connection) -> None:
    assert cost(db, lambda: reads.conversations(db, ListQuery(workspace="file:///w1"))) < 50


@pytest.mark.parametrize("part", [1, 2])
def test_a_fork_costs_the_same_to_make_and_to_look_at(db: sqlite3.Connection, part: int) -> None:
    made, looked = {}, {}
    for known in (SHORT, LONG):
        through, child = last_place(db, known) // part, f"{known}-{part}"
        made[known] = cost(
            db, lambda child=child, known=known, through=through: fork(db, child, known, through=through)
        )  # type: ignore[misc]
        looked[known] = cost(db, lambda child=child: [read(db, child) for read in READS.values()])  # type: ignore[misc]
        page = reads.page(db, child, before=None, limit=2)
        assert page.items[-1].ord == through
    assert made[LONG] <= 2 * made[SHORT] + 5
    assert looked[LONG] <= 2 * looked[SHORT] + 10


def test_what_is_written_does_not_grow_with_the_parent(db: sqlite3.Connection) -> None:
    rows = "SELECT (SELECT count(*) FROM event), (SELECT count(*) FROM current), (SELECT count(*) FROM lineage)"
    before = db.execute(rows).fetchone()
    fork(db, "cother", LONG, through=last_place(db, LONG))
    after = db.execute(rows).fetchone()
    assert [now - then for now, then in zip(after, before, strict=True)] == [1, 1, 1]
