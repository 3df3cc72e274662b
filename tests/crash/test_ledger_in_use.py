"""Another program holds the ledger's file, and many start on an empty one at once (case B55)."""

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S, Editor, Refused
from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import InOrder
from tests.scene import scene

pytestmark = pytest.mark.anyio

WINDOWS = 8
APPENDS = 200

HOLD = """
import select, sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
other.execute("BEGIN IMMEDIATE")
print("held", flush=True)
select.select([], [], [], float(sys.argv[2]))
other.execute("ROLLBACK")
"""

OPEN = """
import sys
from pathlib import Path
from agent_ls.adapters.host.system import SystemClock
from agent_ls.adapters.ledger.sqlite import SqliteLedger
print("ready", flush=True)
sys.stdin.readline()
SqliteLedger.open(Path(sys.argv[1]), clock=SystemClock(), boot_id=sys.argv[2])
print("open", flush=True)
sys.stdin.readline()
"""


@asynccontextmanager
async def held(home: Home, seconds: float) -> AsyncIterator[None]:
    """The file is locked by another process, from now on for so long."""
    command = [sys.executable, "-c", HOLD, str(home.state / "ledger.db"), str(seconds)]
    async with await anyio.open_process(command, stdin=None, stderr=None) as other:
        assert other.stdout is not None
        with anyio.fail_after(2 * LIMIT_S):
            assert (await other.stdout.receive()).strip() == b"held"
            yield
            assert await other.wait() == 0


async def append(editor: Editor, conversation: str, name: str) -> int:
    """200 messages into a queue that is held, each said until it is taken; how often one was refused."""
    refused = 0
    for n in range(APPENDS):
        content = [{"type": "text", "text": f"{name} {n}"}]
        params = {"commandId": f"{name}-{n}", "conversationId": conversation, "content": content, "dispatch": "queue"}
        while True:
            try:
                await editor.request("agent/message/send", params)
                break
            except Refused as error:
                if error.code != "ledger_unavailable":
                    raise
                refused += 1
    return refused


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("seconds", "refuses"), [(3, False), (8, True)])
async def test_8_windows_with_200_appends_each_lose_nothing_while_another_program_holds_the_file(
    seconds: float, *, refuses: bool
) -> None:
    refused: list[int] = []
    async with scene(InOrder([])) as (_, home), home.editor() as first:
        conversations = []
        for _ in range(WINDOWS):
            conversation = await first.create(home.workspace)
            await first.queue(conversation, "hold")
            conversations.append(conversation.id)

        async def window(number: int) -> None:
            async with home.editor(name=f"w{number}") as editor:
                refused.append(await append(editor, conversations[number], f"w{number}"))

        async with held(home, seconds), anyio.create_task_group() as tasks:
            for number in range(WINDOWS):
                tasks.start_soon(window, number)
        for number, known in enumerate(conversations):
            events = await first.history(await first.attach(known))
            said = [e["entity"]["content"][0]["text"] for e in events if e["kind"] == "run"]
            assert said == [f"w{number} {n}" for n in range(APPENDS)]
    # Longer than a daemon waits, so that windows are told; who says it again with the same id is taken once.
    assert (sum(refused) > 0) is refuses


def test_4_processes_that_open_an_empty_file_at_once_make_one_schema(state_dir: Path) -> None:
    path = state_dir / "ledger.db"
    opening = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, str(path), f"boot-{n}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(4)
    ]
    try:
        for each in opening:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        for each in opening:
            assert each.stdin is not None
            each.stdin.write("\n")
            each.stdin.flush()
        assert [each.stdout.readline() for each in opening if each.stdout] == ["open\n"] * 4
    finally:
        for each in opening:
            each.kill()
            each.communicate()
    # The first migration came upon an empty file, so nothing was copied; the second ran once.
    assert {copy.name for copy in state_dir.glob("*.backup")} <= {"ledger.db.schema1.backup"}
