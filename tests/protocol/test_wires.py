"""The main job on each wire, and thoughts that outlive the daemon that read them."""

import pytest

from agent_ls.testing.model_scenario import SEALED, InOrder, Say, Think, Tokens, UseTool, reply, say
from tests.scene import scene

pytestmark = pytest.mark.anyio

EDIT = {"path": "notes.txt", "edits": [{"old": "one", "new": "two"}]}


@pytest.mark.parametrize(
    ("kind", "dialect"),
    [("anthropic", "anthropic"), ("openai", "responses"), ("openai-compatible", "chat")],
)
async def test_a_message_leads_to_read_edit_and_command_and_thoughts_go_back_after_a_kill(
    kind: str, dialect: str
) -> None:
    answers = [
        reply(Think("First I read 北\u2028🌍. "), Say("I read."), UseTool("read", {"path": "notes.txt"}, "c0")),
        reply(Think("x", field=SEALED), Think("Now\n", 1), UseTool("edit", EDIT, "c0", 5)),
        reply(UseTool("shell", {"command": "/bin/cat notes.txt"}, "c0"), usage=Tokens(20, 4, 16)),
        say("Done.", size=2),
        say("Again."),
    ]
    async with scene(InOrder(answers), kind=kind) as (server, home):
        (home.workspace / "notes.txt").write_text("one\n")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Make it two.")
            for _ in ("edit", "shell"):
                await editor.decide(conversation, "allow")
            await editor.until_ended(conversation, run_id)
            assert conversation.answers == ["I read.", "Done."]
            results = [conversation.result(call["id"]) for call in conversation.calls]
            assert [result["status"] for result in results] == ["ok", "ok", "ok"]
        await home.kill9()
        async with home.editor() as editor:
            conversation = await editor.attach(conversation.id)
            await editor.until_ended(conversation, await editor.send(conversation, "And again."))
            assert conversation.answers == ["I read.", "Done.", "Again."]
        assert {request.dialect for request in server.requests} == {dialect}
        assert server.requests[4].user_texts == ("Make it two.", "And again.")
        # The server checks each seal, and would have refused a thought that one letter of had changed.
        assert str(server.requests[4].body).count("First I read") == 1
