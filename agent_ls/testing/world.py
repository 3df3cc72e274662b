"""The virtual world: daemons, editors, a ledger, a model and tools under one seed, from the first message to rest.

Owns how a history goes: who starts, who is replaced, when trouble ends, and what is compared at the end. The same seed
gives the same history, byte for byte. `python -m agent_ls.testing.simulate` plays many.
"""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from agent_ls.adapters.ledger.memory import Store
from agent_ls.core.conversation import Conversation, Mode
from agent_ls.core.events import Event
from agent_ls.core.ids import conversation_id
from agent_ls.core.projection import ConversationState
from agent_ls.ports.ledger import Commit
from agent_ls.testing.world_daemon import Ground, WorldDaemon
from agent_ls.testing.world_editor import WorldEditor, is_shown
from agent_ls.testing.world_fate import Fate, draw_odds
from agent_ls.testing.world_judge import Judge
from agent_ls.testing.world_link import Command, Link
from agent_ls.testing.world_loop import Process, Stuck, WorldLoop, pause
from agent_ls.testing.world_tools import ROOT, EffectLog

TROUBLE_S: Final = 240.0
REST_S: Final = 3600.0


@dataclass(frozen=True)
class History:
    """What a seed gives: `wrong` is empty for a sound one; `trace` tells it line by line."""

    seed: int
    wrong: tuple[str, ...]
    trace: tuple[str, ...]
    seen: Counter[str]
    events: int


def play(seed: int) -> History:
    world = World(seed)
    try:
        world.run()
    finally:
        world.close()
    events = sum(map(len, world.judge.events.values()))
    return History(seed, tuple(world.judge.found), tuple(world.trace), world.fate.seen, events)


