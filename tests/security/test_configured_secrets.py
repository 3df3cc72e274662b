"""Secrets that stand in the person's configuration: in nothing that is kept, shown, or sent to a model."""

import json
import sys

import pytest

from agent_ls.testing.home import Home, home_of
from agent_ls.testing.model_scenario import Http, RequestView, Stream, UseTool, reply, say
from agent_ls.testing.model_server import ModelServer, serve_model

pytestmark = pytest.mark.anyio

KEY, OF_HEADER, OF_SERVER, OF_TICKETS = (
    "k3y-0f-the-pr0vider",
    "h3ader-0f-mine",
    "t0ken-of-notes-1",
    "t0ken-of-tickets-2",
)
SECRETS = (KEY, OF_HEADER, OF_SERVER, OF_TICKETS)


def configure(home: Home, server: ModelServer, last_words: str = "") -> None:
    said = f"import os, sys; sys.stderr.write({last_words!r}.format(**os.environ)); sys.exit(3)"
    home.config.write_text(
        f"""
provider = "scripted"
[providers.scripted]
kind = "openai-compatible"
base_url = "{server.base_url}"
model = "scripted-1"
api_key_env = "MY_KEY"
headers = {{ X-Gateway-Token = "{OF_HEADER}" }}
[mcp.notes]
command = {json.dumps([sys.executable, "-c", said])}
env = {{ NOTES_TOKEN = "{OF_SERVER}" }}
[mcp.tickets]
url = "http://127.0.0.1:1/mcp"
headers = {{ Authorization = "Bearer {OF_TICKETS}" }}
"""
    )
    home.env["MY_KEY"] = KEY


def kept(home: Home) -> str:
    files = [path for path in home.state.rglob("*") if path.is_file()]
    return home.log + "".join(path.read_bytes().decode("utf-8", "replace") for path in files)


async def test_a_server_that_repeats_the_key_and_the_headers_does_not_get_them_written_down() -> None:
    def refuse(request: RequestView) -> Http:
        told = f"{request.headers['authorization']} and {request.headers['x-gateway-token']} are wrong"
        return Http(status=401, body={"error": {"message": told, "type": "invalid_request_error"}})

    async with serve_model(refuse) as server, home_of() as home:
        configure(home, server)
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Hello.")
            run = await editor.until_ended(conversation, run_id, "failed")
            shown = json.dumps([run, await editor.history(conversation), editor.notices])
        assert "are wrong" in shown
        assert [secret for secret in SECRETS if secret in shown + kept(home)] == []


async def test_a_command_that_prints_the_configuration_prints_no_secret_of_it() -> None:
    def look(request: RequestView) -> Stream:
        return say("Seen.") if request.results else reply(UseTool("shell", {"command": "cat ../config.toml"}))

    async with serve_model(look) as server, home_of() as home:
        configure(home, server)
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Look.")
            await editor.decide(conversation, "allow")
            await editor.until_ended(conversation, run_id)
            output = conversation.result(conversation.calls[0]["id"])["output"]
            assert 'X-Gateway-Token = "•••"' in output
            assert 'Authorization = "Bearer •••"' in output
            told = json.dumps([request.body for request in server.requests]) + conversation.output
        assert [secret for secret in SECRETS if secret in output + told + kept(home)] == []


async def test_a_server_of_tools_that_dies_with_a_secret_on_its_lips_is_shown_without_it() -> None:
    def end(request: RequestView) -> Stream:
        return say("Done.")

    async with serve_model(end) as server, home_of() as home:
        configure(home, server, last_words="no entry with {NOTES_TOKEN}")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            await editor.until_ended(conversation, await editor.send(conversation, "Go."))
            status = json.dumps(await editor.request("agent/status", {}), ensure_ascii=False)
        assert "no entry with •••" in status
        printed = (await home.run("status")).stdout + (await home.run("doctor")).stdout
        assert [secret for secret in SECRETS if secret in status + printed + kept(home)] == []


async def test_a_hook_that_says_a_secret_of_the_window_does_not_get_it_written_down() -> None:
    def look(request: RequestView) -> Stream:
        return say("Seen.") if request.results else reply(UseTool("read", {"path": "a"}))

    async with serve_model(look) as server, home_of(server.base_url) as home:
        hook = home.root / "hook"
        hook.write_text('#!/bin/sh\necho "not with $HUB_TOKEN" >&2\nexit 2\n')
        hook.chmod(0o755)
        with home.config.open("a") as file:
            file.write(f'[hooks]\npre_tool = ["{hook}"]\n')
        environment = {"PATH": home.env["PATH"], "HUB_TOKEN": OF_HEADER}
        async with home.editor(home.workspace, environment=environment) as editor:
            conversation = await editor.create(home.workspace)
            await editor.until_ended(conversation, await editor.send(conversation, "Go."))
            told = json.dumps([request.body for request in server.requests], ensure_ascii=False)
        assert "not with •••" in told
        assert OF_HEADER not in told + kept(home)
