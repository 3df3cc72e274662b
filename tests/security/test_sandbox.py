"""The sandbox, through the socket: no way to the daemon, and a way out that a person has to allow."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_ls.testing.editor import Editor, Json
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import ByConversation, ByHistory, InOrder, UseTool, reply, say, use
from tests.scene import lines, scene
from tests.unit.adapters.tools.test_shell_sandbox import why_not

pytestmark = pytest.mark.anyio

LOOK = "ls $AGENT_LS_STATE_DIR $AGENT_LS_RUNTIME_DIR | grep -c -e sock -e ledger; true"
SANDBOX = "\n[sandbox]\nenabled = true\n"
WHY = "[the sandbox is why, it seems: it may not write there]"


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file that a command in the sandbox cannot write; not beneath /tmp, of which it has one of its own."""
    if reason := why_not():
        pytest.skip(reason)
    path = Path("/var/tmp", f"agent-ls-{os.getpid()}-{tmp_path_factory.mktemp('x').name}")
    yield path
    for left in path.parent.glob(f"{path.name}*"):
        left.unlink()


def command(path: Path) -> str:
    """Counts its runs in the workspace, and how often it got out."""
    return f"echo run >> runs; echo out >> {path}"


def failure(path: Path) -> str:
    return f"bash: line 1: {path}: Read-only file system"


async def test_a_command_finds_no_daemon_and_may_ask_to_be_let_out() -> None:
    if reason := why_not():
        pytest.skip(reason)
    story = InOrder([use("shell", command=LOOK), use("shell", command="echo out", outside=True), say("Done.")])
    async with scene(story, config=SANDBOX) as (_, home), home.bridged(home.workspace) as editor:
        conversation = await editor.create(home.workspace, mode="auto", allowAuto=True)
        run_id = await editor.send(conversation, "go")
        # In mode auto all of it runs but what leaves the sandbox.
        (asked,) = await editor.until_asked(conversation)
        assert conversation.result(conversation.calls[0]["id"])["output"] == "0\n"
        assert asked["title"] == "$ echo out (outside the sandbox)"
        assert asked["card"]["outside"] is True
        assert [option["id"] for option in asked["options"]] == ["allow_once", "deny"]
        await editor.respond(asked, "allow")
        await editor.until_ended(conversation, run_id)
        assert conversation.result(conversation.calls[1]["id"])["output"] == "out\n"


async def test_what_the_sandbox_made_fail_is_offered_to_be_run_outside_and_told_once(elsewhere: Path) -> None:
    script = command(elsewhere)
    story = InOrder([use("shell", command=script), say("Done.")])
    async with scene(story, config=SANDBOX) as (server, home), home.bridged(home.workspace) as editor:
        conversation, run_id, asked = await _walled(editor, home, script)
        assert (asked["kind"], asked["title"]) == ("approval", f"$ {script} (outside the sandbox)")
        assert asked["card"] == {
            "type": "command",
            "command": script,
            "cwd": str(home.workspace),
            "timeout": 120,
            "environment": {},
            "outside": True,
            "failed": "It ran in the sandbox and failed there (exit code 1): it may not write there. Outside it "
            "would run from the beginning; what it has changed in the workspace stays.",
            "output": failure(elsewhere),
        }
        assert [option["id"] for option in asked["options"]] == ["allow_once", "deny"]
        (held,) = conversation.calls
        assert (held["payload"]["state"], held["payload"].get("result")) == ("awaiting_approval", None)
        assert len(server.requests) == 1
        shown = await home.run("show", str(asked["number"]))
        assert "│ outside the sandbox\n" in shown.stdout
        assert f"│   {failure(elsewhere)}\n" in shown.stdout
        await editor.respond(asked, "allow")
        await editor.until_ended(conversation, run_id)
        told = conversation.result(held["id"])["output"]
    assert lines(elsewhere) == ["out"]
    assert told == (
        "[It ran in the sandbox first and failed there (exit code 1): it may not write there. It said:]\n"
        f"{failure(elsewhere)}\n"
        "[Then the person let it run outside the sandbox, from the beginning. What follows came of that.]"
    )
    assert [text for _, text in server.requests[-1].results] == [told]


