"""Clients that send what no client should, through the bridge to the daemon: one reply each, and everybody goes on."""

import json
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Any, Final

import anyio
import pytest
from anyio.streams.stapled import StapledByteStream

from agent_ls.bridge.frames import FrameSplitter, frame
from agent_ls.testing.editor import LIMIT_S, Editor, Refused
from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import Gate, InOrder, Say, Wait, reply, say, use
from tests.plain_editor import CAPABILITIES, plain_editor
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

INTERNAL: Final = -32603
CANCELLED: Final = -32800
REFUSED: Final = -32000
ABOUT_DOCUMENTS: Final = (
    "codeAction",
    "hover",
    "documentSymbol",
    "foldingRange",
    "documentLink",
    "codeLens",
    "inlayHint",
    "completion",
)
ODD_URIS: Final = (
    "untitled:Untitled-1",
    "vscode-notebook-cell:/w/n.ipynb#W2sZmlsZQ%3D%3D",
    "file:///c%3A/Users/me/a.txt",
    "file:///C:/Users/me/a.txt",
    "file://localhost/etc/../etc/hostname",
    "file:///%zz/%00/a",
    "file:////double//slash",
    "file:",
    "http://[bad",
    "\ud800",
    "a" * 9_000,
)


class Raw:
    """One link through the bridge, message by message as they come, whatever they are."""

    def __init__(self, process: Any) -> None:
        self.process = process
        self._stream = StapledByteStream(process.stdin, process.stdout)
        self._frames = FrameSplitter()
        self._messages: list[Any] = []

    async def write(self, data: bytes) -> None:
        await self._stream.send(data)

    async def send(self, *messages: Any) -> None:
        await self.write(b"".join(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()) for message in messages))

    async def reply(self, key: Any) -> Any:
        """The reply to one request; what comes before it is passed over."""
        with anyio.fail_after(LIMIT_S):
            while True:
                while self._messages:
                    message = self._messages.pop(0)
                    if "method" not in message and message["id"] == key:
                        return message
                self._messages += [json.loads(bytes(body)) for body in self._frames.feed(await self._stream.receive())]

    async def code(self) -> int:
        with anyio.fail_after(LIMIT_S):
            return int(await self.process.wait())


@asynccontextmanager
async def raw(home: Home) -> AsyncIterator[Raw]:
    async with home.process("connect", stdin=PIPE, stdout=PIPE) as process:
        yield Raw(process)


async def outcome(editor: Editor, key: int) -> int:
    """The code of the one reply; 0 for a result."""
    try:
        await editor.reply(key)
    except Refused as refused:
        return refused.rpc
    return 0


def made_up(chance: random.Random, depth: int = 0) -> Any:
    """A value that some client might send."""
    kinds = 11 if depth < 3 else 8
    match chance.randrange(kinds):
        case 0:
            return None
        case 1:
            return chance.choice((True, False))
        case 2:
            return chance.choice((-1, 0, 1, 2**31, 2**70, -(2**70)))
        case 3:
            return chance.choice((0.5, -1e300, 1e300))
        case 4:
            return chance.choice(("", "x", "\u2028", "😋", "../..", "\x00", "cgone.r1", "1"))
        case 5:
            return chance.choice(ODD_URIS)
        case 6:
            return {"line": chance.choice((-1, 0, 10**9, 0.5, "1")), "character": chance.choice((-5, 0, 2**40, None))}
        case 7:
            return []
        case 8:
            return [made_up(chance, depth + 1) for _ in range(chance.randrange(4))]
        case _:
            return {name: made_up(chance, depth + 1) for name in chance.sample(NAMES, chance.randrange(1, 5))}


NAMES: Final = [
    "textDocument",
    "uri",
    "position",
    "range",
    "start",
    "end",
    "context",
    "diagnostics",
    "only",
    "contentChanges",
    "text",
    "version",
    "command",
    "arguments",
    "token",
    "event",
    "added",
    "removed",
    "conversationId",
    "requestId",
    "digest",
    "decision",
    "content",
    "workspace",
    "commandId",
    "hunkId",
    "problem",
    "questionId",
    "number",
]


