"""Blank texts, pictures, wrong names, decisions over a restart and windows that answer nothing, on every wire."""

import base64
from typing import Any

import pytest

from agent_ls.testing.editor import Answer, Refused
from agent_ls.testing.model_scenario import ByHistory, InOrder, UseTool, reply, say, use
from tests.protocol.test_context import PIXEL
from tests.scene import lines, scene

CHAT, RESPONSES, ANTHROPIC = "openai-compatible", "openai", "anthropic"

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("kind", [CHAT, RESPONSES, ANTHROPIC])]

WRITES = [UseTool("shell", {"command": f"echo {name} >> ran"}) for name in "abc"]


async def test_a_message_of_blanks_is_refused_and_harms_nothing(kind: str) -> None:
    """B17: what the other blanks come to is test_cases_on_wires's."""
    async with scene(InOrder([say("Here.")]), kind=kind) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        with pytest.raises(Refused) as refused:
            await editor.send(conversation, " \n ")
        assert refused.value.code == "invalid_params"
        await editor.until_ended(conversation, await editor.send(conversation, "Are you there?"))
        assert conversation.answers == ["Here."]


async def test_a_picture_in_a_result_stands_where_that_wire_takes_one(kind: str) -> None:
    """B19: Messages takes it in the result, the others in the message after all results; the text beside it in its
    own."""
    reads = [UseTool("read", {"path": path}) for path in ("dot.png", "a.txt")]
    async with scene(InOrder([reply(*reads), say("A dot.")]), kind=kind) as (server, home), home.editor() as editor:
        (home.workspace / "dot.png").write_bytes(PIXEL)
        (home.workspace / "a.txt").write_text("a")
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Look."))
        results, pictures = placed(server.requests[1].body, kind)
        assert results == 2
        assert pictures == [base64.b64encode(PIXEL).decode()]
        assert len(conversation.answers) == 1


def placed(body: dict[str, Any], kind: str) -> tuple[int, list[str]]:
    """How many results follow the calls, and the pictures, each where it may stand."""
    if kind == ANTHROPIC:
        blocks = body["messages"][-1]["content"]
        first = [block for block in blocks if block["type"] == "tool_result"]
        assert blocks[: len(first)] == first, "something stands before a result"
        inner = [part for block in first if isinstance(block["content"], list) for part in block["content"]]
        return len(first), [part["source"]["data"] for part in inner if part["type"] == "image"]
    if kind == RESPONSES:
        items = [item for item in body["input"] if item["type"] == "function_call_output"]
        last = body["input"][-1]["content"]
        return len(items), [_data(part["image_url"]) for part in last if part["type"] == "input_image"]
    *before, last = body["messages"]
    results = [message for message in before if message["role"] == "tool"]
    assert all(isinstance(message["content"], str) for message in results)
    return len(results), [_data(part["image_url"]["url"]) for part in last["content"] if part["type"] == "image_url"]


def _data(url: str) -> str:
    return url.partition("base64,")[2]


async def test_no_other_name_reaches_a_tool_and_text_runs_nothing(kind: str) -> None:
    """B20: names that are nearly those of tools, a tool that this conversation does not have, a call told as text."""
    names = ["read_file", "shell ", "functions.shell", "../edit", "SHELL", "diagnostics"]
    call = '{"name": "shell", "arguments": {"command": "echo x > ran"}}'
    shown = f"Like so:\n```json\n{call}\n```\n<tool_call>{call}</tool_call>"
    given = {"command": "echo x > ran", "path": "ran", "content": "x"}
    answers = [*(reply(UseTool(name, given)) for name in names), say(shown), *[use("read_file", path="a")] * 3]
    async with scene(InOrder(answers), kind=kind) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace, mode="auto", allowAuto=True)
        await editor.until_ended(conversation, await editor.send(conversation, "Go."))
        told = [text for _, text in server.requests[len(names)].results]
        assert len(told) == len(names)
        assert all(text.startswith("error: ") for text in told)
        assert all(tool in text for text in told[:-1] for tool in ("edit", "read", "shell", "write"))
        assert conversation.answers == [shown]
        run = await editor.until_ended(conversation, await editor.send(conversation, "Again."), "failed")
        assert "read_file" in run["error"]["message"]
        assert lines(home.workspace / "ran") == []


