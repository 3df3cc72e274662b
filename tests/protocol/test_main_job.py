"""The main job: a message, a read, an edit, a command, two approvals, files changed; by an editor and headless."""

import json
import signal
from subprocess import PIPE

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S
from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import Gate, Http, InOrder, Say, Wait, reply, say, use
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

EDIT = {"path": "notes.txt", "edits": [{"old": "one", "new": "two"}]}


async def test_a_message_leads_to_read_edit_and_command_each_approved_and_completes() -> None:
    command = "echo begun; cat gate; echo over"
    answers = [use("read", path="notes.txt"), use("edit", **EDIT), use("shell", command=command), say("Done.", size=2)]
    async with scene(InOrder(answers)) as (server, home), home.bridged(home.workspace) as editor:
        notes, gate = home.workspace / "notes.txt", home.gate("gate")
        notes.write_text("one\n")
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Make it two.")

        (edit,) = await editor.until_asked(conversation)
        assert (edit["number"], edit["kind"], edit["tool"], edit["input"]) == (1, "approval", "edit", EDIT)
        shown = await editor.request("agent/request/preview", {"requestId": edit["id"]})
        assert "-one\n+two" in shown["change"]["diff"]
        assert notes.read_text() == "one\n"
        assert await editor.respond(edit, "allow") | {"seq": 0} == {"status": "resolved", "seq": 0}

        (shell,) = await editor.until_asked(conversation)
        assert notes.read_text() == "two\n"
        assert (shell["number"], shell["card"]["command"], shell["card"]["cwd"]) == (2, command, str(home.workspace))
        await editor.respond(shell, "allow")
        await editor.wait_for(lambda: "begun" in conversation.output)
        assert conversation.status(run_id) == "running"
        await home.open_gate(gate, "through\n")

        await editor.until_ended(conversation, run_id)
        assert conversation.transcript == [
            ("user_message", "completed"),
            ("tool_call", "completed"),
            ("file_change", "completed"),
            ("command", "completed"),
            ("assistant_message", "completed"),
        ]
        results = [conversation.result(call["id"]) for call in conversation.calls]
        assert [result["status"] for result in results] == ["ok", "ok", "ok"]
        assert (results[2]["output"], results[2]["exitCode"]) == ("begun\nthrough\nover\n", 0)
        assert conversation.answers == ["Done."]
        assert [request.steps for request in server.requests] == [0, 1, 2, 3]
        assert next(text for _, text in server.requests[3].results) == "one\n"
        assert conversation.conversation["title"] == "Make it two."


async def test_text_is_shown_while_it_comes() -> None:
    gate = Gate()
    async with scene(InOrder([reply(Say("Hel"), Wait(gate), Say("lo"))])) as (_, home), home.bridged() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Say hello.")
        await editor.wait_for(lambda: conversation.shown == "Hel")
        assert conversation.answers == []
        gate.open()
        await editor.until_ended(conversation, run_id)
        assert conversation.answers == ["Hello"]


async def test_calls_of_one_step_are_asked_together_and_each_denial_keeps_its_own_reason() -> None:
    writes = [use("write", path=f"{name}.txt", content=name).steps[0] for name in "abc"]
    async with scene(InOrder([reply(*writes), say("As you like.")])) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Write three files.")
        asked = await editor.until_asked(conversation, 3)
        assert [request["number"] for request in asked] == [1, 2, 3]
        await editor.respond(asked[0], "deny", reason="use foo.py")
        await editor.respond(asked[2], "allow")
        await editor.respond(asked[1], "deny")
        await editor.until_ended(conversation, run_id)
        first, second, third = (text for _, text in server.requests[1].results)
        assert first == "denied: use foo.py"
        assert second.startswith("denied: The person said no and gave no reason.")
        assert "foo.py" not in second + third
        assert sorted(path.name for path in home.workspace.iterdir()) == ["c.txt"]


async def test_ask_prints_the_answer_and_exits_0() -> None:
    async with scene(InOrder([say("Forty-two.", size=3)])) as (server, home):
        done = await home.run("ask", "What", "is it?")
        assert (done.returncode, done.stdout) == (0, "Forty-two.\n")
        assert server.requests[0].last_user_text == "What is it?"