def asked(chance: random.Random, path: Path, commands: list[str]) -> Iterator[tuple[str, Any]]:
    """Requests and notifications of the standard, well formed but for what is in them."""
    place = {"line": chance.choice((-1, 0, 3, 10**9)), "character": chance.choice((0, 7, 10**9))}
    for name in ABOUT_DOCUMENTS:
        document = {"uri": chance.choice((path.as_uri(), *ODD_URIS))}
        around = {"start": place, "end": made_up(chance)}
        right = {"textDocument": document, "position": place, "range": around, "context": {"diagnostics": []}}
        wrong = {name: made_up(chance) for name in chance.sample(sorted(right), 1)}
        yield f"textDocument/{name}", {**right, **wrong}
        yield f"textDocument/{name}", made_up(chance)
    command = chance.choice(commands)
    yield "workspace/executeCommand", {"command": command, "arguments": made_up(chance)}
    yield "workspace/executeCommand", {"command": command, "arguments": [made_up(chance)]}
    yield "workspace/executeCommand", made_up(chance)
    yield "codeAction/resolve", made_up(chance)


def told(chance: random.Random) -> Iterator[tuple[str, Any]]:
    for method in (
        "textDocument/didOpen",
        "textDocument/didChange",
        "textDocument/didSave",
        "textDocument/didClose",
        "workspace/didChangeWorkspaceFolders",
        "workspace/didChangeConfiguration",
        "window/workDoneProgress/cancel",
        "agent/window/focus",
        "agent/diagnostics",
        "agent/conversation/draft",
        "$/setTrace",
        "$/cancelRequest",
        "$/unknown",
    ):
        yield method, made_up(chance)


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_the_standard_requests_hold_each_has_one_reply_and_none_is_a_bug_of_ours(seed: int) -> None:
    chance = random.Random(f"odd {seed}")
    async with scene(InOrder([use("shell", command="echo x >> ran")])) as (_, home), home.editor() as asker:
        path = home.workspace / "a.txt"
        path.write_text("one\n")
        conversation = await asker.create(home.workspace)
        await asker.send(conversation, "Go.")
        (request,) = await asker.until_asked(conversation)
        async with plain_editor(home) as plain:
            await plain.open(path)
            await plain.until_marked(path)
            announced = asker.initialized["capabilities"]["executeCommandProvider"]["commands"]
            commands = [name for name in announced if name != "agent-ls.drain"]
            for _ in range(40):
                for method, params in told(chance):
                    await plain.link._send({"jsonrpc": "2.0", "method": method, "params": params})
                keys = {}
                for method, params in asked(chance, path, commands):
                    keys[await plain.link.begin(method, params if isinstance(params, dict) else {})] = method, params
                for key, sent in keys.items():
                    assert await outcome(plain.link, key) != INTERNAL, sent
            # What the person has is as it was, and so is what waits.
            assert await asker.pending() == [request]
            await plain.choose(path, 0, "Deny #1")
        assert lines(home.workspace / "ran") == []
    assert " failed: " not in home.log


async def test_requests_before_initialize_and_what_was_opened_before_it() -> None:
    async with scene(InOrder([])) as (_, home), raw(home) as link:
        document = {"uri": (home.workspace / "a.txt").as_uri(), "languageId": "x", "version": 1, "text": "early"}
        await link.send(
            {"method": "textDocument/didOpen", "params": {"textDocument": document}},
            {"id": 1, "method": "textDocument/hover", "params": {}},
            {"id": "two", "method": "agent/status"},
            {"id": 3, "method": "shutdown"},
        )
        for key in (1, "two"):
            assert (await link.reply(key))["error"]["code"] == -32002
        assert (await link.reply(3))["error"]["code"] == -32002
        await link.send({"id": 4, "method": "initialize", "params": {"capabilities": {}, "rootUri": None}})
        assert "capabilities" in (await link.reply(4))["result"]
        await link.send({"id": 5, "method": "initialize", "params": {}}, {"id": 6, "method": "shutdown"})
        assert (await link.reply(5))["error"]["code"] == -32600
        assert (await link.reply(6))["result"] is None


