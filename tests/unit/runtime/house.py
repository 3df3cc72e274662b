"""A runtime in one process: memory ledger, a scripted model, tools that wait for the test, a clock that it moves.

Owns the fakes and how they are put together. Decides nothing: everything else is the real runtime.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from agent_ls.adapters.ledger.memory import MemoryLedger, Store
from agent_ls.core.conversation import Conversation, Mode
from agent_ls.core.dispatch import Dispatch, Message, send
from agent_ls.core.effects import Effect
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import Event
from agent_ls.core.ids import conversation_id
from agent_ls.core.interrupt import interrupt
from agent_ls.core.items import Block, Call, Item, ItemKind, ResultStatus, ToolResult
from agent_ls.core.messages import CallPart, Reply, Stop, TextPart, ToolSpec
from agent_ls.core.request import Answer, Decision
from agent_ls.core.respond import respond
from agent_ls.core.run import Interrupt
from agent_ls.ports.ledger import Commit, Committed, LedgerError
from agent_ls.ports.provider import Emit, Failure, Frame, ModelRequest
from agent_ls.ports.tools import Invalid, Prepared, Replay, Toolbox, ToolContext, ToolEffect
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.feed import Feed
from agent_ls.runtime.lock_table import LockTable
from agent_ls.runtime.registry import Registry
from agent_ls.runtime.services import Limits, Services
from agent_ls.runtime.supervisor import Supervisor

ID = conversation_id("create")


class HandClock:
    """Time stands still until the test moves it; `now` ticks so that every commit has its own."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._ticks = 0
        self._sleepers: list[anyio.Event] = []
        self._asleep = anyio.Event()

    def now(self) -> str:
        self._ticks += 1
        minutes, seconds = divmod(self._ticks, 60)
        return f"2026-01-01T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}.000Z"

    def set_back(self) -> None:
        """The wall clock, as an administrator or a time server does it."""
        self._ticks = 0

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        woken = anyio.Event()
        self._sleepers.append(woken)
        self._asleep.set()
        await woken.wait()
        self.seconds += seconds

    async def someone_sleeps(self) -> None:
        await self._asleep.wait()

    async def wake(self) -> None:
        """Waits until somebody sleeps, then lets all who do go on."""
        await self.someone_sleeps()
        self._asleep = anyio.Event()
        for woken in self._sleepers:
            woken.set()
        self._sleepers.clear()


class MoodyLedger(MemoryLedger):
    """A ledger that can be told to wait before a commit, or to refuse some."""

    def __init__(self, store: Store | None = None) -> None:
        super().__init__(store)
        self.gate: anyio.Event | None = None
        self.reached = anyio.Event()
        self.moods: list[Exception | Refusal] = []

    async def append(self, commit: Commit) -> Committed | Refusal:
        self.reached.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.moods:
            mood = self.moods.pop(0)
            if isinstance(mood, Refusal):
                return mood
            raise mood
        await anyio.lowlevel.checkpoint()
        return await super().append(commit)


def full_disk() -> LedgerError:
    return LedgerError(Refusal(Code.DISK_FULL, "The disk is full."))


@dataclass
class Say:
    """One answer of the model: frames first, then, when `gate` opens, the reply."""

    reply: Reply | Failure
    frames: Sequence[Frame] = ()
    gate: anyio.Event | None = None


class ScriptedModel:
    def __init__(self) -> None:
        self.script: list[Say] = []
        self.requests: list[ModelRequest] = []
        self.asked = anyio.Event()

    async def call(self, request: ModelRequest, emit: Emit) -> Reply | Failure:
        self.requests.append(request)
        said = self.script.pop(0)
        for frame in said.frames:
            emit(frame)
        self.asked.set()
        if said.gate is not None:
            await said.gate.wait()
        return said.reply

    async def models(self) -> Sequence[str]:
        return ("m",)

    async def close(self) -> None:
        pass

    def says(self, text: str, *calls: tuple[str, str], gate: anyio.Event | None = None) -> None:
        """`calls` as (tool, arguments)."""
        parts = [TextPart(text), *(CallPart(f"n{n}", tool, arguments) for n, (tool, arguments) in enumerate(calls))]
        stop = Stop.TOOL_CALLS if calls else Stop.END_TURN
        self.script.append(Say(Reply(tuple(parts), stop), gate=gate))