async def test_a_no_gives_the_model_what_came_of_it_inside_with_the_reason_and_is_not_asked_for_again(
    elsewhere: Path,
) -> None:
    script = command(elsewhere)
    story = InOrder([use("shell", command=script), use("shell", command=script), say("Done.")])
    async with scene(story, config=SANDBOX) as (_, home), home.bridged(home.workspace) as editor:
        conversation = await editor.create(home.workspace, mode="auto", allowAuto=True)
        run_id = await editor.send(conversation, "go")
        await editor.decide(conversation, "deny", reason="Write into the workspace.")
        await editor.until_ended(conversation, run_id)
        first, second = (conversation.result(call["id"]) for call in conversation.calls)
        inside = f"{failure(elsewhere)}\n[exit code 1]\n{WHY}\n"
        refused = "[It was not run outside the sandbox. The person said no: Write into the workspace.]"
        assert (first["status"], first["output"]) == ("error", inside + refused)
        again = "The person was asked in this run whether it may run outside the sandbox, and said no."
        assert second["output"] == f"{inside}[It was not run outside the sandbox. {again}]"
        assert lines(home.workspace / "runs") == ["run", "run"]
        assert not elsewhere.exists()


@pytest.mark.parametrize("stop", ["run", "call"])
async def test_a_stop_while_it_waits_leaves_it_as_it_came_out_inside(elsewhere: Path, stop: str) -> None:
    script = command(elsewhere)
    story = InOrder([use("shell", command=script), say("Done.")])
    async with scene(story, config=SANDBOX) as (_, home), home.bridged(home.workspace) as editor:
        conversation, run_id, asked = await _walled(editor, home, script)
        await editor.interrupt(run_id, **({} if stop == "run" else {"itemId": asked["itemId"]}))
        await editor.until_ended(conversation, run_id, "interrupted" if stop == "run" else "completed")
        what = "the run" if stop == "run" else "this call"
        assert conversation.result(asked["itemId"])["output"] == (
            f"{failure(elsewhere)}\n[exit code 1]\n{WHY}\n"
            f"[It was not run outside the sandbox. Not run: the person stopped {what}.]"
        )
        assert conversation.pending == []
        assert lines(home.workspace / "runs") == ["run"]


async def test_after_kill_9_it_still_waits_and_runs_once_when_it_is_allowed(elsewhere: Path) -> None:
    script = command(elsewhere)
    async with scene(ByHistory([use("shell", command=script), say("Done.")]), config=SANDBOX) as (server, home):
        async with home.bridged(home.workspace) as editor:
            conversation, run_id, asked = await _walled(editor, home, script)
            await home.kill9()
        async with home.bridged(home.workspace) as editor:
            again = await editor.attach(conversation.id)
            assert again.pending == [asked]
            assert (lines(home.workspace / "runs"), len(server.requests)) == (["run"], 1)
            await editor.respond(asked, "allow")
            await home.kill9()
        async with home.bridged(home.workspace) as editor:
            again = await editor.attach(conversation.id)
            # Killed before it began, while it ran or after it: run again only if somebody says so.
            await editor.wait_for(lambda: again.pending or again.status(run_id) == "completed")
            assert not elsewhere.exists() or lines(elsewhere) == ["out"]
            for lost in again.pending:
                await editor.respond(lost, "answer", optionId="tell")
            await editor.until_ended(again, run_id)
            facts = [e["fact"] for e in await editor.history(again) if e["entity"]["id"] == asked["itemId"]]
            assert facts[:5] == ["asked", "approved", "started", "walled", "approved"]
            assert (facts.count("started"), facts[-1]) == (2, "finished")


async def test_no_rule_lets_it_out_and_a_rule_that_denies_it_meanwhile_asks_nobody(elsewhere: Path) -> None:
    rules = '\n[permissions]\nallow = ["shell(touch *)"]\n'
    story = InOrder([use("shell", command=f"touch {elsewhere}"), say("Done.")])
    async with scene(story, config=SANDBOX + rules) as (_, home), home.bridged(home.workspace) as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "go")
        (asked,) = await editor.until_asked(conversation)
        assert asked["card"]["outside"] is True
        rule = {"rule": "shell(touch *)", "effect": "deny", "scope": "conversation"}
        await editor.command("agent/permission/add", conversationId=conversation.id, **rule)
        await editor.respond(asked, "allow")
        await editor.until_ended(conversation, run_id)
        assert (
            "[It was not run outside the sandbox. It was allowed, and then came under another rule."
            in (conversation.result(asked["itemId"])["output"])
        )
        assert not elsewhere.exists()


async def _walled(editor: Editor, home: Home, script: str) -> tuple[Mirror, str, Json]:
    """A command that the person allowed, that failed inside, and the request to run it outside."""
    conversation = await editor.create(home.workspace)
    run_id = await editor.send(conversation, "go")
    (asked,) = await editor.until_asked(conversation)
    assert "outside" not in asked["card"]
    await editor.respond(asked, "allow")
    await editor.wait_for(lambda: conversation.pending and conversation.pending[0]["id"] != asked["id"])
    (walled,) = conversation.pending
    assert lines(home.workspace / "runs") == ["run"]
    return conversation, run_id, walled


