"""Taking over a conversation from a file: what can be read of it becomes a new conversation, in one commit.

Owns the order: blobs first, then the facts, all or none; the same file gives the same conversation. Nothing of it is
run. Does not own what can be read (adapters.ledger.jsonl) nor what becomes of it (core.imported).
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

from anyio import to_thread

from agent_ls.core import ids
from agent_ls.core.conversation import Conversation
from agent_ls.core.draft import Decision
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.imported import Blob, Event, Found, Gap, History, Record, Standard, ordered, taken
from agent_ls.core.projection import ConversationState
from agent_ls.ports.exports import ExportFile
from agent_ls.ports.ledger import Ledger
from agent_ls.runtime.registry import Registry

log = logging.getLogger(__name__)

BATCH: Final = 500


@dataclass
class Imported:
    """`existed`: the file was imported before. `gaps` in the order of the file."""

    conversation_id: str
    seq: int = 0
    events: int = 0
    blobs: int = 0
    interrupted: int = 0
    existed: bool = False
    gaps: list[Gap] = field(default_factory=list)


@dataclass
class _Read:
    events: list[Event] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    blobs: set[str] = field(default_factory=set)


async def take_over_file(
    registry: Registry, command_id: str, opened: Callable[[], ExportFile | Refusal], *, standing_in: Conversation
) -> Imported | Refusal:
    """`standing_in` is what the conversation is where the file does not say; its id does not matter."""
    file = await to_thread.run_sync(opened)
    if isinstance(file, Refusal):
        return file
    try:
        digest = await to_thread.run_sync(file.digest)
        read = await _read(file.records(), registry.services.ledger)
    finally:
        file.close()
    history = await to_thread.run_sync(ordered, read.events)
    gaps = [*read.gaps, *history.gaps, *await _lost_blobs(history, read.blobs, registry.services.ledger)]
    gaps.sort(key=lambda gap: gap.line)
    if not history.events:
        first = f" Line {gaps[0].line}: {gaps[0].what}" if gaps else ""
        return Refusal(
            Code.INVALID_PARAMS,
            f"Nothing in this file can be imported.{first}",
            "Name a file that `agent-ls export ID --format jsonl` has written.",
        )
    made = await _begun(registry, command_id, history, digest=digest, gaps=len(gaps), standing_in=standing_in)
    if not isinstance(made, Refusal):
        made.gaps, made.events, made.blobs = gaps, len(history.events), len(read.blobs)
        if not made.existed:
            where = {"conversation": made.conversation_id}
            log.info("imported %d events, %d gaps", made.events, len(gaps), extra=where)
    return made


async def _begun(
    registry: Registry, command_id: str, history: History, *, digest: str, gaps: int, standing_in: Conversation
) -> Imported | Refusal:
    """Under the first id of this file that was not deleted."""
    services = registry.services
    for n in count(1):
        conversation_id = ids.conversation_id(f"import {digest} {n}")
        head = await services.ledger.head(conversation_id)
        if head is not None:
            return Imported(conversation_id, head.seq, existed=True)
        number = await services.ledger.reserve_numbers(history.requests) if history.requests else 0
        standard = Standard(conversation=replace(standing_in, id=conversation_id), at=services.clock.now())
        whole = await to_thread.run_sync(lambda s, f: taken(history, s, first_number=f, gaps=gaps), standard, number)
        decision = Decision(whole.facts, result={"conversationId": conversation_id})

        def decide(state: ConversationState, _at: str, decision: Decision = decision) -> Decision | None:
            return None if state.exists else decision

        made = await registry.begin(command_id, conversation_id, decide)
        if isinstance(made, Refusal) and made.code is Code.NOT_FOUND:
            continue  # it was imported before and deleted since: its id is not used again
        if isinstance(made, Refusal):
            return made
        return Imported(conversation_id, int(made.get("seq", 0)), interrupted=whole.interrupted)
    raise AssertionError("there is always a next number")


async def _read(records: Iterator[Record], ledger: Ledger) -> _Read:
    """Reads in a thread, some records at a time; a blob goes to the ledger before the next one is read."""
    read = _Read()
    while batch := await to_thread.run_sync(_batch, records):
        for record in batch:
            match record:
                case Gap():
                    read.gaps.append(record)
                case Blob():
                    await ledger.put_blob(record.content)
                    read.blobs.add(record.digest)
                case _:
                    read.events.append(record)
    return read


def _batch(records: Iterator[Record]) -> list[Record]:
    batch: list[Record] = []
    for record in records:
        batch.append(record)
        if isinstance(record, Blob) or len(batch) >= BATCH:
            break
    return batch


async def _lost_blobs(history: History, given: set[str], ledger: Ledger) -> Iterable[Gap]:
    """What is named, is not in the file and is not known here either."""
    lost: dict[str, Gap] = {}
    for event in history.events:
        for digest in event.blobs - given if isinstance(event, Found) else ():
            if digest not in lost and await ledger.get_blob(digest) is None:
                what = "What was too long for the transcript is missing here; its beginning is there."
                lost[digest] = Gap(event.line, what)
    return lost.values()
