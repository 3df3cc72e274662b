"""A scripted model that needs no key and no network, and says so first.

Owns one short story (read a file, mend its greeting, run it) and a plain answer to everything else. Each step follows
from the messages alone, so the story goes on after a crash. It thinks nothing up and never claims to.
"""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agent_ls.core.call import NO_REASON
from agent_ls.core.messages import (
    AssistantTurn,
    CallPart,
    ModelMessage,
    Part,
    Reply,
    ResultPart,
    ResultsTurn,
    Stop,
    TextPart,
    UserTurn,
)
from agent_ls.ports.provider import CallFrame, Emit, Failure, ModelRequest, TextFrame

NAME: Final = "demo-1"
MESSAGE: Final = "Fix the greeting in hello.py and run it"
FILE: Final = "hello.py"
COMMAND: Final = "python3 hello.py"

OTHERWISE: Final = (
    "I am the scripted model of agent-ls, not a real one: I play a story and cannot think, so I have no answer to that."
    f' Say "{MESSAGE}" in a workspace with such a file to see a read, an edit and a command that wait for you.\n\n'
    "To work with a real model, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or name"
    " any compatible server in config.toml; then `agent-ls restart`. `agent-ls doctor` shows what was found."
)

DENIED: Final = "denied: "
MISSPELT: Final = {
    "helo": "hello", "hllo": "hello", "helllo": "hello", "hlelo": "hello",
    "ehllo": "hello", "wrold": "world", "wrld": "world", "worl": "world", "wolrd": "world", "owrld": "world",
    "worlld": "world", "wordl": "world",
}  # fmt: skip
QUOTED: Final = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
WORD: Final = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True)
class _Say:
    """What a step of the story says, and the tool it then uses."""

    text: str
    tool: str | None = None
    input: dict[str, Any] | None = None


class DemoModel:
    """`sleep` paces the answer, as a person would see a real model type; tests give one that returns at once."""

    def __init__(self, *, sleep: Callable[[float], Awaitable[None]], pause_s: float = 0.012, size: int = 6) -> None:
        self._sleep = sleep
        self._pause_s = pause_s
        self._size = size

    async def call(self, request: ModelRequest, emit: Emit) -> Reply | Failure:
        said = answer(request.messages)
        for at in range(0, len(said.text), self._size):
            emit(TextFrame(0, said.text[at : at + self._size]))
            await self._sleep(self._pause_s)
        parts: tuple[Part, ...] = (TextPart(said.text),)
        if said.tool is None:
            return Reply(parts, Stop.END_TURN, model=NAME)
        arguments = json.dumps(said.input)
        emit(CallFrame(1, said.tool, arguments))
        call = CallPart(f"demo_{said.tool}", said.tool, arguments)
        return Reply((*parts, call), Stop.TOOL_CALLS, model=NAME)

    async def models(self) -> Sequence[str] | Failure:
        return (NAME,)

    async def close(self) -> None:
        return None


def answer(messages: Sequence[ModelMessage]) -> _Say:
    """The next step: of the story if the person's last message asks for it, else what this is."""
    asked = max((at for at, turn in enumerate(messages) if isinstance(turn, UserTurn)), default=-1)
    if asked < 0 or not _asks_for_the_story(messages[asked]):
        return _Say(OTHERWISE)
    done = _results(messages[asked + 1 :])
    if "read" not in done:
        text = f"I am a scripted model, not a real one: I play one story, with your files. First I read `{FILE}`."
        return _Say(text, "read", {"path": FILE})
    if done["read"].is_error:
        return _Say(f"`{FILE}` could not be read, so the story ends here: {_first_line(done['read'].text)}")
    mend = mended(done["read"].text)
    if "edit" not in done and mend is not None:
        old, new = mend
        text = f"The greeting is misspelt: {old} should be {new}. I propose this edit; it is made when you agree."
        return _Say(text, "edit", {"path": FILE, "edits": [{"old": old, "new": new}]})
    if "edit" in done and done["edit"].is_error:
        return _Say(_not_done("edit", "made", done["edit"], then=" and there is nothing to run"))
    if "shell" not in done:
        text = "The edit is in the file." if "edit" in done else f"I see nothing misspelt in `{FILE}`."
        return _Say(f"{text} Now I run it, if you allow that too.", "shell", {"command": COMMAND})
    return _Say(_ending(done["shell"], mended_now="edit" in done))


def mended(text: str) -> tuple[str, str] | None:
    """The first quoted text with a misspelt greeting, and how it should be. Line numbers before it do no harm."""
    for quoted in QUOTED.findall(text):
        right = WORD.sub(_spelled, quoted)
        if right != quoted:
            return quoted, right
    return None


def _asks_for_the_story(turn: ModelMessage) -> bool:
    assert isinstance(turn, UserTurn)
    said = " ".join(" ".join(block.text or "" for block in turn.content).split()).casefold()
    return MESSAGE.casefold() in said


def _results(messages: Sequence[ModelMessage]) -> dict[str, ResultPart]:
    """The last result of each tool that the story has used so far."""
    names: dict[str, str] = {}
    done: dict[str, ResultPart] = {}
    for turn in messages:
        match turn:
            case AssistantTurn(parts):
                names |= {part.id: part.name for part in parts if isinstance(part, CallPart)}
            case ResultsTurn(results):
                done |= {names[result.call_id]: result for result in results if result.call_id in names}
            case UserTurn():
                pass
    return done


def _spelled(found: re.Match[str]) -> str:
    word = found.group()
    right = MISSPELT.get(word.lower(), word.lower())
    if right == word.lower():
        return word
    return right.capitalize() if word[0].isupper() else right


def _ending(result: ResultPart, *, mended_now: bool) -> str:
    if result.is_error:
        if result.text.startswith(DENIED):
            return _not_done("command", "run", result)
        return f"The command did not end well: {_first_line(result.text)}"
    what = f"`{FILE}` is mended" if mended_now else f"`{FILE}` is as it was"
    return (
        f"{what}, and `{COMMAND}` says: {_first_line(result.text)}\n\n"
        "That was the story. `agent-ls doctor` shows how to connect a real model."
    )


def _not_done(what: str, done: str, result: ResultPart, *, then: str = "") -> str:
    if not result.text.startswith(DENIED):
        return f"The {what} was not {done}{then}: {_first_line(result.text)}"
    reason = result.text.removeprefix(DENIED).strip()
    why = "." if reason == NO_REASON else f": {_first_line(reason)}"
    return f"You said no to the {what}, so it was not {done}{then}{why}"


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "(nothing)")
