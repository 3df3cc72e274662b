"""Servers of tools (MCP) through the whole daemon: a real server process, the person's or one of a workspace."""

import json
import socket
import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S, Editor
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.scene import scene

pytestmark = pytest.mark.anyio

SERVER = [sys.executable, "-m", "agent_ls.testing.mcp_server"]


def config(*, allowed: bool = True, gate: bool = False, **more: Any) -> str:
    rules = ["mcp__notes__*"] * allowed + ["shell(cat gate)"] * gate
    lines = {"command": SERVER, **{key: value for key, value in more.items() if key != "env"}}
    env = more.get("env", {})
    return "\n".join(
        [
            f"[permissions]\nallow = {json.dumps(rules)}",
            "[mcp.notes]",
            *(f"{key} = {json.dumps(value)}" for key, value in lines.items()),
            "[mcp.notes.env]",
            *(f"{key} = {json.dumps(value)}" for key, value in env.items()),
        ]
    )


async def until(editor: Editor, **stands: Any) -> None:
    """The one server is as told."""
    with anyio.fail_after(LIMIT_S):
        while True:
            (server,) = (await editor.request("agent/status", {}))["mcp"]
            if stands.items() <= server.items():
                return


def results(conversation: Mirror) -> list[tuple[str, str]]:
    calls = [item["payload"] for item in conversation.of_kind("tool_call")]
    return [(call["result"]["status"], call["result"]["output"]) for call in calls if call.get("result")]


async def run(editor: Editor, workspace: Path) -> Mirror:
    conversation = await editor.create(workspace)
    run_id = await editor.send(conversation, "Go.")
    await editor.until_ended(conversation, run_id)
    return conversation


async def test_a_call_of_a_server_is_asked_for_with_its_input_and_answers() -> None:
    answers = InOrder([use("mcp__notes__add", a=2, b=3), say("Done.")])
    async with scene(answers, config=config(allowed=False)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Add.")
        (asked,) = await editor.until_asked(conversation)
        assert (asked["title"], asked["input"]) == ("notes: add", {"a": 2, "b": 3})
        await editor.respond(asked, "allow", scope="once")
        await editor.until_ended(conversation, run_id)
        assert results(conversation) == [("ok", "5")]
        offered = set(server.requests[0].tools)
        assert {"mcp__notes__add", "mcp__notes__fail", "read", "shell"} <= offered


async def test_errors_images_and_long_texts_reach_the_model_as_what_they_are() -> None:
    answers = InOrder(
        [
            use("mcp__notes__fail"),
            use("mcp__notes__picture"),
            use("mcp__notes__long", size=200_000),
            use("mcp__notes__add", a="one"),
            say("Done."),
        ]
    )
    async with scene(answers, config=config()) as (_, home), home.editor() as editor:
        conversation = await run(editor, home.workspace)
        (failed, picture, long, wrong) = results(conversation)
        assert failed[0] == "error"
        assert "fail" in failed[1]
        call = conversation.of_kind("tool_call")[1]["payload"]
        assert (picture[0], [image["mimeType"] for image in call["result"]["images"]]) == ("ok", ["image/png"])
        assert long[0] == "ok"
        long_call = conversation.of_kind("tool_call")[2]["payload"]
        kept = await editor.request("agent/blob/read", {"digest": long_call["result"]["blob"]})
        assert kept["size"] == 200_000
        assert wrong[0] == "error"


async def test_a_server_runs_in_the_workspace_with_the_windows_environment_and_none_of_the_daemons_keys() -> None:
    answers = InOrder(
        [
            use("mcp__notes__where", variable="OF_THE_WINDOW"),
            use("mcp__notes__where", variable="OPENAI_API_KEY"),
            use("mcp__notes__where", variable="OF_THE_FILE"),
            say("Done."),
        ]
    )
    settings = config(env={"OF_THE_FILE": "yes"})
    async with scene(answers, config=settings) as (_, home):
        home.env["OPENAI_API_KEY"] = "secret"
        environment = {"OF_THE_WINDOW": "seen", "PATH": home.env["PATH"]}
        async with home.editor(home.workspace, environment=environment) as editor:
            conversation = await run(editor, home.workspace)
            here = str(home.workspace.resolve())
            assert results(conversation) == [("ok", f"{here} seen"), ("ok", f"{here} unset"), ("ok", f"{here} yes")]


async def test_a_server_that_dies_says_so_and_is_started_again() -> None:
    wait = use("shell", command="cat gate")
    add = use("mcp__notes__add", a=1, b=1)
    answers = InOrder([use("mcp__notes__die"), add, wait, add, say("Done.")])
    async with scene(answers, config=config(gate=True)) as (server, home), home.editor() as editor:
        gate = home.gate("gate")
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        await editor.wait_for(lambda: len(conversation.of_kind("command")) == 1)
        await until(editor, state="up", starts=2, lastEnd="it ended. Its last words: that was all")
        await home.open_gate(gate)
        await editor.until_ended(conversation, run_id)
        died, gone, again = results(conversation)
        assert died[0] == "error"
        assert "ended while it was asked" in died[1]
        assert gone[0] == "error"
        assert gone[1].startswith("MCP server `notes` is down: ")
        assert again == ("ok", "2")
        # What cannot be asked is not offered.
        assert "mcp__notes__add" not in server.requests[1].tools


async def test_a_tool_that_a_server_has_learned_is_offered() -> None:
    answers = InOrder(
        [use("mcp__notes__learn"), use("shell", command="cat gate"), use("mcp__notes__learned"), say("Done.")]
    )
    async with scene(answers, config=config(gate=True)) as (_, home), home.editor() as editor:
        gate = home.gate("gate")
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        await editor.wait_for(lambda: len(conversation.of_kind("command")) == 1)
        await until(editor, state="up", tools=8)
        await home.open_gate(gate)
        await editor.until_ended(conversation, run_id)
        assert results(conversation) == [("ok", "learned"), ("ok", "I know that.")]


async def test_a_server_of_a_workspace_is_started_when_a_person_has_seen_its_command_and_allowed_it() -> None:
    answers = InOrder(
        [
            use("mcp__local__add", a=1, b=2),
            use("mcp__local__start"),
            use("mcp__local__add", a=1, b=2),
            say("Done."),
        ]
    )
    settings = '[permissions]\nallow = ["mcp__local__add"]\n'
    async with scene(answers, config=settings) as (_, home), home.editor() as editor:
        entry = {"command": SERVER[0], "args": SERVER[1:], "env": {"MARK": "secret-value"}}
        (home.workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"local": entry}}))
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        (asked,) = await editor.until_asked(conversation)
        assert asked["title"] == f"Start MCP server local: {' '.join(SERVER)}"
        preview = await editor.request("agent/request/preview", {"requestId": asked["id"]})
        assert "secret-value" not in json.dumps(preview)
        await editor.respond(asked, "allow", scope="once")
        await editor.until_ended(conversation, run_id)
        missing, started, added = results(conversation)
        assert missing[0] == "error"
        assert started[0] == "ok"
        assert "mcp__local__add" in started[1]
        assert added == ("ok", "3")


