"""Odd streams and servers in trouble, word for word as they were reported, on every wire.

Where a wire has no such thing, its nearest is played, and said beside it.
"""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from agent_ls.testing.editor import Editor
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import (
    Gate,
    Http,
    InOrder,
    Pause,
    Raw,
    Say,
    Silence,
    Stream,
    UseTool,
    reply,
    say,
)
from agent_ls.testing.model_server import ModelServer
from tests.scene import lines, scene

CHAT, RESPONSES, ANTHROPIC = "openai-compatible", "openai", "anthropic"

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("kind", [CHAT, RESPONSES, ANTHROPIC])]

RAN: Final = UseTool("shell", {"command": "echo x >> ran"})


def raw(*payloads: dict[str, Any]) -> Raw:
    return Raw(b"".join(b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in payloads))


async def hurried(editor: Editor, conversation: Mirror, run_id: str) -> str:
    """What was said of the wait that is cut short."""
    await editor.wait_for(lambda: waiting(conversation))
    said = waiting(conversation)[-1]
    await editor.command("agent/run/hurry", runId=run_id)
    return said


def waiting(conversation: Mirror) -> list[str]:
    notices = [item for item in conversation.of_kind("notice") if item["payload"]["code"] == "retrying"]
    return [item["payload"]["message"] for item in notices if item["status"] == "running"]


@pytest.mark.parametrize("arguments", ["", " \n\t "])
async def test_a_tool_without_parameters_runs_with_none_and_one_that_needs_some_says_which(
    kind: str, arguments: str
) -> None:
    """B05. With no text of arguments at all, no delta is sent: a tool_use without input_json_delta, a call whose only
    arguments are those of its end."""
    calls = [reply(UseTool(name, arguments, "c1")) for name in ("diagnostics", "read")]
    async with (
        scene(InOrder([*calls, say("I see."), say("Yes.")]), kind=kind) as (server, home),
        home.editor(home.workspace, features=["diagnostics"]) as editor,
    ):
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Go."))
        ran, missing = (text for _, text in server.requests[2].results)
        assert (conversation.result(conversation.calls[0]["id"])["status"], "error" in ran) == ("ok", False)
        assert missing.startswith("error: ")
        assert "path" in missing
        assert [call["payload"]["input"] for call in conversation.calls] == [{}, {}]
        await editor.until_ended(conversation, await editor.send(conversation, "Sure?"))
        assert replayed(server, kind) == [{}, {}]


def replayed(server: ModelServer, kind: str) -> list[Any]:
    """The arguments of every call in the newest request, as that wire has them."""
    body = server.requests[-1].body
    if kind == ANTHROPIC:
        blocks = [b for m in body["messages"] if m["role"] == "assistant" for b in m["content"] if isinstance(b, dict)]
        return [block["input"] for block in blocks if block["type"] == "tool_use"]
    if kind == RESPONSES:
        return [json.loads(item["arguments"]) for item in body["input"] if item["type"] == "function_call"]
    calls = [call for message in body["messages"] for call in message.get("tool_calls") or ()]
    return [json.loads(call["function"]["arguments"]) for call in calls]


async def test_an_end_without_its_reason_is_an_end_once(kind: str) -> None:
    """B11 a and b. A reason in another spelling exists in Chat Completions alone; an end without one is, for Messages,
    a message_stop without a message_delta, for Responses an end that counts nothing."""
    whole = Stream(steps=(Say("Whole."),), stop="", usage=None)
    camel = {"choices": [{"index": 0, "delta": {}, "finishReason": "stop"}]}
    spelled = Stream(steps=(Say("Whole too."), raw(camel)), stop="", usage=None, until_close=True)
    second = spelled if kind == CHAT else whole
    async with scene(InOrder([whole, second]), kind=kind) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        for text in ("Hello?", "And?"):
            await editor.until_ended(conversation, await editor.send(conversation, text))
        assert conversation.answers == ["Whole.", "Whole too." if kind == CHAT else "Whole."]
        assert len(server.requests) == 2


@pytest.mark.parametrize("stop", ["", "tool_calls"])
async def test_a_stream_that_closes_without_its_end_runs_no_tool_and_is_asked_for_anew(kind: str, stop: str) -> None:
    """B11 c and d: closed by FIN, with and without the reason that comes before the end. Chat Completions has none
    after its reason but the marker, so there the reason alone is an end, and the call in it runs."""
    cut = Stream(steps=(Say("half"), RAN), stop=stop, usage=None, done=False, until_close=True)
    ends = kind == CHAT and stop != ""
    async with scene(InOrder([cut, say("Done.")]), kind=kind) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        if ends:
            await editor.decide(conversation, "allow")
        else:
            assert "(1 of 3)" in await hurried(editor, conversation, run_id)
        await editor.until_ended(conversation, run_id)
        first = conversation.of_kind("assistant_message")[0]
        assert (first["payload"]["text"], first["status"]) == ("half", "completed" if ends else "interrupted")
        assert lines(home.workspace / "ran") == (["x"] if ends else [])


