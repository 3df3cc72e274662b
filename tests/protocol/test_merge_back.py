"""Merging back: what came of a fork goes with the next message of the conversation that it was made of, once."""

from typing import Any

import pytest

from agent_ls.testing.editor import Editor
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import Answer, Gate, InOrder, Say, UseTool, Wait, reply, say
from tests.protocol.test_forks import fork, refusal, said
from tests.scene import scene

pytestmark = pytest.mark.anyio

Json = dict[str, Any]


async def merge_back(editor: Editor, source: Mirror, into: Mirror, **more: Any) -> Json:
    named = {"from": source.id, "into": into.id}
    done: Json = await editor.command("agent/conversation/mergeBack", **named, **more)
    return done


async def test_what_came_of_a_fork_goes_with_the_parents_next_message() -> None:
    work = reply(
        UseTool("write", {"path": "a.txt", "content": "one\n"}),
        UseTool("shell", {"command": "echo tested"}),
        UseTool(
            "todo", {"steps": [{"text": "write it", "status": "done"}, {"text": "test more", "status": "pending"}]}
        ),
    )
    answers = [say("One."), work, say("It is written."), say("I know."), say("Yes.")]
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        parent = await editor.create(home.workspace, mode="edits", title="Fix it")
        await said(editor, parent, "first")
        child = await fork(editor, parent)
        await said(editor, child, "try it")
        await merge_back(editor, child, parent)
        (told,) = parent.of_kind("handoff")
        text = told["payload"]["text"]
        assert (told["payload"]["strategy"], told["payload"]["from"], told["payload"]["to"]) == (
            "merge_back",
            child.id,
            parent.id,
        )
        assert text == "\n\n".join(
            [
                "What came of the fork “Fix it (fork)” of this conversation:",
                f"Files changed there:\n- {(home.workspace / 'a.txt').as_uri()}",
                "Commands run there:\n- `echo tested`: exit 0",
                "Still open there:\n- test more",
                "Asked there: try it\nAnswered: It is written.",
            ]
        )
        await said(editor, parent, "second")
        assert server.requests[-1].user_texts[-1] == f"[{text}]\n\nsecond"
        await said(editor, parent, "third")
        assert sum(text in said for said in server.requests[-1].user_texts) == 1


async def test_nothing_is_merged_back_twice() -> None:
    answers = [say(text) for text in ("One.", "Two.", "Three.")]
    async with scene(InOrder(answers)) as (_, home), home.editor() as editor:
        parent = await editor.create(home.workspace)
        await said(editor, parent, "first")
        child = await fork(editor, parent)
        nothing = ("invalid_params", "There is nothing new in this fork to merge back.", "Say something there first.")
        params = {"from": child.id, "into": parent.id}
        assert await refusal(editor, "agent/conversation/mergeBack", params) == nothing
        await said(editor, child, "second")
        first = await merge_back(editor, child, parent, commandId="m")
        assert await merge_back(editor, child, parent, commandId="m") == first
        assert await refusal(editor, "agent/conversation/mergeBack", params) == nothing
        await said(editor, child, "third")
        await merge_back(editor, child, parent)
        texts = [item["payload"]["text"] for item in parent.of_kind("handoff")]
        assert [("second" in text, "third" in text) for text in texts] == [(True, False), (False, True)]


async def test_a_merge_is_refused_while_either_is_at_work_and_between_strangers() -> None:
    gates = [Gate(), Gate()]
    answers: list[Answer] = [say("One."), *(reply(Say("…"), Wait(gate)) for gate in gates)]
    async with scene(InOrder(answers)) as (_, home), home.editor() as editor:
        parent, other = await editor.create(home.workspace), await editor.create(home.workspace)
        await said(editor, parent, "first")
        child = await fork(editor, parent)
        running = await editor.send(child, "second")
        params = {"from": child.id, "into": parent.id}
        found = [await refusal(editor, "agent/conversation/mergeBack", params)]
        gates[0].open()
        await editor.until_ended(child, running)
        running = await editor.send(parent, "third")
        found.append(await refusal(editor, "agent/conversation/mergeBack", params))
        gates[1].open()
        await editor.until_ended(parent, running)
        found.append(await refusal(editor, "agent/conversation/mergeBack", {"from": child.id, "into": other.id}))
        found.append(await refusal(editor, "agent/conversation/mergeBack", {"from": parent.id, "into": child.id}))
        assert [code for code, _, _ in found] == ["conversation_busy"] * 2 + ["invalid_params"] * 2
        assert [message for _, message, _ in found[:2]] == [
            "The fork is at work.",
            "The conversation that it is to be merged into is at work.",
        ]
