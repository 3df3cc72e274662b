"""A daemon whose ledger is on a PostgreSQL server: the main job, kill -9, and what a person is told about it."""

import anyio
import pytest

from agent_ls.adapters.ledger.postgres.schema import MIGRATIONS
from agent_ls.testing.editor import Refused
from agent_ls.testing.model_scenario import Gate, InOrder, Say, Scenario, Wait, reply, say, use
from agent_ls.testing.postgres import PostgresServer, serve_postgres
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

EDIT = {"path": "notes.txt", "edits": [{"old": "one", "new": "two"}]}


@pytest.fixture
def config(postgres_server: PostgresServer) -> str:
    return f'[ledger]\nurl = "{postgres_server.database()}"\n'


def job() -> Scenario:
    return InOrder(
        [use("read", path="notes.txt"), use("edit", **EDIT), use("shell", command="echo x >> ran"), say("Done.")]
    )


async def test_the_main_job_is_done_and_everything_is_on_the_server(config: str) -> None:
    async with scene(job(), config=config) as (_, home), home.bridged(home.workspace) as editor:
        (home.workspace / "notes.txt").write_text("one\n")
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Make it two.")
        for number in (1, 2):
            (asked,) = await editor.until_asked(conversation)
            assert asked["number"] == number
            await editor.respond(asked, "allow")
        await editor.until_ended(conversation, run_id)
        assert conversation.answers == ["Done."]
        assert (home.workspace / "notes.txt").read_text() == "two\n"
        assert lines(home.workspace / "ran") == ["x"]
        status = await editor.request("agent/status", {})
        assert status["ledger"]["engine"] == "postgresql"
        assert status["ledger"]["writable"] is True
        assert not (home.state / "ledger.db").exists()


async def test_after_kill_9_the_next_daemon_takes_over_at_once_and_the_answer_still_counts(config: str) -> None:
    async with scene(job(), config=config) as (_, home):
        (home.workspace / "notes.txt").write_text("one\n")
        asked = await home.run("ask", "Make it two.")
        assert asked.returncode == 2
        await home.kill9()
        with anyio.fail_after(20):
            assert (await home.run("approve", "1")).returncode == 0
            async with home.editor() as editor:
                await editor.wait_for(lambda: [r["number"] for r in editor.changed["requests"]] == [2])
        assert (home.workspace / "notes.txt").read_text() == "two\n"
        assert "hunter2" not in home.log


async def test_doctor_shows_the_server_and_never_a_password(config: str) -> None:
    with_password = config.replace("agent@", "agent:hunter2@")
    async with scene(job(), config=with_password) as (_, home):
        shown = await home.run("doctor")
        assert "PostgreSQL" in shown.stdout
        assert "empty; the first daemon makes its tables" in shown.stdout
        await home.start()
        shown = await home.run("doctor")
        assert f"schema {MIGRATIONS[-1].version}" in shown.stdout
        assert "hunter2" not in shown.stdout + home.log


async def test_a_server_that_is_away_is_said_when_the_daemon_starts() -> None:
    config = '[ledger]\nurl = "postgresql://me:hunter2@127.0.0.1:1/db"\n'
    async with scene(job(), config=config) as (_, home):
        done = await home.run("start")
        assert done.returncode != 0
        assert "127.0.0.1:1/db cannot be reached" in done.stderr
        assert "hunter2" not in done.stderr + home.log


async def test_a_server_that_goes_away_delays_what_runs_refuses_what_is_asked_and_everything_heals() -> None:
    gate = Gate()
    answers = InOrder([reply(Wait(gate), Say("One.")), say("Two.")])
    with serve_postgres() as server:
        config = f'[ledger]\nurl = "{server.database()}"\n'
        async with scene(answers, config=config) as (_, home), home.bridged(home.workspace) as editor:
            conversation = await editor.create(home.workspace)
            first = await editor.send(conversation, "First.")
            await gate.reached()
            server.kill()
            for _ in range(2):
                with pytest.raises(Refused) as refused:
                    await editor.send(conversation, "Second.")
                assert refused.value.code == "ledger_unavailable"
                gate.open()
            assert conversation.status(first) == "running"
            server.start()
            await editor.until_ended(conversation, first)
            second = await editor.send(conversation, "Second.")
            await editor.until_ended(conversation, second)
            assert conversation.answers == ["One.", "Two."]
