"""A model that says what the seed draws, and checks every request it receives as real servers do.

Owns answers, their frames and their time. `calm`: it makes few calls and comes to an end.
"""

import json
from collections.abc import Callable, Sequence

import anyio

from agent_ls.core.messages import CallPart, ModelMessage, Part, Reply, ResultsTurn, Stop, TextPart, UserTurn
from agent_ls.ports.provider import AssistantTurn, Cause, Emit, Failure, ModelRequest, TextFrame
from agent_ls.testing.world_fate import Fate
from agent_ls.testing.world_loop import Process, pause


class WorldModel:
    def __init__(self, process: Process, fate: Fate, wrong: Callable[[str], None]) -> None:
        self._process = process
        self._fate = fate
        self._wrong = wrong
        self._made = 0

    async def call(self, request: ModelRequest, emit: Emit) -> Reply | Failure:
        for fault in faults(request.messages):
            self._wrong(f"{request.step_id}: {fault}")
        chance = self._fate.chance
        await self._waits()
        emit(TextFrame(0, "Let "))
        await self._waits()
        if self._fate.strikes(self._fate.odds.model_trouble):
            cause = chance.choice([Cause.NETWORK, Cause.CUT, Cause.RATE_LIMITED])
            return Failure(cause, "The server is tired.")
        emit(TextFrame(0, "me see."))
        await self._waits()
        parts: list[Part] = [TextPart(chance.choice(["Let me see.", " "]))]
        parts += [self._call() for _ in range(self._calls())]
        calls = len(parts) > 1
        if self._fate.strikes(self._fate.odds.model_trouble / 4):
            return Reply((), Stop.END_TURN)
        return Reply(tuple(parts), Stop.TOOL_CALLS if calls else Stop.END_TURN)

    async def models(self) -> Sequence[str]:
        return ("m",)

    async def close(self) -> None:
        pass

    def _calls(self) -> int:
        return self._fate.chance.choice([0, 0, 0, 1] if self._fate.calm else [0, 0, 1, 1, 2, 3])

    def _call(self) -> CallPart:
        chance = self._fate.chance
        self._made += 1
        tool = chance.choice(["read", "read", "edit", "edit", "shell", "shell", "other", "nonsense"])
        given = {"file": chance.choice(["a", "b", "b", "none"]), "n": chance.randrange(1000)}
        return CallPart(f"n{self._made}", tool, json.dumps(given) if chance.random() < 0.95 else "{")

    async def _waits(self) -> None:
        await self._fate.gate(self._process, "model")
        await pause(self._fate.chance.choice([0.0, 0.01, 0.5, 6.0]))
        await anyio.lowlevel.checkpoint()


def faults(messages: Sequence[ModelMessage]) -> list[str]:
    """Why a server would refuse these messages."""
    found: list[str] = []
    owed: list[str] = []
    told: set[str] = set()
    last: ModelMessage | None = None
    for message in messages:
        match message:
            case ResultsTurn():
                if [result.call_id for result in message.results] != owed:
                    found.append(f"results {[result.call_id for result in message.results]} for {owed}")
                owed = []
            case _ if owed:
                found.append(f"no results for {owed}")
                owed = []
        if isinstance(message, AssistantTurn):
            owed = [part.id for part in message.parts if isinstance(part, CallPart)]
            if told & set(owed) or len(set(owed)) < len(owed):
                found.append("a call id is used twice")
            told |= set(owed)
        if type(message) is type(last) and not isinstance(message, ResultsTurn):
            found.append(f"two {type(message).__name__} in a row")
        last = message
    if owed or not isinstance(last, UserTurn | ResultsTurn):
        found.append("nothing is asked")
    return found
