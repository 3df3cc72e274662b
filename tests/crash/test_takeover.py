"""A daemon of a shared ledger that falls silent: another takes over, and what the old one does late is refused."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S, Editor, Refused
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import ByHistory, Gate, InOrder, Say, Wait, reply, say, use
from agent_ls.testing.postgres import PostgresServer
from tests.pair import in_database, left_in_mid_answer, two
from tests.scene import lines

pytestmark = pytest.mark.anyio

TTL_S = 2.0
WITHIN_S = TTL_S + 2
COMMAND = "echo x >> ran; echo begun; cat gate; echo x >> ran"


@pytest.fixture
def url(postgres_server: PostgresServer) -> str:
    return postgres_server.database()


@asynccontextmanager
async def stopped(home: Home) -> AsyncIterator[None]:
    """SIGSTOP for the block, SIGCONT at its end if it still lives."""
    pid = home.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


async def reclaimed(editor: Editor) -> int:
    status = await editor.request("agent/status", {})
    found: int = status["ledger"]["reclaimed"]
    return found


async def test_after_kill_9_another_daemon_goes_on_within_the_lease_and_two_seconds(url: str) -> None:
    gate = Gate()
    story = ByHistory([reply(Say("Hel"), Wait(gate), Say("lo"))])
    async with two(story, url, ttl_s=TTL_S) as (_, one, other), other.editor(name="b") as b:
        seen, run = await left_in_mid_answer(one, b, gate)
        began = anyio.current_time()
        await b.wait_for(lambda: seen.shown == "Hel")
        took_s = anyio.current_time() - began
        gate.open()
        await b.until_ended(seen, run)
        assert took_s < WITHIN_S
        assert seen.answers == ["Hello"]
        assert await reclaimed(b) == 1


async def test_who_slept_beyond_its_lease_streams_nothing_and_shows_what_the_other_did(url: str) -> None:
    gate = Gate()
    story = ByHistory([reply(Say("Hel"), Wait(gate), Say("lo")), say("Two."), say("Three.")])
    async with (
        two(story, url, ttl_s=TTL_S) as (server, one, other),
        other.editor(name="b") as b,
        one.editor(name="a") as a,
    ):
        held = await a.create(one.workspace)
        run = await a.send(held, "Say hello.")
        await a.wait_for(lambda: held.shown == "Hel")
        seen = await b.attach(held.id)
        async with stopped(one):
            await until_taken_over(b)
            gate.open()
            await b.until_ended(seen, run)
        await a.until_ended(held, run)
        assert (held.answers, seen.answers) == (["Hello"], ["Hello"])
        shown = [params for method, params in a.notices if method == "agent/stream"]
        assert "".join(params["delta"] for params in shown) == "Hel"
        assert await a.history(held) == await b.history(seen)
        assert len(server.requests) == 2
        assert (await a.request("agent/status", {}))["claims"] == 0
        await goes_on(a, held, b, seen)


async def test_a_call_that_was_running_in_a_daemon_that_slept_has_one_result_and_its_end_is_told_once(url: str) -> None:
    story = ByHistory([use("shell", command=COMMAND), say("I see.")])
    async with (
        two(story, url, ttl_s=TTL_S) as (_, one, other),
        other.editor(name="b") as b,
        one.editor(name="a") as a,
    ):
        one.gate("gate")
        held = await a.create(one.workspace)
        run = await a.send(held, "Go.")
        await a.decide(held, "allow")
        await a.wait_for(lambda: "begun" in held.output)
        seen = await b.attach(held.id)
        async with stopped(one):
            await until_taken_over(b)
            (lost,) = await b.until_asked(seen)
            assert lost["title"].startswith("Outcome unknown")
        await a.wait_for(lambda: [r["id"] for r in held.pending] == [lost["id"]])
        await a.respond(lost, "answer", optionId="tell")
        await a.until_ended(held, run)
        await b.until_ended(seen, run)
        assert lines(one.workspace / "ran") == ["x"]
        assert await a.history(held) == await b.history(seen)


async def test_an_answer_left_for_a_daemon_that_sleeps_counts_once_whoever_wakes_first(url: str) -> None:
    story = ByHistory([use("shell", command="echo x >> ran"), say("Done.")])
    async with (
        two(story, url, ttl_s=TTL_S) as (_, one, other),
        other.editor(name="b") as b,
        one.editor(name="a") as a,
    ):
        held = await a.create(one.workspace)
        run = await a.send(held, "Go.")
        (asked,) = await a.until_asked(held)
        seen = await b.attach(held.id)
        async with stopped(one):
            late = await a.begin("agent/request/respond", {**denied(asked), "commandId": "late"})
            answered = await b.respond(asked, "allow")
            assert answered["status"] == "resolved"
            await b.until_ended(seen, run)
        with pytest.raises(Refused) as refused:
            await a.reply(late)
        assert refused.value.code == "already_decided"
        await a.until_ended(held, run)
        assert lines(one.workspace / "ran") == ["x"]
        assert await reclaimed(b) == 1


async def test_messages_left_for_a_daemon_that_dies_are_each_taken_and_answered_once(url: str) -> None:
    texts = [f"Number {n}." for n in range(5)]
    story = InOrder([say("Ready."), *(say(f"Answer {n}.") for n in range(5))])
    async with two(story, url, ttl_s=TTL_S) as (_, one, other), other.editor(name="b") as b:
        async with one.editor(name="a") as a:
            held = await a.create(one.workspace)
            await a.until_ended(held, await a.send(held, "Hello."))
            seen = await b.attach(held.id)
            async with stopped(one):
                sent = [await begin(b, held.id, text, f"m{n}") for n, text in enumerate(texts)]
                again = [await begin(b, held.id, text, f"m{n}") for n, text in enumerate(texts)]
                await one.kill9()
                answers = [await b.reply(key) for key in sent]
        assert [await b.reply(key) for key in again] == answers
        for answer in answers:
            await b.until_ended(seen, answer["runId"])
        # An end may be known from the ledger before this window has heard of it.
        await b.wait_for(lambda: len(seen.answers) > len(texts))
        said = [item["payload"]["content"][0]["text"] for item in seen.of_kind("user_message")]
        assert sorted(said[1:]) == texts
        assert seen.answers == ["Ready.", *(f"Answer {n}." for n in range(5))]


async def test_who_slept_and_was_not_taken_over_goes_on(url: str) -> None:
    gate = Gate()
    story = ByHistory([reply(Say("Hel"), Wait(gate), Say("lo"))])
    async with two(story, url, ttl_s=TTL_S) as (server, one, _), one.editor(name="a") as a:
        held = await a.create(one.workspace)
        run = await a.send(held, "Say hello.")
        await a.wait_for(lambda: held.shown == "Hel")
        async with stopped(one):
            await in_database(url, f"SELECT pg_sleep({1.5 * TTL_S})")
        gate.open()
        await a.until_ended(held, run)
        assert (held.answers, len(server.requests), await reclaimed(a)) == (["Hello"], 1, 0)


async def begin(editor: Editor, conversation_id: str, text: str, command_id: str) -> int:
    content = [{"type": "text", "text": text}]
    # Queued: one that joins a run which goes on would be answered together with it.
    params = {"commandId": command_id, "conversationId": conversation_id, "content": content, "dispatch": "queue"}
    return await editor.begin("agent/message/send", params)


def denied(asked: dict[str, str]) -> dict[str, str]:
    return {"requestId": asked["id"], "digest": asked["digest"], "decision": "deny"}


async def until_taken_over(editor: Editor) -> None:
    with anyio.fail_after(LIMIT_S):
        while not await reclaimed(editor):
            await anyio.lowlevel.checkpoint()


async def goes_on(a: Editor, held: Mirror, b: Editor, seen: Mirror) -> None:
    """A message from each window is answered once, and both see both."""
    for editor, mirror in ((a, held), (b, seen)):
        run = await editor.send(mirror, "Again.")
        await a.until_ended(held, run)
        await b.until_ended(seen, run)
    assert held.answers == seen.answers == ["Hello", "Two.", "Three."]