async def test_chunks_that_hold_nothing_are_no_error_and_usage_is_counted_once(kind: str) -> None:
    """B12. Messages and Responses have no choices: there it is events that are not known, or hold no more than null."""
    odd = {
        CHAT: [{"choices": []}, {"id": "x", "object": "chat.completion.chunk"}, {"choices": [], "usage": None}],
        RESPONSES: [{"type": "response.in_progress", "response": {"usage": None}}, {"type": "response.new"}, {}],
        ANTHROPIC: [{"type": "message_delta", "delta": {}, "usage": None}, {"type": "new"}, {"type": "ping"}],
    }[kind]
    answer = reply(raw(*odd), Say("Who"), raw(*odd), Say("le."))
    async with scene(InOrder([answer]), kind=kind) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Hello?"))
        (said,) = conversation.of_kind("assistant_message")
        usage = said["payload"]["usage"]
        assert said["payload"]["text"] == "Whole."
        assert (usage["inputTokens"], usage["outputTokens"]) == (10, 5)


def busy(retry_after: str | None, status: int = 429) -> Http:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    body = {"error": {"message": "slow down, please", "type": "rate_limit_error"}}
    return Http(status=status, body=body, headers=headers)


async def test_what_a_server_says_of_when_to_come_back_counts_where_it_makes_sense(kind: str) -> None:
    """B14, but for the two that need a clock: the next test's."""
    said = {"2": "2 s", "-1": "1 s", "soon": "1 s", "Fri, 31 Dec 1999 23:59:59 GMT": "1 s"}
    answers = [*(busy(value) for value in said), busy(None, 529), busy("86400")]
    async with scene(InOrder(answers), kind=kind) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        for wait in (*said.values(), "5 s"):
            run_id = await editor.send(conversation, "Hello?")
            await editor.wait_for(lambda: waiting(conversation))
            (told,) = waiting(conversation)
            seconds = float(found[1]) if (found := re.search(r"after ([\d.]+) s \(1 of \d\)", told)) else 0
            assert abs(seconds - float(wait.split()[0])) <= float(wait.split()[0]) / 4 + 0.5, told
            assert "slow down, please" in told
            await editor.interrupt(run_id)
            await editor.until_ended(conversation, run_id, "interrupted")
        far = await editor.until_ended(conversation, await editor.send(conversation, "Hello?"), "failed")
        assert "slow down, please" in far["error"]["message"]
        assert re.search(r"24 h|86,?400|1 day", json.dumps(far["error"])), far["error"]
        assert len(server.requests) == len(answers)


async def test_a_date_is_waited_for_and_the_last_error_is_shown_when_the_tries_are_used_up(kind: str) -> None:
    """B14: the date is told from the time of an event, which is the daemon's own."""
    dates: list[str] = []

    def when_asked(request: Any) -> Stream | Http:
        return say("Hello.") if not dates else busy(dates[0])

    async with scene(when_asked, kind=kind) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Hello?"))
        now = datetime.fromisoformat(conversation.events[-1]["at"])
        dates.append((now.astimezone(UTC) + timedelta(seconds=60)).strftime("%a, %d %b %Y %H:%M:%S GMT"))
        run_id = await editor.send(conversation, "And?")
        for n in (1, 2, 3):
            await editor.wait_for(lambda n=n: any(f"({n} of 3)" in told for told in waiting(conversation)))
            told = await hurried(editor, conversation, run_id)
            seconds = float(found[1]) if (found := re.search(r"after ([\d.]+) s", told)) else 0
            assert 20 < seconds <= 61, told
        run = await editor.until_ended(conversation, run_id, "failed")
        assert "slow down, please" in run["error"]["message"]
        assert len(server.requests) == 5


async def test_silence_ends_within_its_limit_and_a_stop_at_once(kind: str) -> None:
    """B15: no answer at all, one event and then nothing, nothing but signs of life."""
    config = "[http]\nfirst_byte_timeout_s = 0.4\nidle_timeout_s = 0.4\npings_only_timeout_s = 0.8\n"
    pings = [step for _ in range(200) for step in (Raw(b": ping\n\n"), Pause(0.05))]
    never = Http(status=200, gate=Gate())
    answers = [never, reply(Silence()), reply(*pings), reply(Say("So"), Silence())]
    async with scene(InOrder(answers), kind=kind, config=config) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Hello?")
        told = [await hurried(editor, conversation, run_id) for _ in range(3)]
        assert ["signs of life" in text for text in told] == [False, False, True]
        await editor.wait_for(lambda: "So" in conversation.shown)
        await editor.interrupt(run_id)
        await editor.until_ended(conversation, run_id, "interrupted")
        assert conversation.answers == ["So"]
        assert len(server.requests) == 4