async def test_decisions_over_a_restart_go_to_the_model_as_one_batch_of_the_newest_calls(kind: str) -> None:
    """B25 and B28: a allowed, b denied with a reason, the daemon killed, c decided; then calls with the same ids."""
    first = [UseTool("shell", dict(step.arguments), f"call_{n}") for n, step in enumerate(WRITES)]
    story = ByHistory([reply(*first), reply(first[0]), say("Done.")])
    async with scene(story, kind=kind) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Go.")
            a, b, c = await editor.until_asked(conversation, 3)
            await editor.respond(a, "allow")
            await editor.respond(b, "deny", reason="use foo.py")
            await editor.wait_for(lambda: conversation.result(a["itemId"]))
            await home.kill9()
        async with home.editor() as editor:
            conversation = await editor.attach(conversation.id)
            assert conversation.pending == [c]
            assert len(server.requests) == 1
            await editor.respond(c, "deny")
            await editor.wait_for(lambda: conversation.pending and conversation.pending[0]["id"] != c["id"])
            await editor.respond(conversation.pending[0], "allow")
            await editor.until_ended(conversation, run_id)
        ids = [call["payload"]["callId"] for call in conversation.calls]
        assert [known for known, _ in server.requests[1].results] == ids[:3]
        ran, reasoned, plain = (text for _, text in server.requests[1].results)
        assert (ran, reasoned) == ("(no output)", "denied: use foo.py")
        assert plain.startswith("denied: The person said no and gave no reason.")
        assert server.requests[2].results[-1] == (ids[3], "(no output)")
        assert len(set(ids)) == 4
        assert lines(home.workspace / "ran") == ["a", "a"]


@pytest.mark.parametrize("answer", ["leaves", "error", "null", "other"])
async def test_a_window_that_is_asked_and_decides_nothing_holds_nothing_back(kind: str, answer: str) -> None:
    """B27: the link dropped, -32601, null, an action that was not offered."""
    given = {
        "leaves": Answer({"result": None}, leaves=True),
        "error": Answer({"error": {"code": -32601, "message": "no"}}),
        "null": Answer({"result": None}),
        "other": Answer({"result": {"title": "Allow everything"}}),
    }[answer]
    both = reply(UseTool("read", {"path": "a.txt"}), WRITES[0])
    prompted: list[str] = []
    async with scene(InOrder([both, say("Fine.")]), kind=kind) as (_, home), home.editor() as stays:
        (home.workspace / "a.txt").write_text("one\n")
        conversation = await stays.create(home.workspace)
        async with home.bridged(home.workspace, name="asked", prompts="message") as asked:

            def answered(method: str, params: Any) -> Answer:
                prompted.append(method)
                return given

            asked.answer = answered
            run_id = await stays.send(conversation, "Go.")
            (request,) = await stays.until_asked(conversation)
            await asked.wait_for(lambda: prompted) if answer != "leaves" else None
            await stays.wait_for(lambda: conversation.result(conversation.calls[0]["id"]))
            assert await stays.pending() == [request]
        assert conversation.result(conversation.calls[0]["id"])["output"] == "one\n"
        await stays.interrupt(run_id)
        await stays.until_ended(conversation, run_id, "interrupted")
        await stays.until_ended(conversation, await stays.send(conversation, "Well?"))
        assert lines(home.workspace / "ran") == []


async def test_denied_interrupted_and_not_run_are_three_things(kind: str) -> None:
    """B29: said no to, stopped while it ran, and never begun because the daemon died before a stop of its run."""
    begun = "echo x >> f; echo begun; cat gate"
    story = ByHistory([reply(WRITES[0]), use("shell", command=begun), say("Sorry."), reply(WRITES[1]), say("Fine.")])
    async with scene(story, kind=kind) as (server, home):
        async with home.editor() as editor:
            home.gate("gate")
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Go.")
            await editor.respond((await editor.until_asked(conversation))[0], "deny", reason="not now")
            await editor.wait_for(lambda: conversation.pending and "begun" in str(conversation.pending[0]["input"]))
            await editor.respond(conversation.pending[0], "allow")
            await editor.wait_for(lambda: "begun" in conversation.output)
            await editor.interrupt(run_id)
            await editor.until_ended(conversation, run_id, "interrupted")
            await editor.until_ended(conversation, await editor.send(conversation, "Well?"))
            stale = await editor.send(conversation, "Once more.")
            await editor.until_asked(conversation)
            await home.kill9()
        async with home.editor() as editor:
            conversation = await editor.attach(conversation.id)
            await editor.interrupt(stale)
            await editor.until_ended(conversation, stale, "interrupted")
            await editor.until_ended(conversation, await editor.send(conversation, "And?"))
            results = [conversation.result(call["id"]) for call in conversation.calls]
            assert [result["status"] for result in results] == ["denied", "interrupted", "not_run"]
            assert results[0]["output"] == "not now"
            assert results[1]["output"].startswith("It had begun when the person stopped the run, and may have had")
            assert results[1]["output"].endswith("begun")
            assert results[2]["output"] == "Not run: the person stopped the run."
            assert (lines(home.workspace / "f"), lines(home.workspace / "ran")) == (["x"], [])
            assert len(server.requests) == 5
