"""Hooks of the person: asked before a tool, a request, an end; told of the rest; never in the way of a stop."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S, Refused
from agent_ls.testing.home import Home, gone
from agent_ls.testing.model_scenario import ByConversation, InOrder, UseTool, reply, say, use
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

Json = dict[str, Any]

# Each program writes down what it was told, then does its part.
TELL = "#!/bin/sh\nIN=$(cat)\nprintf '%s\\n' \"$IN\" >> {root}/told\n"


def hook(home: Home, event: str, script: str = "", *, word: str | None = None) -> None:
    """Beside the configuration, where `./event` finds it."""
    path = home.root / event
    path.write_text(TELL.format(root=home.root) + script + "\n")
    path.chmod(0o755)
    text = home.config.read_text()
    text += "" if "[hooks]" in text else "\n[hooks]\n"
    home.config.write_text(text + f"{event} = [{json.dumps(word or f'./{event}')}]\n")


def told(home: Home, event: str) -> list[Json]:
    found = [json.loads(line) for line in lines(home.root / "told") if line.strip()]
    return [said for said in found if said["event"] == event]


async def test_pre_tool_changes_or_refuses_a_call_before_anybody_judges_it() -> None:
    calls = (UseTool("shell", {"command": "/bin/echo one"}), UseTool("read", {"path": "secret"}))
    async with scene(InOrder([reply(*calls), say("Done.")])) as (server, home):
        changed = json.dumps({"input": {"command": "echo two > out"}})
        refuse = """case "$IN" in *'"read"'*) echo 'not yours' >&2; exit 2;; esac"""
        hook(home, "pre_tool", f"{refuse}\necho '{changed}'")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Go.")
            (asked,) = await editor.until_asked(conversation)
            # What is shown is what the hook has made of it, and what is shown is what runs.
            assert (asked["tool"], asked["input"]) == ("shell", {"command": "echo two > out"})
            assert conversation.calls[0]["payload"]["input"] == {"command": "echo two > out"}
            await editor.respond(asked, "allow")
            await editor.until_ended(conversation, run_id)
            assert (home.workspace / "out").read_text() == "two\n"
            assert [text for _, text in server.requests[-1].results][1] == "denied: not yours"
            (read,) = [c for c in conversation.calls if c["payload"]["tool"] == "read"]
            assert (read["payload"]["state"], read["payload"]["rule"]) == ("denied", "hook pre_tool")
            (first,) = [said for said in told(home, "pre_tool") if said["tool"] == "shell"]
            assert {k: first[k] for k in ("tool", "input", "conversationId", "mode", "model")} == {
                "tool": "shell",
                "input": {"command": "/bin/echo one"},
                "conversationId": conversation.id,
                "mode": "ask",
                "model": "scripted-1",
            }


async def test_post_tool_adds_to_a_result_and_a_request_can_be_refused_but_not_allowed() -> None:
    answers = [use("read", path="a.txt"), use("shell", command="rm x"), say("Done.")]
    async with scene(InOrder(answers)) as (server, home):
        (home.workspace / "a.txt").write_text("text\n")
        hook(home, "post_tool", """echo '{"context": "mind the style"}'""")
        hook(home, "request", "echo 'never here' >&2; exit 2")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            await editor.until_ended(conversation, await editor.send(conversation, "Go."))
            assert await editor.pending() == []
        read, shell = (text for _, text in server.requests[-1].results)
        assert read == "text\n[hook post_tool: mind the style]"
        assert shell == "denied: never here"
        (asked,) = told(home, "request")
        assert (asked["tool"], asked["kind"], asked["title"]) == ("shell", "approval", "$ rm x")
        (after,) = told(home, "post_tool")
        assert (after["tool"], after["result"]["status"]) == ("read", "ok")


async def test_prompt_refuses_a_message_changes_it_and_adds_context() -> None:
    async with scene(InOrder([say("Done.")])) as (server, home):
        added = json.dumps({"input": {"text": "Say it nicely."}, "context": "It rains."})
        script = f"""case "$IN" in *secret*) echo 'no secrets' >&2; exit 2;; esac\necho '{added}'"""
        hook(home, "prompt", script)
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            with pytest.raises(Refused) as error:
                await editor.send(conversation, "The secret is 1.")
            assert (error.value.code, "no secrets" in error.value.message) == ("permission_denied", True)
            assert conversation.events == []
            await editor.until_ended(conversation, await editor.send(conversation, "Say it."))
        (asked,) = server.requests
        assert "Say it nicely." in asked.last_user_text
        assert "It rains." in asked.last_user_text
        assert [said["text"] for said in told(home, "prompt")] == ["The secret is 1.", "Say it."]


async def test_stop_lets_a_run_go_on_with_the_reason_and_a_subagent_has_a_hook_of_its_own() -> None:
    child = InOrder([say("Half."), say("Whole.")])
    task = UseTool("task", {"description": "Part", "prompt": "Part of it."})
    talk = ByConversation({"Part of": child, "Go": InOrder([reply(task), say("Fast."), say("Thorough.")])})
    async with scene(talk) as (server, home):
        once = "[ -e {0} ] && exit 0; touch {0}; echo 'tests are red' >&2; exit 2"
        hook(home, "stop", once.format(home.root / "once"))
        hook(home, "subagent_stop", once.format(home.root / "once-sub"))
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            await editor.until_ended(conversation, await editor.send(conversation, "Go."))
            assert conversation.answers == ["Fast.", "Thorough."]
        assert "tests are red" in server.requests[-1].last_user_text
        assert [(said["text"], said["objections"]) for said in told(home, "stop")] == [("Fast.", 0), ("Thorough.", 1)]
        assert [said["text"] for said in told(home, "subagent_stop")] == ["Half.", "Whole."]
        parent = next(r for r in server.requests if r.results)
        assert [text for _, text in parent.results] == ["Whole."]


async def test_a_session_begins_with_its_first_run_and_ends_with_the_daemon_or_the_conversation() -> None:
    async with scene(InOrder([say("One."), say("Two."), say("Three.")])) as (server, home):
        hook(home, "session_start", """echo '{"context": "The team ships on Fridays."}'""")
        hook(home, "session_end")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            for text in ("First.", "Second."):
                await editor.until_ended(conversation, await editor.send(conversation, text))
        assert (await home.run("stop")).returncode == 0
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            await editor.until_ended(again, await editor.send(again, "Third."))
            await editor.command("agent/conversation/update", conversationId=conversation.id, archived=True)
            with anyio.fail_after(LIMIT_S):
                while len(told(home, "session_end")) < 2:
                    await editor.request("agent/request/list", {})
        assert all("ships on Fridays" in asked.system for asked in server.requests)
        assert [said["source"] for said in told(home, "session_start")] == ["new", "resume"]
        assert [said["reason"] for said in told(home, "session_end")] == ["shutdown", "archived"]


async def test_a_hook_that_fails_is_shown_and_changes_nothing() -> None:
    async with scene(InOrder([use("read", path="a.txt"), say("Done.")])) as (server, home):
        (home.workspace / "a.txt").write_text("text\n")
        hook(home, "pre_tool", "echo 'out of luck' >&2; exit 3")
        hook(home, "post_tool", "echo '{broken'")
        hook(home, "stop", word="./is-not-there")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            await editor.until_ended(conversation, await editor.send(conversation, "Go."))
            notices = [item["payload"]["message"] for item in conversation.of_kind("notice")]
        assert notices == [
            "The hook `pre_tool` ended with status 3: out of luck. It was ignored.",
            "The hook `post_tool` printed something that begins like JSON and is none. It was ignored.",
            "The hook `stop` cannot be started: `./is-not-there` is not there. It was ignored.",
        ]
        assert [text for _, text in server.requests[-1].results] == ["text\n"]
        doctor = await home.run("doctor")
        assert "is-not-there is not there, so this hook is ignored" in doctor.stdout


async def test_a_stop_does_not_wait_for_a_hook_and_nothing_of_the_hook_is_left() -> None:
    async with scene(InOrder([use("read", path="a.txt")])) as (_, home):
        hook(home, "pre_tool", f"echo $$ > {home.root}/pid.new; mv {home.root}/pid.new {home.root}/pid; sleep 600")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Go.")
            pid = await pid_in(home.root / "pid")
            assert os.getpgid(pid) == pid
            await editor.interrupt(run_id)
            await editor.until_ended(conversation, run_id, "interrupted")
            with anyio.fail_after(LIMIT_S):
                await gone(pid)


async def test_a_workspace_brings_no_hooks_and_a_hook_gets_no_key() -> None:
    async with scene(InOrder([use("read", path="a.txt"), say("Done.")])) as (_, home):
        home.env["SECRET_KEY"] = "sk-not-for-hooks"
        home.config.write_text(
            home.config.read_text().replace('model = "scripted-1"', 'model = "scripted-1"\napi_key_env = "SECRET_KEY"')
        )
        hook(home, "pre_tool", f"env > {home.root}/env; pwd > {home.root}/cwd")
        theirs = home.workspace / ".agent-ls"
        theirs.mkdir()
        (theirs / "config.toml").write_text('[hooks]\npost_tool = ["/bin/touch", "brought"]\n')
        (home.workspace / "pre_tool").write_text("#!/bin/sh\ntouch brought\n")
        (home.workspace / "pre_tool").chmod(0o755)
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            await editor.until_ended(conversation, await editor.send(conversation, "Go."))
        seen = (home.root / "env").read_text()
        assert "AGENT_LS_HOOK=pre_tool" in seen
        assert "sk-not-for-hooks" not in seen
        assert Path((home.root / "cwd").read_text().strip()) == home.workspace.resolve()
        assert not (home.workspace / "brought").exists()


async def test_hooks_are_those_of_the_configuration_as_it_is_now() -> None:
    async with scene(InOrder([say("One."), say("Two.")])) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "First."))
        hook(home, "prompt", "echo 'closed' >&2; exit 2")
        assert home.pid is not None
        os.kill(home.pid, signal.SIGHUP)
        with anyio.fail_after(LIMIT_S):
            while "was read again" not in home.log:
                await editor.request("agent/request/list", {})
        with pytest.raises(Refused, match="closed"):
            await editor.send(conversation, "Second.")


async def pid_in(path: Path) -> int:
    with anyio.fail_after(LIMIT_S):
        while not path.exists():
            await anyio.lowlevel.checkpoint()
    return int(path.read_text())
