"""What happens when a person writes, stops or asks again while the agent works: through the whole daemon."""

import pytest

from agent_ls.testing.editor import Editor, Json, Refused
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import (
    Cut,
    Gate,
    Http,
    InOrder,
    Say,
    Silence,
    Stream,
    UseTool,
    Wait,
    reply,
    say,
    use,
)
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

WIRES = pytest.mark.parametrize("kind", ["openai-compatible", "openai", "anthropic"])
BUSY = Http(status=503, body={"error": {"message": "try later", "type": "server_error"}}, headers={"Retry-After": "60"})


def attempts(conversation: Mirror) -> list[tuple[str, str]]:
    """Reason and status of each, in order."""
    found: dict[str, Json] = {}
    for event in conversation.events:
        if event["kind"] == "attempt":
            found[event["entity"]["id"]] = event["entity"]
    return [(entity["reason"], entity["status"]) for entity in found.values()]


def waits(conversation: Mirror) -> list[Json]:
    return [item for item in conversation.of_kind("notice") if item["payload"]["code"] == "retrying"]


async def hurried(editor: Editor, conversation: Mirror, run_id: str) -> Json:
    """The wait that was to be, cut short."""
    await editor.wait_for(lambda: any(item["status"] == "running" for item in waits(conversation)))
    await editor.command("agent/run/hurry", runId=run_id)
    return waits(conversation)[-1]


@WIRES
async def test_a_restart_in_mid_answer_and_in_mid_command_goes_on_in_the_same_run(kind: str) -> None:
    gate = Gate()
    answers = [reply(Say("I thi"), Wait(gate)), use("shell", command="/bin/echo begun; sleep 60"), say("As you say.")]
    async with scene(InOrder(answers), kind=kind) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Do this.")
        await editor.wait_for(lambda: "I thi" in conversation.shown)
        sent = await editor.say(conversation, "No, run that.", dispatch="restart", targetRunId=run_id)
        assert (sent["runId"], sent["disposition"]) == (run_id, "restarted")
        await editor.decide(conversation, "allow")
        await editor.wait_for(lambda: "begun" in conversation.output)
        await editor.say(conversation, "No, only say yes.", dispatch="restart")
        await editor.until_ended(conversation, run_id)
        again = ("steering_restart", "superseded")
        assert attempts(conversation) == [("initial", "superseded"), again, ("steering_restart", "completed")]
        assert conversation.answers == ["I thi", "As you say."]
        (call,) = conversation.calls
        assert (call["status"], "begun" in call["payload"]["result"]["output"]) == ("interrupted", True)
        assert server.requests[-1].last_user_text == "No, only say yes."


@WIRES
async def test_a_server_in_trouble_is_asked_again_seen_and_hurried(kind: str) -> None:
    """B14."""
    async with scene(InOrder([BUSY, BUSY, say("Hello.")]), kind=kind) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Hello?")
        first = await hurried(editor, conversation, run_id)
        assert tuple(first["payload"]) >= ("tried", "most") or {"tried", "most", "until"} <= set(first["payload"])
        assert "try later" in first["payload"]["message"]
        assert "after 60 s (1 of 3)" in first["payload"]["message"]
        await editor.wait_for(lambda: [item["status"] for item in waits(conversation)] == ["completed", "running"])
        await hurried(editor, conversation, run_id)
        await editor.until_ended(conversation, run_id)
        assert conversation.answers == ["Hello."]
        assert attempts(conversation) == [("initial", "completed")]
        phases = [params.get("phase") for method, params in editor.notices if method == "agent/stream"]
        assert "retrying" in phases
        assert len(server.requests) == 3