async def test_a_server_over_http_is_asked_like_one_that_is_a_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    answers = InOrder([use("mcp__notes__add", a=20, b=22), use("mcp__notes__fail"), say("Done.")])
    rules = '[permissions]\nallow = ["mcp__notes__*"]\n'
    settings = f'{rules}[mcp.notes]\nurl = "http://127.0.0.1:{port}/mcp"\n'
    async with scene(answers, config=settings) as (_, home), home.editor() as editor:
        process = await anyio.open_process([*SERVER, "--http", str(port)], stdout=DEVNULL, stderr=PIPE)
        async with process:
            assert process.stderr is not None
            with anyio.fail_after(LIMIT_S):
                said = b""
                while b"Uvicorn running" not in said:
                    said += await process.stderr.receive()
            conversation = await run(editor, home.workspace)
            added, failed = results(conversation)
            assert (added, failed[0]) == (("ok", "42"), "error")
            process.kill()


async def test_a_changed_definition_is_asked_for_anew_and_the_old_server_ends() -> None:
    answers = InOrder([use("mcp__local__start"), say("One."), use("mcp__local__start"), say("Two.")])
    async with scene(answers) as (server, home), home.editor() as editor:
        file = home.workspace / ".mcp.json"
        entry = {"command": SERVER[0], "args": SERVER[1:]}
        file.write_text(json.dumps({"mcpServers": {"local": entry}}))
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        await editor.decide(conversation, "allow", scope="once")
        await editor.until_ended(conversation, run_id)
        file.write_text(json.dumps({"mcpServers": {"local": {**entry, "env": {"MORE": "1"}}}}))
        run_id = await editor.send(conversation, "Again.")
        await editor.decide(conversation, "deny")
        await editor.until_ended(conversation, run_id)
        assert "mcp__local__add" not in server.requests[-1].tools


async def test_no_server_is_started_in_a_workspace_that_is_not_trusted() -> None:
    answers = InOrder([use("mcp__notes__add", a=1, b=1), say("Done.")])
    async with scene(answers, config=config()) as (_, home), home.editor(home.workspace, trusted=False) as editor:
        conversation = await run(editor, home.workspace)
        assert [status for status, _ in results(conversation)] == ["error"]
        assert (await editor.request("agent/status", {}))["mcp"] == []


async def test_a_program_that_is_not_there_is_said_and_the_conversation_goes_on() -> None:
    settings = config(command=["no-such-program"])
    async with scene(InOrder([say("Done.")]), config=settings) as (_, home), home.editor() as editor:
        await run(editor, home.workspace)
        (server,) = (await editor.request("agent/status", {}))["mcp"]
        assert (server["name"], server["tools"]) == ("notes", 0)
        assert server["state"].startswith("down: FileNotFoundError")
