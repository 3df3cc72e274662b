"""What a torture plays with: a model that answers each message once, commands that leave a trace, and what was said.

Owns the words: `[token:calls]` is a message that wants so many commands, `<token>` in an answer is its answer. Each
command appends its name to a file, so that whatever runs twice is seen. Does not own who says or kills what.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from agent_ls.testing.model_scenario import Answer, Pause, RequestView, Say, Step, UseTool, reply

Json = dict[str, Any]

WANTED: Final = re.compile(r"\[(\w+):(\d)\]")
ANSWERED: Final = re.compile(r"<(\w+)>")
NAMED: Final = re.compile(r"add\.sh (\w+\.\d)")
SCRIPT: Final = 'echo "$1" >> ran\nsleep "$2"\n'
"""The trace comes first: a command that is killed while it sleeps has had its effect."""


def model(request: RequestView) -> Answer:
    """Runs what the messages want, at most two commands at a time, then answers all that has no answer yet.

    Depends on nothing but the history, so who asks again after a death gets the same.
    """
    said = [message for message in request.body["messages"] if message["role"] == "assistant"]
    answered = {token for message in said for token in ANSWERED.findall(message.get("content") or "")}
    called = set(NAMED.findall(str([message.get("tool_calls") for message in said])))
    open_ = [
        (token, int(calls)) for text in request.user_texts for token, calls in WANTED.findall(text)
        if token not in answered
    ]  # fmt: skip
    left = [f"{token}.{n}" for token, calls in open_ for n in range(calls) if f"{token}.{n}" not in called]
    if left:
        return reply(Say("Working. "), *(_call(name) for name in left[:2]))
    steps: list[Step] = [Say("So: ")]
    for token, _ in open_:
        steps += [Pause(0.03), Say(f"<{token}> ", 2)]
    return reply(*steps, Say("that is all."))


def _call(name: str) -> UseTool:
    return UseTool("shell", {"command": f"sh add.sh {name} {(0, 0, 0.1, 0.3)[_some(name) % 4]}"})


def decision(request: Json) -> tuple[str, str | None]:
    """(decision, option): every window answers a request alike. One approval of eight is denied; of the commands whose
    outcome was lost, one of three is run again."""
    number = _some(request["id"])
    if request["kind"] == "approval":
        return ("deny", None) if number % 8 == 0 else ("allow", None)
    return "answer", "rerun" if number % 3 == 0 else "tell"


def _some(text: str) -> int:
    return zlib.crc32(text.encode())


@dataclass
class Book:
    """What was said and what was heard of it, by all windows together. `acknowledged`: token -> conversation."""

    acknowledged: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    surprises: list[str] = field(default_factory=list)
    boots: set[str] = field(default_factory=set)
    calm: bool = False
    over: bool = False
    _resting: set[str] = field(default_factory=set)
    _changed: anyio.Event = field(default_factory=anyio.Event)

    def saw(self, boot: str) -> None:
        """A window was greeted by a daemon."""
        if boot not in self.boots:
            self.boots.add(boot)
            self._changed.set()

    async def another(self, known: int) -> None:
        """Until more than `known` daemons have been seen."""
        while len(self.boots) <= known:
            self._changed = anyio.Event()
            await self._changed.wait()

    def rests(self, window: str) -> None:
        """It has nothing more to say."""
        if window not in self._resting:
            self._resting.add(window)
            self._changed.set()

    async def all_rest(self, windows: int) -> None:
        while len(self._resting) < windows:
            self._changed = anyio.Event()
            await self._changed.wait()


def faults(book: Book, conversation: str, *, events: Sequence[Json], traces: Sequence[str]) -> list[str]:
    """What does not hold of one conversation at the end. `traces`: what its commands left."""
    return [
        *_sequence(events), *_ends(events), *_inputs(book, conversation, events), *_calls(events, traces)
    ]  # fmt: skip


def _sequence(events: Sequence[Json]) -> list[str]:
    seqs = [event["seq"] for event in events]
    return [] if seqs == list(range(1, len(seqs) + 1)) else [f"a gap: {seqs}"]


def _newest(events: Sequence[Json], kind: str) -> dict[str, Json]:
    return {event["entity"]["id"]: event["entity"] for event in events if event["kind"] == kind}


def _ends(events: Sequence[Json]) -> list[str]:
    runs = [
        f"run {run['id']} is {run['status']}" for run in _newest(events, "run").values()
        if run["status"] not in {"completed", "interrupted", "cancelled"}
    ]  # fmt: skip
    items = [
        f"item {item['id']} is {item['status']}" for item in _newest(events, "item").values()
        if item["status"] in {"running", "pending"}
    ]  # fmt: skip
    requests = [
        f"request {request['id']} is {request['status']}" for request in _newest(events, "request").values()
        if request["status"] in {"pending", "responding"}
    ]  # fmt: skip
    return [*runs, *items, *requests]


def _inputs(book: Book, conversation: str, events: Sequence[Json]) -> list[str]:
    """Each acknowledged message once in the transcript, and answered once."""
    items = _newest(events, "item").values()
    said = [token for item in items if item["kind"] == "user_message" for token, _ in WANTED.findall(str(item))]
    cancelled = [
        token for run in _newest(events, "run").values() if run["status"] == "cancelled"
        for token, _ in WANTED.findall(str(run["content"]))
    ]  # fmt: skip
    answers = [
        token for item in items if item["kind"] == "assistant_message"
        for token in ANSWERED.findall(item["payload"]["text"])
    ]  # fmt: skip
    found = []
    for token, where in book.acknowledged.items():
        if where != conversation:
            continue
        if said.count(token) + cancelled.count(token) != 1:
            found.append(f"input {token} is there {said.count(token)} times")
        if token in said and answers.count(token) != 1:
            found.append(f"input {token} was answered {answers.count(token)} times")
    found += [f"input {token} was refused and is there" for token in book.refused if token in said]
    return found


def _calls(events: Sequence[Json], traces: Sequence[str]) -> list[str]:
    """One truthful result for each call; no effect more often than it was asked for."""
    asked_again: dict[str, int] = {}
    for request in _newest(events, "request").values():
        if request.get("optionId") == "rerun":
            asked_again[request["itemId"]] = asked_again.get(request["itemId"], 0) + 1
    found = []
    for item in _newest(events, "item").values():
        if item["kind"] != "command":
            continue
        (name,) = NAMED.findall(item["payload"]["input"]["command"])
        result, ran = item["payload"].get("result") or {}, traces.count(name)
        if ran > 1 + asked_again.get(item["id"], 0):
            found.append(f"command {name} ran {ran} times")
        match result.get("status"):
            case "ok" if ran < 1:
                found.append(f"command {name} is said to have run")
            case "denied" | "not_run" if ran > asked_again.get(item["id"], 0):
                found.append(f"command {name} is said not to have run")
            case None:
                found.append(f"command {name} has no result")
    return found
