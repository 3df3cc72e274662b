"""Entities, commits and engines for the ledger's contract suite. Holds no assertions."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from agent_ls.adapters.ledger.memory import MemoryLedger, Store
from agent_ls.adapters.ledger.postgres.ledger import PostgresLedger
from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.core.attempt import Attempt, AttemptStatus, Reason
from agent_ls.core.conversation import Conversation, Mode
from agent_ls.core.events import AnyEntity, ConversationFact, Fact, ItemFact
from agent_ls.core.items import AssistantMessage, Item, ItemKind, ItemStatus
from agent_ls.core.request import Decision, Option, Request, RequestFact, RequestKind, RequestStatus
from agent_ls.core.run import Interrupt, Run, RunFact, RunStatus
from agent_ls.ports.ledger import Commit, Committed, Ledger, Receipt

OWNER = "boot-1"
LATER = "2026-01-31T12:00:05.000Z"


class FakeClock:
    """Stands still."""

    def now(self) -> str:
        return "2026-01-31T12:00:00.000Z"

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("the ledger never sleeps")


class Engine(Protocol):
    async def opened(self, boot_id: str = OWNER) -> Ledger: ...


@dataclass
class MemoryEngine:
    store: Store = field(default_factory=Store)

    async def opened(self, boot_id: str = OWNER) -> Ledger:
        return MemoryLedger(self.store)


@dataclass
class SqliteEngine:
    path: Path
    options: dict[str, Any] = field(default_factory=dict)

    def open(self, boot_id: str = OWNER) -> SqliteLedger:
        return SqliteLedger.open(self.path, clock=FakeClock(), boot_id=boot_id, **self.options)

    async def opened(self, boot_id: str = OWNER) -> Ledger:
        return self.open(boot_id)


@dataclass
class PostgresEngine:
    url: str
    options: dict[str, Any] = field(default_factory=dict)

    async def opened(self, boot_id: str = OWNER, **more: Any) -> PostgresLedger:
        return await PostgresLedger.open(self.url, **{"clock": FakeClock(), "boot_id": boot_id, **self.options, **more})


async def claimed(ledger: Ledger, id_: str, owner: str = OWNER) -> int:
    epoch = await ledger.claim(id_, owner)
    assert isinstance(epoch, int), epoch
    return epoch


def at(second: int) -> str:
    return f"2026-01-31T12:{second // 60:02}:{second % 60:02}.000Z"


def conversation(id_: str = "c1", **changes: Any) -> Conversation:
    fields: dict[str, Any] = {
        "id": id_,
        "workspace": "file:///w1",
        "title": f"Title of {id_}",
        "provider": "demo",
        "model": "demo-1",
        "mode": Mode.ASK,
        "created_at": at(0),
        "updated_at": at(0),
    }
    return Conversation(**{**fields, **changes})


def run(conversation_id: str = "c1", ordinal: int = 1, **changes: Any) -> Run:
    fields: dict[str, Any] = {
        "id": f"{conversation_id}.r{ordinal}",
        "conversation_id": conversation_id,
        "ordinal": ordinal,
        "status": RunStatus.RUNNING,
        "created_at": at(0),
    }
    return Run(**{**fields, **changes})


def stop() -> Interrupt:
    return Interrupt(by="ada", from_="neovim", at=at(1))


def attempt(conversation_id: str = "c1", n: int = 1, **changes: Any) -> Attempt:
    fields: dict[str, Any] = {
        "id": f"{conversation_id}.r1.a{n}",
        "run_id": f"{conversation_id}.r1",
        "conversation_id": conversation_id,
        "n": n,
        "reason": Reason.INITIAL,
        "status": AttemptStatus.RUNNING,
        "read_through": 0,
        "epoch": 1,
        "created_at": at(0),
    }
    return Attempt(**{**fields, **changes})


def item(conversation_id: str = "c1", ord_: int = 0, **changes: Any) -> Item:
    fields: dict[str, Any] = {
        "id": f"{conversation_id}.i{ord_}",
        "conversation_id": conversation_id,
        "run_id": f"{conversation_id}.r1",
        "ord": ord_,
        "kind": ItemKind.ASSISTANT_MESSAGE,
        "status": ItemStatus.COMPLETED,
        "payload": AssistantMessage(text=f"answer {ord_}"),
        "created_at": at(0),
    }
    return Item(**{**fields, **changes})


def request(conversation_id: str = "c1", number: int = 1, **changes: Any) -> Request:
    fields: dict[str, Any] = {
        "id": f"{conversation_id}.q{number}",
        "number": number,
        "conversation_id": conversation_id,
        "run_id": f"{conversation_id}.r1",
        "item_id": f"{conversation_id}.i0",
        "kind": RequestKind.APPROVAL,
        "title": "Run `make`?",
        "options": (Option(id="allow", label="Allow", decision=Decision.ALLOW),),
        "digest": "d1",
        "status": RequestStatus.PENDING,
        "created_at": at(0),
    }
    return Request(**{**fields, **changes})


def fact(entity: AnyEntity) -> Fact:
    """A plausible fact about the entity; the ledger does not judge which fact fits."""
    match entity:
        case Conversation():
            return Fact(ConversationFact.CREATED, entity)
        case Item():
            return Fact(ItemFact.ADDED, entity)
        case Request():
            return Fact(RequestFact.ASKED, entity)
        case _:
            return Fact(RunFact.RUNNING, entity)


def commit(*entities: AnyEntity, epoch: int = 1, **rest: Any) -> Commit:
    id_ = rest.pop("conversation_id", "c1")
    fields = {"conversation_id": id_, "at": at(1), "facts": [fact(entity) for entity in entities]}
    return Commit(epoch=epoch, **{**fields, **rest})


def accepted(command_id: str, conversation_id: str = "c1", **result: Any) -> Receipt:
    return Receipt(command_id, conversation_id, result=result)


async def begun(ledger: Ledger, id_: str = "c1", **changes: Any) -> int:
    """A conversation with one event, claimed; its epoch."""
    epoch = await claimed(ledger, id_)
    await append(ledger, commit(conversation(id_, **changes), epoch=epoch, conversation_id=id_))
    return epoch


async def append(ledger: Ledger, wanted: Commit) -> Committed:
    done = await ledger.append(wanted)
    assert isinstance(done, Committed), done
    return done
