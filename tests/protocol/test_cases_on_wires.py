"""Odd answers, denials, messages in between and stops, on every wire: each request is one that its server takes.

The scripted server checks each request as the strictest real ones do; `scene` asserts that it refused none.
"""

import pytest

from agent_ls.testing.model_scenario import InOrder, Say, UseTool, reply, say, use
from agent_ls.testing.model_server import ModelServer
from tests.scene import lines, scene

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("kind", ["openai-compatible", "openai", "anthropic"]),
]


def told(server: ModelServer, number: int) -> list[str]:
    """Results since the last text of the person, as the request has them."""
    return [text for _, text in server.requests[number].results]


async def test_odd_calls_are_paired_answered_and_harm_no_later_request(kind: str) -> None:
    """B05, B07, B17, B20."""
    reads = [UseTool("read", {"path": f"{name}.txt"}, "call_0") for name in "abc"]
    answers = [
        reply(UseTool("read", "", "call_0")),
        reply(*reads[:2]),
        reply(reads[2]),
        use("functions.shell", command="echo x > ran"),
        reply(Say("\n"), UseTool("shell", {"command": "/bin/true"})),
        say(" "),
        say("Here."),
    ]
    async with scene(InOrder(answers), kind=kind) as (server, home), home.editor() as editor:
        for name in "abc":
            (home.workspace / f"{name}.txt").write_text(name)
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        await editor.decide(conversation, "allow")
        await editor.until_ended(conversation, run_id)
        await editor.until_ended(conversation, await editor.send(conversation, "Are you there?"))
        missing, a, b, c, unknown, empty = told(server, 5)
        assert missing.startswith("error: ")
        assert "path" in missing
        assert (a, b, c, empty) == ("a", "b", "c", "(no output)")
        assert unknown.startswith("error: There is no tool `functions.shell`. The tools are: ")
        assert len({known for known, _ in server.requests[5].results}) == 6
        assert lines(home.workspace / "ran") == []
        assert conversation.answers[-1] == "Here."


async def test_denials_messages_in_between_and_stops_are_told_as_what_they_were(kind: str) -> None:
    """B19, B25, B28, B29."""
    shell = use("shell", command="echo x >> ran")
    both = reply(*shell.steps, *use("shell", command="echo y >> ran").steps)
    answers = [both, use("shell", command="echo begun; cat gate"), shell, say("Fine.")]
    async with scene(InOrder(answers), kind=kind) as (server, home):
        async with home.editor() as editor:
            gate = home.gate("gate")
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Go.")
            first, _ = await editor.until_asked(conversation, 2)
            await editor.respond(first, "deny", reason="use foo.py")
            await home.kill9()
        async with home.editor() as editor:
            conversation = await editor.attach(conversation.id)
            await editor.decide(conversation, "deny")
            await editor.wait_for(lambda: any("begun" in str(r["input"]) for r in conversation.pending))
            await editor.respond(conversation.pending[0], "allow")
            await editor.wait_for(lambda: "begun" in conversation.output)
            assert (await editor.say(conversation, "Also do X."))["disposition"] == "steered"
            await home.open_gate(gate)
            await editor.until_asked(conversation)
            await editor.interrupt(run_id)
            await editor.until_ended(conversation, run_id, "interrupted")
            await editor.until_ended(conversation, await editor.send(conversation, "Well?"))
            denied, plain = told(server, 1)
            assert denied == "denied: use foo.py"
            assert plain.startswith("denied: The person said no and gave no reason.")
            assert [request.last_user_text for request in server.requests] == ["Go.", "Go.", "Also do X.", "Well?"]
            results = [call["payload"]["result"] for call in conversation.calls]
            assert [result["status"] for result in results] == ["denied", "denied", "ok", "not_run"]
            assert lines(home.workspace / "ran") == []
