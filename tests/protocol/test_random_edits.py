"""A thousand changes as editors make them, through the bridge: what the daemon has is what is on the screen (B61)."""

import random
from typing import Any

import pytest

from agent_ls.core.text import ENCODINGS
from agent_ls.testing.buffers import Buffers
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.protocol.test_open_documents import allow_all, preferring
from tests.scene import scene

pytestmark = pytest.mark.anyio

EDITS = 1_000
FAR = 1_000_000
TEXT = "x = '😋😋'\n\nsome 北京 text\nno newline after this 👩‍🚀"
PIECES = ["a", "é", "😋", "\n", "b = 1\nc = '🌍'\n", "", "👩‍🚀", "北", "\t", "\u2028", "e\u0301"]


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_a_thousand_changes_through_the_bridge_leave_the_text_of_the_screen(encoding: str) -> None:
    chance = random.Random(f"edits {encoding}")
    async with scene(InOrder([use("read", path="a.py"), say("Done.")])) as (_, home):
        path = home.workspace / "a.py"
        path.write_text(TEXT)
        buffers = Buffers(encoding)
        async with home.bridged(home.workspace, name="vim", capabilities=preferring(encoding)) as editor:
            editor.answer = buffers.answer
            await editor.notify("textDocument/didOpen", buffers.open(path))
            for _ in range(EDITS):
                # Some come together, each counted from the text that those before it have made.
                some = [_changed(buffers, path, chance) for _ in range(chance.choice((1, 1, 1, 3)))]
                changes = [change for params in some for change in params["contentChanges"]]
                await editor.notify("textDocument/didChange", {**some[-1], "contentChanges": changes})
            conversation = await editor.create(home.workspace)
            await allow_all(editor, conversation, await editor.send(conversation, "Read it."))
        (read,) = (conversation.result(call["id"]) for call in conversation.calls)
        assert read["output"] == f"[unsaved text of your editor (vim)]\n{buffers[path].text}"
        assert path.read_text() == TEXT


def _changed(buffers: Buffers, path: Any, chance: random.Random) -> dict[str, Any]:
    text = buffers[path].text
    place = chance.randrange(len(text) + 1)
    over = chance.choice((0, 1, 2, 9)) if len(text) < 2_000 else chance.randrange(60)
    params = buffers.type(path, chance.choice(PIECES), place, over=over)
    if place + over >= len(text):
        # The end of the text, said as a place behind it.
        params["contentChanges"][0]["range"]["end"] = {"line": FAR, "character": 0}
    return params
