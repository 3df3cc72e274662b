"""Blobs that nothing refers to are removed, and no other is, on every engine."""

from dataclasses import replace
from hashlib import sha256

import pytest

from agent_ls.core.items import (
    BLOB_SCHEME,
    AssistantMessage,
    Block,
    Call,
    ItemKind,
    ResultStatus,
    ToolResult,
    UserMessage,
)
from agent_ls.ports.blobs import Sweeps
from agent_ls.ports.ledger import Ledger
from tests.contract.ledger.make import append, begun, commit, item

pytestmark = pytest.mark.anyio

LONG_S = 3600.0


async def sweep(ledger: Ledger, grace_s: float = 0.0) -> int:
    assert isinstance(ledger, Sweeps)
    return await ledger.sweep_blobs(grace_s)


async def test_what_no_entity_names_is_removed_once_its_time_is_over(ledger: Ledger) -> None:
    await begun(ledger)
    digest = await ledger.put_blob(b"nobody's")
    assert await sweep(ledger, LONG_S) == 0
    assert await ledger.get_blob(digest) == b"nobody's"
    assert await sweep(ledger) == 1
    assert await ledger.get_blob(digest) is None
    assert await sweep(ledger) == 0


async def test_whatever_an_entity_names_stays(ledger: Ledger) -> None:
    await begun(ledger)
    kept = [await ledger.put_blob(f"blob {n}".encode()) for n in range(4)]
    call = Call(call_id="call_1", tool="shell", input={}, input_blob=kept[0], result=None)
    call = replace(call, result=ToolResult(status=ResultStatus.OK, output="", blob=kept[1]))
    image = Block(type="image", mime_type="image/png", uri=BLOB_SCHEME + kept[3])
    await append(
        ledger,
        commit(
            item(ord_=1, kind=ItemKind.TOOL_CALL, payload=call),
            item(ord_=2, payload=AssistantMessage(text="…", full=kept[2])),
            item(ord_=3, kind=ItemKind.USER_MESSAGE, payload=UserMessage(content=(image,))),
        ),
    )
    assert [await sweep(ledger) for _ in range(2)] == [0, 0]
    assert [await ledger.get_blob(digest) for digest in kept] == [f"blob {n}".encode() for n in range(4)]


async def test_what_was_named_once_stays_while_its_conversation_does(ledger: Ledger) -> None:
    """Events are never removed, so what they name is not either."""
    await begun(ledger)
    digest = await ledger.put_blob(b"of old")
    await append(ledger, commit(item(payload=AssistantMessage(text="a", full=digest))))
    await append(ledger, commit(item(payload=AssistantMessage(text="a"))))
    assert [await sweep(ledger) for _ in range(2)] == [0, 0]
    assert await ledger.get_blob(digest) == b"of old"


async def test_a_deleted_conversation_takes_along_what_only_it_named(ledger: Ledger) -> None:
    own, shared = [await ledger.put_blob(text) for text in (b"own", b"shared")]
    for id_ in ("c1", "c2"):
        await begun(ledger, id_)
        both = AssistantMessage(text=own if id_ == "c1" else "", full=shared)
        await append(ledger, commit(item(id_, payload=both), conversation_id=id_))
    assert await ledger.delete("c1", "k-delete")
    assert [await sweep(ledger, LONG_S), await sweep(ledger)] == [0, 1]
    assert [await ledger.get_blob(digest) for digest in (own, shared)] == [None, b"shared"]


async def test_what_is_put_again_has_its_time_again(ledger: Ledger) -> None:
    """Between a put and the commit that names it a sweep may look, however old the blob is."""
    await begun(ledger)
    digest = await ledger.put_blob(b"again")
    assert await sweep(ledger, LONG_S) == 0
    assert await ledger.put_blob(b"again") == digest
    assert await sweep(ledger, LONG_S) == 0
    await append(ledger, commit(item(payload=AssistantMessage(text="a", full=digest))))
    assert await sweep(ledger) == 0
    assert await ledger.get_blob(digest) == b"again"


async def test_a_history_of_many_pages_is_looked_through(ledger: Ledger) -> None:
    await begun(ledger)
    digest = await ledger.put_blob(b"far back")
    await append(ledger, commit(item(payload=AssistantMessage(text="a", full=digest))))
    await append(ledger, commit(*(item(ord_=n) for n in range(2, 1200))))
    last = await ledger.put_blob(b"at the end")
    await append(ledger, commit(item(ord_=1200, payload=AssistantMessage(text=sha256(b"at the end").hexdigest()))))
    assert await sweep(ledger) == 0
    assert [await ledger.get_blob(digest), await ledger.get_blob(last)] == [b"far back", b"at the end"]
