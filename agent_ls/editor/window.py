"""A window: one connection with what it has attached to, and what it is told.

Owns the handshake (`initialize`, `agent/hello`), which conversations this link follows, and that an attach's answer
comes before the events after it. Does not own what a method does (handlers) nor the queue to the socket (outbound).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agent_ls.core.events import Event
from agent_ls.core.text import UTF_16
from agent_ls.core.uris import path_of
from agent_ls.editor.connection import Connection, Handler
from agent_ls.editor.desk import Desk
from agent_ls.editor.documents import agreed_encoding
from agent_ls.runtime.feed import StreamUpdate
from agent_ls.wire import views
from agent_ls.wire.capabilities import CAPABILITIES
from agent_ls.wire.methods import PROTOCOL


class Window(Connection):
    def __init__(self, stream: Any, handlers: Mapping[str, Handler], *, desk: Desk, pid: int, **more: Any) -> None:
        super().__init__(stream, handlers, **more)
        self._desk = desk
        self._pid = pid
        self.client = "unknown"
        self.window_id: str | None = None
        self.process_id: int | None = None
        self.folders: tuple[str, ...] = ()
        self.features: frozenset[str] = frozenset()
        self.capabilities: Mapping[str, Any] = {}
        self.prompts = "none"
        self.trusted = True
        self._environment: dict[str, str] | None = None
        self.encoding = UTF_16
        self._held: dict[str, list[Event]] = {}
        self._attached: set[str] = set()
        self._told: dict[str, int] = {}
        self.outbound.on_cut = self.detach

    async def on_initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        options = params.get("initializationOptions")
        ours = options.get("agentLs") if isinstance(options, dict) else None
        ours = ours if isinstance(ours, dict) else {}
        info = params.get("clientInfo")
        name = ours.get("client") or (info.get("name") if isinstance(info, dict) else None)
        self.client = str(name or "unknown")[:60]
        process_id = params.get("processId")
        self.process_id = process_id if isinstance(process_id, int) else None
        window_id = ours.get("windowId")
        self.window_id = window_id[:60] if isinstance(window_id, str) else None
        # One that shows no more than a conversation's own documents has no workspace: it sees all.
        papers = self._desk.transcripts.folder_uri
        self.folders = tuple(folder for folder in _folders(params) if self._desk.documents.key(folder) != papers)
        features = ours.get("features")
        self.features = frozenset(map(str, features)) if isinstance(features, list) else frozenset()
        capabilities = params.get("capabilities")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        self.prompts = "message" if ours.get("prompts") == "message" else "none"
        self.trusted = ours.get("trusted") is not False
        self.encoding = agreed_encoding(params)
        environment = ours.get("environment")
        self._environment = {str(k): str(v) for k, v in environment.items()} if isinstance(environment, dict) else None
        self._remember_environment()
        self._desk.inbox.join(self)
        self._desk.language.join(self)
        return {
            "capabilities": {**CAPABILITIES, "positionEncoding": self.encoding},
            "serverInfo": {"name": "agent-ls", "version": self._desk.version},
        }

    def on_ready(self) -> None:
        hello = {
            "protocol": PROTOCOL,
            "daemonVersion": self._desk.version,
            "bootId": self._desk.services.boot_id,
            "pid": self._pid,
        }
        self.notify("agent/hello", hello)
        self._desk.inbox.tell(self)
        self._desk.progress.join(self)

    async def on_close(self) -> None:
        self._desk.inbox.leave(self)
        self._desk.progress.leave(self)
        self._desk.documents.leave(self)
        self._desk.language.leave(self)
        for conversation_id in tuple(self._attached):
            self.detach(conversation_id)
            self._desk.inbox.presence.changed(conversation_id)

    def move_folders(self, params: Mapping[str, Any]) -> None:
        """Folders came to the window or left it. A conversation keeps the one that it was begun in."""
        event = params.get("event")
        event = event if isinstance(event, dict) else {}
        left, come = _uris(event.get("removed")), _uris(event.get("added"))
        self.folders = tuple(dict.fromkeys([folder for folder in self.folders if folder not in left] + come))
        self._remember_environment()
        self._desk.inbox.tell(self)

    def follows(self, conversation_id: str) -> bool:
        return conversation_id in self._attached

    def follow(self, conversation_id: str) -> None:
        """From now on events are kept back until `release` says from which on they are news."""
        self._attached.add(conversation_id)
        self._held[conversation_id] = []
        self.outbound.attached(conversation_id)
        self._desk.services.feed.subscribe(conversation_id, self)

    def release(self, conversation_id: str, seq: int, before: Sequence[Event] = ()) -> None:
        """Called once the attach's answer is queued: `before`, then what came meanwhile, without gap or repeat."""
        held = self._held.pop(conversation_id, None)
        if held is None:
            return
        self._told[conversation_id] = seq
        self._send_events(conversation_id, before)
        self._send_events(conversation_id, held)

    def as_before(self, conversation_id: str, *, followed: bool) -> None:
        """An attach failed: a window that followed already goes on where it was, another one follows nothing."""
        held = self._held.pop(conversation_id, [])
        if followed:
            self._send_events(conversation_id, held)
        else:
            self.detach(conversation_id)

    def detach(self, conversation_id: str) -> None:
        self._attached.discard(conversation_id)
        self._held.pop(conversation_id, None)
        self._told.pop(conversation_id, None)
        self._desk.services.feed.unsubscribe(conversation_id, self)

    def on_events(self, conversation_id: str, events: Sequence[Event]) -> None:
        held = self._held.get(conversation_id)
        if held is not None:
            held.extend(events)
        else:
            self._send_events(conversation_id, events)

    def on_stream(self, conversation_id: str, update: StreamUpdate) -> None:
        if conversation_id in self._held:
            return
        said = {"output" if update.is_output else "text" if update.whole else "delta": update.delta}
        params = {
            "conversationId": conversation_id,
            "itemId": update.item_id,
            "cursor": update.cursor,
            "phase": update.phase,
            **said,
        }
        self.notify("agent/stream", params)

    def sees(self, workspace: str) -> bool:
        """Whether a conversation of this workspace concerns the window; one without folders sees all."""
        return not self.folders or any(_overlap(folder, workspace) for folder in self.folders)

    def _remember_environment(self) -> None:
        if self._environment is not None:
            for folder in self.folders:
                self._desk.remember_environment(path_of(folder), self._environment)

    def _send_events(self, conversation_id: str, events: Sequence[Event]) -> None:
        """Each once and none left out, whoever wrote them: what was read may overlap with what is heard."""
        told = self._told.get(conversation_id, 0)
        news = [event for event in events if event.seq > told]
        if not news:
            return
        if news[0].seq != told + 1:
            self.outbound.cut(conversation_id)
            return
        self._told[conversation_id] = news[-1].seq
        self.outbound.put_events(conversation_id, [views.event_json(event) for event in news])


def _folders(params: dict[str, Any]) -> tuple[str, ...]:
    given = params.get("workspaceFolders")
    if isinstance(given, list) and given:
        return tuple(_uris(given))
    root = params.get("rootUri")
    return (str(root),) if root else ()


def _uris(given: Any) -> list[str]:
    folders = given if isinstance(given, list) else []
    return [str(folder["uri"]) for folder in folders if isinstance(folder, dict) and folder.get("uri")]


def _overlap(one: str, other: str) -> bool:
    mine, theirs = one.rstrip("/") + "/", other.rstrip("/") + "/"
    return mine.startswith(theirs) or theirs.startswith(mine)