class World:
    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.loop = WorldLoop(self.chance)
        self.trace: list[str] = []
        self.store = Store(seconds=self.loop.time)
        self.log = EffectLog(disk={"a": "text a", "b": "text b"})
        self.judge = Judge(self.store, self.log, self._tell)
        self.fate = Fate(self.chance, self.loop, odds=draw_odds(self.chance), tell=self._tell)
        self.fate.on_crash, self.fate.on_restart = self._crashed, self._restart
        self.fate.on_clock_back = self._clock_back
        self.ground = Ground(
            loop=self.loop, fate=self.fate, store=self.store, log=self.log,
            judge=self._committed, watcher=self.judge, wrong=self.judge.wrong,
        )  # fmt: skip
        self.daemons: dict[str, WorldDaemon] = {}
        self.processes: list[Process] = []
        self.editors: list[WorldEditor] = []
        self._boots = 0
        self._logged = _Logged(self.judge.wrong)

    def run(self) -> None:
        self.loop.set_exception_handler(lambda _, context: self.judge.wrong(f"nobody saw {context}"))
        logging.getLogger("agent_ls").addHandler(self._logged)
        try:
            self.loop.run_until_complete(self._history())
        except Stuck as stuck:
            self.judge.wrong(str(stuck))
        except Exception as error:  # noqa: BLE001 - the seed has to be told, and the next one to be played
            self.judge.wrong(f"the world itself broke: {error!r}")

    def close(self) -> None:
        self.fate.over = True
        self.loop.set_exception_handler(lambda _, __: None)
        logging.getLogger("agent_ls").removeHandler(self._logged)
        self.judge.closed = True
        left = self.loop.take_apart(self.processes)
        self.judge.closed = False
        if left:
            self.judge.wrong(f"these do not end: {left}")
        self.loop.close()

    async def _history(self) -> None:
        slots = [f"slot{n}" for n in range(self.chance.choice([1, 1, 2, 3]))]
        for slot in slots:
            self._boot(slot)
        known = [await self._create(n) for n in range(self.chance.choice([1, 1, 2]))]
        for _ in range(self.chance.choice([1, 2, 3])):
            editor = self._editor()
            editor.process.spawn(editor.play(known, self.chance.randrange(3, 9)), "plays")
        await pause(self.chance.choice([20.0, 90.0, TROUBLE_S]))
        self._tell("calm")
        self.fate.calm = True
        await self._settle(known)
        if not self.judge.found:
            await self._compare(known)
        self.judge.finished()

    async def _create(self, n: int) -> str:
        """A conversation that is there; it takes as many tries as it takes."""
        command_id = f"create{n}"
        wanted = Conversation(
            id=conversation_id(command_id),
            workspace=f"file://{ROOT}",
            title="",
            provider="p",
            model="m",
            mode=self.chance.choice([Mode.ASK, Mode.EDITS, Mode.AUTO, Mode.AUTO]),
            created_at="",
            updated_at="",
            trusted=True,
        )
        editor = self._editor()
        command = Command(id=command_id, kind="create", conversation_id=wanted.id, given={"wanted": wanted})
        made = None
        while made is None:
            made = await editor.call(command)
        editor.leave()
        return wanted.id

    async def _settle(self, known: Sequence[str]) -> None:
        """Trouble is over: people answer, daemons work, and everything comes to its end."""
        person = self._editor()
        if missing := [one for one in known if one not in self.judge.states]:
            self.judge.wrong(f"5: {missing} were made and are gone")
            return
        until = self.loop.time() + REST_S
        while self.loop.time() < until:
            states = [self.judge.states[one] for one in known]
            for state in states:
                for request in list(state.pending.values()):
                    await person.answer(request)
                if state.conversation.queue_held and self.chance.random() < 0.5:
                    await person.release(state.conversation.id)
            if all(_rests(state) for state in states) and self._quiet():
                return
            await pause(2.0)
        self.judge.wrong(f"this does not come to rest: {[_standing(self.judge.states[one]) for one in known]}")

    def _quiet(self) -> bool:
        """No editor is in the middle of something, no daemon stands still."""
        busy = [task for task in self.loop.unfinished() if task.get_name().endswith(" plays")]
        dead = {editor.process.name for editor in self.editors if editor.process.dead}
        waits = [task for task in busy if task.get_name().split(" ", maxsplit=1)[0] not in dead]
        return not waits and all(daemon.ready and daemon.process.running for daemon in self.daemons.values())

    async def _compare(self, known: Sequence[str]) -> None:
        """Windows and daemons against the ledger."""
        await pause(60.0)
        for daemon in self.daemons.values():
            self._compare_daemon(daemon)
        for editor in self.editors:
            if editor.process.dead:
                continue
            for one in known:
                link = editor.link
                following = None if link is None or link.closed else link.following.get(one)
                owner = self.store.owners.get(one)
                live = link is not None and link.daemon.process.name == owner and one not in link.moved
                if following is None or not live or one not in editor.mirrors:
                    await editor.attach(one)
                    await pause(1.0)
                self._compare_window(editor, one)

    def _compare_window(self, editor: WorldEditor, known: str) -> None:
        mirror, state = editor.mirrors.get(known), self.judge.states[known]
        if mirror is None:
            self.judge.wrong(f"{editor.process.name} cannot attach to {known}")
            return
        entities = self.store.conversations[known].current.values()
        shown = {entity.id: entity for entity in entities if is_shown(entity)}
        if mirror.seq != state.seq or mirror.shown() != shown:
            self.judge.wrong(f"{editor.process.name} shows {known} as of {mirror.seq}, the ledger is at {state.seq}")

    def _compare_daemon(self, daemon: WorldDaemon) -> None:
        if daemon.registry is None or daemon.services is None:
            return
        for actor in daemon.registry.actors():
            if self.store.epochs.get(actor.id) == actor.state.epoch and self.store.owners.get(actor.id):
                told = self.judge.states[actor.id]
                told.epoch = actor.state.epoch
                differ = [name for name, value in vars(told).items() if vars(actor.state)[name] != value]
                if differ:
                    self.judge.wrong(f"{daemon.process.name} sees {actor.id} otherwise: {differ}")
            if streams := daemon.services.feed.streams(actor.id):
                self.judge.wrong(f"{daemon.process.name} still streams {streams}")
        if held := daemon.services.locks.held():
            self.judge.wrong(f"{daemon.process.name} still holds {held}")

    def _committed(self, process: Process, commit: Commit, events: Sequence[Event], *, lost: bool) -> None:
        self.judge.committed(process, commit, events)
        for daemon in self.daemons.values():
            for link in daemon.links:
                if lost or daemon.process is not process:
                    link.moved.add(commit.conversation_id)

    def _boot(self, slot: str) -> None:
        self._boots += 1
        process = self._process(f"boot{self._boots}")
        daemon = self.daemons[slot] = WorldDaemon(process, slot, self.ground)
        task = process.spawn(daemon.live(), "lives")
        task.add_done_callback(lambda _: self.loop.outside(0.0, lambda: self._ended(daemon)))
        self._tell(f"{process.name} begins in {slot}")

    def _ended(self, daemon: WorldDaemon) -> None:
        if not self.fate.over and self.daemons.get(daemon.slot) is daemon:
            self._replace(daemon, self.chance.choice([0.1, 5.0]))

    def _crashed(self, process: Process) -> None:
        daemon = next(one for one in self.daemons.values() if one.process is process)
        for link in daemon.links:
            link.close()
        self._replace(daemon, self.chance.choice([0.1, 3.0, 50.0]))

    def _replace(self, daemon: WorldDaemon, seconds: float) -> None:
        """Often by a successor in the same place, sometimes by one that knows nothing of it."""
        slot = daemon.slot
        if self.chance.random() < 0.3:
            del self.daemons[slot]
            slot = f"{slot}+"
        self.loop.outside(seconds, lambda: None if self.fate.over else self._boot(slot))

    def _restart(self, process: Process) -> None:
        daemon = next((one for one in self.daemons.values() if one.process is process), None)
        if daemon is not None and daemon.ready:
            self.fate.count("restart", process)
            daemon.stop(self.chance.choice([None, 0.0, 5.0, 30.0]))

    def _clock_back(self, process: Process, seconds: float) -> None:
        for daemon in self.daemons.values():
            if daemon.process is process:
                daemon.clock.back_s += seconds

    def _editor(self) -> WorldEditor:
        process = self._process(f"editor{len(self.editors) + 1}")
        editor = WorldEditor(
            process, self.fate, connect=self._connect, told=self.judge.answered, wrong=self.judge.wrong
        )
        self.editors.append(editor)
        return editor

    def _connect(self, editor: WorldEditor) -> Link | None:
        serving = [daemon for daemon in self.daemons.values() if daemon.ready and not daemon.process.dead]
        if not serving:
            return None
        return Link(self.chance.choice(serving), editor.process, self.fate)

    def _process(self, name: str) -> Process:
        process = Process(name, self.loop)
        self.processes.append(process)
        return process

    def _tell(self, what: str) -> None:
        self.trace.append(f"{self.loop.time():10.3f} {what}")


class _Logged(logging.Handler):
    """Whatever the runtime logs as an error is a bug of ours."""

    def __init__(self, wrong: Callable[[str], None]) -> None:
        super().__init__(logging.ERROR)
        self._wrong = wrong

    def emit(self, record: logging.LogRecord) -> None:
        trouble = record.exc_info[1] if record.exc_info else None
        self._wrong(f"logged: {record.getMessage()} {trouble!r}")


def _rests(state: ConversationState) -> bool:
    return state.active is None and (not state.queued or state.conversation.queue_held)


def _standing(state: ConversationState) -> str:
    run = state.active
    pending = [request.id for request in state.pending.values()]
    return f"{None if run is None else run.id} queued {list(state.queued)} pending {pending}"