async def test_ask_as_json_prints_one_notification_a_line() -> None:
    async with scene(InOrder([use("read", path="a.txt"), say("Read.", size=1)])) as (_, home):
        (home.workspace / "a.txt").write_text("a")
        done = await home.run("ask", "--json", "Read it.")
        said = [json.loads(line) for line in done.stdout.splitlines()]
        assert done.returncode == 0
        assert {message["method"] for message in said} <= {"agent/event", "agent/stream"}
        events = [event for message in said for event in message["params"].get("events", [])]
        assert [event["seq"] for event in events] == list(range(events[0]["seq"], events[0]["seq"] + len(events)))
        last = [event["entity"]["status"] for event in events if event["kind"] == "run"][-1]
        assert last == "completed"


async def test_ask_exits_2_with_the_number_of_what_waits_and_the_run_goes_on_after_approve() -> None:
    answers = [use("read", path="notes.txt"), use("edit", **EDIT), use("shell", command="echo x >> ran"), say("Done.")]
    async with scene(InOrder(answers)) as (server, home):
        (home.workspace / "notes.txt").write_text("one\n")
        asked = await home.run("ask", "Make it two.")
        assert asked.returncode == 2
        assert "#1" in asked.stderr
        assert (await home.run("approve", "1")).returncode == 0
        async with home.editor() as editor:
            await editor.wait_for(lambda: [r["number"] for r in editor.changed["requests"]] == [2])
            listed = json.loads((await home.run("pending", "--json")).stdout)
            assert listed == {"requests": editor.changed["requests"]}
            conversation = await editor.attach(listed["requests"][0]["conversationId"])
            assert (await home.run("approve", "2")).returncode == 0
            await editor.until_ended(conversation, listed["requests"][0]["runId"])
            assert conversation.answers == ["Done."]
        assert (home.workspace / "notes.txt").read_text() == "two\n"
        assert lines(home.workspace / "ran") == ["x"]
        assert len(server.requests) == 4


async def test_ask_waits_where_told_to_and_mode_edits_needs_no_answer_for_edits() -> None:
    answers = [use("write", path="new.txt", content="new\n"), use("shell", command="/bin/cat new.txt"), say("There.")]
    ask = ("ask", "--wait", "--mode", "edits", "Go.")
    async with scene(InOrder(answers)) as (_, home), home.process(*ask, stdout=PIPE) as asking:
        async with home.editor() as editor:
            await editor.wait_for(lambda: editor.changed["requests"])
            assert (home.workspace / "new.txt").read_text() == "new\n"
            (request,) = editor.changed["requests"]
            await editor.respond(request, "allow")
        assert await _ended(asking) == (0, "There.\n")


async def test_ask_exits_1_with_a_sentence_when_the_model_fails() -> None:
    refused = Http(status=403, body={"error": {"message": "not for you", "type": "permission_error"}})
    async with scene(InOrder([refused])) as (_, home):
        done = await home.run("ask", "Hello?")
        assert (done.returncode, done.stdout) == (1, "")
        assert "not for you" in done.stderr


async def test_ask_exits_130_when_interrupted_and_the_run_is_over() -> None:
    gate = Gate()
    async with scene(InOrder([reply(Say("I will never"), Wait(gate), Say(" end"))])) as (_, home):
        async with home.process("ask", "Go on.", stdout=PIPE, stderr=PIPE) as asking:
            with anyio.fail_after(LIMIT_S):
                await gate.reached()
            asking.send_signal(signal.SIGINT)
            code, said = await _ended(asking)
        assert (code, said) == (130, "I will never\n")
        (listed,) = json.loads((await home.run("conversations", "--json")).stdout)["conversations"]
        assert (listed["status"], listed["queueHeld"]) == ("idle", False)


async def test_status_starts_no_daemon_and_says_so() -> None:
    async with scene(InOrder([])) as (_, home):
        assert (await home.run("status")).returncode == 3
        assert home.pid is None
        await _status_of_a_daemon(home)


async def _status_of_a_daemon(home: Home) -> None:
    pid = await home.start()
    told = await home.run("status", "--json")
    assert (told.returncode, json.loads(told.stdout)["pid"]) == (0, pid)
    assert (await home.run("stop")).returncode == 0
    assert home.pid is None


async def _ended(process: anyio.abc.Process) -> tuple[int, str]:
    """Exit code and standard output."""
    assert process.stdout is not None
    said = b""
    with anyio.fail_after(LIMIT_S):
        async for chunk in process.stdout:
            said += chunk
        return await process.wait(), said.decode()
