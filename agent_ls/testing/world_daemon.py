"""A virtual daemon: the real runtime on a ledger, a model and tools of the virtual world.

Owns how one boot is put together, the order of its life (lease, recovery, serving) and what it answers to an editor.
The composition follows daemon.compose, the answers editor.handlers; both are short here, since nothing is encoded.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import anyio

from agent_ls.adapters.ledger.memory import Store
from agent_ls.core import dispatch, interrupt, queue, respond, wait
from agent_ls.core.ask_again import ask_again
from agent_ls.core.conversation import Conversation
from agent_ls.core.errors import Refusal
from agent_ls.core.run import Interrupt
from agent_ls.ports.ledger import LedgerError
from agent_ls.ports.tools import Toolbox
from agent_ls.runtime.drain import DrainMode
from agent_ls.runtime.feed import Feed
from agent_ls.runtime.janitor import Janitor
from agent_ls.runtime.lock_table import LockTable
from agent_ls.runtime.registry import Registry
from agent_ls.runtime.services import Limits, Services
from agent_ls.runtime.supervisor import Supervisor
from agent_ls.testing.world_fate import LEASE_S, Fate
from agent_ls.testing.world_ledger import Judge, WorldLedger
from agent_ls.testing.world_link import Answer, Command, Link
from agent_ls.testing.world_loop import Process, WorldLoop, pause
from agent_ls.testing.world_model import WorldModel
from agent_ls.testing.world_tools import EffectLog, Watcher, world_tools

LOOK_S: Final = 2.0
TAKE_OVER_S: Final = 3.0
ABANDON_S: Final = 8.0
REPLAY_LIMIT: Final = 256
_BEGAN: Final = datetime(2026, 1, 1)  # noqa: DTZ001


class WorldClock:
    """Virtual time as one machine sees it; its wall clock may be set back."""

    def __init__(self, loop: WorldLoop, process: Process, fate: Fate) -> None:
        self.back_s = 0.0
        self._loop = loop
        self._process = process
        self._fate = fate

    def now(self) -> str:
        moment = _BEGAN + timedelta(seconds=self._loop.time() - self.back_s)
        return moment.isoformat(timespec="milliseconds") + "Z"

    def monotonic(self) -> float:
        return self._loop.time()

    async def sleep(self, seconds: float) -> None:
        await self._fate.gate(self._process, "sleep")
        await pause(seconds)
        await anyio.lowlevel.checkpoint()


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What outlives a daemon, and who watches."""

    loop: WorldLoop
    fate: Fate
    store: Store
    log: EffectLog
    judge: Judge
    watcher: Watcher
    wrong: Callable[[str], None]


