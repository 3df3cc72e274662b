"""Which conversations are in memory, each with its actor and its driver.

Owns loading (claim, then fold from the ledger), creation, and letting go of conversations that rest. A conversation
that nobody writes to is never loaded: lists and attaches read the ledger.
"""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

import anyio

from agent_ls.core.conversation import Conversation, Mode, auto_refused
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.errors import DAMAGED, Code, Refusal
from agent_ls.core.events import ConversationFact
from agent_ls.core.projection import ConversationState
from agent_ls.ports.ledger import LedgerError, Snapshot
from agent_ls.ports.shared import Shared
from agent_ls.runtime.actor import Actor, Decide, answer_of
from agent_ls.runtime.driver import Driver
from agent_ls.runtime.effects import begin_again
from agent_ls.runtime.patience import Fenced
from agent_ls.runtime.recovery import take_over
from agent_ls.runtime.services import Services
from agent_ls.runtime.shells import ShellWatch

log = logging.getLogger(__name__)

KEPT: Final = 64
FIRST_WAIT_S: Final = 0.2
LONGEST_WAIT_S: Final = 5.0

# In the data of a refusal: another daemon has it, it is on its way, its folder is on another machine.
OWNER: Final = "owner"
MOVING: Final = "moving"
HOST: Final = "host"


