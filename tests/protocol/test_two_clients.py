"""Two windows on one conversation see the same, and the first answer decides."""

from pathlib import Path
from typing import Any

import pytest

from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.model_scenario import Gate, InOrder, Say, Wait, reply, say, use
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio


async def test_both_see_the_same_events_in_the_same_order() -> None:
    answers = [use("read", path="a.txt"), use("shell", command="/bin/echo hi"), say("Done.", size=1)]
    async with (
        scene(InOrder(answers)) as (_, home),
        home.editor(name="left") as left,
        home.editor(name="right") as right,
    ):
        (home.workspace / "a.txt").write_text("a")
        mine = await left.create(home.workspace)
        theirs = await right.attach(mine.id)
        run_id = await left.send(mine, "Go.")
        (asked,) = await left.until_asked(mine)
        assert await right.until_asked(theirs) == [asked]
        await right.respond(asked, "allow")
        await left.until_ended(mine, run_id)
        await right.until_ended(theirs, run_id)
        assert mine.events == theirs.events
        assert (mine.items, mine.runs, mine.requests) == (theirs.items, theirs.runs, theirs.requests)
        assert mine.events == (await left.history(mine))[1:]


async def test_the_first_answer_decides_and_the_second_learns_who_gave_it() -> None:
    async with (
        scene(InOrder([use("shell", command="echo x >> ran"), say("Well.")])) as (_, home),
        home.editor(name="vscode") as left,
        home.editor(name="neovim") as right,
    ):
        mine = await left.create(home.workspace)
        theirs = await right.attach(mine.id)
        run_id = await left.send(mine, "Go.")
        (asked,) = await left.until_asked(mine)
        await right.until_asked(theirs)
        assert (await left.respond(asked, "deny", reason="no"))["status"] == "resolved"
        with pytest.raises(Refused) as refused:
            await right.respond(asked, "allow")
        data = refused.value.data
        decided = mine.requests[asked["id"]]
        assert data["code"] == "already_decided"
        assert {name: data[name] for name in ("by", "from", "decision")} == {
            "by": decided["decidedBy"],
            "from": "vscode",
            "decision": "deny",
        }
        # The same answer once more is not an error.
        assert (await right.respond(asked, "deny"))["status"] == "resolved"
        await right.until_ended(theirs, run_id)
        assert lines(home.workspace / "ran") == []


async def test_two_different_answers_at_once_have_one_winner() -> None:
    async with (
        scene(InOrder([use("shell", command="echo x >> ran"), say("Well.")])) as (_, home),
        home.editor(name="left") as left,
        home.editor(name="right") as right,
    ):
        mine = await left.create(home.workspace)
        theirs = await right.attach(mine.id)
        run_id = await left.send(mine, "Go.")
        (asked,) = await left.until_asked(mine)
        answer = {"requestId": asked["id"], "digest": asked["digest"]}
        allowing = await left.begin("agent/request/respond", {**answer, "commandId": "l", "decision": "allow"})
        denying = await right.begin("agent/request/respond", {**answer, "commandId": "r", "decision": "deny"})
        outcomes = []
        for editor, key in ((left, allowing), (right, denying)):
            try:
                outcomes.append((await editor.reply(key))["status"])
            except Refused as refused:
                outcomes.append(refused.code)
        assert sorted(outcomes) == ["already_decided", "resolved"]
        await right.until_ended(theirs, run_id)
        assert lines(home.workspace / "ran") == (["x"] if outcomes[0] == "resolved" else [])


async def test_an_answer_to_something_else_than_was_shown_is_refused() -> None:
    async with (
        scene(InOrder([use("shell", command="/bin/echo hi"), say("Well.")])) as (_, home),
        home.editor() as editor,
    ):
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        (asked,) = await editor.until_asked(conversation)
        for wrong, code in (({"digest": "0"}, "digest_mismatch"), ({"id": "c1.r1.q9"}, "unknown_request")):
            with pytest.raises(Refused) as refused:
                await editor.respond({**asked, **wrong}, "allow")
            assert (refused.value.code, refused.value.hint != "") == (code, True)
        assert await editor.pending() == [asked]
        await editor.respond(asked, "cancel")
        await editor.until_ended(conversation, run_id, "interrupted")


