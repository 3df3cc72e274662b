"""Secrets of the daemon and of windows: not in a child, not in the ledger, not in the log (case B51)."""

import os
import sys
from pathlib import Path

import pytest

from agent_ls.testing.home import home_of
from agent_ls.testing.model_scenario import InOrder, say, use
from agent_ls.testing.model_server import serve_model

pytestmark = pytest.mark.anyio

PASSWORD = "s3cret-of-the-database"
DAEMON = {
    "ANTHROPIC_API_KEY": "k1",
    "DATABASE_URL": f"postgres://app:{PASSWORD}@db.test/app",
    "DEPLOY_TOKEN": "token-of-the-daemon",
}
LOOK = "env; echo; for pid in $PPID $(cut -d' ' -f4 /proc/$PPID/stat); do tr '\\0' '\\n' </proc/$pid/environ; done"


def said(output: str) -> set[str]:
    return set(output.splitlines())


async def test_a_child_has_the_environment_of_its_window_and_no_secret_of_the_daemon() -> None:
    story = InOrder([use("shell", command=LOOK), say("."), use("shell", command="env"), say(".")])
    async with serve_model(story) as server, home_of(server.base_url, env=DAEMON) as home:
        other = home.folder("other")
        first = {"PATH": os.environ["PATH"], "MINE": "first", "HUB_TOKEN": "token-of-the-window"}
        second = {"PATH": os.environ["PATH"], "MINE": "second", "OPENAI_API_KEY": "k2"}
        async with home.editor(home.workspace, environment=first) as one, home.editor(other, environment=second) as two:
            outputs = []
            for editor, folder in ((one, home.workspace), (two, other)):
                conversation = await editor.create(folder)
                run_id = await editor.send(conversation, "look")
                await editor.decide(conversation, "allow")
                await editor.until_ended(conversation, run_id)
                outputs.append(conversation.result(conversation.calls[0]["id"])["output"])
                # What the window itself has may be used, but is not written down.
                text = str(await editor.history(conversation)) + conversation.output
                assert "token-of-the-window" not in text
            assert "MINE=first" in said(outputs[0])
            assert "HUB_TOKEN=•••" in said(outputs[0])
            assert "MINE=second" in said(outputs[1])
            assert not said(outputs[1]) & {"HUB_TOKEN=•••", "OPENAI_API_KEY=k2"}
            for secret in ("ANTHROPIC_API_KEY=k1", PASSWORD, "token-of-the-daemon"):
                assert secret not in "".join(outputs)
            assert not {"DATABASE_URL", "DEPLOY_TOKEN"} & {line.partition("=")[0] for line in outputs[1].splitlines()}
        assert "token-of" not in home.log


async def test_before_any_window_came_a_child_gets_nothing_that_may_be_a_secret() -> None:
    story = InOrder([use("shell", command="env"), say(".")])
    env = {**DAEMON, "PLAIN": "1"}
    async with serve_model(story) as server, home_of(server.base_url, env=env) as home, home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "look")
        await editor.decide(conversation, "allow")
        await editor.until_ended(conversation, run_id)
        output = conversation.result(conversation.calls[0]["id"])["output"]
        names = {line.partition("=")[0] for line in output.splitlines()}
        assert "PLAIN" in names
        assert not names & set(DAEMON)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="environments are seen under /proc")
async def test_the_environment_that_the_daemon_was_started_with_shows_no_secret() -> None:
    async with home_of(env=DAEMON) as home:
        pid = await home.start()
        path = f"/proc/{pid}/environ"
        if os.getuid() != 0:
            assert not os.access(path, os.R_OK)
            return
        entries = Path(path).read_bytes().split(b"\0")
        assert b"ANTHROPIC_API_KEY=xx" in entries
        assert not [entry for entry in entries if PASSWORD.encode() in entry or b"token-of" in entry]
        assert [entry for entry in entries if entry.startswith(b"AGENT_LS_STATE_DIR=/")]


async def test_a_secret_that_is_read_from_a_file_is_not_written_down() -> None:
    story = InOrder([use("read", path="notes.txt"), say(".")])
    async with serve_model(story) as server, home_of(server.base_url, env=DAEMON) as home, home.editor() as editor:
        (home.workspace / "notes.txt").write_text(f"the password is {PASSWORD}, twice: {PASSWORD}\n")
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "read"))
        output = conversation.result(conversation.calls[0]["id"])["output"]
        assert "the password is •••, twice: •••" in output
        assert PASSWORD not in str(server.requests[-1].body)
