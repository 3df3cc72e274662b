"""Two daemons on two state directories and one PostgreSQL ledger: each shows and goes on with what the other holds."""

from contextlib import AsyncExitStack
from typing import Any

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S, Editor, Refused
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import ByHistory, Gate, InOrder, Say, Wait, reply, say, use
from agent_ls.testing.postgres import PostgresServer, serve_postgres
from tests.pair import in_database, left_in_mid_answer, two
from tests.scene import lines

pytestmark = pytest.mark.anyio

SHELL = use("shell", command="echo x >> ran")


@pytest.fixture
def url(postgres_server: PostgresServer) -> str:
    return postgres_server.database()


def facts(events: list[dict[str, Any]]) -> list[int]:
    return [event["seq"] for event in events]


async def hears_more(editor: Editor, mirror: Mirror) -> None:
    before = len(mirror.events)
    await editor.wait_for(lambda: len(mirror.events) > before)


async def test_a_conversation_of_one_is_listed_followed_and_gone_on_with_from_the_other(url: str) -> None:
    async with (
        two(InOrder([say("One."), say("Two.")]), url) as (_, one, other),
        one.editor(one.workspace, name="a") as a,
        other.editor(one.workspace, name="b") as b,
    ):
        held = await a.create(one.workspace)
        await a.until_ended(held, await a.send(held, "First."))
        listed = (await b.request("agent/conversation/list", {}))["conversations"]
        assert [(c["id"], c["lastText"]) for c in listed] == [(held.id, "One.")]
        seen = await b.attach(held.id)
        assert seen.answers == ["One."]
        run = await b.send(seen, "Second.")
        await b.until_ended(seen, run)
        await a.until_ended(held, run)
        assert (seen.answers, held.answers) == (["One.", "Two."], ["One.", "Two."])
        assert await a.history(held) == await b.history(seen)
        status = await b.request("agent/status", {})
        assert (status["claims"], status["ledger"]["claimed"]) == (0, 0)


async def test_a_command_sent_twice_is_done_once_and_answered_alike_by_either_daemon(url: str) -> None:
    async with (
        two(ByHistory([say("One.")]), url) as (server, one, other),
        one.editor(name="a") as a,
        other.editor(name="b") as b,
    ):
        held = await a.create(one.workspace)
        seen = await b.attach(held.id)
        content = [{"type": "text", "text": "Hello."}]
        params = {"commandId": "k1", "conversationId": held.id, "content": content}
        answers = [await editor.request("agent/message/send", params) for editor in (b, a, b)]
        assert answers[0] == answers[1] == answers[2]
        await b.until_ended(seen, answers[0]["runId"])
        for editor in (a, b):
            with pytest.raises(Refused) as refused:
                await editor.request("agent/message/send", {**params, "dispatch": "queue"})
            assert refused.value.code == "command_conflict"
        assert len(server.requests) == 1


async def test_a_create_that_is_sent_again_to_the_other_daemon_makes_one_conversation(url: str) -> None:
    async with two(ByHistory([]), url) as (_, one, other), one.editor(name="a") as a, other.editor(name="b") as b:
        params = {"commandId": "c", "workspace": one.workspace.as_uri()}
        made = [await editor.request("agent/conversation/create", params) for editor in (a, b, a)]
        assert made[0] == made[1] == made[2]
        assert len((await b.request("agent/conversation/list", {}))["conversations"]) == 1


async def test_windows_that_come_in_the_middle_hear_every_event_of_the_other_daemon_once(url: str) -> None:
    """The mirror of a window fails at a gap or a repeat."""
    todos = (use("todo", items=[{"text": f"{n}", "status": "pending"}]) for n in range(60))
    async with two(ByHistory([*todos, say("Done.")]), url) as (_, one, other), AsyncExitStack() as windows:
        a = await windows.enter_async_context(one.editor(name="a"))
        await windows.enter_async_context(other.editor(name="first"))
        held = await a.create(one.workspace)
        run = await a.send(held, "Go.")
        followers = []
        for n in range(4):
            window = await windows.enter_async_context(other.editor(name=f"b{n}"))
            followers.append((window, await window.attach(held.id)))
            await hears_more(*followers[-1])
        for window, mirror in followers:
            await window.until_ended(mirror, run)
            assert mirror.events[-1]["seq"] - mirror.events[0]["seq"] == len(mirror.events) - 1
        await a.until_ended(held, run)
        assert {mirror.seq for _, mirror in followers} == {held.seq}


