"""A scripted editor: one link to a daemon, straight to the socket or through the pipes of `agent-ls connect`.

    async with home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Say hello.")
        await editor.until_ended(conversation, run_id)

Owns requests and their one reply, what came meanwhile, and waiting with a time limit. Nothing is read but while
somebody waits, so a test sees messages in the order in which it asks for them. Does not own daemons (home) nor what a
conversation looks like (mirror).
"""

import json
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
from anyio.abc import ByteStream, Process

from agent_ls.bridge.frames import FrameSplitter, frame
from agent_ls.testing.buffers import Answer, no_such_method
from agent_ls.testing.mirror import Mirror

Json = dict[str, Any]
T = TypeVar("T")

LIMIT_S: Final = 20.0
"""How long anything is waited for. Only a failing test ever waits this long."""

_LINKS = count(1)


class Refused(Exception):
    """An error reply: `code` is the stable one, `message` and `hint` what a person reads."""

    def __init__(self, error: Json) -> None:
        data = error.get("data") or {}
        super().__init__(f"{data.get('code', error['code'])}: {error['message']}")
        self.rpc: int = error["code"]
        self.data: Json = data
        self.code = str(data.get("code", ""))
        self.message = str(data.get("message", error["message"]))
        self.hint = str(data.get("hint", ""))


class LinkEnded(Exception):
    """The daemon's side of the link is gone."""


