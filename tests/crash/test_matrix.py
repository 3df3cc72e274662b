"""Kill -9 of the daemon at every named point of a run, on each engine, with somebody looking or nobody.

Whatever the point, the same has to be true once a successor has gone on: nothing acknowledged lost, nothing answered
twice, no gap, one truthful result for each call, no effect twice unasked, and a conversation that can be used.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from agent_ls.testing.crash_points import MARK, POINTS, VARIABLE
from agent_ls.testing.editor import LIMIT_S
from agent_ls.testing.home import Home, gone
from agent_ls.testing.model_scenario import ByHistory, Say, UseTool, reply, say, use
from agent_ls.testing.model_server import ModelServer
from tests.crash.person import Person
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

STORY = ByHistory([
    reply(Say("A file first."), UseTool("write", {"path": "a.txt", "content": "a"})),
    use("shell", command="sh once.sh"),
    say("Done."),
    say("Still here."),
])  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """`when` the daemon dies: while it starts, when it is first told something, after the message, at rest with the
    approval pending, at the answer.

    `ran`: how often the command has run in the end, `known`: whether its result is.
    """

    point: str
    when: str
    ran: int = 1
    known: bool = True


AT: Final = [
    Cell("migration.statement:9", "start"),
    Cell("migration.after", "start"),
    Cell("claim.before", "start"),
    Cell("claim.after", "start"),
    Cell("made.before", "create"),
    Cell("made.after", "create"),
    Cell("input.before", "message"),
    Cell("input.after", "message"),
    Cell("step.before", "message"),
    Cell("token.first", "message"),
    Cell("step.after", "message"),
    Cell("call.before", "message"),
    Cell("call.after", "message"),
    Cell("started.before", "message"),
    Cell("started.after", "message"),
    Cell("tool.before", "message"),
    Cell("tool.after", "message"),
    Cell("result.before", "message"),
    Cell("result.after", "message"),
    Cell("asked.before", "message"),
    Cell("asked.after", "message"),
    Cell("renewal.before:2", "rest"),
    Cell("renewal.after:2", "rest"),
    Cell("drain.before", "drain"),
    Cell("drain.after", "drain"),
    Cell("drain.rested", "drain"),
    Cell("close.before", "drain"),
    Cell("close.after", "drain"),
    Cell("claim.before", "successor"),
    Cell("claim.after", "successor"),
    Cell("approved.before", "answer"),
    Cell("approved.after", "answer"),
    Cell("started.before:2", "answer"),
    Cell("started.after:2", "answer", ran=0, known=False),
    Cell("tool.before:2", "answer", ran=0, known=False),
    Cell("tool.after:2", "answer", known=False),
    Cell("result.before:2", "answer", known=False),
    Cell("result.after:2", "answer"),
    Cell("barrier.before", "answer"),
    Cell("barrier.after", "answer"),
]


def test_every_named_point_is_in_the_matrix() -> None:
    assert {cell.point.partition(":")[0] for cell in AT} == set(POINTS)


PLAYS: Final = [
    pytest.param(cell, engine, attached, id=f"{engine}-{'attached' if attached else 'alone'}-{cell.when}-{cell.point}")
    for engine in ("sqlite", "postgresql")
    for cell in AT
    for attached in (True, False)
]


@pytest.mark.parametrize(("cell", "engine", "attached"), PLAYS)
async def test_whatever_the_point_of_its_death_the_next_daemon_goes_on(
    cell: Cell, engine: str, request: pytest.FixtureRequest, *, attached: bool
) -> None:
    config = "[ledger]\nclaim_ttl_s = 1\n"
    if engine == "postgresql":
        config += f'url = "{request.getfixturevalue("postgres_server").database()}"\n'
    async with scene(STORY, config=config) as (server, home):
        (home.workspace / "once.sh").write_text("echo x >> ran\n")
        if cell.when == "successor":
            await home.start()
        home.env[VARIABLE] = cell.point
        async with Person(home, attached=attached) as person:
            await Play(cell, server, home, person=person).through()


@dataclass
class Play:
    cell: Cell
    server: ModelServer
    home: Home
    person: Person

    async def through(self) -> None:
        tell = self.person.command
        workspace = self.home.workspace.as_uri()
        made = await tell("agent/conversation/create", {"workspace": workspace, "mode": "edits"})
        known = made["conversation"]["id"]
        await self.message(known, "Go.")
        await self.died("message")
        conversation = await self.person.see(known, lambda c: len(c.pending) == 1)
        (asked,) = conversation.pending
        assert asked["kind"] == "approval"
        await self.rest(known)
        answer = {"requestId": asked["id"], "digest": asked["digest"], "decision": "allow"}
        assert (await tell("agent/request/respond", answer))["status"] == "resolved"
        await self.died("answer")
        await self.told(known)
        assert self.mark.exists()
        await self.check(known)
        await self.usable(known)

    @property
    def mark(self) -> Path:
        return self.home.state / MARK

    async def message(self, known: str, text: str) -> None:
        content = [{"type": "text", "text": text}]
        await self.person.command("agent/message/send", {"conversationId": known, "content": content})

    async def died(self, when: str) -> None:
        """Waits for it without looking, which would start the next one."""
        if self.cell.when != when:
            return
        with anyio.fail_after(LIMIT_S):
            while not self.mark.exists() and (pid := self.home.pid) is not None:
                await gone(pid)

    async def rest(self, known: str) -> None:
        match self.cell.when:
            case "rest":
                # SQLite's lease is renewed by a commit that happens anyway.
                while not self.mark.exists():
                    for op in ("hold", "release"):
                        await self.person.command("agent/queue/update", {"conversationId": known, "op": op})
            case "drain":
                await self.home.run("restart", "--deadline", "5")
            case "successor":
                await self.home.kill9()

    async def told(self, known: str) -> None:
        """A command whose result was lost is asked about; the person says what the model is told."""
        if self.cell.known:
            return
        conversation = await self.person.see(known, lambda c: len(c.pending) == 1)
        (question,) = conversation.pending
        assert (question["kind"], question["title"].startswith("Outcome unknown")) == ("question", True)
        tell = {"requestId": question["id"], "digest": question["digest"], "decision": "answer", "optionId": "tell"}
        await self.person.command("agent/request/respond", tell)

    async def check(self, known: str) -> None:
        conversation = await self.person.see(known, lambda c: len(c.answers) == 2)
        assert conversation.answers == ["A file first.", "Done."]
        assert len(conversation.of_kind("user_message")) == 1
        write, command = conversation.calls
        status = "ok" if self.cell.known else "unknown"
        results = [conversation.result(call["id"])["status"] for call in (write, command)]
        assert (results, len(lines(self.home.workspace / "ran"))) == (["ok", status], self.cell.ran)
        assert (self.home.workspace / "a.txt").read_text() == "a"
        finished = [e["entity"]["id"] for e in await self.person.history(conversation) if e["fact"] == "finished"]
        assert sorted(finished) == sorted([write["id"], command["id"]])
        asked: dict[int, Any] = {}
        for request in self.server.requests:
            assert asked.setdefault(request.steps, request.body) == request.body
        assert [len(request.results) for request in self.server.requests if request.steps == 2][-1] == 2

    async def usable(self, known: str) -> None:
        await self.message(known, "Are you there?")
        conversation = await self.person.see(known, lambda c: len(c.answers) == 3)
        assert conversation.answers[-1] == "Still here."