@WIRES
@pytest.mark.parametrize("reset", [True, False])
async def test_an_answer_that_is_cut_stays_as_what_it_is_and_is_asked_for_anew(kind: str, *, reset: bool) -> None:
    """B11."""
    answers = [reply(Say("half an ans"), Cut(reset=reset)), say("A whole answer."), say("Still here.")]
    async with scene(InOrder(answers), kind=kind) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Hello?")
        await hurried(editor, conversation, run_id)
        await editor.until_ended(conversation, run_id)
        said = [(item["payload"]["text"], item["status"]) for item in conversation.of_kind("assistant_message")]
        assert said == [("half an ans", "interrupted"), ("A whole answer.", "completed")]
        assert attempts(conversation) == [("initial", "failed"), ("retry", "completed")]
        await editor.until_ended(conversation, await editor.send(conversation, "And?"))
        assert server.requests[1].user_texts == ("Hello?",)
        assert server.requests[2].steps == 1


@WIRES
async def test_a_server_that_falls_silent_is_asked_again(kind: str) -> None:
    """B15."""
    config = "[http]\nfirst_byte_timeout_s = 0.3\nidle_timeout_s = 0.3\n"
    answers = [reply(Silence()), reply(Say("So"), Silence()), say("Here.")]
    async with scene(InOrder(answers), kind=kind, config=config) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Hello?")
        for _ in range(2):
            await hurried(editor, conversation, run_id)
        await editor.until_ended(conversation, run_id)
        assert conversation.answers == ["So", "Here."]
        assert [reason for reason, _ in attempts(conversation)] == ["initial", "retry"]


async def test_a_wait_outlives_kill_9_and_a_stop_ends_it() -> None:
    async with scene(InOrder([BUSY, say("Hello.")])) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Hello?")
            await editor.wait_for(lambda: waits(conversation))
        await home.kill9()
        async with home.editor() as editor:
            conversation = await editor.attach(conversation.id)
            (waiting,) = waits(conversation)
            assert waiting["status"] == "running"
            await editor.interrupt(run_id)
            await editor.until_ended(conversation, run_id, "interrupted")
            assert waits(conversation)[0]["status"] == "cancelled"
            assert len(server.requests) == 1
            sent = await editor.command("agent/run/retry", runId=run_id)
            assert sent["disposition"] == "started"
            run = await editor.until_ended(conversation, sent["runId"])
            assert run["retryOf"] == run_id
            assert conversation.answers == ["Hello."]
            with pytest.raises(Refused) as refused:
                await editor.command("agent/run/retry", runId=sent["runId"])
            assert refused.value.code == "invalid_params"


async def test_a_run_that_two_windows_ask_for_again_is_asked_again_once() -> None:
    gate = Gate()
    answers = [Http(status=400, body={"error": {"message": "no"}}), reply(Wait(gate), *say("Hello.").steps)]
    async with scene(InOrder(answers)) as (server, home), home.editor() as one, home.editor(name="other") as two:
        conversation = await one.create(home.workspace)
        run_id = await one.send(conversation, "Hello?")
        await one.until_ended(conversation, run_id, "failed")
        first = await one.command("agent/run/retry", runId=run_id)
        second = await two.command("agent/run/retry", runId=run_id)
        assert (second["runId"], second["disposition"]) == (first["runId"], "started")
        gate.open()
        await one.until_ended(conversation, first["runId"])
        assert [run["status"] for run in conversation.runs.values()] == ["failed", "completed"]
        assert len(server.requests) == 2


async def test_one_command_is_stopped_and_the_run_goes_on() -> None:
    answers = [use("shell", command="/bin/echo begun; sleep 60"), say("Stopped, I see.")]
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Run it.")
        await editor.decide(conversation, "allow")
        await editor.wait_for(lambda: "begun" in conversation.output)
        (call,) = conversation.calls
        noted = await editor.interrupt(run_id, itemId=call["id"])
        assert noted["status"] == "running"
        await editor.until_ended(conversation, run_id)
        ((_, told),) = server.requests[-1].results
        assert told.startswith("interrupted: It had begun when the person stopped it, and may have had effects.")
        assert "begun" in told