async def test_an_approval_is_shown_and_answered_from_either_and_the_first_answer_wins(url: str) -> None:
    async with (
        two(InOrder([SHELL, say("Done.")]), url) as (_, one, other),
        one.editor(one.workspace, name="a") as a,
        other.editor(one.workspace, name="b") as b,
    ):
        held = await a.create(one.workspace)
        run = await a.send(held, "Go.")
        (asked,) = await a.until_asked(held)
        await b.wait_for(lambda: [r["id"] for r in b.changed["requests"]] == [asked["id"]])
        assert await b.pending() == [asked]
        answered = await b.respond(asked, "allow")
        assert answered["status"] == "resolved"
        for editor in (a, b):
            with pytest.raises(Refused) as refused:
                await editor.respond(asked, "deny")
            assert (refused.value.code, refused.value.data["from"]) == ("already_decided", "b")
        await a.until_ended(held, run)
        await b.wait_for(lambda: b.changed["pending"] == 0)
        assert lines(one.workspace / "ran") == ["x"]


async def test_the_command_line_of_the_other_home_shows_and_answers_what_waits(url: str) -> None:
    async with two(InOrder([SHELL, say("Done."), say("Here.")]), url) as (_, one, other), one.editor(name="a") as a:
        held = await a.create(one.workspace)
        run = await a.send(held, "Go.")
        await a.until_asked(held)
        pending = await other.run("pending")
        assert ("echo x >> ran" in pending.stdout, pending.returncode) == (True, 0)
        assert (await other.run("approve", "1")).returncode == 0
        await a.until_ended(held, run)
        assert lines(one.workspace / "ran") == ["x"]
        asked = await other.run("ask", "--conversation", held.id, "Again?", cwd=one.workspace)
        assert (asked.stdout.strip(), asked.returncode) == ("Here.", 0)
        assert held.answers[:1] == ["Done."]


async def test_two_answers_at_once_from_two_daemons_are_one_decision(url: str) -> None:
    async with (
        two(InOrder([SHELL, say("Done.")]), url) as (_, one, other),
        one.editor(name="a") as a,
        other.editor(name="b") as b,
    ):
        held = await a.create(one.workspace)
        run = await a.send(held, "Go.")
        (asked,) = await a.until_asked(held)
        outcomes: list[str] = []

        async def answer(editor: Editor, decision: str) -> None:
            try:
                await editor.respond(asked, decision)
                outcomes.append(decision)
            except Refused as refused:
                outcomes.append(refused.code)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer, a, "allow")
            tasks.start_soon(answer, b, "deny")
        assert len(outcomes) == 2
        assert "already_decided" in outcomes
        await a.until_ended(held, run)
        assert lines(one.workspace / "ran") == (["x"] if "allow" in outcomes else [])


async def test_a_run_is_stopped_and_its_queue_and_title_changed_from_the_other(url: str) -> None:
    gate = Gate()
    async with (
        two(InOrder([reply(Say("Hel"), Wait(gate)), say("Two.")]), url) as (_, one, other),
        one.editor(name="a") as a,
        other.editor(name="b") as b,
    ):
        held = await a.create(one.workspace)
        run = await a.send(held, "First.")
        await gate.reached()
        seen = await b.attach(held.id)
        queued = await b.say(seen, "Second.", dispatch="queue")
        assert queued["disposition"] == "queued"
        await b.queue(seen, "edit", runId=queued["runId"], content=[{"type": "text", "text": "Other."}])
        update = {"commandId": "t", "conversationId": held.id, "title": "Ours"}
        changed = await b.request("agent/conversation/update", update)
        assert changed["conversation"]["title"] == "Ours"
        await b.interrupt(run, holdQueue=False)
        await b.until_ended(seen, run, "interrupted")
        await b.until_ended(seen, queued["runId"])
        assert seen.answers[-1] == "Two."
        assert facts(await b.history(seen)) == facts(await a.history(held))


async def test_text_in_flight_at_one_is_seen_at_the_other_and_gives_way_to_what_is_committed(url: str) -> None:
    first, last = Gate(), Gate()
    answer = reply(Say("Hel"), Wait(first), Say("lo, wor"), Wait(last), Say("ld."))
    async with (
        two(InOrder([answer]), url) as (_, one, other),
        one.editor(one.workspace, name="a") as a,
        other.editor(one.workspace, name="b") as b,
    ):
        held = await a.create(one.workspace)
        seen = await b.attach(held.id)
        run = await a.send(held, "First.")
        await b.wait_for(lambda: seen.shown == "Hel")
        first.open()
        await b.wait_for(lambda: seen.shown == "Hello, wor")
        late = await b.attach(held.id)
        await b.wait_for(lambda: late.shown == "Hello, wor")
        last.open()
        await b.until_ended(late, run)
        await a.until_ended(held, run)
        assert (late.answers, held.answers) == (["Hello, world."], ["Hello, world."])


async def test_what_one_deletes_is_gone_at_the_other(url: str) -> None:
    async with (
        two(InOrder([say("One.")]), url) as (_, one, other),
        one.editor(one.workspace, name="a") as a,
        other.editor(one.workspace, name="b") as b,
    ):
        held = await a.create(one.workspace)
        await a.until_ended(held, await a.send(held, "First."))
        params = {"commandId": "d", "conversationId": held.id}
        for _ in range(2):
            assert await b.request("agent/conversation/delete", params) == {}
        gone = ("agent/conversation/changed", {"conversations": [], "deleted": [held.id]})
        await a.wait_for(lambda: gone in a.notices)
        for editor in (a, b):
            assert (await editor.request("agent/conversation/list", {}))["conversations"] == []


