"""The wires that the scripted model speaks, from the server's side.

Owns which path speaks which dialect. What a dialect accepts and how it streams belongs to its own module.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from agent_ls.testing import model_anthropic, model_chat, model_responses
from agent_ls.testing.model_scenario import RequestView, Step, Stream


class Speaker(Protocol):
    """Turns one streamed reply into bytes: `before`, then each step, then `after`."""

    def before(self) -> bytes: ...

    def step(self, step: Step) -> Iterator[bytes]: ...

    def after(self, stream: Stream) -> Iterator[bytes]: ...


class ErrorBody(Protocol):
    def __call__(self, message: str, *, code: str | None = None) -> dict[str, Any]: ...


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """`key`: header and prefix of a key; `headers`: those that have to be there; `fault`: why a body is refused."""

    path: str
    key: tuple[str, str]
    headers: tuple[str, ...]
    fault: Callable[[Any], str | None]
    view: Callable[[dict[str, Any], Mapping[str, str], int], RequestView]
    error_body: ErrorBody
    speaker: Callable[[str, int], Speaker]


def _dialect(module: Any) -> Dialect:
    return Dialect(
        path=module.PATH,
        key=module.KEY,
        headers=module.HEADERS,
        fault=module.fault,
        view=module.view,
        error_body=module.error_body,
        speaker=module.Speaker,
    )


CHAT: Final = _dialect(model_chat)
ANTHROPIC: Final = _dialect(model_anthropic)
RESPONSES: Final = _dialect(model_responses)

DIALECTS: Final[Mapping[str, Dialect]] = {each.path: each for each in (CHAT, ANTHROPIC, RESPONSES)}


def spoken_in(path: str, headers: Mapping[str, str]) -> Dialect | None:
    """The dialect of a request; lists of models stand at one address for all, and only the headers tell whose."""
    if path == "/models":
        return ANTHROPIC if all(name in headers for name in ANTHROPIC.headers) else CHAT
    return DIALECTS.get(path)
