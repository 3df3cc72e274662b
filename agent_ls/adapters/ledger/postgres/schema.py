"""Tables of the PostgreSQL ledger and how an older schema becomes a newer one.

Owns the SQL of the schema, its version and the migrations. Does not own what is written into the tables. Everything is
in a schema of its own, so that a database can be shared with other programs.

What a person or a model wrote is BYTEA: PostgreSQL's text cannot hold every sign that JSON can. Ids sort bytewise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agent_ls.adapters.ledger.postgres.links import SCHEMA, Connection
from agent_ls.core.errors import Code, Refusal
from agent_ls.ports.ledger import LedgerError

# Of all daemons on this database one migrates, the others wait for it.
_MIGRATING: Final = 0x61_67_65_6E_74_2D_6C_73


@dataclass(frozen=True)
class Migration:
    """Statements that lead from `version - 1` to `version`, in one transaction."""

    version: int
    statements: Sequence[str]


_TABLES = Migration(
    1,
    (
        # A conversation's claim and its place in the list are one row: a commit locks it, and the same row tells it
        # what came before. The row comes with the first claim (seq 0 until something is committed) and stays when
        # the conversation is deleted, so that no epoch is given twice.
        """CREATE TABLE conversation (
            conversation_id TEXT COLLATE "C" PRIMARY KEY, owner TEXT, epoch BIGINT NOT NULL DEFAULT 0,
            seq BIGINT NOT NULL DEFAULT 0, updated TEXT COLLATE "C" NOT NULL DEFAULT '', workspace TEXT, title BYTEA,
            archived BOOLEAN, text_ord BIGINT NOT NULL DEFAULT -1, text BYTEA NOT NULL DEFAULT '', deleted_at TEXT
            ) WITH (fillfactor = 70)""",
        "CREATE INDEX conversation_owner ON conversation (owner) WHERE owner IS NOT NULL",
        """CREATE TABLE event (
            conversation_id TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL, kind TEXT NOT NULL, fact TEXT NOT NULL,
            entity_id TEXT NOT NULL, run_id TEXT, command_id TEXT, epoch BIGINT NOT NULL, at TEXT NOT NULL,
            entity BYTEA NOT NULL, PRIMARY KEY (conversation_id, seq))""",
        """CREATE FUNCTION event_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF TG_OP = 'DELETE' AND EXISTS (SELECT 1 FROM conversation
                    WHERE conversation_id = OLD.conversation_id AND deleted_at IS NOT NULL) THEN
                    RETURN OLD;
                END IF;
                RAISE EXCEPTION 'an event is never changed or removed' USING ERRCODE = 'integrity_constraint_violation';
            END $$""",
        """CREATE TRIGGER event_is_never_changed BEFORE UPDATE OR DELETE ON event
            FOR EACH ROW EXECUTE FUNCTION event_is_append_only()""",
        """CREATE TRIGGER event_is_never_emptied BEFORE TRUNCATE ON event
            FOR EACH STATEMENT EXECUTE FUNCTION event_is_append_only()""",
        """CREATE TABLE current (
            entity_id TEXT COLLATE "C" PRIMARY KEY, conversation_id TEXT COLLATE "C" NOT NULL, kind TEXT NOT NULL,
            ord BIGINT NOT NULL, state TEXT, seq BIGINT NOT NULL) WITH (fillfactor = 80)""",
        "CREATE INDEX current_place ON current (conversation_id, kind, ord)",
        "CREATE INDEX current_state ON current (conversation_id) WHERE state IS NOT NULL",
        "CREATE INDEX current_pending ON current (ord) WHERE state = 'pending'",
        "CREATE INDEX current_number ON current (ord) WHERE kind = 'request'",
        """CREATE TABLE receipt (
            command_id TEXT PRIMARY KEY, conversation_id TEXT COLLATE "C" NOT NULL, status TEXT NOT NULL,
            result TEXT NOT NULL)""",
        "CREATE INDEX receipt_conversation ON receipt (conversation_id)",
        """CREATE TABLE lease (
            boot_id TEXT PRIMARY KEY, expires_at TIMESTAMPTZ NOT NULL, host TEXT NOT NULL) WITH (fillfactor = 50)""",
        """CREATE TABLE effect (
            effect_id TEXT PRIMARY KEY, conversation_id TEXT COLLATE "C" NOT NULL, type TEXT NOT NULL,
            class TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 1, available_at TEXT, last_error TEXT,
            position BIGINT GENERATED ALWAYS AS IDENTITY)""",
        "CREATE INDEX effect_conversation ON effect (conversation_id)",
        "CREATE TABLE counter (last BIGINT NOT NULL) WITH (fillfactor = 50)",
        "INSERT INTO counter VALUES (0)",
        "CREATE TABLE blob (digest TEXT PRIMARY KEY, size BIGINT NOT NULL, bytes BYTEA NOT NULL)",
        "CREATE TABLE unused_blob (digest TEXT PRIMARY KEY, since TIMESTAMPTZ NOT NULL)",
        """CREATE TABLE inbox (
            command_id TEXT PRIMARY KEY, conversation_id TEXT COLLATE "C" NOT NULL, payload TEXT NOT NULL,
            at TEXT NOT NULL, position BIGINT GENERATED ALWAYS AS IDENTITY)""",
        """CREATE TABLE instance (
            boot_id TEXT PRIMARY KEY, instance_id TEXT NOT NULL, version TEXT NOT NULL, config TEXT NOT NULL,
            started_at TEXT NOT NULL, ended_at TEXT, mode TEXT, in_flight TEXT, epoch_first BIGINT, epoch_last BIGINT,
            position BIGINT GENERATED ALWAYS AS IDENTITY)""",
        # Not in the write-ahead log: a crash of the server empties it, which text in flight is allowed to suffer.
        """CREATE UNLOGGED TABLE partial (
            conversation_id TEXT COLLATE "C" NOT NULL, item_id TEXT NOT NULL, text BYTEA NOT NULL,
            PRIMARY KEY (conversation_id, item_id))""",
    ),
)

# Where a conversation stood when its effect was begun again; how long a lease was meant to last.
_ATTEMPTS: Final = Migration(
    2,
    (
        "ALTER TABLE effect ADD COLUMN seq BIGINT",
        "ALTER TABLE lease ADD COLUMN ttl_s DOUBLE PRECISION NOT NULL DEFAULT 30",
    ),
)

# Where a fork's history lies, nearest first. `former` is where an entity of a source stood while a fork saw it like
# that, from event `since` until event `until`; `kept` is up to which event of a conversation forks of it look.
_LINEAGE: Final = Migration(
    3,
    (
        """CREATE TABLE lineage (
            conversation_id TEXT COLLATE "C" NOT NULL, depth INTEGER NOT NULL, source TEXT COLLATE "C" NOT NULL,
            seq BIGINT NOT NULL, through BIGINT NOT NULL, PRIMARY KEY (conversation_id, depth))""",
        "CREATE INDEX lineage_source ON lineage (source)",
        """CREATE TABLE former (
            conversation_id TEXT COLLATE "C" NOT NULL, kind TEXT NOT NULL, ord BIGINT NOT NULL,
            entity_id TEXT COLLATE "C" NOT NULL, since BIGINT NOT NULL, until BIGINT NOT NULL,
            PRIMARY KEY (conversation_id, kind, ord, entity_id, since))""",
        "ALTER TABLE conversation ADD COLUMN kept BIGINT NOT NULL DEFAULT 0",
    ),
)

MIGRATIONS: Final = (_TABLES, _ATTEMPTS, _LINEAGE)


async def migrate(connection: Connection, instance_id: str, *, migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """Brings the database to the newest schema, whose version it gives; may be killed anywhere and run again.

    Not while daemons of other instances work on it: an older one would go on without what the newer schema asks of
    whoever writes.
    """
    known = migrations[-1].version
    # Looks before anything is written: a ledger of a newer agent-ls is left exactly as it is.
    found = await version_of(connection)
    if found < known:
        # Not the lock of a transaction: only one that begins after the wait sees for sure which tables there are.
        await connection.execute(f"SELECT pg_advisory_lock({_MIGRATING})")
        try:
            found = await version_of(connection)
            if 0 < found < known and (others := await connection.fetch(_AT_WORK, instance_id)):
                raise LedgerError(_in_use(found, known, hosts=[row[0] for row in others]))
            for migration in migrations:
                found = await _run(connection, migration)
        finally:
            await connection.execute(f"SELECT pg_advisory_unlock({_MIGRATING})")
    if found > known:
        raise LedgerError(_too_new(found, known))
    return found


async def version_of(connection: Connection) -> int:
    """0 where there is no ledger yet."""
    if await connection.fetchval("SELECT to_regclass($1)", f"{SCHEMA}.meta") is None:
        return 0
    return int(await connection.fetchval("SELECT value FROM meta WHERE key = 'schema'") or 0)


async def _run(connection: Connection, migration: Migration) -> int:
    """Whoever had the lock before may have done it."""
    async with connection.transaction():
        found = await version_of(connection)
        if found >= migration.version:
            return found
        # A large ledger may take its time.
        await connection.execute("SET LOCAL statement_timeout = 0")
        if not found:
            await _found(connection)
        for statement in migration.statements:
            await connection.execute(statement)
        await connection.execute(f"UPDATE meta SET value = '{migration.version:d}' WHERE key = 'schema'")
    return migration.version


async def _found(connection: Connection) -> None:
    # Only where it is missing: whoever was given the schema may not be allowed to create one.
    if await connection.fetchval("SELECT to_regnamespace($1)", SCHEMA) is None:
        await connection.execute(f"CREATE SCHEMA {SCHEMA}")
    await connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
    await connection.execute("INSERT INTO meta VALUES ('schema', '0')")


def _too_new(found: int, known: int) -> Refusal:
    return Refusal(
        Code.SCHEMA_TOO_NEW,
        f"The ledger has schema {found}, this agent-ls knows schema {known} at most.",
        "Install the newer agent-ls that wrote it; nothing was changed.",
        {"found": found, "known": known},
    )


def _in_use(found: int, known: int, *, hosts: Sequence[str]) -> Refusal:
    named = ", ".join(f"`{host}`" for host in hosts if host)
    return Refusal(
        Code.LEDGER_UNAVAILABLE,
        f"The ledger has schema {found} and is to get schema {known}, but a daemon of an older agent-ls still uses it"
        f"{f', on {named}' if named else ''}.",
        "Stop it there (`agent-ls stop`), start this one, then upgrade that one; nothing was changed.",
    )


# Earlier boots of this instance are provably gone.
_AT_WORK: Final = """SELECT DISTINCT l.host FROM lease l LEFT JOIN instance i USING (boot_id)
    WHERE l.expires_at > clock_timestamp() AND i.instance_id IS DISTINCT FROM $1 ORDER BY l.host"""