@dataclass
class HandTool:
    """A tool whose runs begin and end as the test says. Arguments: `{"name", "keys"}`; a run is known by its name.

    `shown` is what the digest covers, `trouble` is raised, `recovered` is what is found out after a crash.
    """

    name: str = "edit"
    effect: ToolEffect = ToolEffect.EDIT
    replay: Replay = Replay.VERIFY
    kind: ItemKind = ItemKind.TOOL_CALL
    shown: str = "as shown"
    waits: bool = False
    trouble: Exception | None = None
    prepare_trouble: Exception | None = None
    prepare_gate: anyio.Event | None = None
    preparing: anyio.Event = field(default_factory=anyio.Event)
    output: str | None = None
    command: str | None = None
    keeps: bytes | None = None
    recovered: ToolResult | Exception | None = None
    began: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    gates: dict[str, anyio.Event] = field(default_factory=dict)
    seen: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._begun: dict[str, anyio.Event] = {}

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, "", {"type": "object"})

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        await anyio.lowlevel.checkpoint()
        self.preparing.set()
        if self.prepare_gate is not None:
            await self.prepare_gate.wait()
        if self.prepare_trouble is not None:
            raise self.prepare_trouble
        name = str(arguments.get("name", ""))
        self.seen[name] = dict(context.seen)
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=name,
            digest=f"{name} {self.shown}",
            card={"type": "other"},
            command=self.command,
            keys=tuple(arguments.get("keys", ())),
            writes=() if self.effect is ToolEffect.READ else tuple(arguments.get("writes", ("/w/x",))),
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        name = str(prepared.input.get("name", ""))
        self.began.append(name)
        self._begun.setdefault(name, anyio.Event()).set()
        context.emit(f"out of {name}")
        try:
            if self.waits:
                await self.gates.setdefault(name, anyio.Event()).wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled.append(name)
            raise
        if self.trouble is not None:
            raise self.trouble
        if self.keeps is not None:
            await context.keep(self.keeps)
        self.ended.append(name)
        data = {"uri": prepared.keys[0], "hash": name} if prepared.keys else None
        return ToolResult(status=ResultStatus.OK, output=self.output or f"did {name}", data=data)

    async def recover(self, call: Call, context: ToolContext) -> ToolResult | None:
        if isinstance(self.recovered, Exception):
            raise self.recovered
        return self.recovered

    async def begun(self, name: str) -> None:
        await self._begun.setdefault(name, anyio.Event()).wait()

    def finish(self, name: str) -> None:
        self.gates.setdefault(name, anyio.Event()).set()


class Told:
    """A subscriber that keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.frames: list[Any] = []

    def on_events(self, conversation_id: str, events: Sequence[Event]) -> None:
        self.events += events

    def on_stream(self, conversation_id: str, update: Any) -> None:
        self.frames.append(update)


@dataclass
class House:
    services: Services
    registry: Registry
    ledger: MoodyLedger
    clock: HandClock
    model: ScriptedModel
    changed: anyio.Event = field(default_factory=anyio.Event)
    commands: int = 0

    @property
    def actor(self) -> Actor:
        found = self.registry.live(ID)
        assert found is not None
        return found

    async def create(self, mode: Mode = Mode.EDITS) -> None:
        wanted = Conversation(
            id=ID,
            workspace="file:///w",
            title="",
            provider="p",
            model="m",
            mode=mode,
            created_at="t0",
            updated_at="t0",
        )
        made = await self.registry.create("create", wanted, may_auto=False)
        assert not isinstance(made, Refusal)

    async def say(self, text: str = "go", dispatch: Dispatch = Dispatch.QUEUE) -> dict[str, Any] | Refusal:
        """Starts, or waits."""
        message = Message(content=(Block(type="text", text=text),), dispatch=dispatch)
        return await self.command(lambda state, at: send(state, message, at))

    async def answer(self, item_id: str, decision: Decision, **fields: Any) -> dict[str, Any] | Refusal:
        request = next(r for r in self.actor.state.pending.values() if r.item_id == item_id)
        said = Answer(digest=request.digest, decision=decision, by="ada", from_="nvim", at="t", **fields)
        return await self.command(lambda state, at: respond(state, request.id, replace(said, at=at)))

    async def stop(self, run_id: str = f"{ID}.r1") -> dict[str, Any] | Refusal:
        return await self.command(lambda state, at: interrupt(state, run_id, Interrupt(by="ada", from_="nvim", at=at)))

    async def command(self, decide: Any) -> dict[str, Any] | Refusal:
        self.commands += 1
        return await self.actor.command(f"{self.services.boot_id} {self.commands}", decide)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits for commits until it holds."""
        while not holds():
            self.changed = anyio.Event()
            await self.changed.wait()

    async def rest(self) -> None:
        """Until no run is active and nobody works on one."""
        await self.until(lambda: self.actor.state.active is None)
        driver = self.registry.driver(ID)
        if driver is not None:
            await driver.over()

    async def asked(self) -> None:
        """Until the model has been called (again)."""
        await self.model.asked.wait()
        self.model.asked = anyio.Event()

    def calls(self) -> list[Item]:
        return [item for item in self.actor.state.items.values() if isinstance(item.payload, Call)]

    def results(self) -> list[str]:
        found = [item.call.result for item in self.calls()]
        return [result.for_model() if result else "-" for result in found]


def _changed(house: House) -> None:
    house.changed.set()


@asynccontextmanager
async def open_house(
    *tools: HandTool, store: Store | None = None, limits: Limits | None = None, boot: str = "b1"
) -> AsyncIterator[House]:
    clock, ledger, model = HandClock(), MoodyLedger(store), ScriptedModel()
    with anyio.fail_after(10):
        async with Supervisor() as supervisor:
            services = Services(
                ledger=ledger,
                clock=clock,
                feed=Feed(clock, ledger.keep_partial),
                locks=LockTable(clock),
                toolbox=Toolbox({tool.name: tool for tool in tools}),
                supervisor=supervisor,
                models=lambda name: model,
                rules=lambda conversation: (),
                environment=lambda root: {},
                limits=limits or Limits(),
                boot_id=boot,
                spool="/nowhere",
                home="/home/ada",
                platform="test",
            )
            house = House(services, Registry(services), ledger, clock, model)
            services.feed.listeners.append(lambda _id, _events: _changed(house))
            yield house


def owed_effects(store: Store) -> list[Effect]:
    return list(store.effects.values())
