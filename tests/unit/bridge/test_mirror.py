"""What a new daemon is told of open documents: `Documents` comes to hold what the old one's held."""

import random
from pathlib import Path
from typing import Any

import pytest

from agent_ls.adapters.host import canonical
from agent_ls.bridge.mirror import Mirror
from agent_ls.core.text import ENCODINGS, UTF_16, UTF_32
from agent_ls.editor.documents import Documents
from agent_ls.testing.buffers import Buffers
from tests.unit.editor.open_desk import LocalWindow

URI = "file:///w/a.py"
SIGNS = ["a", "b", "\n", "\r\n", "\r", "é", "€", "😋", "👩‍🚀", "\u2028", "\f"]

Message = tuple[str, dict[str, Any]]
Held = dict[str, tuple[str, int | None, bool, bool, str]]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def take(documents: Documents, window: LocalWindow, method: str, params: dict[str, Any]) -> None:
    if method == "textDocument/didOpen":
        documents.open(window, params)
    else:
        window.tell(method, params)


def held(documents: Documents) -> Held:
    """(text, version, dirty, lost, base) by URI."""
    return {o.uri: (str(o.text), o.version, o.dirty, o.lost, o.base) for o in documents.everything()}


def before_and_after(messages: list[Message], encoding: str = UTF_16) -> tuple[Held, Held]:
    """What the daemon held that heard the messages, and what one holds that hears the replay."""
    old, new = Documents(canonical.key_of), Documents(canonical.key_of)
    windows = [LocalWindow(known, "vim", encoding=encoding, saves=True, late=False) for known in (old, new)]
    mirror = Mirror(Clock())
    mirror.agree(encoding)
    for method, params in messages:
        take(old, windows[0], method, params)
        mirror.take(method, {**params})
    for message in mirror.replay():
        take(new, windows[1], message["method"], message["params"])
    return held(old), held(new)


def opened(text: str, *, version: int | None = 1, uri: str = URI) -> Message:
    return "textDocument/didOpen", {
        "textDocument": {"uri": uri, "languageId": "python", "version": version, "text": text}
    }


def typed(version: int | None, text: str, column: int | None = 0, *, uri: str = URI) -> Message:
    at = {"line": 0, "character": column}
    change = {"text": text} if column is None else {"range": {"start": at, "end": at}, "text": text}
    return "textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]}


def saved(text: str | None = None, uri: str = URI) -> Message:
    return "textDocument/didSave", {"textDocument": {"uri": uri}, **({} if text is None else {"text": text})}


def closed(uri: str = URI) -> Message:
    return "textDocument/didClose", {"textDocument": {"uri": uri}}


OTHER = "file:///w/b.py"


@pytest.mark.parametrize(
    "messages",
    [
        [opened("a\n")],
        [opened("a\n"), typed(2, "x"), typed(5, "😋", 1)],
        [opened("a\n"), typed(2, "x"), saved()],
        [opened("a\n"), typed(2, "x"), saved("xa\n"), typed(3, "y")],
        [opened("a\n"), typed(2, "x"), saved("formatted\n")],
        [opened("a\n"), opened("other\n", uri=OTHER), typed(2, "x"), closed(), typed(2, "z", uri=OTHER)],
        [opened("a\n"), closed(), typed(2, "x"), closed()],
        [opened("a\n"), typed(2, "x"), opened("again\n", version=9)],
        [opened("a\n", version=None), typed(None, "x")],
        [opened("a\n", version=0), typed(0, "whole", None)],
        [opened("a\n", version=3), typed(3, "x")],
        [opened("a\n"), typed(3, "x"), typed(2, "y"), typed(4, "z")],
        [opened("a\n"), ("textDocument/didChange", {"textDocument": {"uri": URI, "version": 2}})],
        [opened("a\n"), typed(3, "x"), typed(2, "y"), typed(4, "whole", None), typed(5, "z")],
        [opened("a\n", version=None), typed(None, "x"), ("textDocument/didChange", {"textDocument": {"uri": URI}})],
        [opened("\ud83d"), typed(2, "\ude0b", 1)],
        [("textDocument/didOpen", {}), ("textDocument/didOpen", {"textDocument": {"uri": URI, "text": None}})],
        [opened("notes", uri="untitled:1"), typed(2, "my ", uri="untitled:1")],
    ],
)
def test_a_new_daemon_holds_what_the_old_one_held(messages: list[Message]) -> None:
    before, after = before_and_after(messages)
    assert after == before


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_it_holds_it_after_random_changes_of_any_text_in_any_encoding(encoding: str) -> None:
    chance = random.Random(7)
    for _ in range(20):
        buffers, path = Buffers(encoding), Path("/w/a.py")
        start = "".join(chance.choices(SIGNS, k=30))
        messages: list[Message] = [("textDocument/didOpen", buffers.open(path, start))]
        for _ in range(30):
            text = "".join(chance.choices(SIGNS, k=chance.randrange(4)))
            messages.append(("textDocument/didChange", buffers.type(path, text, _between(buffers[path].text, chance))))
        before, after = before_and_after(messages, encoding)
        assert after == before
        assert after[path.as_uri()][:3] == (buffers[path].text, buffers[path].version, True)


def test_what_was_used_last_is_told_of_last_with_all_that_its_opening_said() -> None:
    clock = Clock()
    mirror = Mirror(clock)
    for method, params in [opened("a"), opened("b", uri=OTHER), typed(2, "x")]:
        mirror.take(method, params)
    clock.now += 4
    mirror.take(*saved(uri=OTHER))
    mirror.take(*typed(3, "y"))
    clock.now += 1
    document = {"languageId": "python", "version": 1}
    assert mirror.replay() == [
        {
            "jsonrpc": "2.0",
            "method": "textDocument/didOpen",
            "params": {
                "textDocument": {"uri": OTHER, "text": "b", **document},
                "agentLs": {"replay": {"secondsAgo": 1.0, "changed": False}},
            },
        },
        {
            "jsonrpc": "2.0",
            "method": "textDocument/didOpen",
            "params": {
                "textDocument": {"uri": URI, "text": "a", **document},
                "agentLs": {"replay": {"secondsAgo": 5.0, "changed": True}},
            },
        },
        {
            "jsonrpc": "2.0",
            "method": "textDocument/didChange",
            "params": {"textDocument": {"uri": URI, "version": 3}, "contentChanges": [{"text": "yxa"}]},
        },
    ]


def test_an_encoding_that_is_agreed_on_after_the_opening_counts() -> None:
    mirror = Mirror(Clock())
    mirror.take(*opened("😋😋"))
    mirror.agree(UTF_32)
    mirror.take(*typed(2, "x", 1))
    assert mirror.replay()[1]["params"]["contentChanges"] == [{"text": "😋x😋"}]


def test_ten_thousand_changes_of_a_long_file_cost_little() -> None:
    import time

    mirror = Mirror(Clock())
    mirror.take(*opened("x = '😋 some line of a file'\n" * 5_000))
    start = time.process_time()
    for number in range(10_000):
        at = {"line": 2_500 + number % 50, "character": 5}
        change = {"range": {"start": at, "end": at}, "text": "\n" if number % 40 == 0 else "y"}
        params = {"textDocument": {"uri": URI, "version": number + 2}, "contentChanges": [change]}
        mirror.take("textDocument/didChange", params)
    assert time.process_time() - start < 2.0


def _between(text: str, chance: random.Random) -> int:
    """A place that an editor can be at: not inside a `\\r\\n`."""
    place = chance.randrange(len(text) + 1)
    return place + 1 if text[place - 1 : place + 1] == "\r\n" and place else place
