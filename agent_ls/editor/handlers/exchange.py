"""`agent/conversation/export`, `import`, `delete`: conversations that come and go as a whole.

Owns what an exported file holds: every event on a line, then the blobs that they name, the first line with the number
of events, so that a file that was cut off can be told from a whole one.
"""

import base64
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from agent_ls.core import lineage
from agent_ls.core.conversation import Conversation
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import Event
from agent_ls.core.items import Item
from agent_ls.editor.bound import Answer
from agent_ls.editor.desk import Desk
from agent_ls.editor.handlers.conversation import conversation_of, conversed, missing
from agent_ls.editor.handlers.fingerprint import order
from agent_ls.editor.handlers.prompt_hook import session_ends
from agent_ls.editor.orders import Delete
from agent_ls.editor.window import Window
from agent_ls.ports.ledger import Ledger, Snapshot
from agent_ls.runtime.importing import take_over_file
from agent_ls.wire import blobs, models, views
from agent_ls.wire.markdown import markdown

PAGE: Final = 200
GAPS_SHOWN: Final = 1000
# A conversation of no known folder: tools find nothing there, and never the whole disk.
NOWHERE: Final = "unknown"


async def export(desk: Desk, window: Window, params: models.ExportConversation) -> Answer:
    ledger, known = desk.services.ledger, params.conversation_id
    if params.format == "markdown":
        snapshot = await ledger.load(known)
        if snapshot is None:
            return missing(known)
        text, path = await desk.exchange.spill(_markdown(snapshot), ".md")
    else:
        head = await ledger.head(known)
        if head is None:
            return missing(known)
        text, path = await desk.exchange.spill(_lines(ledger, known, head.seq), ".jsonl")
    return {"text": text} if path is None else {"path": path}


async def import_(desk: Desk, window: Window, params: models.ImportConversation) -> Answer:
    if not params.path.startswith("/"):
        return Refusal(Code.INVALID_PARAMS, "`path` has to be absolute.")
    standing_in = _standing_in(desk, window, params.workspace or next(iter(window.folders), NOWHERE))
    opened = partial(desk.exchange.open_export, params.path)
    done = await take_over_file(desk.registry, params.command_id, opened, standing_in=standing_in)
    if isinstance(done, Refusal):
        return done
    shown = await conversed(desk, done.conversation_id, done.seq)
    if isinstance(shown, Refusal):
        return shown
    return {
        **shown,
        "events": done.events,
        "blobs": done.blobs,
        "interrupted": done.interrupted,
        "existed": done.existed,
        "gaps": [{"line": gap.line, "what": gap.what} for gap in done.gaps[:GAPS_SHOWN]],
        "gapCount": len(done.gaps),
    }


async def delete(desk: Desk, window: Window, params: models.DeleteConversation) -> Answer:
    """Windows are told by whoever removes it: the housekeeper, or the hint of another daemon's."""
    done = await desk.commands.run(order(params, params.conversation_id, Delete()))
    if not isinstance(done, Refusal):
        session_ends(desk, params.conversation_id, "deleted")
    return done


async def _markdown(snapshot: Snapshot) -> AsyncIterator[bytes]:
    found = sorted((e for e in snapshot.entities if isinstance(e, Item)), key=lambda item: item.ord)
    yield "".join(markdown(conversation_of(snapshot), found)).encode("utf-8", "replace")


async def _lines(ledger: Ledger, conversation_id: str, last: int) -> AsyncIterator[bytes]:
    """As far as the conversation had come when it was asked for. A fork is written whole: nothing else is needed."""
    after, given = 0, await _given(ledger, conversation_id)
    named: dict[str, None] = {}
    while after < last and (batch := await ledger.read(conversation_id, after, min(PAGE, last - after))):
        lines = [views.event_json(event) for event in (_with(batch, given) if given else batch)]
        for line in lines:
            named |= dict.fromkeys(blobs.named(line))
        if after == 0:
            lines[0] = b'%s,"last":%d}' % (lines[0][:-1], last + len(given))
        yield b"\n".join(lines) + b"\n"
        after = batch[-1].seq
    for digest in named:
        content = await ledger.get_blob(digest)
        if content is not None:
            data = base64.b64encode(content).decode()
            yield json.dumps({"kind": "blob", "digest": digest, "size": len(content), "data": data}).encode() + b"\n"


async def _given(ledger: Ledger, conversation_id: str) -> list[Event]:
    """What a fork has from elsewhere, as events that come after its first one."""
    head = await ledger.head(conversation_id)
    began = None if head is None else conversation_of(head).forked_from
    snapshot = None if began is None else await ledger.load(conversation_id)
    if began is None or snapshot is None:
        return []
    facts = [lineage.as_told(entity) for entity in lineage.given(snapshot.entities, began.through)]
    return [
        Event(conversation_id, seq, fact.at or "", fact.kind, str(fact.name), fact.entity)
        for seq, fact in enumerate(facts, start=2)
    ]


def _with(batch: Sequence[Event], given: Sequence[Event]) -> list[Event]:
    later = [replace(event, seq=event.seq + len(given), wire=None) for event in batch if event.seq > 1]
    return later if batch[0].seq > 1 else [batch[0], *given, *later]


def _standing_in(desk: Desk, window: Window, workspace: str) -> Conversation:
    """What a conversation is whose file does not say. A window without trust makes no trusted one."""
    chosen = desk.catalog.choose(None)
    provider, model = ("demo", "demo") if isinstance(chosen, Refusal) else (chosen.name, chosen.model or "")
    now = desk.services.clock.now()
    return Conversation(
        id="",
        workspace=workspace,
        title="Imported conversation",
        provider=provider,
        model=model,
        mode=desk.catalog.mode,
        created_at=now,
        updated_at=now,
        trusted=window.trusted,
        host=desk.services.host or None,
    )


HANDLERS: Final[Mapping[str, Any]] = {
    "agent/conversation/export": export,
    "agent/conversation/import": import_,
    "agent/conversation/delete": delete,
}
