"""Who types while an answer streams and the whole workspace is searched is served in between.

How long a key waits, in milliseconds: benchmarks.
"""

import random
from pathlib import Path
from typing import Any

import pytest

from agent_ls.testing.buffers import Buffers
from agent_ls.testing.model_scenario import ByConversation, Gate, InOrder, Say, Wait, reply, say, use
from tests.scene import scene

pytestmark = pytest.mark.anyio

FILES = 4_000
SEARCHES = 30
KEYS = 100
LINES = 5_000


async def test_keys_are_taken_while_an_answer_streams_and_thousands_of_files_are_searched() -> None:
    searches = [use("grep", pattern=f"nowhere to be found {n}") for n in range(SEARCHES)]
    gate = Gate()
    talk = ByConversation(
        {
            "Search.": InOrder([*searches, say("Nowhere.")]),
            "Speak.": InOrder([reply(Say("on and on " * 20_000, size=10), Wait(gate))]),
        }
    )
    async with scene(talk) as (_, home), home.editor(home.workspace, name="asker") as asker:
        path = _filled(home.workspace)
        searching, streaming = await asker.create(home.workspace), await asker.create(home.workspace)
        async with home.bridged(home.workspace, name="vim") as editor:
            watched = await editor.attach(searching.id)
            buffers, chance = Buffers(), random.Random(3)
            await editor.notify("textDocument/didOpen", buffers.open(path))
            run_id = await asker.send(searching, "Search.")
            await asker.send(streaming, "Speak.")
            await editor.wait_for(lambda: watched.calls)
            busy = 0
            for _ in range(KEYS):
                place = chance.randrange(len(buffers[path].text))
                await editor.notify("textDocument/didChange", buffers.type(path, "😋", place))
                await editor.request("textDocument/hover", _here(path))
                busy += watched.status(run_id) in {"", "running"}
            # A loop that searches by itself would have answered the first key after the last search.
            assert busy > KEYS // 2
            await asker.interrupt(run_id)
            gate.open()


def _filled(workspace: Path) -> Path:
    """Many files to be searched; the one that is typed into."""
    for n in range(FILES // 500):
        folder = workspace / f"d{n}"
        folder.mkdir()
        for m in range(500):
            (folder / f"{m}.txt").write_text("some text as it stands in a file\n")
    path = workspace / "typed.py"
    path.write_text("".join(f"line {n}: '😋' and more\n" for n in range(LINES)))
    return path


def _here(path: Path) -> dict[str, Any]:
    return {"textDocument": {"uri": path.as_uri()}, "position": {"line": 1, "character": 0}}
