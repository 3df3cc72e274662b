"""A very long history, as case B60 wants it: 20,000 events, 200 runs, one text of 1.7 MB, 9 compactions.

Owns how it is made up: entities as they stand at the end, written in bulk through the ledger's own encoder.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from agent_ls.adapters.host.system import SystemClock
from agent_ls.adapters.ledger.sqlite import SqliteLedger
from agent_ls.core import ids
from agent_ls.core.attempt import Attempt, AttemptFact, AttemptStatus, Reason
from agent_ls.core.call import CallFact
from agent_ls.core.conversation import Conversation, Mode
from agent_ls.core.errors import Refusal
from agent_ls.core.events import ConversationFact, Fact, ItemFact
from agent_ls.core.items import (
    AssistantMessage,
    Block,
    Call,
    CallState,
    Compaction,
    Item,
    ItemKind,
    ItemStatus,
    Payload,
    ResultStatus,
    ToolResult,
    UserMessage,
)
from agent_ls.core.run import Run, RunFact, RunStatus
from agent_ls.ports.ledger import Commit

RUNS: Final = 200
STEPS: Final = 48
EVENTS: Final = 20_000
COMPACTIONS: Final = 9
LARGE: Final = 1_700_000
AT: Final = "2026-01-31T12:00:00.000Z"


def facts(known: str, workspace: str, *, runs: int = RUNS, large: int = LARGE) -> Iterator[Fact]:
    """In the order of the transcript. Of each run: 48 steps with a call each, and the answer."""
    yield Fact(
        ConversationFact.CREATED,
        Conversation(id=known, workspace=workspace, title="Long", provider="scripted", model="scripted-1",
                     mode=Mode.ASK, created_at=AT, updated_at=AT),
    )  # fmt: skip
    history = _History(known)
    for ordinal in range(1, runs + 1):
        yield from history.run(ordinal, large=large if ordinal == runs // 2 else 0)
        if ordinal % (runs // (COMPACTIONS + 1)) == 0 and ordinal < runs:
            yield history.compaction(ordinal)


def parts(found: Iterator[Fact], size: int = 2_000) -> Iterator[list[Fact]]:
    """As they are committed."""
    while part := list(islice(found, size)):
        yield part


async def seed(state_dir: Path, known: str, workspace: str) -> int:
    """Writes it where a daemon will find it; how many events there are."""
    state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    ledger = SqliteLedger.open(state_dir / "ledger.db", clock=SystemClock(), boot_id="seed")
    try:
        epoch = await ledger.claim(known, "seed")
        seq = 0
        for part in parts(facts(known, workspace)):
            done = await ledger.append(Commit(conversation_id=known, epoch=epoch, at=AT, facts=part))
            assert not isinstance(done, Refusal)
            seq = done.seq
    finally:
        await ledger.close()
    return seq


class _History:
    def __init__(self, known: str) -> None:
        self._known = known
        self._ord = 0

    def run(self, ordinal: int, *, large: int) -> Iterator[Fact]:
        run = ids.run_id(self._known, ordinal)
        attempt, user = ids.attempt_id(run, 1), ids.user_item_id(run, 1)
        content = (Block(type="text", text=f"question {ordinal}"),)
        yield Fact(
            RunFact.COMPLETED,
            Run(id=run, conversation_id=self._known, ordinal=ordinal, status=RunStatus.COMPLETED, created_at=AT,
                content=content, user_item_id=user, active_attempt_id=attempt, started_at=AT, ended_at=AT),
        )  # fmt: skip
        yield Fact(
            AttemptFact.COMPLETED,
            Attempt(id=attempt, run_id=run, conversation_id=self._known, n=1, reason=Reason.INITIAL,
                    status=AttemptStatus.COMPLETED, read_through=0, epoch=1, created_at=AT, steps=STEPS + 1,
                    answers=(user,), provider="scripted", model="scripted-1"),
        )  # fmt: skip
        yield Fact(ItemFact.ADDED, self._item(run, user, ItemKind.USER_MESSAGE, UserMessage(content=content)))
        for n in range(1, STEPS + 1):
            step = ids.step_id(attempt, n, 0)
            where = {"attempt_id": attempt, "step_id": step}
            text = AssistantMessage(text=f"step {n} of {ordinal}")
            yield Fact(ItemFact.ADDED, self._item(run, ids.part_id(step, 0), ItemKind.ASSISTANT_MESSAGE, text, **where))
            part = ids.part_id(step, 1)
            call = Call(call_id=ids.call_id(part), tool="shell", input={"command": f"echo {n}"},
                        state=CallState.FINISHED,
                        result=ToolResult(status=ResultStatus.OK, output=f"{n}\n"))  # fmt: skip
            yield Fact(CallFact.FINISHED, self._item(run, part, ItemKind.COMMAND, call, **where))
        step = ids.step_id(attempt, STEPS + 1, 0)
        answer = AssistantMessage(text="x" * large or f"answer {ordinal}")
        yield Fact(
            ItemFact.ADDED,
            self._item(run, ids.part_id(step, 0), ItemKind.ASSISTANT_MESSAGE, answer, attempt_id=attempt, step_id=step),
        )

    def compaction(self, ordinal: int) -> Fact:
        run = ids.run_id(self._known, ordinal)
        held = Compaction(
            summary=f"what came of the first {ordinal}", first_kept=None, summarized=self._ord, kept_from=self._ord + 1
        )
        return Fact(ItemFact.ADDED, self._item(run, ids.note_id(run, "c", 1), ItemKind.COMPACTION, held))

    def _item(self, run: str, known: str, kind: ItemKind, payload: Payload, **more: str) -> Item:
        self._ord += 1
        return Item(id=known, conversation_id=self._known, run_id=run, ord=self._ord, kind=kind,
                    status=ItemStatus.COMPLETED, payload=payload, created_at=AT, **more)  # fmt: skip
