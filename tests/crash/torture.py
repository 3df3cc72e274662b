"""Kill -9 at random times, again and again, under windows that do not stop.

    python -m tests.crash.torture --rounds 1000 --seed 7

Owns who says what when and when the daemon dies, all of it drawn from the seed. Ten rounds make a chapter with a home
of its own; at its end everything is let come to rest and looked at. Does not own what has to hold (torture_world).
"""

import os
import random
import sys
from argparse import ArgumentParser
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import anyio
from anyio.abc import TaskGroup

from agent_ls.adapters.host.system import SystemClock
from agent_ls.testing.editor import Editor, LinkEnded, Refused
from agent_ls.testing.home import Home, home_of, kill9
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_server import ModelServer, serve_model
from agent_ls.testing.postgres import PostgresServer, serve_postgres
from tests.crash.torture_world import SCRIPT, Book, Json, decision, faults, model
from tests.scene import lines

T = TypeVar("T")

ROUNDS: Final = 10
WINDOWS: Final = 3
CONVERSATIONS: Final = 4
CHAPTER_S: Final = 150.0
# A bridge's answers to what has to be said again: its daemon was replaced, or died while it started.
AGAIN: Final = frozenset({-32801, -32803})
EXPECTED: Final = frozenset({"already_decided", "unknown_request", "not_found", "conversation_busy", "queue_full"})


@dataclass
class Chapter:
    name: str
    home: Home
    server: ModelServer
    book: Book = field(default_factory=Book)
    known: list[str] = field(default_factory=list)

    async def play(self, rounds: int) -> list[str]:
        """What does not hold at the end."""
        folders = [self.home.folder(f"w{n}") for n in range(2)]
        for folder in folders:
            (folder / "add.sh").write_text(SCRIPT, encoding="utf-8")
        async with self.home.editor() as editor:
            for n in range(CONVERSATIONS):
                self.known.append((await editor.create(folders[n % 2])).id)
        async with anyio.create_task_group() as tasks:
            for n in range(WINDOWS):
                tasks.start_soon(Window(f"w{n}", self).live)
            async with anyio.create_task_group() as restarts:
                await self._kill(rounds, restarts)
            self.book.calm = True
            await self.book.all_rest(WINDOWS)
            async with self.home.bridged(name="last") as editor:
                found = await Last(editor, self).words()
            self.book.over = True
        traces = [line for folder in folders for line in lines(folder / "ran")]
        for known, events in found.items():
            for fault in faults(self.book, known, events=events, traces=traces):
                self.book.surprises.append(f"{known}: {fault}")
        return [*self.book.surprises, *(f"the server refused: {each.reason}" for each in self.server.refused)]

    async def _kill(self, rounds: int, restarts: TaskGroup) -> None:
        dice, clock, seen, killed = random.Random(f"{self.name} kill"), SystemClock(), 0, 0
        while killed < rounds:
            # Mostly a daemon that serves, sometimes one that only just starts.
            if dice.random() < 0.8:
                await self.book.another(seen)
            seen = len(self.book.boots)
            if dice.random() < 0.15:
                # Whoever dies next may be the old daemon while it drains, or the new one.
                restarts.start_soon(self.home.run, "restart", "--deadline", dice.choice(["0", "0.2", "1"]))
            await clock.sleep(dice.uniform(0.0, 0.2) if dice.random() < 0.3 else dice.uniform(0.1, 1.0))
            pid = self.home.pid
            if pid is not None and _is_of(self.home, pid):
                with suppress(ProcessLookupError):
                    await kill9(pid)
                    killed += 1


