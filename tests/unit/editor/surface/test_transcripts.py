"""Transcripts of long conversations: what settles costs what it adds."""

from dataclasses import replace
from typing import Any

import anyio
import pytest

from agent_ls.core.conversation import Conversation, Mode
from agent_ls.core.events import Event, EventKind, ItemFact
from agent_ls.core.items import AssistantMessage, Item, ItemKind, ItemStatus
from agent_ls.core.projection import ConversationState
from agent_ls.editor.documents import Documents
from agent_ls.editor.surface.transcripts import Transcripts
from agent_ls.runtime.supervisor import Supervisor
from agent_ls.wire import transcript

pytestmark = pytest.mark.anyio

AT = "2026-01-31T12:00:00.000Z"
COUNT = 5_000


class Papers:
    """The disk. `waits` is set whenever something was added."""

    folder = "/state/conversations"

    def __init__(self, text: str | None = None) -> None:
        self.text = text
        self.reads = 0
        self.added: list[str] = []
        self.waits = anyio.Event()

    async def read(self, name: str) -> str | None:
        self.reads += 1
        return self.text

    async def append(self, conversation_id: str, text: str) -> bool:
        self.text = (self.text or "") + text
        self.added.append(text)
        happened, self.waits = self.waits, anyio.Event()
        happened.set()
        return True

    async def make_prompt(self, conversation_id: str) -> None: ...

    async def write_prompt(self, conversation_id: str, text: str, *, instead_of: str) -> bool:
        raise AssertionError("nobody has sent anything")

    async def remove(self, conversation_id: str) -> None: ...

    async def names(self, folder: str, prefix: str, limit: int) -> list[str]:
        return []


class Clock:
    def now(self) -> str:
        return AT

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        await anyio.lowlevel.checkpoint()


def item(number: int, status: ItemStatus = ItemStatus.COMPLETED) -> Item:
    return Item(
        id=f"c1.r{number // 50 + 1}.a1.s1.1.p{number}",
        conversation_id="c1",
        run_id=f"c1.r{number // 50 + 1}",
        ord=number + 1,
        kind=ItemKind.ASSISTANT_MESSAGE,
        status=status,
        payload=AssistantMessage(text=f"Answer {number}."),
        created_at=AT,
    )


def conversation(count: int) -> ConversationState:
    held = Conversation(
        id="c1",
        workspace="file:///w",
        title="Long",
        provider="p",
        model="m",
        mode=Mode.ASK,
        created_at=AT,
        updated_at=AT,
    )
    return ConversationState.of([held, *map(item, range(count))], 1)


def settles(transcripts: Transcripts, state: ConversationState, one: Item) -> None:
    state.apply(one)
    transcripts.on_events("c1", [Event("c1", 2, AT, EventKind.ITEM, ItemFact.UPDATED, one)])


async def until(papers: Papers, holds: Any) -> None:
    with anyio.fail_after(20):
        while not holds():
            await papers.waits.wait()


async def test_a_long_conversation_is_written_in_pieces_and_then_each_item_alone() -> None:
    papers, state = Papers(), conversation(COUNT)
    async with Supervisor() as supervisor:
        transcripts = Transcripts(
            papers, Documents(str), state_of={"c1": state}.get, load=_never, supervisor=supervisor, clock=Clock()
        )
        transcripts.due("c1")
        await until(papers, lambda: f"Answer {COUNT - 1}." in (papers.text or ""))
        assert (papers.text or "").count("\nAnswer ") == COUNT
        before = len(papers.added)
        # What begins says nothing yet; what is settled again (a review, say) says nothing more.
        settles(transcripts, state, item(COUNT, ItemStatus.RUNNING))
        settles(transcripts, state, item(COUNT))
        await until(papers, lambda: len(papers.added) > before)
        settles(transcripts, state, replace(item(COUNT), updated_at=AT))
        settles(transcripts, state, item(COUNT + 1))
        await until(papers, lambda: len(papers.added) > before + 1)
        supervisor.stop()
    assert papers.added[before:] == ["\n## Run 101\n\nAnswer 5000.\n", "\nAnswer 5001.\n"]
    assert papers.reads == 1


async def test_a_file_of_a_daemon_before_this_one_gets_what_it_lacks_and_no_more() -> None:
    state = conversation(COUNT)
    held = [item(number) for number in range(COUNT) if number not in {COUNT - 3, COUNT - 1}]
    text = transcript.head(state.conversation) + "".join(transcript.grown(held, None))
    papers = Papers(text)
    async with Supervisor() as supervisor:
        transcripts = Transcripts(
            papers, Documents(str), state_of={"c1": state}.get, load=_never, supervisor=supervisor, clock=Clock()
        )
        transcripts.due("c1")
        await until(papers, lambda: papers.added)
        supervisor.stop()
    assert papers.added == [f"\nAnswer {COUNT - 3}.\n\nAnswer {COUNT - 1}.\n"]


async def _never(conversation_id: str) -> None:
    raise AssertionError("it is in memory")
