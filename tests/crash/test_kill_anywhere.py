"""Kill -9 of the daemon at one commit after the other of a whole run: its end is always the same."""

from typing import Any

import pytest

from agent_ls.testing.editor import Editor
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import ByHistory, UseTool, reply, say, use
from agent_ls.testing.model_server import ModelServer
from tests.scene import scene

pytestmark = pytest.mark.anyio

STORY = ByHistory([
    use("read", path="a.txt"),
    reply(
        UseTool("edit", {"path": "a.txt", "edits": [{"old": "one", "new": "two"}]}),
        UseTool("write", {"path": "b.txt", "content": "b"}),
        UseTool("read", {"path": "a.txt"}),
    ),
    use("edit", path="a.txt", edits=[{"old": "two", "new": "three"}]),
    say("Done."),
])  # fmt: skip


@pytest.mark.parametrize("commits", range(2, 24, 2))
async def test_after_a_kill_at_any_commit_the_run_ends_as_it_would_have(commits: int) -> None:
    async with scene(STORY) as (server, home):
        (home.workspace / "a.txt").write_text("one\n")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace, mode="edits")
            first = conversation.seq
            run_id = await editor.send(conversation, "Count.")
            await editor.wait_for(lambda: conversation.seq >= first + commits or conversation.answers)
            await home.kill9()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, run_id)
            await same_end(home, server, editor=editor, conversation=await editor.attach(conversation.id))


async def test_killed_again_and_again_a_run_still_ends() -> None:
    async with scene(STORY) as (server, home):
        (home.workspace / "a.txt").write_text("one\n")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace, mode="edits")
            run_id = await editor.send(conversation, "Count.")
        for _ in range(4):
            await home.kill9()
            await home.start()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, run_id)
            await same_end(home, server, editor=editor, conversation=await editor.attach(conversation.id))


async def same_end(home: Home, server: ModelServer, *, editor: Editor, conversation: Mirror) -> None:
    assert {path.name: path.read_text() for path in home.workspace.iterdir()} == {"a.txt": "three\n", "b.txt": "b"}
    kinds = [item["kind"] for item in conversation.items.values() if item["kind"] != "notice"]
    assert sorted(kinds) == sorted(["user_message", *["tool_call"] * 2, *["file_change"] * 3, "assistant_message"])
    assert {item["status"] for item in conversation.items.values()} == {"completed"}
    assert conversation.conversation["status"] == "idle"
    # Whoever was asked twice was asked the same.
    asked: dict[int, Any] = {}
    for request in server.requests:
        assert asked.setdefault(request.steps, request.body) == request.body
    assert sorted(asked) == [0, 1, 2, 3]
    finished = [e["entity"]["id"] for e in await editor.history(conversation) if e["fact"] == "finished"]
    assert len(finished) == len(set(finished)) == 5
