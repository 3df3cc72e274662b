"""Who decides a command: the actor here, or the daemon that holds its conversation.

Owns the way of a command into the ledger's inbox and of its answer back, with a limit, and the same answer for the same
command id on either way. Does not own what is decided (orders.py).
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final, Protocol

import anyio

from agent_ls.core.conversation import Conversation
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.request import Request
from agent_ls.editor.orders import Delete, EndShell, Order, Reply, decide, handed, order_of
from agent_ls.ports.ledger import LedgerError
from agent_ls.ports.shared import Handed, Shared
from agent_ls.runtime.actor import answer_of
from agent_ls.runtime.registry import HOST, MOVING, OWNER, Registry

Answer = dict[str, Any] | Refusal

LIMIT_S: Final = 20.0
AGAIN_S: Final = 0.05
LOOK_S: Final = 0.5
# What leaves a command undecided: it stays for whoever can.
UNDECIDED: Final = frozenset({Code.LEDGER_UNAVAILABLE, Code.DISK_FULL, Code.STALE_EPOCH})


class Hints(Protocol):
    def next_change(self, conversation_id: str) -> anyio.Event: ...


class Commands:
    """`delete` removes a conversation and what was kept beside it.

    `hints` tell of other daemons' commits, where there can be others. `on_answer` hears of each request that was
    answered here, before the answer is acknowledged; of a command that comes again, again.
    """

    def __init__(self, registry: Registry, delete: Callable[[str, str], Awaitable[Answer]]) -> None:
        self._registry = registry
        self._services = registry.services
        self._delete = delete
        self.hints: Hints | None = None
        self.on_answer: Callable[[Request, Conversation], None] = lambda request, conversation: None

    async def run(self, order: Order) -> Answer:
        until = self._services.clock.monotonic() + LIMIT_S
        answer = await self._once(order, until)
        while answer is None:
            if self._services.clock.monotonic() >= until:
                return _LATE
            await self._services.clock.sleep(AGAIN_S)
            answer = await self._once(order, until)
        return answer

    async def take(self, left: Handed) -> None:
        """Decides what another daemon has left here for a conversation of ours."""
        actor = await self._registry.actor(left.conversation_id)
        shared: object = self._services.ledger
        assert isinstance(shared, Shared)
        if isinstance(actor, Refusal):
            if actor.code is Code.NOT_FOUND:
                await shared.drop_handed(left.command_id)
            return
        order = order_of(left)
        answer: Answer = _TOO_NEW if order is None else await self._decided(order)
        if isinstance(answer, Refusal):
            if answer.code in UNDECIDED:
                return
            if await self._services.ledger.receipt(left.command_id) is None:
                # Who waits for it elsewhere has nothing but the receipt.
                said, what = answer, str(left.payload.get("what", ""))
                await actor.command(left.command_id, lambda state, at: said, what=what)
        await shared.drop_handed(left.command_id)

    async def _once(self, order: Order, until: float) -> Answer | None:
        """None where the conversation is on its way from one daemon to another."""
        actor = await self._registry.actor(order.conversation_id)
        if not isinstance(actor, Refusal):
            answer = await self._decided(order)
            return None if isinstance(answer, Refusal) and answer.code is Code.STALE_EPOCH else answer
        if MOVING in actor.data:
            return None
        shared: object = self._services.ledger
        if isinstance(shared, Shared):
            abroad = actor.data.get(HOST)
            if OWNER in actor.data or (abroad is not None and await shared.present(str(abroad))):
                return await self._hand_over(shared, order, until=until, abroad=abroad is not None)
            if abroad is not None:
                return await self._known(order) or actor
        if actor.code is Code.NOT_FOUND and isinstance(order.wish, Delete):
            return await self._decided(order)
        return actor

    async def _decided(self, order: Order) -> Answer:
        if isinstance(order.wish, Delete):
            return await self._delete(order.command_id, order.conversation_id)
        actor = await self._registry.actor(order.conversation_id)
        if isinstance(actor, Refusal):
            return actor
        answer = await actor.command(order.command_id, partial(decide, wish=order.wish), what=order.what)
        if isinstance(order.wish, Reply) and not isinstance(answer, Refusal):
            self.on_answer(actor.state.requests[order.wish.request_id], actor.state.conversation)
        if isinstance(order.wish, EndShell) and not isinstance(answer, Refusal):
            await self._registry.shells.stop(order.wish.item_id, f"by {order.wish.by}")
        return answer

    async def _hand_over(self, shared: Shared, order: Order, *, until: float, abroad: bool) -> Answer | None:
        """The owner's answer; None once nobody holds the conversation any more."""
        await shared.hand_over(handed(order, self._services.clock.now()))
        clock = self._services.clock
        while clock.monotonic() < until:
            assert self.hints is not None
            changed = self.hints.next_change(order.conversation_id)
            # It lies in the ledger now: nobody is told that it does not, even if the ledger goes away meanwhile.
            with suppress(LedgerError):
                known = await self._known(order)
                if known is not None:
                    return known
                if not abroad and await shared.owner(order.conversation_id) is None:
                    return None
            with anyio.move_on_after(LOOK_S):
                await changed.wait()
        return _LATE

    async def _known(self, order: Order) -> Answer | None:
        receipt = await self._services.ledger.receipt(order.command_id)
        return None if receipt is None else answer_of(receipt, order.conversation_id, order.what)


_LATE: Final = Refusal(
    Code.CONVERSATION_BUSY,
    f"The daemon that holds this conversation has not answered for {LIMIT_S:.0f} s. "
    "What you sent is kept and is decided once, as soon as it answers or another daemon takes over.",
    "Look at the conversation in a moment; the same commandId again gives the answer.",
)

_TOO_NEW: Final = Refusal(
    Code.UNSUPPORTED,
    "The daemon that holds this conversation is older than yours and does not know this command.",
    "Run `agent-ls restart` there.",
)