class Editor:
    """`mirrors` by conversation; `hello` and `changed` are the newest of their kind; `initialized` is
    what `initialize` was answered with, `process` the bridge's.

    `answer` is what the daemon's own requests get (buffers.Buffers.answer).
    """

    def __init__(self, stream: ByteStream, *, name: str, process: Process | None = None) -> None:
        self.name = name
        self.process = process
        self.mirrors: dict[str, Mirror] = {}
        self.initialized: Json = {}
        self.hello: Json = {}
        self.changed: Json = {"pending": 0, "requests": []}
        self.notices: list[tuple[str, Json]] = []
        self.answer: Callable[[str, Json], Answer] = no_such_method
        self._stream = stream
        self._frames = FrameSplitter()
        self._replies: dict[Any, Json] = {}
        self._attaching: set[int] = set()
        self._requests = count(1)
        self._link = next(_LINKS)
        self._commands = count(1)

    async def initialize(self, *folders: Path, capabilities: Json | None = None, **ours: Any) -> Json:
        """The handshake, until the daemon has said hello. `ours` is what the client says of itself to agent-ls."""
        options = {"client": self.name, "version": "1", "protocol": {"min": 1, "max": 1}, **ours}
        params = {
            "processId": None,
            "rootUri": None,
            "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name} for folder in folders],
            "capabilities": capabilities or {},
            "initializationOptions": {"agentLs": options},
        }
        result: Json = await self.request("initialize", params)
        await self.notify("initialized", {})
        await self.wait_for(lambda: self.hello)
        self.initialized = result
        return result

    def command_id(self) -> str:
        return f"{self.name}-{self._link}-{next(self._commands)}"

    async def begin(self, method: str, params: Mapping[str, Any]) -> int:
        """Sends a request and does not wait; `reply` does."""
        key = next(self._requests)
        await self._send({"jsonrpc": "2.0", "id": key, "method": method, "params": dict(params)})
        return key

    async def reply(self, key: int) -> Any:
        """The result of a request that was begun. Raises Refused."""
        await self.wait_for(lambda: key in self._replies)
        answer = self._replies.pop(key)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        return await self.reply(await self.begin(method, params))

    async def command(self, method: str, /, **params: Any) -> Any:
        """A request that changes something, under an id of its own."""
        return await self.request(method, {"commandId": self.command_id(), **params})

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        await self._send({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    async def wait_for(self, holds: Callable[[], T]) -> T:
        """The first true value of `holds()`, looked at after each message. Fails with what came last."""
        try:
            with anyio.fail_after(LIMIT_S):
                while not (found := holds()):
                    await self._read()
                return found
        except TimeoutError:
            raise AssertionError(f"{self.name} waited for {LIMIT_S:g} s in vain; {self._said()}") from None

    async def create(self, workspace: Path, **more: Any) -> Mirror:
        """A new conversation, attached."""
        made = await self.command("agent/conversation/create", workspace=workspace.as_uri(), **more)
        return await self.attach(made["conversation"]["id"])

    async def attach(self, conversation_id: str, **more: Any) -> Mirror:
        key = await self.begin("agent/conversation/attach", {"conversationId": conversation_id, **more})
        # Events follow the answer at once, and may come with it: the mirror has to be there before they are read.
        self._attaching.add(key)
        await self.reply(key)
        return self.mirrors[conversation_id]

    async def say(self, conversation: Mirror, text: str, **more: Any) -> Json:
        """Sends a message: `{runId, disposition, seq}`."""
        content = [{"type": "text", "text": text}]
        sent: Json = await self.command("agent/message/send", conversationId=conversation.id, content=content, **more)
        return sent

    async def send(self, conversation: Mirror, text: str, **more: Any) -> str:
        """Sends a message; the id of its run."""
        return str((await self.say(conversation, text, **more))["runId"])

    async def respond(self, request: Json, decision: str, **more: Any) -> Json:
        params = {"requestId": request["id"], "digest": request["digest"], "decision": decision, **more}
        answered: Json = await self.command("agent/request/respond", **params)
        return answered

    async def decide(self, conversation: Mirror, decision: str, **more: Any) -> Json:
        """Answers the one request that the conversation waits with, once it does; the request."""
        (asked,) = await self.until_asked(conversation)
        await self.respond(asked, decision, **more)
        return asked

    async def interrupt(self, run_id: str, **more: Any) -> Json:
        noted: Json = await self.command("agent/run/interrupt", runId=run_id, **more)
        return noted

    async def queue(self, conversation: Mirror, op: str, **more: Any) -> Json:
        done: Json = await self.command("agent/queue/update", conversationId=conversation.id, op=op, **more)
        return done

    async def pending(self) -> list[Json]:
        """The pending requests of the whole daemon."""
        found: list[Json] = (await self.request("agent/request/list", {}))["requests"]
        return found

    async def history(self, conversation: Mirror) -> list[Json]:
        """Every event of the conversation since it was made."""
        lines = [json.loads(line) for line in (await self.export(conversation.id, "jsonl")).split("\n") if line]
        events = [line for line in lines if line["kind"] != "blob"]
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1)), "a gap in the ledger"
        return events

    async def export(self, conversation_id: str, form: str = "markdown") -> str:
        """A conversation written out; a file that it takes is read and removed."""
        params = {"conversationId": conversation_id, "format": form}
        exported: Json = await self.request("agent/conversation/export", params)
        if "text" in exported:
            return str(exported["text"])
        path = Path(exported["path"])
        text = path.read_text(encoding="utf-8")
        path.unlink()
        return text

    async def until_asked(self, conversation: Mirror, count: int = 1) -> list[Json]:
        """Until so many requests of the conversation are pending."""
        await self.wait_for(lambda: len(conversation.pending) >= count)
        return conversation.pending

    async def until_ended(self, conversation: Mirror, run_id: str, status: str = "completed") -> Json:
        """Until the run has ended as expected; anything else is told with its error."""
        ends = {"completed", "interrupted", "failed", "cancelled"}
        if not conversation.status(run_id):
            # This window may have come after the end. What it hears meanwhile is newer than what it is told.
            told = {e["entity"]["id"]: e["entity"] for e in await self.history(conversation) if e["kind"] == "run"}
            conversation.runs |= {**told, **conversation.runs}
        await self.wait_for(lambda: conversation.status(run_id) in ends)
        run = conversation.runs[run_id]
        assert run["status"] == status, f"the run ended as {run['status']}: {run.get('error')}"
        return run

    async def until_gone(self) -> None:
        """Until the other end has closed the link; what came before is read."""
        with anyio.fail_after(LIMIT_S):
            while True:
                try:
                    await self._read()
                except LinkEnded:
                    return

    async def _send(self, message: Json) -> None:
        try:
            await self._stream.send(frame(json.dumps(message).encode()))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError) as error:
            raise LinkEnded(self.name) from error

    async def _read(self) -> None:
        try:
            data = await self._stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError, OSError) as error:
            raise LinkEnded(self.name) from error
        for body in self._frames.feed(data):
            assert isinstance(body, bytes), "a message over the limit"
            await self._take(json.loads(body))
        assert self._frames.lost is None, self._frames.lost

    async def _take(self, message: Json) -> None:
        if "method" not in message:
            key = message["id"]
            assert key not in self._replies, f"request {key} was answered twice"
            self._replies[key] = message
            if key in self._attaching and "result" in message:
                self._attached(message["result"])
            return
        if "id" in message:
            await self._answer(message["id"], self.answer(message["method"], message["params"]))
            return
        self._hear(message["method"], message["params"])

    async def _answer(self, key: Any, answer: Answer) -> None:
        for method, params in answer.before:
            await self.notify(method, params)
        if answer.leaves:
            await self._stream.aclose()
            return
        if answer.reply is not None:
            await self._send({"jsonrpc": "2.0", "id": key, **answer.reply})
        for method, params in answer.after:
            await self.notify(method, params)

    def _attached(self, answer: Json) -> None:
        """Where only what was missed follows as events, the mirror of this window goes on."""
        known = answer["conversation"]["id"]
        if answer["snapshot"] or known not in self.mirrors:
            self.mirrors[known] = Mirror(answer)
        else:
            self.mirrors[known].resume(answer)

    def _hear(self, method: str, params: Json) -> None:
        self.notices.append((method, params))
        mirror = self.mirrors.get(params.get("conversationId", ""))
        match method:
            case "agent/hello":
                self.hello = params
            case "agent/request/changed":
                self.changed = params
            case "agent/event":
                assert mirror is not None, "events of a conversation that is not attached"
                mirror.take_events(params["events"])
            case "agent/stream":
                assert mirror is not None, "text of a conversation that is not attached"
                mirror.take_stream(params)

    def _said(self) -> str:
        states = {
            mirror.id: {run["id"].rpartition(".")[2]: run["status"] for run in mirror.runs.values()}
            for mirror in self.mirrors.values()
        }
        last = [
            f"{event['seq']} {event['kind']} {event['fact']}"
            for mirror in self.mirrors.values()
            for event in mirror.events[-6:]
        ]
        return f"runs: {states}; last events: {last}; last notices: {[method for method, _ in self.notices[-5:]]}"