class WorldDaemon:
    """One boot. `slot` is the state directory that it holds: a successor in the same slot takes over at once."""

    def __init__(self, process: Process, slot: str, ground: Ground) -> None:
        self.process = process
        self.slot = slot
        self.ready = False
        self.links: list[Link] = []
        self.clock = WorldClock(ground.loop, process, ground.fate)
        self.registry: Registry | None = None
        self.services: Services | None = None
        self._ground = ground
        self._ending: anyio.Event | None = None
        self._handling: set[Any] = set()

    def stop(self, within_s: float | None) -> None:
        """As SIGTERM does, with a time to come to rest in; None: at once, wherever everything stands."""
        if within_s is not None and self.services is not None:
            self.services.drain.begin(DrainMode.SHUTDOWN, within_s)
        if self._ending is not None:
            self._ending.set()

    async def live(self) -> None:
        """From the lease to the last close."""
        self._ending = anyio.Event()
        ledger = WorldLedger(
            self._ground.store, self.process, self._ground.fate, instance=self.slot, judge=self._ground.judge
        )
        try:
            async with Supervisor() as supervisor:
                services = self.services = self._compose(ledger, supervisor)
                registry = self.registry = Registry(services)
                supervisor.start("feed", services.feed.pump)
                supervisor.start("lease", partial(self._renew, ledger))
                await registry.recover_all(TAKE_OVER_S)
                self.ready = True
                supervisor.start("caretaker", partial(self._look_around, registry))
                supervisor.start("janitor", Janitor(registry).watch)
                await self._ending.wait()
                if services.drain.begun:
                    await self._come_to_rest(registry, services)
                self._leave()
        except LedgerError as error:
            # As the real one: it says why and ends, and whoever wants it starts it again.
            self._ground.fate.count(f"gave up: {error.refusal.code}", self.process)
        finally:
            self._leave()
            if self.services is not None and self.services.supervisor.crashes:
                self._ground.wrong(f"{self.process.name}: a task crashed")
            await ledger.close()

    def take(self, link: Link, command: Command) -> None:
        if not self.ready:
            link.close()
            return
        if link not in self.links:
            self.links.append(link)
        task = self.process.spawn(self._serve(link, command), f"{command.kind} {command.id}")
        self._handling.add(task)
        task.add_done_callback(self._handling.discard)

    def lost(self, link: Link) -> None:
        if link in self.links:
            self.links.remove(link)
        for known in link.following:
            if self.services is not None:
                self.services.feed.unsubscribe(known, link)

    def close_links(self) -> None:
        for link in self.links:
            link.close()

    async def _come_to_rest(self, registry: Registry, services: Services) -> None:
        """As daemon.served does it: everybody is served meanwhile."""
        if not await services.drain.settled():
            self._ground.fate.count("abandoned", self.process)
            registry.abandon()
            await services.drain.settled(ABANDON_S)
        for actor in registry.actors():
            if services.feed.clear_all(actor.id):
                await services.ledger.drop_partials(actor.id)

    def _leave(self) -> None:
        self.ready = False
        self.close_links()
        for task in list(self._handling):
            task.cancel()

    def _compose(self, ledger: WorldLedger, supervisor: Supervisor) -> Services:
        ground = self._ground
        model = WorldModel(self.process, ground.fate, ground.wrong)
        tools = world_tools(self.process, ground.fate, ground.log, watcher=ground.watcher)
        return Services(
            ledger=ledger,
            clock=self.clock,
            feed=Feed(self.clock, ledger.keep_partial),
            locks=LockTable(self.clock),
            toolbox=Toolbox(tools),
            supervisor=supervisor,
            models=lambda _: model,
            rules=lambda _: (),
            environment=lambda _: {},
            limits=Limits(steps_per_run=12),
            boot_id=self.process.name,
            spool="/nowhere",
            home="/home/ada",
            platform="virtual",
            may_auto=True,
        )

    async def _renew(self, ledger: WorldLedger) -> None:
        while True:
            try:
                await ledger.renew()
            except LedgerError:
                await self.clock.sleep(1.0)
                continue
            await self.clock.sleep(LEASE_S / 3)

    async def _look_around(self, registry: Registry) -> None:
        """What daemons that are gone have left, and nobody asks for."""
        while True:
            await self.clock.sleep(LOOK_S)
            try:
                await registry.recover_all(0)
            except LedgerError:
                continue

    async def _serve(self, link: Link, command: Command) -> None:
        try:
            if command.kind == "attach":
                await self._attach(link, command)
                return
            answer = await self._decide(command)
        except LedgerError as error:
            answer = error.refusal
        except Exception as error:  # noqa: BLE001 - the dispatcher of the real one logs it and goes on
            self._ground.wrong(f"{command.kind} {command.id} raised {error!r}")
            return
        link.answer(command, answer)

    async def _decide(self, command: Command) -> Answer:
        assert self.registry is not None
        given = command.given
        if command.kind == "create":
            wanted: Conversation = given["wanted"]
            now = self.clock.now()
            return await self.registry.create(
                command.id, replace(wanted, created_at=now, updated_at=now), may_auto=True
            )
        actor = await self.registry.actor(command.conversation_id)
        if isinstance(actor, Refusal):
            return actor
        return await actor.command(command.id, partial(_DECIDERS[command.kind], given=given))

    async def _attach(self, link: Link, command: Command) -> None:
        """Follow first, then read; as editor.handlers.conversation does it."""
        assert self.services is not None
        known, after, ledger = command.conversation_id, command.given.get("after"), self.services.ledger
        link.follow(known)
        self.services.feed.subscribe(known, link)
        try:
            head = await ledger.head(known)
            missed = None
            if head is not None and after is not None and 0 <= head.seq - after <= REPLAY_LIMIT:
                missed = list(await ledger.read(known, after, REPLAY_LIMIT))
            page = await ledger.page(known, None, 100_000) if head is not None and missed is None else None
        except LedgerError as error:
            self._detach(link, known)
            link.answer(command, error.refusal)
            return
        if head is None:
            self._detach(link, known)
            link.answer(command, Refusal("not_found", "There is no such conversation."))  # type: ignore[arg-type]
            return
        seq: int = head.seq if missed is None else command.given["after"]
        answer: dict[str, Any] = {"head": head, "items": page.items if page else (), "seq": seq}
        link.answer(command, answer | {"snapshot": missed is None})
        link.release(known, seq, missed or ())

    def _detach(self, link: Link, known: str) -> None:
        link.following.pop(known, None)
        if self.services is not None:
            self.services.feed.unsubscribe(known, link)


def _send(state: Any, at: str, *, given: Mapping[str, Any]) -> Any:
    return dispatch.send(state, given["message"], at)


def _queue(state: Any, at: str, *, given: Mapping[str, Any]) -> Any:
    return queue.update(state, given["change"], at)


def _interrupt(state: Any, at: str, *, given: Mapping[str, Any]) -> Any:
    stop = Interrupt(by="ada", from_=given["from"], at=at, hold_queue=given["hold"])
    return interrupt.interrupt(state, given["run_id"], stop)


def _hurry(state: Any, at: str, *, given: Mapping[str, Any]) -> Any:
    return wait.hurry(state, given["run_id"], at)


def _retry(state: Any, at: str, *, given: Mapping[str, Any]) -> Any:
    return ask_again(state, given["run_id"], at)


def _stop_call(state: Any, at: str, *, given: Mapping[str, Any]) -> Any:
    stop = Interrupt(by="ada", from_=given["from"], at=at)
    return interrupt.interrupt_call(state, given["run_id"], given["item_id"], stop=stop)


def _respond(state: Any, at: str, *, given: Mapping[str, Any]) -> Any:
    return respond.respond(state, given["request_id"], replace(given["answer"], at=at))


_DECIDERS: Final[Mapping[str, Callable[..., Any]]] = {
    "send": _send,
    "queue": _queue,
    "interrupt": _interrupt,
    "stop call": _stop_call,
    "hurry": _hurry,
    "retry": _retry,
    "respond": _respond,
}