class Window:
    """Says and stops things, and answers what is asked, until the chapter is over. Dies itself now and then."""

    def __init__(self, name: str, chapter: Chapter) -> None:
        self.name = name
        self.chapter = chapter
        self.book = chapter.book
        self.dice = random.Random(f"{chapter.name} {name}")
        self.said = 0
        self.heard: dict[str, str] = {}

    async def live(self) -> None:
        while not self.book.over:
            with suppress(LinkEnded, OSError):
                try:
                    async with self.chapter.home.bridged(name=self.name) as editor:
                        await self._look(editor)
                except Refused as refused:
                    if refused.rpc not in AGAIN:
                        raise

    async def _look(self, editor: Editor) -> None:
        boot = ""
        self.heard.clear()
        while not self.book.over:
            if editor.hello["bootId"] != boot:
                boot = editor.hello["bootId"]
                self.book.saw(boot)
                await self._attach(editor)
            if not self.book.calm:
                if self.dice.random() < 0.01:
                    assert editor.process is not None
                    editor.process.kill()
                await self._act(editor)
            else:
                self.book.rests(self.name)
            await self._answer(editor)
            with anyio.move_on_after(self.dice.uniform(0, 0.1)):
                await editor.wait_for(partial(_is_news, editor, boot))

    async def _attach(self, editor: Editor) -> None:
        """Once for each daemon: what is heard already is not asked for again."""
        for known in self.chapter.known:
            if self.heard.get(known) == editor.hello["bootId"]:
                continue
            mirror = editor.mirrors.get(known)
            more = {} if mirror is None else {"after": mirror.seq}
            await again(partial(editor.attach, known, **more))
            self.heard[known] = editor.hello["bootId"]

    async def _act(self, editor: Editor) -> None:
        mirror = editor.mirrors[self.dice.choice(self.chapter.known)]
        active = [run for run in mirror.runs.values() if run["status"] in {"starting", "running"}]
        match self.dice.randrange(10):
            case 0 | 1 | 2:
                await self._say(editor, mirror)
            case 3 if active and self.dice.random() < 0.4:
                params = {"runId": active[0]["id"], "holdQueue": self.dice.random() < 0.5}
                await self._command(editor, "agent/run/interrupt", params)
            case 4 if mirror.conversation.get("queueHeld"):
                params = {"conversationId": mirror.id, "op": "release"}
                await self._command(editor, "agent/queue/update", params)
            case _:
                pass

    async def _say(self, editor: Editor, mirror: Mirror) -> None:
        self.said += 1
        token = f"{self.name}n{self.said}"
        dispatch = self.dice.choice(["auto", "auto", "queue", "steer"])
        content = [{"type": "text", "text": f"Please. [{token}:{self.dice.choice([0, 1, 1, 2])}]"}]
        params = {"conversationId": mirror.id, "content": content, "dispatch": dispatch}
        refused = await self._command(editor, "agent/message/send", params)
        if refused is None:
            self.book.acknowledged[token] = mirror.id
        else:
            self.book.refused[token] = mirror.id

    async def _answer(self, editor: Editor) -> None:
        for request in _open(editor):
            decided, option = decision(request)
            params = {"requestId": request["id"], "digest": request["digest"], "decision": decided}
            await self._command(editor, "agent/request/respond", {**params, **({"optionId": option} if option else {})})

    async def _command(self, editor: Editor, method: str, params: Json) -> Refused | None:
        """Until it is answered; what it was refused with."""
        command = {"commandId": editor.command_id(), **params}
        try:
            await again(partial(editor.request, method, command))
        except Refused as refused:
            if refused.code not in EXPECTED:
                self.book.surprises.append(f"{method} was refused: {refused}")
            return refused
        return None


