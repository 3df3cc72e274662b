"""Long conversations, written into a ledger before its daemon starts: through the core's own decisions, many a commit.

Owns how history is made up. What a window then sees of it is attach.py's.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from agent_ls.adapters.host.system import SystemClock
from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.core import dispatch, step
from agent_ls.core.conversation import Conversation, Mode
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.effects import Effect
from agent_ls.core.errors import Refusal
from agent_ls.core.events import ConversationFact, Fact
from agent_ls.core.items import Block
from agent_ls.core.messages import Reply, Stop, TextPart
from agent_ls.core.projection import ConversationState
from agent_ls.ports.ledger import Commit

ANSWER = "An answer as models give it, of a usual length for a line or two. " * 4


@dataclass
class Seeded:
    id: str
    events: int
    messages: int


def seed(state_dir: Path, workspace: str, sizes: dict[str, int]) -> dict[str, Seeded]:
    """Conversations by id, each of at least so many events."""
    state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    return asyncio.run(_seed(state_dir / "ledger.db", workspace, sizes))


async def _seed(path: Path, workspace: str, sizes: dict[str, int]) -> dict[str, Seeded]:
    clock = SystemClock()
    ledger = SqliteLedger.open(path, clock=clock, boot_id="seed")
    try:
        return {known: await _one(ledger, known, workspace, events, clock.now()) for known, events in sizes.items()}
    finally:
        await ledger.close()


async def _one(ledger: SqliteLedger, known: str, workspace: str, events: int, at: str) -> Seeded:
    state = ConversationState()
    state.epoch = await ledger.claim(known, "seed")
    draft = Draft(state, at)
    made = Conversation(id=known, workspace=workspace, title=f"{events} events", provider="scripted",
                        model="scripted-1", mode=Mode.ASK, created_at=at, updated_at=at)  # fmt: skip
    draft.put(ConversationFact.CREATED, made)
    waiting = _Waiting()
    waiting.take(state, draft.done())
    while state.seq < events:
        _exchange(state, at, waiting)
        if len(waiting.facts) > 500:
            await waiting.write(ledger, known, state.epoch, at)
    await waiting.write(ledger, known, state.epoch, at)
    return Seeded(known, state.seq, len(state.items))


def _exchange(state: ConversationState, at: str, waiting: "_Waiting") -> None:
    message = dispatch.Message(content=(Block(type="text", text=f"say {len(state.runs)}"),))
    waiting.take(state, dispatch.send(state, message, at))
    run = state.active
    assert run is not None
    attempt = state.attempt_of(run)
    assert attempt is not None
    reply = Reply((TextPart(ANSWER),), Stop.END_TURN)
    waiting.take(state, step.take_reply(state, attempt, reply, triage=(), at=at))


class _Waiting:
    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.effects: list[Effect] = []
        self.settled: list[str] = []

    def take(self, state: ConversationState, decision: Decision | Refusal | None) -> None:
        assert isinstance(decision, Decision), decision
        for fact in decision.facts:
            state.apply(fact.entity)
        state.seq += len(decision.facts)
        self.facts += decision.facts
        self.effects += decision.effects
        self.settled += decision.settled

    async def write(self, ledger: SqliteLedger, known: str, epoch: int, at: str) -> None:
        commit = Commit(conversation_id=known, epoch=epoch, at=at, facts=tuple(self.facts),
                        effects=tuple(self.effects), settled=tuple(self.settled), receipt=None)  # fmt: skip
        done = await ledger.append(commit)
        assert not isinstance(done, Refusal), done
        self.__init__()