@WIRES
async def test_a_stop_while_one_call_waits_and_one_ignores_TERM_ends_both_and_the_next_message_runs(kind: str) -> None:
    stubborn = "trap '' TERM; echo begun; cat gate; echo late >> late"
    answers = [
        reply(*use("shell", command=stubborn).steps, *use("shell", command="echo two > two").steps),
        say("Here."),
    ]
    async with scene(InOrder(answers), kind=kind) as (server, home), home.editor() as editor:
        home.gate("gate")
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Run both.")
        first, _ = await editor.until_asked(conversation, 2)
        await editor.respond(first, "allow")
        await editor.wait_for(lambda: "begun" in conversation.output)
        for _ in range(2):
            assert (await editor.interrupt(run_id))["status"] == "stopping"
        assert conversation.pending == []
        sent = await editor.say(conversation, "Are you there?")
        await editor.until_ended(conversation, run_id, "interrupted")
        await editor.until_ended(conversation, sent["runId"])
        assert [call["payload"]["result"]["status"] for call in conversation.calls] == ["interrupted", "not_run"]
        assert lines(home.workspace / "late") == []
        last = server.requests[-1]
        # No result comes after the message; that each call has its own before it is checked by the server.
        assert (last.user_texts, last.results, last.steps) == (("Run both.", "Are you there?"), (), 1)


@WIRES
async def test_two_messages_between_two_steps_join_together(kind: str) -> None:
    gate = Gate()
    answers = [reply(Say("Reading."), Wait(gate), *use("glob", pattern="*").steps), say("All three.")]
    async with scene(InOrder(answers), kind=kind) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Do this.")
        await editor.wait_for(lambda: "Reading." in conversation.shown)
        for text in ("And this.", "And that."):
            assert (await editor.say(conversation, text))["disposition"] == "steered"
        gate.open()
        await editor.until_ended(conversation, run_id)
        said = " ".join(server.requests[-1].user_texts).split()
        assert " ".join(said) == "Do this. And this. And that."
        assert len(server.requests) == 2


@WIRES
async def test_five_that_wait_are_changed_while_a_run_goes_on_and_outlive_a_daemon(kind: str) -> None:
    gate, again = Gate(), Gate()
    answers = [reply(Say("Busy."), Wait(gate)), reply(Say("Busy."), Wait(again)), *[say("Done.")] * 4]
    async with scene(InOrder(answers), kind=kind) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            first = await editor.send(conversation, "a")
            await editor.wait_for(lambda: "Busy." in conversation.shown)
            b, c, d, e, f = [str((await editor.say(conversation, text, dispatch="queue"))["runId"]) for text in "bcdef"]
            await editor.queue(conversation, "edit", runId=c, content=[{"type": "text", "text": "C"}])
            await editor.queue(conversation, "move", runId=f, before=b)
            await home.kill9()
        gate.open()
        async with home.editor() as editor:
            conversation = await editor.attach(conversation.id)
            await editor.queue(conversation, "remove", runId=d)
            again.open()
            await editor.until_ended(conversation, first)
            await editor.until_ended(conversation, e)
        assert [request.last_user_text for request in server.requests] == ["a", "a", "f", "b", "C", "e"]


@WIRES
async def test_a_call_that_the_limit_of_the_answer_cut_in_two_is_not_run(kind: str) -> None:
    cut = Stream(steps=(Say("So."), UseTool("write", '{"path": "a", "content": "x')), stop="length")
    async with scene(InOrder([cut, say("I see.")]), kind=kind) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace, mode="edits")
        await editor.until_ended(conversation, await editor.send(conversation, "Write it."))
        ((_, told),) = server.requests[-1].results
        assert told.startswith("error: The arguments of `write` could not be used: they were cut off")
        assert list(home.workspace.iterdir()) == []


@WIRES
async def test_the_same_call_that_fails_a_third_time_stops_the_run(kind: str) -> None:
    """B20."""
    answers = [use("read", path="missing"), *[use("read", path="gone")] * 3, say("Here.")]
    async with scene(InOrder(answers), kind=kind) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run = await editor.until_ended(conversation, await editor.send(conversation, "Read."), "failed")
        assert "same failing call to `read` 3 times" in run["error"]["message"]
        await editor.until_ended(conversation, await editor.send(conversation, "And now?"))
        assert len(server.requests) == 5
