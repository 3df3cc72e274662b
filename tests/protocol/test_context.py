"""What a model is sent after odd answers, denials, stops and restarts is a request that every server takes.

The scripted server checks each request as the strictest real ones do; `scene` asserts that it refused none.
"""

import base64
import json
from typing import Any

import pytest

from agent_ls.testing.editor import Refused
from agent_ls.testing.model_scenario import Gate, InOrder, Say, UseTool, Wait, reply, say, use
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg=="
)


def messages(request: Any) -> list[dict[str, Any]]:
    """Of a request, without the system prompt."""
    found: list[dict[str, Any]] = request.body["messages"][1:]
    return found


@pytest.mark.parametrize("arguments", ["", "  \n"])
async def test_a_call_with_empty_arguments_counts_as_an_empty_object(arguments: str) -> None:
    """B05: what is missing in it is an error of the tool, not of the parser."""
    call = reply(UseTool("read", arguments, "c1"))
    async with scene(InOrder([call, say("I see.")])) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Read."))
        _, asked, result = messages(server.requests[1])
        assert asked["tool_calls"][0]["function"] == {"name": "read", "arguments": "{}"}
        assert result["content"].startswith("error: ")
        assert "path" in result["content"]
        assert conversation.calls[0]["payload"]["input"] == {}


async def test_ids_that_a_server_uses_twice_are_told_apart() -> None:
    """B07: twice in one step, and again in the next one."""
    reads = [UseTool("read", {"path": name}, "call_0") for name in ("a.txt", "b.txt", "c.txt")]
    answers = [reply(*reads[:2]), reply(reads[2]), say("Done."), say("Still here.")]
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        for name in "abc":
            (home.workspace / f"{name}.txt").write_text(name)
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Read all."))
        await editor.until_ended(conversation, await editor.send(conversation, "And now?"))
        sent = messages(server.requests[3])
        ids = [call["id"] for message in sent for call in message.get("tool_calls", ())]
        results = [(message["tool_call_id"], message["content"]) for message in sent if message["role"] == "tool"]
        assert len(set(ids)) == 3
        assert results == list(zip(ids, ["a", "b", "c"], strict=True))


async def test_no_text_that_is_sent_is_empty() -> None:
    """B17: blank text beside a call, a result without output, an answer without content, a blank message."""
    blank = reply(Say("\n"), UseTool("shell", {"command": "/bin/true"}))
    async with scene(InOrder([blank, say(" "), say("Here.")])) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        await editor.decide(conversation, "allow")
        await editor.wait_for(lambda: conversation.status(run_id) in {"completed", "failed"})
        with pytest.raises(Refused) as refused:
            await editor.send(conversation, " \n ")
        assert refused.value.code == "invalid_params"
        await editor.until_ended(conversation, await editor.send(conversation, "Are you there?"))
        _, called, result, *_ = messages(server.requests[2])
        assert (called["content"], result["content"]) == (None, "(no output)")
        assert conversation.answers[-1] == "Here."


async def test_a_message_sent_while_a_tool_runs_comes_after_its_result() -> None:
    """B19."""
    answers = [use("shell", command="echo begun; cat gate"), say("Done, and that too.")]
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        gate = home.gate("gate")
        conversation = await editor.create(home.workspace)
        first = await editor.send(conversation, "Do this.")
        await editor.decide(conversation, "allow")
        await editor.wait_for(lambda: "begun" in conversation.output)
        sent = await editor.say(conversation, "Also do X.")
        assert (sent["runId"], sent["disposition"]) == (first, "steered")
        await home.open_gate(gate)
        await editor.until_ended(conversation, first)
        assert [message["role"] for message in messages(server.requests[1])] == ["user", "assistant", "tool", "user"]
        assert [request.last_user_text for request in server.requests] == ["Do this.", "Also do X."]


async def test_an_image_in_a_result_is_sent_where_images_may_stand() -> None:
    """B19: with a second result beside it, which has to follow its call at once."""
    reads = [UseTool("read", {"path": path}) for path in ("dot.png", "a.txt")]
    async with scene(InOrder([reply(*reads), say("A dot."), say("Yes.")])) as (server, home), home.editor() as editor:
        (home.workspace / "dot.png").write_bytes(PIXEL)
        (home.workspace / "a.txt").write_text("a")
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Look."))
        await editor.until_ended(conversation, await editor.send(conversation, "Sure?"))
        roles = [message["role"] for message in messages(server.requests[1])]
        assert roles == ["user", "assistant", "tool", "tool", "user"]
        (picture,) = [p for p in messages(server.requests[1])[4]["content"] if p["type"] == "image_url"]
        assert picture["image_url"]["url"] == "data:image/png;base64," + base64.b64encode(PIXEL).decode()


@pytest.mark.parametrize("name", ["read_file", "Bash ", "functions.shell", "../edit", "SHELL", ""])
async def test_a_tool_that_is_not_offered_is_an_error_that_names_those_that_are(name: str) -> None:
    """B20: no alias reaches a tool."""
    call = reply(UseTool(name, {"command": "echo x > ran", "path": "ran", "content": "x"}))
    async with scene(InOrder([call, say("Sorry.")])) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Go."))
        ((_, told),) = server.requests[1].results
        assert told.startswith("error: ")
        assert all(tool in told for tool in ("edit", "read", "shell", "write"))
        assert lines(home.workspace / "ran") == []