class Registry:
    """`before_actor` is awaited with what was loaded before anything is decided; `on_left` hears of what goes away."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.before_actor: Callable[[str, int], Awaitable[None]] = _nothing
        self.on_left: Callable[[str, int], None] = lambda conversation_id, seq: None
        self.shells = ShellWatch(services, self.actor)
        self._shared = isinstance(services.ledger, Shared)
        self._actors: dict[str, Actor] = {}
        self._drivers: dict[str, Driver] = {}
        self._loading = anyio.Lock()
        self._taking_over: set[str] = set()
        self._leaving: set[str] = set()
        self._taken_over = anyio.Event()

    async def actor(self, conversation_id: str) -> Actor | Refusal:
        """The actor, loaded and claimed if it was not yet."""
        found = self._actors.get(conversation_id)
        if found is None:
            return await self._locked(conversation_id, fresh=False)
        self._actors[conversation_id] = self._actors.pop(conversation_id)
        return found if found.state.exists else await self._not_here(conversation_id)

    async def create(
        self, command_id: str, wanted: Conversation, *, may_auto: bool, what: str = ""
    ) -> dict[str, Any] | Refusal:
        """`{conversation, seq}`; the id follows from the command id."""
        if wanted.mode is Mode.AUTO and not may_auto:
            return auto_refused()
        return await self.begin(command_id, wanted.id, creating(wanted), what=what)

    async def begin(
        self, command_id: str, conversation_id: str, decide: Decide, *, what: str = ""
    ) -> dict[str, Any] | Refusal:
        """A conversation that may not be there yet. `decide`: how it begins; `what`: a digest of what was asked."""
        actor = await self._locked(conversation_id, fresh=True)
        if isinstance(actor, Refusal):
            # Another daemon may have begun it, with this very command.
            known = await self.services.ledger.receipt(command_id) if self._shared else None
            return actor if known is None else answer_of(known, conversation_id, what)
        made = await actor.command(command_id, decide, what=what)
        if not actor.state.exists:
            self.forget(actor.id)
        return made

    async def delete(self, command_id: str, conversation_id: str) -> dict[str, Any] | Refusal:
        """Removes a conversation for good. The same command again gives the same answer."""
        actor = await self.actor(conversation_id)
        done = actor if isinstance(actor, Refusal) else await actor.delete(command_id)
        if not isinstance(done, Refusal):
            self.forget(conversation_id)
        elif await self.services.ledger.head(conversation_id) is None:
            known = await self.services.ledger.receipt(command_id)
            return {} if known is not None and known.conversation_id == conversation_id else _unknown(conversation_id)
        return done

    async def recover_all(self, limit_s: float) -> int:
        """Takes over every conversation that owes something; returns how many there are.

        Waits until all of it is settled, so that no shell of a dead daemon is alive when people may answer; after
        `limit_s` (a full disk, say) it goes on in the background.
        """
        owed = await self.services.ledger.owed()
        found = list(dict.fromkeys(effect.conversation_id for effect in owed))
        for conversation_id in found:
            self._taking_over.add(conversation_id)
            self.services.supervisor.start(f"loading {conversation_id}", partial(self._load_patiently, conversation_id))
        if found:
            with anyio.move_on_after(limit_s):
                await self._taken_over.wait()
        return len(found)

    async def _load_patiently(self, conversation_id: str) -> None:
        """A ledger that cannot be written now (a full disk) may be later; the run waits for that, nobody else does."""
        wait = FIRST_WAIT_S
        while not self.services.drain.begun:
            try:
                actor = await self.actor(conversation_id)
            except LedgerError as error:
                if DAMAGED in error.refusal.data:
                    log.error("%s cannot be taken over: %s", conversation_id, error.refusal.message)
                    self._is_taken_over(conversation_id)
                    return
                log.warning("%s cannot be taken over yet: %s", conversation_id, error.refusal.code)
                await self.services.clock.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT_S)
                continue
            if isinstance(actor, Refusal) and OWNER in actor.data:
                log.info("%s is held by another daemon", conversation_id)
            elif isinstance(actor, Refusal):
                log.warning("%s cannot be taken over: %s", conversation_id, actor.code)
            if isinstance(actor, Refusal) or not _is_at_work(actor):
                self._is_taken_over(conversation_id)
            return

    async def conversation(self, conversation_id: str) -> Conversation | Refusal:
        """As it is, whoever writes it."""
        actor = self._actors.get(conversation_id)
        if actor is not None and actor.state.exists:
            return actor.state.conversation
        found = await self.services.ledger.find(conversation_id)
        return found if isinstance(found, Conversation) else _unknown(conversation_id)

    async def state(self, conversation_id: str) -> ConversationState | Refusal:
        """To look at only: where others may write it, one that is not in memory is read and not claimed."""
        if not self._shared or conversation_id in self._actors:
            actor = await self.actor(conversation_id)
            return actor if isinstance(actor, Refusal) else actor.state
        found = await self.services.ledger.load(conversation_id)
        return _unknown(conversation_id) if found is None else ConversationState.of(found.entities, found.seq)

    def abandon(self) -> None:
        """Ends whatever is driven, wherever it stands."""
        for driver in self._drivers.values():
            driver.abandon()

    def _is_taken_over(self, conversation_id: str) -> None:
        self._taking_over.discard(conversation_id)
        if not self._taking_over:
            self._taken_over.set()

    def live(self, conversation_id: str) -> Actor | None:
        return self._actors.get(conversation_id)

    def state_here(self, conversation_id: str) -> ConversationState | None:
        """Of a conversation that is in memory, as every one that changes is."""
        actor = self._actors.get(conversation_id)
        return None if actor is None else actor.state

    def driver(self, conversation_id: str) -> Driver | None:
        return self._drivers.get(conversation_id)

    def actors(self) -> list[Actor]:
        return list(self._actors.values())

    def running(self) -> list[str]:
        """Ids of runs that are driven now."""
        runs = [actor.state.active for actor in self._actors.values()]
        return [run.id for run in runs if run is not None]

    def forget(self, conversation_id: str) -> None:
        self._actors.pop(conversation_id, None)
        self._drivers.pop(conversation_id, None)

    async def _locked(self, conversation_id: str, *, fresh: bool) -> Actor | Refusal:
        found: Actor | Refusal | None = None
        with anyio.CancelScope(shield=True):
            async with self._loading:
                found = self._actors.get(conversation_id) or await self._load(conversation_id)
                if fresh and isinstance(found, Refusal) and found.code is Code.NOT_FOUND:
                    found = await self._fresh(conversation_id)
        if isinstance(found, Actor) and not fresh and not found.state.exists:
            return await self._not_here(conversation_id)
        return found or _unknown(conversation_id)

    async def _not_here(self, conversation_id: str) -> Refusal:
        """It is just being made here; if it is there all the same, another daemon has made it first."""
        made = await self.services.ledger.head(conversation_id)
        return _unknown(conversation_id) if made is None else _moving()

    async def _load(self, conversation_id: str) -> Actor | Refusal:
        if conversation_id in self._leaving:
            return _moving()
        ledger = self.services.ledger
        head = await ledger.head(conversation_id)
        if head is None:
            return _unknown(conversation_id)
        if (elsewhere := self._elsewhere(head)) is not None:
            return elsewhere
        epoch = await ledger.claim(conversation_id, self.services.boot_id)
        if isinstance(epoch, Refusal):
            return epoch
        snapshot = await ledger.load(conversation_id)
        if snapshot is None:
            return _unknown(conversation_id)
        await self.before_actor(conversation_id, snapshot.seq)
        state = ConversationState.of(snapshot.entities, snapshot.seq)
        state.epoch = epoch
        actor = self._keep(Actor(conversation_id, state, self.services))
        if _is_at_work(actor):
            self._recover(actor)
        return actor

    def _elsewhere(self, head: Snapshot) -> Refusal | None:
        """A folder of another machine has files of the same name at best: nothing is run for it here."""
        here = self.services.host
        there = next((entity.host for entity in head.entities if isinstance(entity, Conversation)), None)
        if not here or not there or there == here:
            return None
        return Refusal(
            Code.UNSUPPORTED,
            f"The folder of this conversation is on {there}, and no daemon runs there now.",
            "Go on with it there, or begin a new conversation here. If this machine was called that before, "
            f'set `host = "{there}"` under [ledger] in config.toml.',
            {HOST: there},
        )

    def _recover(self, actor: Actor) -> None:
        """A run that was going on when the conversation was loaded has no live work: it is taken over first."""
        driver = self._drivers[actor.id]
        driver.held = True
        if self.services.drain.begun:
            return  # somebody sent a message to it; going on with the run is the successor's

        async def recover() -> None:
            found_at = actor.state.seq
            with suppress(Fenced):
                with self.services.drain.working(actor.id):
                    moved = await take_over(actor, self.services)
                    await self.shells.settle_left(actor)
                self._is_taken_over(actor.id)
                await begin_again(actor, driver, self.services, found_at=found_at, moved=moved)
            driver.held = False
            driver.wake()
            self._is_taken_over(actor.id)

        self.services.supervisor.start(f"recovery of {actor.id}", recover)

    def lost(self, actor: Actor) -> None:
        """Another daemon has taken it, as the ledger says."""
        actor.fenced = True
        self._fenced(actor)

    async def release(self, actor: Actor) -> None:
        """Gives the claim back, if it still rests."""
        with anyio.CancelScope(shield=True):
            async with self._loading:
                if self._actors.get(actor.id) is actor and self.rests(actor):
                    self.forget(actor.id)
                    self.on_left(actor.id, actor.state.seq)
                    await self.services.ledger.release(actor.id, self.services.boot_id)

    def _fenced(self, actor: Actor) -> None:
        """What this daemon knows of the conversation is void: it ends its work there, then looks whose it is now."""
        if self._actors.get(actor.id) is not actor:
            return
        driver = self._drivers[actor.id]
        driver.abandon()
        self.shells.drop(actor)
        self.forget(actor.id)
        self._leaving.add(actor.id)
        self.services.feed.mute(actor.id)
        self.on_left(actor.id, actor.state.seq)

        async def leave() -> None:
            await driver.over()
            self.services.feed.unmute(actor.id)
            self._leaving.discard(actor.id)
            await self._load_patiently(actor.id)

        self.services.supervisor.start(f"leaving {actor.id}", leave)

    async def _fresh(self, conversation_id: str) -> Actor | Refusal:
        epoch = await self.services.ledger.claim(conversation_id, self.services.boot_id)
        if isinstance(epoch, Refusal):
            return epoch
        state = ConversationState()
        state.epoch = epoch
        return self._keep(Actor(conversation_id, state, self.services))

    def _keep(self, actor: Actor) -> Actor:
        self._actors[actor.id] = actor
        driver = self._drivers[actor.id] = Driver(actor, self.services)
        actor.after_commit = partial(self._committed, driver)
        actor.on_fenced = self._fenced
        self._let_go()
        return actor

    def _committed(self, driver: Driver, actor: Actor) -> None:
        if actor.partly:
            # What it goes on from is read once somebody goes on: nobody pays for it before.
            self.forget(actor.id)
            return
        driver.wake()
        if actor.state.shells:
            self.shells.look(actor)

    def _let_go(self) -> None:
        """Drops the longest unused conversations that owe nothing."""
        resting = [actor for actor in self._actors.values() if self.rests(actor)]
        for actor in resting[: max(0, len(self._actors) - KEPT)]:
            if self._shared:
                self.services.supervisor.start(f"release of {actor.id}", partial(self.release, actor))
            else:
                self.forget(actor.id)

    def rests(self, actor: Actor) -> bool:
        driver = self._drivers.get(actor.id)
        busy = driver is not None and driver.live
        at_work = busy or not actor.idle or _is_at_work(actor)
        return not at_work and self.services.feed.attached(actor.id) == 0


def creating(wanted: Conversation) -> Decide:
    """The decision to make this conversation, for `begin`."""
    return partial(_create, wanted=wanted)


async def _nothing(conversation_id: str, seq: int) -> None:
    return


def _is_at_work(actor: Actor) -> bool:
    """A run goes on, or a shell in the background, or it is compacted."""
    wish = actor.state.conversation.compacting if actor.state.exists else None
    return actor.state.active is not None or wish is not None or bool(actor.state.shells)


def _moving() -> Refusal:
    return Refusal(
        Code.CONVERSATION_BUSY, "This conversation just moved to another daemon.", "Try again.", {MOVING: True}
    )


def _unknown(conversation_id: str) -> Refusal:
    return Refusal(Code.NOT_FOUND, f"There is no conversation `{conversation_id[:80]}`.")


def _create(state: ConversationState, at: str, *, wanted: Conversation) -> Decision | Refusal:
    if state.exists:
        return Refusal(Code.COMMAND_CONFLICT, "A conversation was already made with this commandId.")
    draft = Draft(state, at)
    draft.put(ConversationFact.CREATED, wanted)
    return draft.done(conversationId=wanted.id)