async def test_folders_of_one_name_or_of_odd_spelling_are_each_seen_once() -> None:
    async with scene(InOrder([say("Done.")])) as (_, home):
        one, two = home.folder("one") / "same", home.folder("two") / "same"
        for folder in (one, two):
            folder.mkdir()
            (folder / "a.txt").write_text("x\n")
        odd = [{"uri": one.as_uri() + "/", "name": "same"}, {"uri": two.as_uri(), "name": "same"}]
        odd += [{"uri": "untitled:", "name": ""}, {"name": "no uri"}, {"uri": 7}, {}]
        async with plain_editor(home, one, workspaceFolders=odd) as plain, home.editor(one) as asker:
            made = []
            for folder in (one, two):
                await plain.open(folder / "a.txt")
                found = await plain.actions(folder / "a.txt", 0, only=["agent"])
                made.append(await plain.run(found[0]))  # type: ignore[arg-type]
            listed = (await asker.request("agent/conversation/list", {}))["conversations"]
            roots = {each["id"]: each["workspace"] for each in listed}
            assert [roots[each["conversationId"]] for each in made] == [one.as_uri(), two.as_uri()]


async def test_an_answer_that_is_cancelled_at_once_counts_wholly_or_not_at_all() -> None:
    async with scene(InOrder([use("shell", command="echo x >> ran"), say("Done.")])) as (_, home):
        path = home.workspace / "a.txt"
        path.write_text("one\n")
        async with home.editor() as asker, plain_editor(home) as plain:
            await plain.open(path)
            conversation = await asker.create(home.workspace)
            run_id = await asker.send(conversation, "Go.")
            await plain.until_marked(path)
            action = await plain.action(path, 0, "Allow once #1")
            while True:
                assert action.command is not None  # type: ignore[union-attr]
                key = await plain.link.begin(
                    "workspace/executeCommand",
                    {"command": action.command.command, "arguments": action.command.arguments},  # type: ignore[union-attr]
                )
                await plain.link.notify("$/cancelRequest", {"id": key})
                answered = await outcome(plain.link, key)
                assert answered in {0, CANCELLED, REFUSED}
                if answered == 0 or not await asker.pending():
                    break
            await asker.until_ended(conversation, run_id)
            assert (lines(home.workspace / "ran"), len(conversation.calls)) == (["x"], 1)


async def test_of_70_requests_60_are_cancelled_and_each_has_one_reply_and_late_ones_harm_nobody() -> None:
    """B68, through the bridge; a second reply to one request would fail in the scripted editor."""
    async with scene(InOrder([])) as (_, home), home.bridged(home.workspace) as editor:
        keys = [await editor.begin("agent/status", {}) for _ in range(70)]
        for key in keys[10:]:
            await editor.notify("$/cancelRequest", {"id": key})
        for key in (keys[0], 10**9, "never"):
            await editor.notify("$/cancelRequest", {"id": key})
        for key in ("1.1:1", 5, "never"):
            await editor._send({"jsonrpc": "2.0", "id": key, "result": None})
            await editor._send({"jsonrpc": "2.0", "id": key, "error": {"code": 1, "message": ""}})
        outcomes = [await outcome(editor, key) for key in keys]
        assert (set(outcomes) <= {0, CANCELLED}, len(outcomes)) == (True, 70)
        assert (await editor.request("agent/status", {}))["connections"]["count"] == 1


