"""A virtual editor: a person at a window, who says, answers, stops and reorders whatever comes to mind.

Owns the window's mirror of each conversation, and sending a command until it is answered: again on another line, with
the same id, as every client of ours does. Decides nothing about what is right; the judge compares.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from agent_ls.core.conversation import Conversation
from agent_ls.core.dispatch import Dispatch, Message
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import AnyEntity, Event
from agent_ls.core.items import Block, Item
from agent_ls.core.queue import QueueOp, QueueUpdate
from agent_ls.core.request import Answer as Said
from agent_ls.core.request import Decision, Request
from agent_ls.core.run import Run, RunStatus
from agent_ls.testing.world_fate import Fate
from agent_ls.testing.world_link import Answer, Command, Link, News
from agent_ls.testing.world_loop import Process, pause

PATIENCE_S: Final = 12.0
TRIES: Final = 12
_PASSING: Final = frozenset({Code.STALE_EPOCH, Code.LEDGER_UNAVAILABLE})
Connect = Callable[["WorldEditor"], Link | None]


def is_passing(answer: Answer) -> bool:
    """Not what the command came to: it can be sent again, and may be taken then."""
    if not isinstance(answer, Refusal):
        return False
    elsewhere = answer.code is Code.CONVERSATION_BUSY and not answer.message.startswith("A run is going on")
    return elsewhere or answer.code in _PASSING


@dataclass
class Mirror:
    """A conversation as this window sees it; `behind` until an attach was answered."""

    seq: int
    entities: dict[str, AnyEntity] = field(default_factory=dict)

    def pending(self) -> list[Request]:
        return [e for e in self.entities.values() if isinstance(e, Request) and e.pending]

    def runs(self) -> list[Run]:
        return [e for e in self.entities.values() if isinstance(e, Run)]

    def shown(self) -> dict[str, AnyEntity]:
        """What a window has after any attach: items, pending requests, runs that have not ended."""
        return {e.id: e for e in self.entities.values() if is_shown(e)}


def is_shown(entity: AnyEntity) -> bool:
    match entity:
        case Item() | Conversation():
            return True
        case Request():
            return entity.pending
        case Run():
            return not entity.ended
        case _:
            return False


@dataclass
class _Waiting:
    answered: anyio.Event = field(default_factory=anyio.Event)
    answer: Answer | None = None

    def begin(self) -> None:
        self.answered, self.answer = anyio.Event(), None

    async def wait(self) -> Answer | None:
        with anyio.move_on_after(PATIENCE_S):
            await self.answered.wait()
        return self.answer


class WorldEditor:
    """`told` hears of every answer; `wrong` of every broken promise."""

    def __init__(
        self,
        process: Process,
        fate: Fate,
        *,
        connect: Connect,
        told: Callable[[Command, Answer], None],
        wrong: Callable[[str], None],
    ) -> None:
        self.process = process
        self.mirrors: dict[str, Mirror] = {}
        self.link: Link | None = None
        self._fate = fate
        self._connect = connect
        self._told = told
        self._wrong = wrong
        self._waiting: dict[str, list[_Waiting]] = {}
        self._sent: list[Command] = []
        self._commands = 0

    async def play(self, conversations: Sequence[str], actions: int) -> None:
        for _ in range(actions):
            await pause(self._fate.chance.choice([0.0, 0.1, 2.0, 15.0]))
            if self._fate.strikes(self._fate.odds.editor_gone):
                self._fate.count("editor gone", self.process)
                self.leave()
                self.process.kill()
                await pause(0)
            await self.act(self._fate.chance.choice(conversations))

    async def act(self, known: str) -> None:
        """One thing that comes to mind, as far as the window knows of something to do it to."""
        mirror = self.mirrors.get(known)
        if mirror is None or self._fate.chance.random() < 0.1:
            await self.attach(known)
            return
        pending, runs = mirror.pending(), mirror.runs()
        drawn = self._fate.chance.random()
        if pending and drawn < 0.5:
            await self.answer(self._fate.chance.choice(pending))
        elif runs and drawn < 0.6:
            await self.change_queue(known, runs)
        elif runs and drawn < 0.7:
            await self.stop(known, self._fate.chance.choice(runs).id)
        elif runs and drawn < 0.74:
            await self.nudge(known, mirror)
        elif self._sent and drawn < 0.75:
            await self.call(self._fate.chance.choice(self._sent))
        else:
            await self.say(known, runs)

    async def say(self, known: str, runs: Sequence[Run]) -> None:
        command_id = self._fresh()
        chance = self._fate.chance
        message = Message(
            content=(Block(type="text", text=command_id),),
            dispatch=chance.choice([Dispatch.AUTO, Dispatch.AUTO, Dispatch.AUTO, *Dispatch]),
            target_run_id=chance.choice([None, None, *(run.id for run in runs)]),
        )
        await self.call(Command(id=command_id, kind="send", conversation_id=known, given={"message": message}))

    async def change_queue(self, known: str, runs: Sequence[Run]) -> None:
        chance = self._fate.chance
        queued = [run.id for run in runs if run.status is RunStatus.QUEUED] or [runs[0].id]
        change = QueueUpdate(
            op=chance.choice(list(QueueOp)),
            run_id=chance.choice(queued),
            content=(Block(type="text", text=f"edited {self._commands}"),),
            before=chance.choice([None, *queued]),
        )
        await self.call(Command(id=self._fresh(), kind="queue", conversation_id=known, given={"change": change}))

    async def release(self, known: str) -> None:
        change = {"change": QueueUpdate(op=QueueOp.RELEASE)}
        await self.call(Command(id=self._fresh(), kind="queue", conversation_id=known, given=change))

    async def stop(self, known: str, run_id: str) -> None:
        given = {"run_id": run_id, "from": self.process.name, "hold": self._fate.chance.random() < 0.3}
        await self.call(Command(id=self._fresh(), kind="interrupt", conversation_id=known, given=given))

    async def nudge(self, known: str, mirror: Mirror) -> None:
        """Does not want to wait, asks again what came to nothing, or wants one call to end."""
        chance = self._fate.chance
        run = chance.choice(mirror.runs())
        given: dict[str, Any] = {"run_id": run.id, "from": self.process.name}
        calls = [e for e in mirror.entities.values() if isinstance(e, Item) and e.status == "running"]
        kind = chance.choice(["hurry", "retry"])
        if calls and chance.random() < 0.5:
            item = chance.choice(calls)
            kind, given = "stop call", {**given, "run_id": item.run_id, "item_id": item.id}
        await self.call(Command(id=self._fresh(), kind=kind, conversation_id=known, given=given))

    async def answer(self, request: Request) -> None:
        chance = self._fate.chance
        option = chance.choice(request.options) if request.options else None
        decision = option.decision if option else chance.choice([Decision.ALLOW, Decision.DENY])
        if chance.random() < 0.05:
            decision, option = Decision.CANCEL, None
        said = Said(
            digest=request.digest,
            decision=decision,
            by=self.process.name,
            from_=self.process.name,
            at="",
            option_id=option.id if option else None,
            scope="once" if option is not None and option.scope == "workspace" else None,
        )
        given = {"request_id": request.id, "answer": said}
        await self.call(Command(id=self._fresh(), kind="respond", conversation_id=request.conversation_id, given=given))

    async def attach(self, known: str) -> None:
        mirror = self.mirrors.get(known)
        after = mirror.seq if mirror is not None else None
        await self.call(Command(id=self._fresh(), kind="attach", conversation_id=known, given={"after": after}))

    async def call(self, command: Command) -> Answer | None:
        """Until it is answered for good; None when patience has ended before."""
        if command.kind != "attach" and command not in self._sent:
            self._sent.append(command)
        waiting = _Waiting()
        self._waiting.setdefault(command.id, []).append(waiting)
        for _ in range(TRIES):
            link = self._line()
            if link is None:
                await pause(1.0)
                continue
            waiting.begin()
            link.send(command)
            answer = await waiting.wait()
            if answer is not None and not is_passing(answer):
                return answer
            if answer is None or command.kind != "attach":
                await pause(self._fate.chance.choice([0.5, 5.0]))
            self._turn_away(answer)
        return None

    def leave(self) -> None:
        if self.link is not None:
            self.link.close()
            self.link = None

    def _turn_away(self, answer: Answer | None) -> None:
        """No answer, or none from this daemon: perhaps another one has it."""
        if answer is None or self._fate.chance.random() < 0.6:
            self.leave()

    def _line(self) -> Link | None:
        if self.link is None or self.link.closed:
            self.link = link = self._connect(self)
            if link is not None:
                link.on_answer = self._on_answer
                link.on_news = lambda news: self._on_news(link, news)
                link.on_closed = lambda: self._on_closed(link)
        return self.link

    def _on_answer(self, command: Command, answer: Answer) -> None:
        if command.kind == "attach":
            if isinstance(answer, Mapping):
                self._attached(command.conversation_id, answer)
        else:
            self._told(command, answer)
        for waiting in self._waiting.get(command.id, ()):
            waiting.answer = answer
            waiting.answered.set()

    def _attached(self, known: str, answer: Mapping[str, Any]) -> None:
        mirror = self.mirrors.get(known)
        if answer["snapshot"]:
            entities = {entity.id: entity for entity in (*answer["head"].entities, *answer["items"])}
            self.mirrors[known] = Mirror(answer["seq"], entities)
        elif mirror is None or mirror.seq > answer["seq"]:
            # The answer to an attach that came twice: what follows is known already.
            return

    def _on_news(self, link: Link, news: News) -> None:
        known = news.conversation_id
        mirror = self.mirrors.get(known)
        if link is not self.link or mirror is None:
            return
        for event in news.events:
            if event.seq > mirror.seq + 1:
                self._missed(known, event, may=news.moved or known in link.moved)
                return
            if event.seq == mirror.seq + 1:
                mirror.entities[event.entity.id] = event.entity
                mirror.seq = event.seq

    def _missed(self, known: str, event: Event, *, may: bool) -> None:
        """Only what another boot or claim has written may be missed; a window that sees it attaches again."""
        if not may:
            self._wrong(f"{self.process.name}: event {event.seq} of {known} came after {self.mirrors[known].seq}")
        self._fate.count("gap", self.process)
        del self.mirrors[known]

    def _on_closed(self, link: Link) -> None:
        if self.link is link:
            self.link = None

    def _fresh(self) -> str:
        self._commands += 1
        return f"{self.process.name}.{self._commands}"
