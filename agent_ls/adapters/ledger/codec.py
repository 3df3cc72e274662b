"""Entities and events as JSON, spelled as on the wire.

Owns how a stored entity is written and read again, also one of an older version (the steps are upcast.py's). Does not
own the wire's own models (what an entity looks like only there is added by the editor's room), nor where bytes are
kept.
"""

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from agent_ls.adapters.ledger import upcast
from agent_ls.core.conversation import Conversation
from agent_ls.core.errors import DAMAGED, Code, Refusal
from agent_ls.core.events import ENTITIES, KINDS, AnyEntity, Event, EventKind, kind_of
from agent_ls.core.items import PAYLOADS, Item, ItemKind, ItemStatus, Notice
from agent_ls.core.request import Request
from agent_ls.ports.ledger import LedgerError

UNREADABLE = "unreadable"

T = TypeVar("T")
E = TypeVar("E", Item, Request, Conversation)

log = logging.getLogger(__name__)


class Unreadable(LedgerError):
    """Stored bytes that this version cannot understand and cannot show as a notice either."""

    def __init__(self, kind: str) -> None:
        message = f"A stored {kind} cannot be read by this version of agent-ls."
        super().__init__(Refusal(Code.SCHEMA_TOO_NEW, message))


class Damaged(Unreadable):
    """Stored bytes that no version has written like this."""

    def __init__(self, kind: str) -> None:
        LedgerError.__init__(self, damaged(kind))


def damaged(what: str) -> Refusal:
    return Refusal(
        Code.LEDGER_UNAVAILABLE,
        f"A stored {what} is damaged: its text cannot be read.",
        "Stop the daemon and put a backup of the ledger in its place. Everything else in it can still be used; "
        "`agent-ls export ID` saves what can be read.",
        {DAMAGED: True},
    )


def encode(entity: AnyEntity) -> bytes:
    encoded = _dump(_adapter(type(entity)), entity)
    version = upcast.current(kind_of(entity))
    return encoded if version == 1 else b'%s,"%s":%d}' % (encoded[:-1], upcast.VERSION.encode(), version)


def decode(kind: EventKind | str, data: bytes | str) -> AnyEntity:
    """The entity; an item that this version does not know becomes a notice in its place."""
    raw = _object(str(kind), data)
    try:
        if kind == EventKind.ITEM:
            return _item(raw)
        raw, _ = upcast.upcast(EventKind(kind), raw)
        entity: AnyEntity = _adapter(ENTITIES[EventKind(kind)]).validate_python(raw)
    except ValueError as error:
        raise Unreadable(str(kind)) from error
    return entity


def decode_as(shape: type[E], data: bytes | str) -> E:
    """An entity that stands where only its kind does."""
    entity = decode(KINDS[shape], data)
    assert isinstance(entity, shape)
    return entity


def stored_event(conversation_id: str, row: Sequence[Any]) -> Event:
    """From its columns: seq, at, kind, fact, entity."""
    seq, at, kind, fact, entity = row
    event = Event(conversation_id, seq, at, EventKind(kind), fact, decode(kind, entity))
    _keep_stored(event, entity)
    return event


def readable(reads: Iterable[Callable[[], T | None]]) -> list[T]:
    """What can be read of many: one that is damaged keeps nobody from the others."""
    found = []
    for read in reads:
        try:
            made = read()
        except Damaged as error:
            log.error("%s", error.refusal.message)
            continue
        if made is not None:
            found.append(made)
    return found


def event_json(event: Event) -> bytes:
    """The wire Event. Made once: an event never changes, so its bytes are kept with it."""
    return event.wire or keep_json(event, encode(event.entity))


def keep_json(event: Event, entity: bytes) -> bytes:
    """Keeps the wire bytes of an event whose entity is already encoded."""
    head = {"seq": event.seq, "at": event.at, "kind": str(event.kind), "fact": event.fact}
    made = b'%s,"entity":%s}' % (json.dumps(head, separators=(",", ":")).encode()[:-1], entity)
    # Frozen for everybody else: this is the one moment in which the bytes are made.
    object.__setattr__(event, "wire", made)
    return made