async def test_a_client_that_says_nothing_of_what_it_can_is_asked_nothing_and_served_all_the_same() -> None:
    gate = Gate()
    story = InOrder([reply(Say("Well, "), Wait(gate), Say("done."), *use("shell", command="echo x >> ran").steps)])
    async with scene(story) as (_, home), home.editor() as asker:
        path = home.workspace / "a.txt"
        path.write_text("one\n")
        async with plain_editor(home, capabilities={}) as plain:
            requests: list[str] = []
            taken = plain.link.answer
            plain.link.answer = lambda method, params: (requests.append(method), taken(method, params))[1]
            await plain.open(path)
            conversation = await asker.create(home.workspace)
            await asker.send(conversation, "Go.")
            gate.open()
            await asker.until_asked(conversation)
            assert [action.title for action in await plain.actions(path, 0)] == [
                "Allow once #1",
                "Deny #1",
                "Show #1",
            ]
            place = {"line": 0, "character": 0}
            prompt = {"textDocument": {"uri": path.as_uri()}, "position": place}
            assert await plain.link.request("textDocument/completion", prompt) is None
            assert requests == [], "no progress, no refresh, no document to show, no registration"


async def test_documents_out_of_order_are_known_again_with_their_next_whole_text() -> None:
    """B64, through the bridge: didChange before didOpen, a version that goes back, didOpen twice, didClose twice."""
    async with scene(InOrder([use("read", path="a.txt"), say("Done.")])) as (_, home):
        path = home.workspace / "a.txt"
        path.write_text("disk\n")
        async with home.bridged(home.workspace, name="vim") as editor:
            tell = _Telling(editor, path)
            await tell.change(2, "never opened\n")
            await tell.open(1, "older\n")
            await tell.open(5, "disk\n")
            await tell.change(4, "z", at=0)
            await tell.change(6, "whole 😋\n")
            await home.kill9()  # what the next daemon is told comes from the bridge's own copy
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Read it.")
            await editor.until_ended(conversation, run_id)
            for _ in range(2):
                await editor.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
            assert (await editor.request("agent/status", {}))["connections"]["count"] == 1
        (read,) = (conversation.result(call["id"]) for call in conversation.calls)
        assert read["output"] == "[unsaved text of your editor (vim)]\nwhole 😋\n"


class _Telling:
    def __init__(self, editor: Editor, path: Path) -> None:
        self._editor, self._uri = editor, path.as_uri()

    async def open(self, version: int, text: str) -> None:
        document = {"uri": self._uri, "languageId": "x", "version": version, "text": text}
        await self._editor.notify("textDocument/didOpen", {"textDocument": document})

    async def change(self, version: int, text: str, at: int | None = None) -> None:
        place = {"line": 0, "character": at}
        change = {"text": text} if at is None else {"range": {"start": place, "end": place}, "text": text}
        document = {"uri": self._uri, "version": version}
        await self._editor.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})


@pytest.mark.parametrize(
    "sent",
    [
        b"Content-Length: 40\r\n\r\n" + b'{"jsonrpc":"2.0","id":9,"method":"shutdown"}',
        b"X: " + b"y" * 100_000,
        b"GET / HTTP/1.1\r\n\r\n",
        b"Content-Length: -1\r\n\r\n{}",
        b"Content-Length: 99999999999999\r\n\r\n{}",
    ],
)
async def test_lost_borders_end_this_link_with_a_reason_and_nobody_elses(sent: bytes) -> None:
    async with scene(InOrder([])) as (_, home), home.editor() as other:
        async with raw(home) as link:
            await link.send({"id": 1, "method": "initialize", "params": {"capabilities": CAPABILITIES}})
            await link.reply(1)
            await link.write(sent)
            said = await link.reply(None)
            assert (said["error"]["code"], await link.code()) == (-32700, 1)
        assert (await other.request("agent/status", {}))["pid"] == home.pid


async def test_half_a_message_and_the_end_of_stdin_end_the_bridge() -> None:
    async with scene(InOrder([])) as (_, home), raw(home) as link:
        await link.send({"id": 1, "method": "initialize", "params": {}}, {"id": 2, "method": "shutdown"})
        await link.reply(2)
        await link.write(b'Content-Length: 200\r\n\r\n{"jsonrpc":')
        await link.process.stdin.aclose()
        assert await link.code() == 1, "without `exit`"
        assert home.pid is not None
