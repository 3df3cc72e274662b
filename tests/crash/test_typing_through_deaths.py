"""Somebody types into a large unsaved buffer while an answer streams, and daemon after daemon dies or makes room.

Through `agent-ls connect`, as editors have it: what they see is at most a pause. How long that is: benchmarks.
"""

import random
from collections.abc import Callable, Coroutine
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_ls.testing.buffers import Buffers
from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import Answer, Gate, RequestView, Say, Wait, reply, say
from agent_ls.testing.model_server import ModelServer
from tests.scene import scene

pytestmark = pytest.mark.anyio

TIMES = 10
LINES = 5_000
KEYS = 40
SHOWN = 1_900  # lines of a selection that a model is shown whole
TEXT = "".join(f"line {n}: '😋' and what else stands in a file\n" for n in range(LINES))
PIECES = ["a", "é", "😋", "\n", "b = 1", "", "👩‍🚀"]
CONTENT_MODIFIED = -32801
Deed = Callable[[Home], Coroutine[Any, Any, object]]


class Story:
    """Told as far as its first words each time it is asked for, and to its end once `told` is open."""

    def __init__(self) -> None:
        self.told = Gate()
        self.begun = count()

    def __call__(self, request: RequestView) -> Answer:
        if not any(text == "A story." for text in request.user_texts):
            return say("I see.")
        return reply(Say(f"Telling {next(self.begun)}"), Wait(self.told), Say(" to its end."))


class Typist:
    """An editor with the buffer, and whether what the daemon holds of it is what is on the screen."""

    def __init__(self, editor: Editor, server: ModelServer, *, path: Path) -> None:
        self.editor = editor
        self.buffers = Buffers()
        self._server = server
        self._path = path
        self._chance = random.Random(7)

    async def open(self) -> None:
        await self.editor.notify("textDocument/didOpen", self.buffers.open(self._path))
        await self.type()

    async def type(self) -> None:
        for _ in range(KEYS):
            text = self.buffers[self._path].text
            place = self._chance.randrange(len(text) - 8)
            over = self._chance.randrange(6)
            params = self.buffers.type(self._path, self._chance.choice(PIECES), place, over=over)
            await self.editor.notify("textDocument/didChange", params)

    async def shown_to_the_model(self) -> str:
        """All of it, as the daemon knows it, in selections that are short enough."""
        total = self.buffers[self._path].text.count("\n") + 1
        ends = [*range(0, total, SHOWN), total]
        context = [
            {"type": "selection", "uri": self._path.as_uri(), "range": {"start": _at(begin), "end": _at(end)}}
            for begin, end in pairwise(ends)
        ]
        conversation = await self.editor.create(self._path.parent)
        run_id = await self.editor.send(conversation, "This?", context=context)
        await self.editor.until_ended(conversation, run_id)
        (said,) = (r.last_user_text for r in self._server.requests[-1:])
        parts = said.split(f"\n\n[selection {self._path.as_uri()} from line ")[1:]
        return "\n".join(part.split("\n", 2)[2].removesuffix("\n") for part in parts)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("deed", ["kill -9", "restart"])
async def test_ten_daemons_one_after_the_other_cost_an_editor_that_types_a_pause_and_nothing_else(deed: str) -> None:
    deeds: dict[str, Deed] = {"kill -9": lambda home: home.kill9(), "restart": _restarted}
    story = Story()
    async with scene(story) as (server, home):
        path = home.workspace / "a.py"
        path.write_text(TEXT)
        async with home.bridged(home.workspace, name="vim") as editor:
            typist = Typist(editor, server, path=path)
            editor.answer = typist.buffers.answer
            await typist.open()
            story_id, run_id = await _begun(editor, home.workspace)
            for number in range(TIMES):
                await _told(editor, story_id, number)
                boot = editor.hello["bootId"]
                asked = await editor.begin("textDocument/hover", _hover(path))
                draft = await editor.begin("agent/conversation/create", _created(editor, home.workspace))
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(deeds[deed], home)
                    await typist.type()
                await typist.type()
                await _another(editor, boot)
                await typist.type()
                assert await _answered(editor, asked) in {None, CONTENT_MODIFIED}
                assert "conversation" in await editor.reply(draft)
                assert await typist.shown_to_the_model() == typist.buffers[path].text.removesuffix("\n")
                await editor.attach(story_id)
            conversation = editor.mirrors[story_id]
            story.told.open()
            await editor.until_ended(conversation, run_id)
        assert conversation.status(run_id) == "completed"
        assert conversation.answers[-1].endswith("to its end.")
        assert path.read_text() == TEXT
        assert [params for method, params in editor.notices if method == "window/showMessage"] == []


async def _begun(editor: Editor, workspace: Path) -> tuple[str, str]:
    conversation = await editor.create(workspace)
    return conversation.id, await editor.send(conversation, "A story.")


async def _told(editor: Editor, story_id: str, number: int) -> None:
    await editor.wait_for(lambda: f"Telling {number}" in editor.mirrors[story_id].shown)


async def _another(editor: Editor, boot: str) -> None:
    await editor.wait_for(lambda: editor.hello["bootId"] != boot)


async def _restarted(home: Home) -> None:
    done = await home.run("restart", "--deadline", "0.1")
    assert done.returncode == 0, done.stderr


async def _answered(editor: Editor, key: int) -> Any:
    """The answer, or the code of the error."""
    try:
        return await editor.reply(key)
    except Refused as refused:
        return refused.rpc


def _created(editor: Editor, workspace: Path) -> dict[str, Any]:
    return {"commandId": editor.command_id(), "workspace": workspace.as_uri()}


def _hover(path: Path) -> dict[str, Any]:
    return {"textDocument": {"uri": path.as_uri()}, "position": _at(0)}


def _at(line: int) -> dict[str, int]:
    return {"line": line, "character": 0}