def _keep_stored(event: Event, stored: bytes) -> None:
    """Keeps the bytes that the ledger has, unless they are of an older version: a window knows only this one."""
    keep_json(event, encode(event.entity) if _is_old(event.kind, stored) else stored)


def from_wire(shape: type, value: Any) -> Any:
    """A dataclass of the core from plain JSON values; raises pydantic's ValidationError, which is a ValueError."""
    return _adapter(shape).validate_python(value)


def encode_result(result: dict[str, Any]) -> str:
    """A receipt's result."""
    return _json(result).decode()


def decode_result(data: str | bytes) -> dict[str, Any]:
    return _object("answer", data)


def encode_refusal(refusal: Refusal) -> str:
    return _dump(_adapter(Refusal), refusal).decode()


def decode_refusal(data: str | bytes) -> Refusal:
    try:
        made: Refusal = _adapter(Refusal).validate_json(data)
    except ValueError as error:
        raise Damaged("answer") from error
    return made


def _object(what: str, data: bytes | str) -> dict[str, Any]:
    try:
        raw = from_json(data)
    except ValueError as error:
        raise Damaged(what) from error
    if not isinstance(raw, dict):
        raise Damaged(what)
    return raw


def _adapter(shape: type) -> TypeAdapter[Any]:
    adapter = _ADAPTERS.get(shape)
    if adapter is None:
        adapter = _ADAPTERS[shape] = TypeAdapter(shape)
    return adapter


def _dump(adapter: TypeAdapter[Any], thing: Any) -> bytes:
    try:
        return adapter.dump_json(thing, by_alias=True, exclude_none=True)
    except PydanticSerializationError:
        # Half a surrogate pair (a file name that is not UTF-8) must not keep a fact from being stored.
        return _json(_whole(adapter.dump_python(thing, by_alias=True, exclude_none=True)))


def _json(value: Any) -> bytes:
    try:
        return to_json(value, inf_nan_mode="null")
    except PydanticSerializationError:
        return to_json(_whole(value), inf_nan_mode="null")


def _whole(value: Any) -> Any:
    """The value with every lone surrogate replaced, which JSON in UTF-8 cannot hold."""
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict():
            return {_whole(key): _whole(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_whole(inner) for inner in value]
        case _:
            return value


def _is_old(kind: EventKind, stored: bytes) -> bool:
    if upcast.current(kind) == 1:
        return False
    try:
        return upcast.upcast(kind, from_json(stored))[1]
    except upcast.Newer:
        return False


def _item(raw: dict[str, Any]) -> Item:
    try:
        raw, _ = upcast.upcast(EventKind.ITEM, raw)
        payload = _adapter(PAYLOADS[ItemKind(raw["kind"])]).validate_python(raw["payload"])
        item: Item = _adapter(Item).validate_python({**raw, "payload": payload})
    except (ValueError, KeyError):
        return _unreadable(raw)
    return item


def _unreadable(raw: dict[str, Any]) -> Item:
    """What a reader sees in the place of an item from another version."""
    notice = Notice(
        code=UNREADABLE,
        message=f"An item of kind `{raw.get('kind', '?')}` cannot be shown by this version of agent-ls.",
        hint="Open the conversation with the newer version that wrote it.",
    )
    known = {key: value for key, value in raw.items() if key not in ("kind", "status", "payload", upcast.VERSION)}
    status = raw.get("status", "")
    shape = {**known, "kind": ItemKind.NOTICE, "status": status, "payload": notice}
    try:
        item: Item = _adapter(Item).validate_python(shape)
    except ValidationError:
        item = _adapter(Item).validate_python({**shape, "status": ItemStatus.COMPLETED})
    return item


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}
