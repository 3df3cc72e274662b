"""Kill -9 of the daemon: what was acknowledged is still there, and only what is missing is done again."""

from pathlib import Path

import anyio
import pytest

from agent_ls.testing.crash_points import VARIABLE
from agent_ls.testing.editor import LIMIT_S, Refused
from agent_ls.testing.model_scenario import ByHistory, Gate, Say, Wait, reply, say, use
from tests.plain_editor import PlainEditor, plain_editor
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

COMMAND = "echo x >> ran"


async def test_a_pending_approval_is_the_same_after_it_and_runs_its_tool_exactly_once() -> None:
    async with scene(ByHistory([use("shell", command=COMMAND), say("Done.")])) as (server, home):
        async with home.bridged(home.workspace) as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Run it.")
            (asked,) = await editor.until_asked(conversation)
            before = editor.hello["pid"]
            await home.kill9()

        async with home.bridged(home.workspace) as editor:
            assert editor.hello["pid"] != before
            assert await editor.pending() == [asked]
            again = await editor.attach(conversation.id)
            assert (again.pending, again.items) == ([asked], conversation.items)
            assert again.conversation["status"] == "waiting"
            assert len(server.requests) == 1
            await editor.respond(asked, "allow")
            await editor.until_ended(again, run_id)
            assert again.answers == ["Done."]
        assert lines(home.workspace / "ran") == ["x"]
        assert [request.steps for request in server.requests] == [0, 1]


async def test_a_window_that_stays_open_is_served_by_the_next_daemon_as_if_nothing_had_happened() -> None:
    async with scene(ByHistory([use("shell", command=COMMAND), say("Done.")])) as (server, home):
        async with home.bridged(home.workspace) as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Run it.")
            (asked,) = await editor.until_asked(conversation)
            boot = editor.hello["bootId"]
            await home.kill9()
            await editor.wait_for(lambda: editor.hello["bootId"] != boot)
            # Events go on without gap or repeat, which the mirror checks.
            await editor.attach(conversation.id, after=conversation.seq)
            await editor.respond(asked, "allow")
            await editor.until_ended(conversation, run_id)
            assert conversation.answers == ["Done."]
        assert lines(home.workspace / "ran") == ["x"]
        assert len(server.requests) == 2


async def test_killed_twice_with_an_approval_pending_its_number_stays_and_the_next_one_is_new() -> None:
    write = use("write", path="new.txt", content="new")
    async with scene(ByHistory([use("shell", command=COMMAND), write, say("Done.")])) as (_, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Run it.")
            (asked,) = await editor.until_asked(conversation)
        for _ in range(2):
            await home.kill9()
            await home.start()
        async with home.editor() as editor:
            assert await editor.pending() == [asked]
            again = await editor.attach(conversation.id)
            await editor.respond(asked, "deny", reason="not this")
            (other,) = await editor.until_asked(again)
            assert (asked["number"], other["number"] > 1) == (1, True)
            await editor.respond(other, "allow")
            await editor.until_ended(again, run_id)
        assert lines(home.workspace / "ran") == []
        assert (home.workspace / "new.txt").read_text() == "new"


@pytest.mark.parametrize("answer", ["tell", "rerun"])
async def test_a_command_that_was_running_has_an_unknown_outcome_and_a_person_says_what_now(answer: str) -> None:
    command = f"{COMMAND}; echo said so far; cat gate"
    async with scene(ByHistory([use("shell", command=command), say("I see.")])) as (server, home):
        gate = home.gate("gate")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Run it.")
            asked = await editor.decide(conversation, "allow")
            await editor.wait_for(lambda: "said so far" in conversation.output)
            await home.kill9()

        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            (question,) = await editor.until_asked(again)
            (call,) = again.calls
            result = again.result(call["id"])
            assert (call["status"], result["status"]) == ("failed", "unknown")
            assert "said so far" in result["output"]
            assert (question["kind"], question["itemId"]) == ("question", asked["itemId"])
            assert [option["id"] for option in question["options"]] == ["tell", "rerun"]
            assert (question["number"] != asked["number"], again.pending) == (True, [question])
            assert (lines(home.workspace / "ran"), len(server.requests)) == (["x"], 1)

            await editor.respond(question, "answer", optionId=answer)
            if answer == "rerun":
                await home.open_gate(gate, "through\n")
            await editor.until_ended(again, run_id)
            assert again.answers == ["I see."]
            ((_, told),) = server.requests[1].results
            if answer == "rerun":
                assert (lines(home.workspace / "ran"), told) == (["x", "x"], "said so far\nthrough\n")
            else:
                assert (lines(home.workspace / "ran"), told.startswith("unknown: ")) == (["x"], True)
        assert len(server.requests) == 2


async def test_in_mid_stream_the_model_is_asked_again_and_there_is_one_answer() -> None:
    gate = Gate()
    async with scene(ByHistory([reply(Say("Hel"), Wait(gate), Say("lo"))])) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Say hello.")
            await editor.wait_for(lambda: conversation.shown == "Hel")
            await home.kill9()
        gate.open()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, run_id)
            assert again.answers == ["Hello"]
        first, second = (request.body for request in server.requests)
        assert first == second


