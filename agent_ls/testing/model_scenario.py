"""What a scripted model answers: replies made of steps, and scenarios that choose one for a request.

Owns no wire and no socket: dialects (model_chat) turn a reply into bytes, the server (model_server) plays them. A
scenario is any callable from a RequestView to a reply; the classes here are the usual ones.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import anyio


class Gate:
    """Holds a reply until a test opens it. `reached` is set once a reply stands before it."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self._reached = anyio.Event()
        self._opened = anyio.Event()

    def open(self) -> None:
        self._opened.set()

    async def reached(self) -> None:
        await self._reached.wait()

    async def passed(self) -> None:
        """What the server does: stand here until the gate is open."""
        self._reached.set()
        await self._opened.wait()


@dataclass(frozen=True)
class Say:
    """Text, cut into pieces of `size` characters; 0 sends it whole."""

    text: str
    size: int = 0


SEALED: Final = "sealed"


@dataclass(frozen=True)
class Think:
    """`field`: what Chat Completions calls its thoughts; SEALED: such that nobody may read, where a wire has them."""

    text: str
    size: int = 0
    field: str = "reasoning_content"


@dataclass(frozen=True)
class UseTool:
    """A tool call. Arguments as an object, or as the very text. Without `id` the server makes one."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None
    size: int = 0


@dataclass(frozen=True)
class Wait:
    """Stand before a gate."""

    gate: Gate


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Silence:
    """Say nothing more until the client goes away."""


@dataclass(frozen=True)
class Raw:
    """Bytes put into the body as they are."""

    body: bytes


@dataclass(frozen=True)
class Cut:
    """Close the connection here: `reset` by RST, else by FIN."""

    reset: bool = False


Step = Say | Think | UseTool | Wait | Pause | Silence | Raw | Cut


@dataclass(frozen=True)
class Tokens:
    input: int = 10
    output: int = 5
    cached: int = 0


@dataclass(frozen=True, kw_only=True)
class Stream:
    """A streamed answer. `stop` is derived where it is None; "" leaves it out. `done`: the last marker is sent.

    `fragment` sends the bytes in pieces of that size. `until_close`: the body has no length and ends with the
    connection.
    """

    steps: tuple[Step, ...]
    usage: Tokens | None = Tokens()
    stop: str | None = None
    done: bool = True
    fragment: int = 0
    until_close: bool = False


@dataclass(frozen=True, kw_only=True)
class Http:
    """A whole HTTP answer: an error, a page, a body in one piece. A dict becomes JSON. `gate`: stand there first."""

    status: int
    body: dict[str, Any] | str | bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    gate: Gate | None = None


Answer = Stream | Http


def reply(*steps: Step, usage: Tokens | None = Tokens()) -> Stream:
    return Stream(steps=steps, usage=usage)


def say(text: str, *, size: int = 0) -> Stream:
    return reply(Say(text, size))


def use(name: str, **arguments: Any) -> Stream:
    return reply(UseTool(name, arguments))


@dataclass(frozen=True, kw_only=True)
class RequestView:
    """A request in words that are the same for every dialect.

    `steps`: answers of the model in the history; `results`: (call id, text) of all results since the last text of the
    person; `number` counts all accepted requests of the server from 0.
    """

    dialect: str
    model: str
    system: str
    user_texts: tuple[str, ...]
    results: tuple[tuple[str, str], ...]
    steps: int
    tools: tuple[str, ...]
    body: dict[str, Any]
    headers: Mapping[str, str]
    number: int

    @property
    def last_user_text(self) -> str:
        return self.user_texts[-1] if self.user_texts else ""


Scenario = Callable[[RequestView], Answer]

EXHAUSTED = Http(status=500, body={"error": {"message": "the scenario has no more replies", "type": "server_error"}})


class InOrder:
    """Replies in the order in which requests come."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._answers = list(answers)
        self.used = 0

    def __call__(self, request: RequestView) -> Answer:
        if self.used == len(self._answers):
            return EXHAUSTED
        self.used += 1
        return self._answers[self.used - 1]


class ByHistory:
    """The n-th reply for a history with n answers: who asks again after a crash gets the same reply again."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = tuple(answers)

    def __call__(self, request: RequestView) -> Answer:
        return self._answers[request.steps] if request.steps < len(self._answers) else EXHAUSTED


class ByConversation:
    """A scenario for each conversation, told by a text that one of the person's messages holds."""

    def __init__(self, scenarios: Mapping[str, Scenario], *, default: Scenario | None = None) -> None:
        self._scenarios = dict(scenarios)
        self._default = default

    def __call__(self, request: RequestView) -> Answer:
        for key, scenario in self._scenarios.items():
            if any(key in text for text in request.user_texts):
                return scenario(request)
        return self._default(request) if self._default is not None else EXHAUSTED
