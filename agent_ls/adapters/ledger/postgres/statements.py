"""What a group of commits writes, as one statement: a column of values for each column of each table.

Owns that SQL and its parameters. Does not own what is decided (plan.py) nor the transaction (writer.py). In one group
each conversation and each command comes once at most.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from agent_ls.adapters.ledger.plan import Plan, Prepared, highest_number, listing, newest_places, receipt_row, text_of
from agent_ls.core.events import run_of
from agent_ls.ports.ledger import Commit

Work = tuple[Prepared, Plan]


def parameters(works: Sequence[Work], boot_id: str) -> list[Any]:
    """For `WRITE`."""
    commits = [prepared.commit for prepared, _ in works]
    return [
        *_columns((row for prepared, plan in works for row in _events(prepared, plan)), 10),
        *_columns((row for prepared, plan in works for row in _places(prepared.commit, plan)), 6),
        *_columns((_moved(prepared.commit, plan) for prepared, plan in works if plan.events), 8),
        *_columns((receipt_row(plan.receipt) for _, plan in works if plan.receipt is not None), 4),
        *_columns(_owed(commits), 4),
        [done for commit in commits for done in commit.settled],
        max((highest_number(plan.events) for _, plan in works), default=0),
        *_columns(_bases(commits), 3),
        [f"{boot_id} {prepared.commit.conversation_id}" for prepared, plan in works if plan.events or plan.receipt],
    ]


def _columns(rows: Iterable[Sequence[Any]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]


def _events(prepared: Prepared, plan: Plan) -> Iterable[Sequence[Any]]:
    commit = prepared.commit
    command = commit.receipt.command_id if commit.receipt else None
    for event, encoded in zip(plan.events, prepared.encoded, strict=True):
        yield (
            commit.conversation_id, event.seq, str(event.kind), event.fact, event.entity.id,
            run_of(event.entity), command, commit.epoch, event.at, encoded,
        )  # fmt: skip


def _places(commit: Commit, plan: Plan) -> Iterable[Sequence[Any]]:
    for place, seq in newest_places(plan.events):
        yield place.entity_id, commit.conversation_id, str(place.kind), place.ord, place.state, seq


def _moved(commit: Commit, plan: Plan) -> Sequence[Any]:
    new = listing(commit)
    ord_, text = text_of(commit)
    title = None if new.title is None else new.title.encode("utf-8", "replace")
    return commit.conversation_id, plan.seq, commit.at, new.workspace, title, new.archived, ord_, text.encode()


def _owed(commits: Iterable[Commit]) -> Iterable[Sequence[Any]]:
    """What is settled by the commit that asks for it was never owed."""
    for commit in commits:
        for effect in commit.effects:
            if effect.id not in commit.settled:
                yield effect.id, effect.conversation_id, str(effect.type), str(effect.effect_class)


def _bases(commits: Iterable[Commit]) -> Iterable[Sequence[Any]]:
    for commit in commits:
        if commit.base is not None:
            yield commit.conversation_id, commit.base.conversation_id, commit.base.through


CHANNEL: Final = "agent_ls"

# Times never go back, so that a cursor of the list stays good when the wall clock is set back.
WRITE: Final = f"""WITH
    events AS (INSERT INTO event (conversation_id, seq, kind, fact, entity_id, run_id, command_id, epoch, at, entity)
        SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
            $8::bigint[], $9::text[], $10::bytea[])),
    kept AS (INSERT INTO former (conversation_id, kind, ord, entity_id, since, until)
        SELECT p.conversation_id, p.kind, p.ord, p.entity_id, p.seq, n.seq
        FROM unnest($11::text[], $16::bigint[]) AS n (id, seq) JOIN current p ON p.entity_id = n.id
            JOIN conversation c ON c.conversation_id = p.conversation_id WHERE p.seq <= c.kept),
    places AS (INSERT INTO current (entity_id, conversation_id, kind, ord, state, seq)
        SELECT * FROM unnest($11::text[], $12::text[], $13::text[], $14::bigint[], $15::text[], $16::bigint[])
        ON CONFLICT (entity_id) DO UPDATE SET ord = excluded.ord, state = excluded.state, seq = excluded.seq),
    moved AS (UPDATE conversation c SET seq = n.seq, updated = greatest(c.updated, n.at COLLATE "C"),
            workspace = coalesce(n.workspace, c.workspace), title = coalesce(n.title, c.title),
            archived = coalesce(n.archived, c.archived),
            text = CASE WHEN n.text_ord >= c.text_ord THEN n.text ELSE c.text END,
            text_ord = greatest(c.text_ord, n.text_ord)
        FROM unnest($17::text[], $18::bigint[], $19::text[], $20::text[], $21::bytea[], $22::boolean[], $23::bigint[],
            $24::bytea[]) AS n (id, seq, at, workspace, title, archived, text_ord, text)
        WHERE c.conversation_id = n.id),
    answered AS (INSERT INTO receipt (command_id, conversation_id, status, result)
        SELECT * FROM unnest($25::text[], $26::text[], $27::text[], $28::text[])),
    taken AS (DELETE FROM inbox WHERE command_id = ANY($25::text[])),
    owed AS (INSERT INTO effect (effect_id, conversation_id, type, class)
        SELECT id, owner, type, class FROM unnest($29::text[], $30::text[], $31::text[], $32::text[])
            WITH ORDINALITY AS n (id, owner, type, class, place) ORDER BY place
        ON CONFLICT DO NOTHING),
    settled AS (DELETE FROM effect WHERE effect_id = ANY($33::text[])),
    numbers AS (UPDATE counter SET last = $34 WHERE last < $34),
    bases AS (SELECT * FROM unnest($35::text[], $36::text[], $37::bigint[]) AS n (id, source, through)),
    begun AS (INSERT INTO lineage (conversation_id, depth, source, seq, through)
        SELECT n.id, 0, n.source, c.seq, n.through FROM bases n JOIN conversation c ON c.conversation_id = n.source
        UNION ALL SELECT n.id, 1 + l.depth, l.source, l.seq, least(l.through, n.through)
        FROM bases n JOIN lineage l ON l.conversation_id = n.source),
    watched AS (UPDATE conversation c SET kept = c.seq FROM bases n WHERE c.conversation_id = n.source)
    SELECT pg_notify('{CHANNEL}', n) FROM unnest($38::text[]) AS n"""