async def test_decisions_taken_before_it_are_kept_and_the_rest_is_still_asked() -> None:
    writes = [use("write", path=f"{name}.txt", content=name).steps[0] for name in "abc"]
    async with scene(ByHistory([reply(*writes), say("Done.")])) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Write three files.")
            asked = await editor.until_asked(conversation, 3)
            await editor.respond(asked[0], "allow")
            await editor.respond(asked[1], "deny", reason="not b")
            await editor.wait_for(lambda: conversation.items[asked[0]["itemId"]]["status"] == "completed")
            await home.kill9()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            assert again.pending == [asked[2]]
            assert len(server.requests) == 1
            await editor.respond(asked[2], "allow")
            await editor.until_ended(again, run_id)
        calls = server.requests[1].body["messages"][-4]["tool_calls"]
        results = server.requests[1].results
        assert [call["id"] for call in calls] == [call_id for call_id, _ in results]
        assert results[1][1] == "denied: not b"
        assert sorted(path.name for path in home.workspace.iterdir()) == ["a.txt", "c.txt"]


async def test_a_queued_message_runs_after_the_one_that_was_interrupted_by_it() -> None:
    gate = Gate()
    async with scene(ByHistory([reply(Say("one"), Wait(gate)), say("two")])) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            first = await editor.send(conversation, "First.")
            sent = await editor.say(conversation, "Second.", dispatch="queue")
            assert sent["disposition"] == "queued"
            await editor.wait_for(lambda: conversation.shown == "one")
            await home.kill9()
        gate.open()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, sent["runId"])
            assert [item["runId"] for item in again.of_kind("user_message")] == [first, sent["runId"]]
            assert again.answers == ["one", "two"]
        assert [request.last_user_text for request in server.requests] == ["First.", "First.", "Second."]


async def test_an_interrupt_that_was_noted_is_finished_and_nothing_is_resumed() -> None:
    # The command ignores the polite signal, so there is time between the interrupt and its end.
    command = f"trap '' TERM; {COMMAND}; echo begun; cat gate; {COMMAND}"
    async with scene(ByHistory([use("shell", command=command), say("Never.")])) as (server, home):
        home.gate("gate")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Run it.")
            await editor.decide(conversation, "allow")
            await editor.wait_for(lambda: "begun" in conversation.output)
            queued = await editor.say(conversation, "And then?", dispatch="queue")
            await editor.interrupt(run_id)
            assert conversation.status(run_id) == "running"
            await home.kill9()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, run_id, "interrupted")
            assert [call["status"] for call in again.calls] in (["failed"], ["interrupted"])
            assert again.pending == []
            assert again.conversation["queueHeld"] is True
            (waiting,) = (await editor.attach(conversation.id)).runs.values()
            assert (waiting["id"], waiting["status"]) == (queued["runId"], "queued")
        assert (lines(home.workspace / "ran"), len(server.requests)) == (["x"], 1)