class Last:
    """When nobody is killed any more: each conversation takes one more message behind all others, and is read.

    A successor that stood in line may still take over meanwhile; the windows answer what is asked.
    """

    def __init__(self, editor: Editor, chapter: Chapter) -> None:
        self.editor = editor
        self.chapter = chapter

    async def words(self) -> dict[str, list[Json]]:
        found = {}
        for known in self.chapter.known:
            mirror = await again(partial(self.editor.attach, known))
            if mirror.conversation.get("queueHeld"):
                await self._command("agent/queue/update", {"conversationId": known, "op": "release"})
            token = f"last{self.chapter.known.index(known)}"
            content = [{"type": "text", "text": f"Finish. [{token}:1]"}]
            params = {"conversationId": known, "content": content, "dispatch": "queue"}
            sent = await self._command("agent/message/send", params)
            self.chapter.book.acknowledged[token] = known
            found[known] = await self._ended(known, sent["runId"])
        return found

    async def _ended(self, known: str, run_id: str) -> list[Json]:
        """All events, once the run is over."""
        while True:
            boot = self.editor.hello["bootId"]
            mirror = await again(partial(self.editor.attach, known))
            events = await again(partial(self.editor.history, mirror))
            if any(e["entity"]["id"] == run_id and e["fact"] in ENDED for e in events):
                return events
            await self.editor.wait_for(partial(self._is_over, mirror, run_id, boot=boot))

    def _is_over(self, mirror: Mirror, run_id: str, *, boot: str) -> bool:
        return mirror.status(run_id) in ENDED or self.editor.hello["bootId"] != boot

    async def _command(self, method: str, params: Json) -> Json:
        return await again(partial(self.editor.request, method, {"commandId": self.editor.command_id(), **params}))


ENDED: Final = frozenset({"completed", "interrupted", "failed", "cancelled"})


def _is_of(home: Home, pid: int) -> bool:
    """Numbers are used again: nobody else's process may die of it."""
    try:
        return os.fsencode(home.root) in Path(f"/proc/{pid}/environ").read_bytes()
    except PermissionError:
        # A daemon lets nobody look into it: then its number is the one that its own lock names.
        return pid == home.pid
    except OSError:
        return False


async def again(ask: Callable[[], Awaitable[T]]) -> T:
    while True:
        try:
            return await ask()
        except Refused as refused:
            if refused.rpc not in AGAIN:
                raise


def _is_news(editor: Editor, boot: str) -> bool:
    return editor.hello["bootId"] != boot or bool(_open(editor))


def _open(editor: Editor) -> list[Json]:
    return [request for mirror in editor.mirrors.values() for request in mirror.pending]


@asynccontextmanager
async def chapter(name: str, *, config: str) -> AsyncIterator[Chapter]:
    async with serve_model(model) as server, home_of(server.base_url, config=config) as home:
        yield Chapter(name, home, server)


async def torture(rounds: int, seed: int, *, config: Callable[[], str] = str) -> None:
    """Raises AssertionError with all that does not hold, and how to see it again."""
    for first in range(0, rounds, ROUNDS):
        name, count = f"{seed}-{first // ROUNDS}", min(ROUNDS, rounds - first)
        async with chapter(name, config=config()) as one:
            try:
                with anyio.fail_after(CHAPTER_S):
                    found = await one.play(count)
            except BaseException:
                print(one.home.log, f"\nchapter {name} broke down. {_replay(rounds, seed)}")
                raise
            if found:
                print(one.home.log)
                raise AssertionError("\n  ".join([f"chapter {name}:", *found, _replay(rounds, seed)]))
        book = one.book
        print(
            f"{first + count} rounds: {len(book.boots)} daemons, {len(book.acknowledged)} messages acknowledged, "
            f"{len(one.server.requests)} requests to the model",
            flush=True,
        )


def on(server: PostgresServer) -> str:
    return f'[ledger]\nurl = "{server.database()}"\n'


def _replay(rounds: int, seed: int) -> str:
    return f"Again, as far as times allow: make torture ROUNDS={rounds} SEED={seed}"


def main() -> None:
    parser = ArgumentParser(description="Kill -9 at random times, under windows that do not stop.")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--postgres", action="store_true", help="keep the ledger on a PostgreSQL server")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 31) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    try:
        if given.postgres:
            with serve_postgres() as server:
                anyio.run(
                    partial(torture, given.rounds, seed, config=lambda: f'[ledger]\nurl = "{server.database()}"\n')
                )
        else:
            anyio.run(torture, given.rounds, seed)
    except AssertionError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
