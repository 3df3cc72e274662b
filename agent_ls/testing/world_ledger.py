"""The ledger of a virtual daemon: the memory engine behind gates, with answers that may be lost.

Owns how trouble of a ledger looks to the runtime. Every commit is shown to the world's judge in the moment it happens.
"""

from collections.abc import Sequence
from typing import Protocol

from agent_ls.adapters.ledger.memory import MemoryLedger, Store
from agent_ls.adapters.ledger.places import lost_track
from agent_ls.core.effects import Effect
from agent_ls.core.errors import Refusal
from agent_ls.core.events import Event
from agent_ls.ports.ledger import Commit, Committed, Page, Receipt, Snapshot
from agent_ls.testing.world_fate import LEASE_S, Fate, unavailable
from agent_ls.testing.world_loop import Process


class Judge(Protocol):
    def __call__(self, process: Process, commit: Commit, events: Sequence[Event], *, lost: bool) -> None:
        """`lost`: the daemon will not hear that it happened."""
        ...


class WorldLedger(MemoryLedger):
    def __init__(self, store: Store, process: Process, fate: Fate, *, instance: str, judge: Judge) -> None:
        super().__init__(store, boot_id=process.name, instance_id=instance, ttl_s=LEASE_S)
        self._process = process
        self._fate = fate
        self._judge = judge
        self._doubts: dict[str, int] = {}

    async def renew(self) -> None:
        await self._enter("renew")
        await super().renew()

    async def claim(self, conversation_id: str, owner: str) -> int | Refusal:
        await self._enter("claim")
        claimed = await super().claim(conversation_id, owner)
        await self._fate.gate(self._process, "claimed")
        return claimed

    async def append(self, commit: Commit) -> Committed | Refusal:
        await self._enter("append")
        if self._doubts.get(commit.conversation_id) == commit.epoch:
            # As PostgreSQL says it: this one was decided without the one whose answer was lost.
            return lost_track(commit.epoch)
        committed = await super().append(commit)
        if isinstance(committed, Committed) and committed.events:
            lost = self._fate.strikes(self._fate.odds.lost_answer)
            self._judge(self._process, commit, committed.events, lost=lost)
            if lost:
                self._fate.count("lost_answer", self._process)
                self._doubts[commit.conversation_id] = commit.epoch
                raise unavailable()
        await self._fate.gate(self._process, "committed")
        return committed

    async def receipt(self, command_id: str) -> Receipt | None:
        await self._enter("receipt")
        return await super().receipt(command_id)

    async def reserve_numbers(self, count: int) -> int:
        await self._enter("reserve")
        return await super().reserve_numbers(count)

    async def load(self, conversation_id: str) -> Snapshot | None:
        await self._enter("load")
        loaded = await super().load(conversation_id)
        await self._fate.gate(self._process, "loaded")
        return loaded

    async def head(self, conversation_id: str) -> Snapshot | None:
        await self._enter("head")
        return await super().head(conversation_id)

    async def read(self, conversation_id: str, after: int, limit: int) -> Sequence[Event]:
        await self._enter("read")
        return await super().read(conversation_id, after, limit)

    async def page(self, conversation_id: str, before: str | None, limit: int) -> Page:
        await self._enter("page")
        return await super().page(conversation_id, before, limit)

    async def owed(self) -> Sequence[Effect]:
        await self._enter("owed")
        return await super().owed()

    async def take_up(self, effect: Effect, epoch: int) -> bool:
        await self._enter("take up")
        return await super().take_up(effect, epoch)

    async def put_blob(self, content: bytes) -> str:
        await self._enter("blob")
        return await super().put_blob(content)

    async def partials(self, conversation_id: str) -> dict[str, str]:
        await self._enter("partials")
        return await super().partials(conversation_id)

    async def drop_partials(self, conversation_id: str) -> None:
        await self._enter("drop")
        await super().drop_partials(conversation_id)

    async def _enter(self, place: str) -> None:
        await self._fate.ledger_gate(self._process, place)