async def test_between_commit_and_reply_the_same_command_gives_the_same_answer() -> None:
    gate = Gate()
    async with scene(ByHistory([reply(Say("Once."), Wait(gate))])) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            content = [{"type": "text", "text": "Only once."}]
            command = {"commandId": "send-1", "conversationId": conversation.id, "content": content}
            await editor.begin("agent/message/send", command)
            # The model is asked after the commit only. The reply is not read.
            with anyio.fail_after(LIMIT_S):
                await server.until(lambda: len(server.requests) == 1)
            await home.kill9()
        gate.open()
        async with home.editor() as editor:
            first = await editor.request("agent/message/send", command)
            second = await editor.request("agent/message/send", command)
            assert first == second
            assert first["disposition"] == "started"
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, first["runId"])
            assert (again.answers, len(again.of_kind("user_message"))) == (["Once."], 1)


async def test_an_answer_whose_reply_was_lost_counts_once() -> None:
    async with scene(ByHistory([use("shell", command=COMMAND), say("Well.")])) as (_, home):
        async with home.editor() as editor, home.editor(name="other") as other:
            conversation = await editor.create(home.workspace)
            seen = await other.attach(conversation.id)
            run_id = await editor.send(conversation, "Run it.")
            (asked,) = await editor.until_asked(conversation)
            answer = {"commandId": "answer-1", "requestId": asked["id"], "digest": asked["digest"], "decision": "deny"}
            await editor.begin("agent/request/respond", answer)
            # Another window has heard of it; the reply to this one is not read.
            await other.wait_for(lambda: seen.requests[asked["id"]]["status"] == "resolved" if seen.requests else False)
            await home.kill9()
        async with home.editor() as editor:
            assert (await editor.request("agent/request/respond", answer))["status"] == "resolved"
            with pytest.raises(Refused, match="already_decided"):
                await editor.respond(asked, "allow")
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, run_id)
        assert lines(home.workspace / "ran") == []


@pytest.mark.parametrize("point", ["approved.before", "approved.after"])
async def test_an_answer_by_code_action_over_which_the_daemon_died_counts_although_its_card_is_new_to_the_next(
    point: str,
) -> None:
    async with scene(ByHistory([use("shell", command=COMMAND), say("Done.")])) as (_, home):
        path = home.workspace / "a.txt"
        path.write_text("one\n")
        home.env[VARIABLE] = point
        async with plain_editor(home) as plain:
            await plain.open(path)
            async with home.editor() as asker:
                conversation = await asker.create(home.workspace)
                run_id = await asker.send(conversation, "Run it.")
                (asked,) = await asker.until_asked(conversation)
                await plain.until_marked(path)
                # Until the card counts as read, the person looks at it.
                while (await looked_at(plain, path, asked["number"])) == "too_soon":
                    pass
            answered = await plain.run(await plain.action(path, 0, f"Allow once #{asked['number']}"))
            assert answered["status"] == "resolved"
            assert [m for m, _ in plain.link.notices if m == "window/showMessage"] == []
        async with home.editor() as asker:
            again = await asker.attach(conversation.id)
            await asker.until_ended(again, run_id)
            assert again.answers == ["Done."]
        assert lines(home.workspace / "ran") == ["x"]


async def looked_at(plain: PlainEditor, path: Path, number: int) -> str:
    """What an answer to something else is refused with."""
    with pytest.raises(Refused) as refused:
        await plain.run(await plain.action(path, 0, f"Allow once #{number}"), digest="0")
    return str(refused.value.code)
