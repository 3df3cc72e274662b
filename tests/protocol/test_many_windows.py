"""Fifty windows on one daemon: ten conversations stream at once, and one window does not read.

How far behind a window is, in milliseconds: benchmarks.
"""

import os
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from agent_ls.testing.editor import Editor
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import Answer, Gate, RequestView, Say, Wait, reply
from tests.scene import scene

pytestmark = pytest.mark.anyio

WINDOWS = 50
STREAMS = 10
ROUNDS = 10
WAVES = 3  # together more than waits for a window that does not read
LONG = "what is said, " * 2_200 + "."
EXPECTED = [f"Answer {number}: {LONG}" for number in range(ROUNDS)]
MOST_MEMORY = 250 * 1024 * 1024


class Chorus:
    """Every answer of a round stops after its first words until all ten of them have begun."""

    def __init__(self) -> None:
        self.gates: dict[str, Gate] = {}
        self.begun: Counter[str] = Counter()

    def __call__(self, request: RequestView) -> Answer:
        text = request.last_user_text
        gate = self.gates.setdefault(text, Gate())
        self.begun[text] += 1
        if self.begun[text] % STREAMS == 0:
            gate.open()
            del self.gates[text]
        return reply(Say(f"Answer {len(request.user_texts) - 1}: "), Wait(gate), Say(LONG, 4_000))


@pytest.mark.timeout(180)
async def test_one_of_fifty_windows_that_stops_reading_slows_nobody_and_is_told_to_attach_anew_when_it_wakes() -> None:
    async with scene(Chorus()) as (_, home), AsyncExitStack() as all_:
        asleep, *awake = [await all_.enter_async_context(home.editor(home.workspace)) for _ in range(WINDOWS)]
        waves = [[await editor.create(home.workspace) for editor in awake[:STREAMS]] for _ in range(WAVES)]
        followed = [conversation.id for wave in waves for conversation in wave]
        for known in followed:
            await asleep.attach(known)
        for wave in waves:
            await _wave(awake, wave)
        assert _memory(home.pid) < MOST_MEMORY

        # It wakes. What it missed is not sent piece by piece: it is told where it has to look anew.
        await asleep.wait_for(lambda: any(method == "agent/resync" for method, _ in asleep.notices))
        await asleep.pending()
        for known in {params["conversationId"] for method, params in asleep.notices if method == "agent/resync"}:
            await asleep.attach(known)
        for known in followed:
            await _reads(asleep, asleep.mirrors[known])
        assert all(asleep.mirrors[known].answers == EXPECTED for known in followed)


async def _wave(awake: list[Editor], made: list[Mirror]) -> None:
    """Ten conversations to their end, each in five windows."""
    mirrors = [*made, *[await e.attach(made[n % STREAMS].id) for n, e in enumerate(awake[STREAMS:])]]
    async with anyio.create_task_group() as tasks:
        for editor, mirror in zip(awake, mirrors, strict=True):
            if mirror in made:
                tasks.start_soon(_talks, editor, mirror)
            else:
                tasks.start_soon(_reads, editor, mirror)
    assert all(mirror.answers == EXPECTED for mirror in mirrors)


async def _talks(editor: Editor, conversation: Mirror) -> None:
    for number in range(ROUNDS):
        await editor.until_ended(conversation, await editor.send(conversation, f"Speak {number}."))


async def _reads(editor: Editor, mirror: Mirror) -> None:
    """Until the conversation has said all that it is going to say."""
    await editor.wait_for(lambda: len(mirror.answers) == ROUNDS)


def _memory(pid: int | None) -> int:
    """Of a process, as far as this system tells."""
    path = Path(f"/proc/{pid}/statm")
    return int(path.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if path.exists() else 0