async def test_who_attaches_in_mid_stream_gets_the_text_so_far_and_then_the_rest() -> None:
    half, rest = Gate(), Gate()
    answer = reply(Say("Once"), Wait(half), Say(" upon"), Wait(rest), Say(" a time."))
    async with (
        scene(InOrder([answer])) as (_, home),
        home.editor(name="first") as first,
        home.editor(name="late") as late,
    ):
        mine = await first.create(home.workspace)
        run_id = await first.send(mine, "Tell me.")
        await first.wait_for(lambda: mine.shown == "Once")
        theirs = await late.attach(mine.id)
        assert theirs.shown == "Once"
        half.open()
        await late.wait_for(lambda: theirs.shown == "Once upon")
        rest.open()
        await first.until_ended(mine, run_id)
        await late.until_ended(theirs, run_id)
        assert theirs.items == mine.items


async def test_who_attaches_after_a_seq_gets_exactly_what_was_missed() -> None:
    answers = [say("One."), say("Two.")]
    async with scene(InOrder(answers)) as (_, home), home.editor(name="first") as first:
        mine = await first.create(home.workspace)
        await first.until_ended(mine, await first.send(mine, "First."))
        seen = mine.seq
        await first.until_ended(mine, run_id := await first.send(mine, "Second."))
        async with home.editor(name="back") as back:
            theirs = await back.attach(mine.id, after=seen)
            await back.wait_for(lambda: theirs.seq == mine.seq)
            assert theirs.events == [event for event in mine.events if event["seq"] > seen]
            assert theirs.status(run_id) == "completed"
            assert {item["runId"] for item in theirs.items.values()} == {run_id}
        async with home.editor(name="new") as new:
            assert (await new.attach(mine.id)).items == mine.items
            (newest,) = (await new.attach(mine.id, backfill={"items": 1})).items.values()
            assert newest == mine.of_kind("assistant_message")[-1]


async def test_a_window_that_joins_late_is_told_what_waits_in_its_workspace_and_when_it_is_over() -> None:
    async with (
        scene(InOrder([use("shell", command="/bin/echo hi"), say("Done.")])) as (_, home),
        home.editor() as editor,
    ):
        elsewhere: Path = home.folder("elsewhere")
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        (asked,) = await editor.until_asked(conversation)
        async with home.editor(home.workspace) as late, home.editor(elsewhere) as other:
            await late.wait_for(lambda: late.changed == {"pending": 1, "requests": [asked]})
            await other.wait_for(lambda: other.changed == {"pending": 1, "requests": []})
            # Answered from a window that is not attached.
            await late.respond(asked, "allow")
            await late.wait_for(lambda: late.changed == {"pending": 0, "requests": []})
        await editor.until_ended(conversation, run_id)


@pytest.mark.parametrize(("count", "size", "whole"), [(20, 10, False), (257, 10, True), (40, 30_000, True)])
async def test_who_missed_a_little_is_told_of_it_and_who_missed_much_is_shown_how_it_stands(
    *, count: int, size: int, whole: bool
) -> None:
    async with scene(InOrder([])) as (_, home), home.editor(name="left") as left, home.editor(name="right") as right:
        mine = await left.create(home.workspace)
        await left.queue(mine, "hold")
        before = await right.attach(mine.id)
        await right.request("agent/conversation/detach", {"conversationId": mine.id})
        sent = [await left.begin("agent/message/send", message(left, mine.id, "x" * size)) for _ in range(count)]
        for key in sent:
            await left.reply(key)
        after = await right.attach(mine.id, after=before.seq)
        assert (after is not before) is whole
        await right.wait_for(lambda: len(after.runs) == count)
        assert after.runs.keys() == (await left.attach(mine.id)).runs.keys()


def message(editor: Editor, conversation_id: str, text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {
        "commandId": editor.command_id(),
        "conversationId": conversation_id,
        "content": content,
        "dispatch": "queue",
    }