async def test_two_at_once_are_decided_one_by_one_and_what_comes_behind_them_waits(elsewhere: Path) -> None:
    second = elsewhere.with_name(elsewhere.name + "-2")
    calls = [use("shell", command=script) for script in (command(elsewhere), command(second), "echo last >> runs")]
    story = InOrder([reply(*(call.steps[0] for call in calls)), say("Done.")])
    async with scene(story, config=SANDBOX) as (server, home), home.bridged(home.workspace) as editor:
        conversation = await editor.create(home.workspace, mode="auto", allowAuto=True)
        run_id = await editor.send(conversation, "go")
        (first,) = await editor.until_asked(conversation)
        # The workspace's lock is given back, but a later call does not overtake one that may still run.
        assert lines(home.workspace / "runs") == ["run"]
        await editor.respond(first, "deny")
        await editor.wait_for(lambda: conversation.pending and conversation.pending[0]["id"] != first["id"])
        await editor.respond(conversation.pending[0], "allow")
        await editor.until_ended(conversation, run_id)
        assert [call["payload"]["result"]["status"] for call in conversation.calls] == ["error", "ok", "ok"]
        assert lines(home.workspace / "runs") == ["run", "run", "run", "last"]
        assert (elsewhere.exists(), lines(second)) == (False, ["out"])
        assert [known for known, _ in server.requests[1].results] == [
            c["payload"]["callId"] for c in conversation.calls
        ]


@pytest.mark.parametrize("how", ["steer", "restart"])
async def test_a_message_while_it_waits_joins_behind_it_or_leaves_it_as_it_came_out_inside(
    elsewhere: Path, how: str
) -> None:
    script = command(elsewhere)
    async with scene(InOrder([use("shell", command=script), say("Done.")]), config=SANDBOX) as (server, home):
        async with home.bridged(home.workspace) as editor:
            conversation, run_id, asked = await _walled(editor, home, script)
            sent = await editor.say(conversation, "Also do X.", dispatch=how)
            if how == "steer":
                assert sent["disposition"] == "steered"
                assert conversation.pending == [asked]
                await editor.respond(asked, "allow")
            await editor.until_ended(conversation, run_id)
            told = conversation.result(asked["itemId"])["output"]
        assert ("Then the person let it run outside" in told) is (how == "steer")
        assert ("It was not run outside the sandbox." in told) is (how == "restart")
        assert elsewhere.exists() is (how == "steer")
        assert server.requests[-1].last_user_text == "Also do X."


async def test_a_subagents_command_is_offered_in_the_same_inbox_with_its_origin_and_can_be_changed(
    elsewhere: Path,
) -> None:
    task = UseTool("task", {"description": "Write it", "prompt": "Write it down."})
    worker = InOrder([use("shell", command=command(elsewhere)), say("Written.")])
    story = ByConversation({"Write it down": worker, "go": InOrder([reply(task), say("Done.")])})
    async with scene(story, config=SANDBOX) as (_, home), home.bridged(home.workspace) as editor:
        conversation = await editor.create(home.workspace, mode="auto", allowAuto=True)
        run_id = await editor.send(conversation, "go")
        await editor.wait_for(lambda: editor.changed["requests"])
        (asked,) = editor.changed["requests"]
        assert (asked["origin"]["task"], asked["card"]["outside"]) == ("Write it", True)
        child = await editor.attach(asked["conversationId"])
        changed = {"command": f"echo mine >> {elsewhere}"}
        await editor.respond(asked, "allow", input=changed)
        await editor.until_ended(conversation, run_id)
        assert lines(elsewhere) == ["mine"]
        (call,) = child.calls
        assert call["payload"]["input"] == changed
        assert call["payload"]["original"] == {"command": command(elsewhere)}
        assert call["payload"]["title"] == f"$ echo mine >> {elsewhere} (outside the sandbox)"


async def test_a_hook_may_refuse_that_the_person_is_asked_to_let_a_command_out(elsewhere: Path) -> None:
    hook = '\n[hooks]\nrequest = ["/bin/sh", "-c", "cat >/dev/null; echo Never outside. >&2; exit 2"]\n'
    story = InOrder([use("shell", command=command(elsewhere)), say("Done.")])
    async with scene(story, config=SANDBOX + hook) as (_, home), home.bridged(home.workspace) as editor:
        conversation = await editor.create(home.workspace, mode="auto", allowAuto=True)
        await editor.until_ended(conversation, await editor.send(conversation, "go"))
        told = conversation.result(conversation.calls[0]["id"])["output"]
        assert (
            told == f"{failure(elsewhere)}\n[exit code 1]\n{WHY}\n[It was not run outside the sandbox. Never outside.]"
        )
        assert not elsewhere.exists()
