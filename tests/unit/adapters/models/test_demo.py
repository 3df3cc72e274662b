"""The scripted model says what it is, and its story follows from the messages alone."""

import json

import pytest

from agent_ls.adapters.models.demo import MESSAGE, OTHERWISE, DemoModel, mended
from agent_ls.core.call import NO_REASON
from agent_ls.core.items import Block
from agent_ls.core.messages import (
    AssistantTurn,
    CallPart,
    ModelMessage,
    Reply,
    ResultPart,
    ResultsTurn,
    Stop,
    TextPart,
    UserTurn,
)
from agent_ls.ports.provider import CallFrame, Frame, ModelRequest, TextFrame

pytestmark = pytest.mark.anyio

ASKED = UserTurn((Block(type="text", text=f"Please: {MESSAGE}."),))
FILE_TEXT = "     1\tname = 'you'\n     2\tprint(\"Helo, wrold!\")\n"
RESULTS = {
    "read": ResultPart("x", FILE_TEXT),
    "edit": ResultPart("x", "ok"),
    "shell": ResultPart("x", "Hello, world!\n"),
}


async def no_pause(_: float) -> None:
    return None


async def said(*messages: ModelMessage, frames: list[Frame] | None = None) -> Reply:
    request = ModelRequest(model="demo-1", system="", messages=messages, tools=(), step_id="s", cache_key="k")
    reply = await DemoModel(sleep=no_pause).call(request, (frames if frames is not None else []).append)
    assert isinstance(reply, Reply)
    return reply


async def story(results: dict[str, ResultPart]) -> list[Reply]:
    messages: list[ModelMessage] = [ASKED]
    replies = []
    for step in range(5):
        reply = await said(*messages)
        replies.append(reply)
        if reply.stop is Stop.END_TURN:
            return replies
        # The daemon gives its own ids.
        call = next(part for part in reply.parts if isinstance(part, CallPart))
        messages.append(AssistantTurn((reply.parts[0], CallPart(f"c{step}", call.name, call.arguments))))
        result = results[call.name]
        messages.append(ResultsTurn((ResultPart(f"c{step}", result.text, result.is_error),)))
    raise AssertionError("the story has no end")


def calls(replies: list[Reply]) -> list[tuple[str, object]]:
    return [
        (part.name, json.loads(part.arguments))
        for reply in replies
        for part in reply.parts
        if isinstance(part, CallPart)
    ]


async def test_it_reads_mends_runs_and_tells() -> None:
    replies = await story(RESULTS)
    assert calls(replies) == [
        ("read", {"path": "hello.py"}),
        ("edit", {"path": "hello.py", "edits": [{"old": '"Helo, wrold!"', "new": '"Hello, world!"'}]}),
        ("shell", {"command": "python3 hello.py"}),
    ]
    first, last = replies[0].parts[0], replies[-1].parts[0]
    assert isinstance(first, TextPart)
    assert first.text.startswith("I am a scripted model, not a real one")
    assert isinstance(last, TextPart)
    assert "`python3 hello.py` says: Hello, world!" in last.text


@pytest.mark.parametrize(
    ("tool", "used"),
    [("read", ["read"]), ("edit", ["read", "edit"]), ("shell", ["read", "edit", "shell"])],
)
async def test_a_step_that_did_not_work_ends_the_story_with_its_reason(tool: str, used: list[str]) -> None:
    replies = await story({**RESULTS, tool: ResultPart("x", "denied: not today", is_error=True)})
    assert [name for name, _ in calls(replies)] == used
    last = replies[-1].parts[0]
    assert isinstance(last, TextPart)
    assert "not today" in last.text


async def test_a_file_without_a_mistake_is_only_run() -> None:
    replies = await story({**RESULTS, "read": ResultPart("x", 'print("Hello, world!")')})
    assert [name for name, _ in calls(replies)] == ["read", "shell"]


async def test_anything_else_is_told_what_this_is_and_how_to_get_more() -> None:
    other = UserTurn((Block(type="text", text="What is 2 + 2?"),))
    assert await said(ASKED, AssistantTurn((TextPart("x"),)), other) == Reply(
        (TextPart(OTHERWISE),), Stop.END_TURN, model="demo-1"
    )
    assert "not a real one" in OTHERWISE.split(".")[0]


async def test_frames_add_up_to_the_reply() -> None:
    frames: list[Frame] = []
    reply = await said(ASKED, frames=frames)
    text = "".join(frame.delta for frame in frames if isinstance(frame, TextFrame))
    assert reply.parts[0] == TextPart(text)
    assert frames[-1] == CallFrame(1, "read", '{"path": "hello.py"}')
    assert len(frames) > 10


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("print('Helo')", ("'Helo'", "'Hello'")),
        ('print("a")\nprint("hello, wrold")', ('"hello, wrold"', '"hello, world"')),
        ('print("Hello, world")', None),
        ("", None),
    ],
)
def test_a_misspelt_greeting_is_found_in_quotes(text: str, mend: tuple[str, str] | None) -> None:
    assert mended(text) == mend


@pytest.mark.parametrize(
    ("tool", "result", "told"),
    [
        ("edit", f"denied: {NO_REASON}", "You said no to the edit, so it was not made and there is nothing to run."),
        ("shell", f"denied: {NO_REASON}", "You said no to the command, so it was not run."),
        ("shell", "denied: not now", "You said no to the command, so it was not run: not now"),
        ("shell", "error: exit 1", "The command did not end well: error: exit 1"),
    ],
)
async def test_a_no_of_the_person_is_told_as_one(tool: str, result: str, told: str) -> None:
    replies = await story({**RESULTS, tool: ResultPart("x", result, is_error=True)})
    assert replies[-1].parts == (TextPart(told),)
