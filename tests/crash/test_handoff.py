"""`agent-ls restart`: one daemon hands over to the next under everything that can be going on, and nobody notices more
than a pause."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import pairwise
from typing import Any

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S, Editor, Refused
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import Answer, ByHistory, Gate, RequestView, Say, Wait, reply, say, use
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

EDITORS = 20
ROUNDS = 10
COMMAND = "echo x >> ran"


class Talk:
    """`story N` is told in two halves with a gate between them; anything else is answered at once."""

    def __init__(self) -> None:
        self.gates: dict[str, Gate] = {}
        self.asked: Counter[str] = Counter()

    def __call__(self, request: RequestView) -> Answer:
        text = request.last_user_text
        self.asked[text] += 1
        if text == "Run it.":
            return say("It ran.") if request.results else use("shell", command=COMMAND)
        if text == "Wait there.":
            return say("I see.") if request.results else use("shell", command="echo begun; cat gate; echo x >> late")
        if text.startswith("story"):
            return reply(Say(f"{text}: once"), Wait(self.gate(text)), Say(" upon a time."))
        return say(f"{text}: yes.")

    def gate(self, text: str) -> Gate:
        return self.gates.setdefault(text, Gate(text))


@pytest.mark.timeout(150)
async def test_ten_in_a_row_under_20_windows_lose_nothing_and_answer_nothing_twice() -> None:
    talk = Talk()
    async with scene(talk) as (_, home), windows(home) as editors:
        first = editors[0]
        approval = await first.create(home.workspace)
        approved = await first.send(approval, "Run it.")
        (asked,) = await first.until_asked(approval)
        shell = await first.create(home.folder("other"))
        waits = await first.send(shell, "Wait there.")
        (other,) = await first.until_asked(shell)
        home.gate("gate", home.root / "other")
        await first.respond(other, "allow")
        await first.wait_for(lambda: "begun" in shell.output)
        stories = await first.create(home.workspace)
        mirrors = [stories, *[await editor.attach(stories.id) for editor in editors[1:]]]

        for number in range(ROUNDS):
            run_id = await first.send(stories, f"story {number}")
            queued = await first.say(stories, f"question {number}", dispatch="queue")
            await first.wait_for(lambda told=f"story {number}: once": stories.shown.endswith(told))
            await restarted(home, editors, "--deadline", "0.1")
            for editor, mirror in zip(editors, mirrors, strict=True):
                await editor.attach(stories.id, after=mirror.seq)
            talk.gate(f"story {number}").open()
            for editor, mirror in zip(editors, mirrors, strict=True):
                await editor.until_ended(mirror, run_id)
                await editor.until_ended(mirror, queued["runId"])
            assert await first.pending() == [asked]

        for mirror in mirrors:
            assert mirror.answers == [
                text for n in range(ROUNDS) for text in (f"story {n}: once upon a time.", f"question {n}: yes.")
            ]
        # An answer that was cut is asked for again, and no other.
        twice = {f"story {n}" for n in range(ROUNDS)} | {"Wait there."}
        once = {f"question {n}" for n in range(ROUNDS)} | {"Run it."}
        assert talk.asked == Counter([*twice, *twice, *once])
        again = await first.attach(shell.id, after=shell.seq)
        await first.until_ended(again, waits)
        assert again.result(again.calls[0]["id"])["status"] == "interrupted"
        assert lines(home.root / "other" / "late") == []
        pending = await first.attach(approval.id, after=approval.seq)
        await first.respond(asked, "allow")
        await first.until_ended(pending, approved)
        assert (lines(home.workspace / "ran"), talk.asked["Run it."]) == (["x"], 2)
        for conversation in (stories, again, pending):
            await first.history(conversation)  # which finds gaps


async def test_an_answer_within_the_deadline_is_given_by_the_old_daemon_and_what_comes_meanwhile_by_the_new() -> None:
    talk = Talk()
    async with scene(talk) as (_, home), home.bridged(home.workspace) as editor, home.editor(name="other") as other:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "story 0")
        await editor.wait_for(lambda: conversation.shown == "story 0: once")
        old, boot = home.pid, editor.hello["bootId"]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(home.run, "restart")
            await until_draining(other, conversation)
            sent = await editor.say(conversation, "question 0", dispatch="queue")
            assert sent["disposition"] == "queued"
            apart = await editor.create(home.workspace)
            started = await editor.say(apart, "question 1")
            assert (started["disposition"], talk.asked["question 1"]) == ("started", 0)
            talk.gate("story 0").open()
            await editor.until_ended(conversation, run_id)
            assert (home.pid, talk.asked["story 0"]) == (old, 1)
            await editor.wait_for(lambda: editor.hello["bootId"] != boot)
        assert ("agent/drain", {"retryAfterMs": 500, "reason": "handoff"}) in editor.notices
        assert home.pid != old
        await editor.attach(conversation.id, after=conversation.seq)
        await editor.attach(apart.id, after=apart.seq)
        await editor.until_ended(conversation, sent["runId"])
        await editor.until_ended(apart, started["runId"])
        assert conversation.answers == ["story 0: once upon a time.", "question 0: yes."]
        assert apart.answers == ["question 1: yes."]
        assert talk.asked == Counter({"story 0": 1, "question 0": 1, "question 1": 1})


async def test_between_two_calls_of_a_step_the_first_is_finished_and_the_second_is_the_next_daemons() -> None:
    first, second = (use("shell", command=text).steps[0] for text in ("cat gate; echo 1 >> ran", "echo 2 >> ran"))
    async with scene(ByHistory([reply(first, second), say("Done.")])) as (server, home):
        gate = home.gate("gate")
        async with home.bridged(home.workspace) as editor, home.editor(name="other") as other:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Go.")
            for asked in await editor.until_asked(conversation, 2):
                await editor.respond(asked, "allow")
            boot = editor.hello["bootId"]
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(home.run, "restart")
                await until_draining(other, conversation)
                await home.open_gate(gate)
                await editor.wait_for(lambda: editor.hello["bootId"] != boot)
            await editor.attach(conversation.id, after=conversation.seq)
            await editor.until_ended(conversation, run_id)
            assert [conversation.result(call["id"])["status"] for call in conversation.calls] == ["ok", "ok"]
        assert lines(home.workspace / "ran") == ["1", "2"]
        assert [request.steps for request in server.requests] == [0, 1]


async def test_the_gap_between_the_last_answer_of_one_and_the_first_of_the_next_is_under_a_second() -> None:
    async with scene(Talk()) as (_, home), home.bridged(home.workspace) as editor:
        answered: list[tuple[float, str]] = []
        for _ in range(3):
            boot = editor.hello["bootId"]
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(home.run, "restart")
                while editor.hello["bootId"] == boot or answered[-1][1] == boot:
                    # What is in flight when a daemon goes is answered with "ask again" by the bridge.
                    with suppress(Refused):
                        status = await editor.request("agent/status", {})
                        answered.append((anyio.current_time(), status["bootId"]))
        gaps = [after[0] - before[0] for before, after in pairwise(answered)]
        assert len({boot for _, boot in answered}) == 4
        assert max(gaps) < 1


async def test_where_no_successor_waits_the_windows_start_the_next_daemon() -> None:
    async with scene(Talk()) as (_, home), home.bridged(home.workspace) as editor:
        conversation = await editor.create(home.workspace)
        pid = editor.hello["pid"]
        assert await editor.request("agent/drain", {"mode": "handoff", "deadlineMs": 1000}) == {}
        await editor.wait_for(lambda: editor.hello["pid"] != pid)
        await editor.attach(conversation.id, after=conversation.seq)
        await editor.until_ended(conversation, await editor.send(conversation, "question 0"))
        assert conversation.answers == ["question 0: yes."]


async def test_each_daemon_is_on_record_and_status_shows_how_the_one_before_ended() -> None:
    async with scene(Talk()) as (_, home), home.bridged(home.workspace) as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Run it.")
        await editor.until_asked(conversation)
        await restarted(home, [editor])
        await home.kill9()
        await home.start()
        async with home.editor() as other:
            status = await other.request("agent/status", {})
        told = [(each["mode"], each["inFlight"], each["epochs"]) for each in status["instances"]]
        assert told == [(None, [], [3, 3]), (None, [], [2, 2]), ("handoff", [run_id], [1, 1])]
        assert status["instanceId"] == status["instances"][2]["bootId"]
        assert status["bootId"] == status["instances"][0]["bootId"]
        assert [(each["attempts"], bool(each["lastError"])) for each in status["effects"]["owed"]] == [(0, False)]


@asynccontextmanager
async def windows(home: Home) -> AsyncIterator[list[Editor]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(home.bridged(name=f"editor-{n}")) for n in range(EDITORS)]


async def restarted(home: Home, editors: list[Editor], *options: str) -> None:
    """Until every window is served by the next daemon."""
    before = {editor.hello["bootId"] for editor in editors}
    done = await home.run("restart", *options)
    # On a busy machine it says what it waits for.
    assert done.returncode == 0, done.stderr
    assert not done.stderr or done.stderr.startswith("What runs may come to its next step first"), done.stderr
    for editor in editors:
        await editor.wait_for(lambda: editor.hello["bootId"] not in before)  # noqa: B023
    assert {editor.hello["pid"] for editor in editors} == {home.pid}


async def until_draining(editor: Editor, conversation: Mirror) -> None:
    status: dict[str, Any] = {"drain": None}
    with anyio.fail_after(LIMIT_S):
        while status["drain"] is None:
            status = await editor.request("agent/status", {})
    assert (status["drain"]["mode"], status["drain"]["waitsFor"]) == ("handoff", [conversation.id])