async def test_a_daemon_that_stops_hands_over_at_once(url: str) -> None:
    gate = Gate()
    async with (
        two(ByHistory([reply(Say("Hel"), Wait(gate), Say("lo"))]), url) as (_, one, other),
        other.editor(name="b") as b,
    ):
        async with one.editor(name="a") as a:
            held = await a.create(one.workspace)
            run = await a.send(held, "Say hello.")
            await gate.reached()
            seen = await b.attach(held.id)
            assert (await one.run("stop")).returncode == 0
        gate.open()
        with anyio.fail_after(10):
            await b.until_ended(seen, run)
        assert seen.answers == ["Hello"]
        status = await b.request("agent/status", {})
        assert (status["ledger"]["claimed"], status["ledger"]["reclaimed"]) == (1, 0)


async def test_what_rests_is_given_back_and_belongs_to_whoever_is_asked_next(url: str) -> None:
    async with (
        two(InOrder([say("One."), say("Two.")]), url, ttl_s=1) as (_, one, other),
        other.editor(name="b") as b,
        one.editor(name="c") as c,
    ):
        async with one.editor(name="a") as a:
            held = await a.create(one.workspace)
            await a.until_ended(held, await a.send(held, "First."))
        with anyio.fail_after(LIMIT_S):
            while (await c.request("agent/status", {}))["claims"]:
                pass
        seen = await b.attach(held.id)
        again = await c.attach(held.id)
        run = await b.send(seen, "Second.")
        await b.until_ended(seen, run)
        await c.until_ended(again, run)
        assert (seen.answers, again.answers) == (["One.", "Two."], ["One.", "Two."])
        status = await b.request("agent/status", {})
        assert (status["claims"], status["ledger"]["reclaimed"]) == (1, 0)


async def test_a_folder_of_another_machine_is_shown_and_nothing_is_run_for_it(url: str) -> None:
    hosts = ('host = "laptop"\n', 'host = "server"\n')
    async with (
        two(InOrder([say("One."), say("Two.")]), url, more=hosts) as (_, one, other),
        other.editor(name="b") as b,
    ):
        async with one.editor(name="a") as a:
            held = await a.create(one.workspace)
            await a.until_ended(held, await a.send(held, "First."))
            seen = await b.attach(held.id)
            await b.until_ended(seen, await b.send(seen, "Second."))
        assert (await one.run("stop")).returncode == 0
        with pytest.raises(Refused) as refused:
            await b.send(seen, "Third.")
        assert (refused.value.code, "laptop" in refused.value.message) == ("unsupported", True)
        assert 'host = "laptop"' in refused.value.hint
        assert seen.answers == ["One.", "Two."]
        assert len(await b.history(seen)) == seen.seq


async def test_a_run_in_a_folder_of_another_machine_waits_for_its_own_daemon(url: str) -> None:
    gate = Gate()
    hosts = ('host = "laptop"\n', 'host = "server"\n')
    story = ByHistory([reply(Say("Hel"), Wait(gate), Say("lo"))])
    async with two(story, url, ttl_s=1, more=hosts) as (server, one, other), other.editor(name="b") as b:
        seen, run = await left_in_mid_answer(one, b, gate)
        await in_database(url, "SELECT pg_sleep(3)")
        status = await b.request("agent/status", {})
        assert (status["claims"], len(server.requests)) == (0, 1)
        gate.open()
        await one.start()
        await b.until_ended(seen, run)
        assert seen.answers == ["Hello"]


async def test_a_server_that_goes_away_delays_both_and_both_heal() -> None:
    gate = Gate()
    answers = InOrder([reply(Wait(gate), Say("One.")), say("Two.")])
    with serve_postgres() as server:
        async with (
            two(answers, f"{server.database()}") as (_, one, other),
            one.editor(name="a") as a,
            other.editor(name="b") as b,
        ):
            held = await a.create(one.workspace)
            seen = await b.attach(held.id)
            first = await b.send(seen, "First.")
            await gate.reached()
            await b.wait_for(lambda: seen.status(first) == "running")
            server.kill()
            for editor, mirror in ((a, held), (b, seen)):
                with pytest.raises(Refused) as refused:
                    await editor.send(mirror, "Second.")
                assert refused.value.code == "ledger_unavailable"
            again = await a.attach(held.id)
            assert (again.conversation["status"], again.seq) == ("running", held.seq)
            gate.open()
            server.start()
            await a.until_ended(again, first)
            await b.until_ended(seen, first)
            second = await b.send(seen, "Second.")
            await b.until_ended(seen, second)
            assert seen.answers == ["One.", "Two."]
