"""Kill -9 of the daemon under open buffers: what was typed is known to the next one, and no disk is written beneath."""

import random
import signal
from pathlib import Path

import pytest

from agent_ls.core.text import ENCODINGS
from agent_ls.testing.buffers import Buffers
from agent_ls.testing.editor import Editor
from agent_ls.testing.model_scenario import ByHistory, Gate, InOrder, Say, Wait, reply, say, use
from tests.protocol.test_open_documents import allow_all, preferring
from tests.scene import scene

pytestmark = pytest.mark.anyio

TEXT = "x = '😋'\nold = 1\n"
READ = use("read", path="a.py")
EDIT = use("edit", path="a.py", edits=[{"old": "old = 1", "new": "new = 2"}])
PIECES = ["a", "é", "😋", "\n", "b = 1", "", "👩‍🚀"]


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_a_thousand_changes_around_a_kill_are_all_known_and_the_edit_goes_through_the_window(
    encoding: str,
) -> None:
    chance = random.Random(encoding)
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home):
        path = home.workspace / "a.py"
        path.write_text(TEXT)
        buffers = Buffers(encoding)
        async with home.bridged(home.workspace, name="vim", capabilities=preferring(encoding)) as editor:
            editor.answer = buffers.answer
            await editor.notify("textDocument/didOpen", buffers.open(path))
            boot = editor.hello["bootId"]
            for number in range(1_000):
                if number == 500:
                    await home.kill9()
                await _type(editor, buffers, path, chance)
            await editor.wait_for(lambda: editor.hello["bootId"] != boot)
            mine = buffers[path].text
            conversation = await editor.create(home.workspace)
            await allow_all(editor, conversation, await editor.send(conversation, "Change it."))
        read, edited = (conversation.result(call["id"]) for call in conversation.calls)
        assert read["output"] == f"[unsaved text of your editor (vim)]\n{mine}"
        assert (edited["status"], "unsaved changes in vim, so it is changed there" in edited["output"]) == ("ok", True)
        assert buffers[path].text == mine.replace("old = 1", "new = 2")
        assert (len(buffers[path].edits), path.read_text()) == (1, TEXT)


async def test_a_clean_buffer_is_clean_after_it_and_its_edit_is_saved() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home):
        path = home.workspace / "a.py"
        path.write_text(TEXT)
        buffers = Buffers()
        async with home.bridged(home.workspace, name="vim", features=["document.save"]) as editor:
            editor.answer = buffers.answer
            await editor.notify("textDocument/didOpen", buffers.open(path))
            await editor.notify("textDocument/didChange", buffers.type(path, "# end\n"))
            await editor.notify("textDocument/didSave", buffers.save(path))
            boot = editor.hello["bootId"]
            await home.kill9()
            await editor.wait_for(lambda: editor.hello["bootId"] != boot)
            conversation = await editor.create(home.workspace)
            await allow_all(editor, conversation, await editor.send(conversation, "Change it."))
        read, edited = (conversation.result(call["id"]) for call in conversation.calls)
        saved = f"{TEXT}# end\n".replace("old = 1", "new = 2")
        assert read["output"] == f"{TEXT}# end\n"
        assert edited["output"].endswith("It is saved, through vim.")
        assert (buffers[path].text, path.read_text(), len(buffers[path].edits)) == (saved, saved, 1)


async def test_a_run_that_is_taken_over_waits_for_the_window_before_it_touches_its_file() -> None:
    gate = Gate()
    answers = [READ, reply(Say("Now."), Wait(gate), *EDIT.steps), say("Done.")]
    async with scene(ByHistory(answers)) as (server, home):
        path = home.workspace / "a.py"
        path.write_text(TEXT)
        buffers = Buffers()
        async with home.bridged(home.workspace, name="vim") as editor:
            assert editor.process is not None
            editor.answer = buffers.answer
            await editor.notify("textDocument/didOpen", buffers.open(path))
            await editor.notify("textDocument/didChange", buffers.type(path, "# 😋 mine\n", 0))
            conversation = await editor.create(home.workspace, mode="edits")
            run_id = await editor.send(conversation, "Change it.")
            await editor.wait_for(lambda: conversation.shown == "Now.")
            # The window comes back only after the daemon has had the edit from the model.
            editor.process.send_signal(signal.SIGSTOP)
            await home.kill9()
            gate.open()
            await home.start()
            editor.process.send_signal(signal.SIGCONT)
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, run_id)
        edited = again.result(again.calls[1]["id"])
        assert (edited["status"], "unsaved changes in vim, so it is changed there" in edited["output"]) == ("ok", True)
        assert buffers[path].text == "# 😋 mine\n" + TEXT.replace("old = 1", "new = 2")
        assert path.read_text() == TEXT
        assert [request.steps for request in server.requests] == [0, 1, 1, 2]


async def _type(editor: Editor, buffers: Buffers, path: Path, chance: random.Random) -> None:
    """Somewhere above the last line."""
    last = buffers[path].text.rindex("old = 1")
    place = chance.randrange(last)
    params = buffers.type(path, chance.choice(PIECES), place, over=chance.randrange(min(6, last - place)))
    await editor.notify("textDocument/didChange", params)