MONSTROUS = (
    *('{"x":' + "[" * depth + "]" * depth + "}" for depth in (100, 220, 400, 900, 50_000)),
    json.dumps({"x": "y" * 1_000_000}),
    json.dumps({"x": list(range(200_000))}),
    json.dumps({f"k{n}": n for n in range(50_000)}),
    '{"x":' + "9" * 5_000 + "}",
    '{"x":NaN}',
    '{"x":1e999,"y":"\\ud800\\u0000"}',
)


async def test_calls_with_monstrous_arguments_are_errors_that_cost_little_and_harm_no_later_request() -> None:
    calls = [UseTool(name, arguments) for name in ("read", "nosuch") for arguments in MONSTROUS]
    async with scene(InOrder([*map(reply, calls), say("Done.")])) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            await editor.until_ended(conversation, await editor.send(conversation, "Go."))
            ends = [(call["payload"]["state"], call["payload"]["result"]["status"]) for call in conversation.calls]
            assert ends == [("not_run", "error")] * len(calls)
            assert max(len(json.dumps(event)) for event in await editor.history(conversation)) < 256 * 1024
            await home.kill9()
        async with home.editor() as editor:
            assert (await editor.attach(conversation.id)).items == conversation.items
        assert len(json.dumps(server.requests[-1].body)) < 1024 * 1024


async def test_a_model_that_repeats_a_wrong_call_is_stopped() -> None:
    """B20: the third time is the last."""
    async with scene(InOrder([use("read_file", path="a")] * 5)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run = await editor.until_ended(conversation, await editor.send(conversation, "Go."), "failed")
        assert "read_file" in run["error"]["message"]
        assert run["error"]["hint"]
        assert len(server.requests) == 3


async def test_text_that_shows_a_call_runs_nothing() -> None:
    """B20."""
    call = '{"name": "shell", "arguments": {"command": "echo x > ran"}}'
    text = f"Like so:\n```json\n{call}\n```\n<tool_call>{call}</tool_call>"
    async with scene(InOrder([say(text)])) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Show me a call."))
        assert (conversation.answers, conversation.calls) == ([text], [])
        assert lines(home.workspace / "ran") == []


async def test_stopped_in_mid_stream_the_text_so_far_stays_and_the_next_message_is_taken() -> None:
    gate = Gate()
    answers = [reply(Say("Half an ans"), Wait(gate)), say("Fine.")]
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Talk.")
        await editor.wait_for(lambda: conversation.shown == "Half an ans")
        assert (await editor.interrupt(run_id))["status"] == "stopping"
        await editor.until_ended(conversation, run_id, "interrupted")
        assert conversation.transcript == [
            ("user_message", "completed"),
            ("interrupt", "completed"),
            ("assistant_message", "interrupted"),
        ]
        assert conversation.answers == ["Half an ans"]
        await editor.until_ended(conversation, await editor.send(conversation, "Never mind."))
        assert messages(server.requests[1])[1]["content"].startswith("Half an ans")
        assert conversation.answers[-1] == "Fine."
        # Stopping it again changes nothing.
        assert (await editor.interrupt(run_id))["status"] == "interrupted"


async def test_stopped_while_a_command_runs_the_model_is_told_that_it_may_have_had_effects() -> None:
    command = "echo x >> ran; echo begun; cat gate; echo x >> ran"
    calls = reply(UseTool("shell", {"command": command}), UseTool("write", {"path": "b.txt", "content": "b"}))
    async with scene(InOrder([calls, say("Fine.")])) as (server, home), home.editor() as editor:
        home.gate("gate")
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        asked, _ = await editor.until_asked(conversation, 2)
        await editor.respond(asked, "allow")
        await editor.wait_for(lambda: "begun" in conversation.output)
        await editor.interrupt(run_id)
        await editor.until_ended(conversation, run_id, "interrupted")
        assert conversation.pending == []
        await editor.until_ended(conversation, await editor.send(conversation, "Never mind."))
        ran, written = [m["content"] for m in messages(server.requests[1]) if m["role"] == "tool"]
        assert ran.startswith("interrupted: ")
        assert "begun" in ran
        assert written.startswith("not_run: ")
        assert lines(home.workspace / "ran") == ["x"]
        assert not (home.workspace / "b.txt").exists()


async def test_a_denied_call_is_told_as_denied_and_a_stopped_one_as_not_run() -> None:
    """B29: three outcomes that a model must not mix up."""
    shell = use("shell", command="echo x >> ran")
    async with scene(InOrder([shell, shell, say("Fine.")])) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        await editor.respond((await editor.until_asked(conversation))[0], "deny", reason="not now")
        await editor.until_asked(conversation)
        await editor.interrupt(run_id)
        await editor.until_ended(conversation, run_id, "interrupted")
        await editor.until_ended(conversation, await editor.send(conversation, "Well?"))
        told = [m["content"] for m in messages(server.requests[2]) if m["role"] == "tool"]
        assert told == ["denied: not now", "not_run: Not run: the person stopped the run."]
        assert lines(home.workspace / "ran") == []
