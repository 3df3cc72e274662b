"""The conversation as the person at this terminal has it: what runs, what is queued, what waits, what was said.

Owns what an event of the daemon changes here and what a wish of the person asks of the daemon. Does not own keys,
drawing, nor the link's deaths.
"""

from collections.abc import Callable
from typing import Any, Final

from agent_ls.cli import cards, shown
from agent_ls.cli.chat.asking import Asking
from agent_ls.cli.chat.link import Link, nothing
from agent_ls.cli.chat.transcript import Transcript
from agent_ls.cli.client import Client, ClientError
from agent_ls.cli.places import command_id, here, uri_path
from agent_ls.cli.terminal import Style
from agent_ls.cli.which import this_folder
from agent_ls.core.conversation import AT_WORK
from agent_ls.core.display import one_line
from agent_ls.core.run import GOING_ON

Json = dict[str, Any]
_SETTLED: Final = frozenset({"already_decided", "unknown_request", "not_resumable"})


class Leave(Exception):
    """The person wants to go."""


class Talk:
    """`now` is a clock that only goes forward; `chosen` is what new conversations are made with."""

    def __init__(
        self,
        connect: Callable[[], Client],
        transcript: Transcript,
        style: Style,
        *,
        now: Callable[[], float],
        chosen: Json,
    ) -> None:
        self.link = Link(connect, self._told, self._attached)
        self.transcript = transcript
        self.style = style
        self.asking = Asking()
        self.conversation: Json = {}
        self.run_id: str | None = None
        self.run_since = 0.0
        self.phase = ""
        self.stopping = False
        self.queue: dict[str, Json] = {}
        self.joining: list[Json] = []
        self.to_retry: str | None = None
        self.sending: dict[str, str] = {}
        self.elsewhere = 0
        self.chosen = chosen
        self._said = False
        self._made = ""
        self._now = now
        self._answered: set[str] = set()

    @property
    def workspace(self) -> str:
        return uri_path(str(self.conversation.get("workspace", ""))) or here() or ""

    def create(self) -> None:
        """A new conversation in the folder we stand in."""
        assert self.link.client is not None
        self.forget_if_empty()
        params: Json = {"commandId": command_id(), "workspace": this_folder(), **self.chosen}
        made = self.link.client.call("agent/conversation/create", params)
        self._made, self._said = str(made["conversation"]["id"]), False
        self.enter(self._made)

    def enter(self, conversation_id: str) -> None:
        """ClientError where there is none; the one before is followed on then."""
        before = self.link.conversation_id
        try:
            self.link.follow(conversation_id)
        except ClientError:
            if before:
                self.link.follow(before)
            raise

    def forget_if_empty(self) -> None:
        """A conversation that was made here and in which nothing was ever said is not kept."""
        if self._said or self.link.client is None or self.link.conversation_id != self._made:
            return
        try:
            params = {"commandId": command_id(), "conversationId": self._made}
            self.link.client.call("agent/conversation/delete", params, timeout=2)
            self._made = self.link.conversation_id = ""
        except ClientError:
            return

    def visit(self, conversation_id: str) -> None:
        """Another conversation; an empty one is not left behind."""
        before, empty = self.link.conversation_id, self._made if not self._said else ""
        self.enter(conversation_id)
        if before == empty:
            self.ask("agent/conversation/delete", {"conversationId": before})
        self._made = ""

    def fork(self, title: str) -> None:
        """Goes on in a new conversation that has all of this one. ClientError where it cannot be made."""
        assert self.link.client is not None
        of = {"conversationId": self.link.conversation_id, **({"title": title} if title else {})}
        made = self.link.client.call("agent/conversation/fork", {"commandId": command_id(), **of})
        self.visit(str(made["conversation"]["id"]))

    def queued(self) -> list[Json]:
        """Messages that wait for a run of their own, in their order."""
        return sorted(self.queue.values(), key=lambda run: (run.get("position") or 0, run["ordinal"]))

    def say(self, text: str, **how: Any) -> None:
        from agent_ls.cli.chat.content import blocks

        content, trouble = blocks(text, self.workspace)
        for sentence in trouble:
            self.transcript.note(sentence, "yellow")
        key = command_id()
        self.sending[key] = text
        self._said = True
        params = {"commandId": key, "conversationId": self.link.conversation_id, "content": content, **how}

        def sent(_: Json) -> None:
            self.sending.pop(key, None)

        def not_sent(error: ClientError) -> None:
            self.sending.pop(key, None)
            self.trouble(error)
            self.transcript.note("Your message was not sent; the up key brings it back.")

        self.link.post("agent/message/send", params, sent, refused=not_sent)

    def stop(self) -> bool:
        """Whether there was anything to stop."""
        run_id = self.run_id or (self.transcript.last_run if self.conversation.get("compacting") else None)
        if run_id is None:
            return False
        self.stopping = self.run_id is not None
        self.ask("agent/run/interrupt", {"runId": run_id})
        return True

    def hurry(self) -> bool:
        """Asks a model in trouble again now. Whether anything goes on."""
        if self.run_id is not None:
            self.ask("agent/run/hurry", {"runId": self.run_id})
        return self.run_id is not None

    def retry(self) -> bool:
        """Asks again what came to nothing. Whether there is such a message."""
        if self.to_retry is not None:
            self.ask("agent/run/retry", {"runId": self.to_retry})
        return self.to_retry is not None

    def decide(self, request: Json, decision: str, **more: Any) -> None:
        """Answers what was shown. The next request is asked at once; the daemon says whether this one counted."""
        self.asking.put({**request, "status": "responding"})
        self._answered.add(request["id"])
        said = cards.verb({"decision": decision})
        self.transcript.put([self.style.dim(f"#{request['number']} {said}")], kind="decided")

        def refused(error: ClientError) -> None:
            self._answered.discard(request["id"])
            self.trouble(error)
            if error.code not in _SETTLED:
                self.asking.put(request)

        params = {"requestId": request["id"], "digest": request["digest"], "decision": decision, **more}
        self.ask("agent/request/respond", params, refused=refused)

    def ask(
        self,
        method: str,
        params: Json,
        then: Callable[[Json], None] = nothing,
        *,
        refused: Callable[[ClientError], None] | None = None,
    ) -> None:
        """A request to the daemon; trouble is shown."""
        self.link.post(method, {"commandId": command_id(), **params}, then, refused=refused or self.trouble)

    def update(self, **changed: Any) -> None:
        self.ask("agent/conversation/update", {"conversationId": self.link.conversation_id, **changed})

    def trouble(self, error: ClientError) -> None:
        self.transcript.note(f"! {one_line(error.message, 500)}", "red")
        if error.hint:
            self.transcript.note(f"  {one_line(error.hint, 500)}")

    def show_card(self, request: Json) -> None:
        """All that an answer would allow, as the last thing that was shown."""
        lines = cards.card(request, self.style, answers=False, columns=self.transcript.columns)
        self.transcript.put(lines, kind="card")
        self.transcript.card_seen(request["id"])
        self.asking.showed(request, self._now())
        shown.remember([request])

    def _attached(self, snapshot: Json) -> None:
        other = snapshot["conversation"]["id"] != self.conversation.get("id")
        self.conversation = snapshot["conversation"]
        if other:
            self._enter_other()
        self.queue = {run["id"]: run for run in snapshot.get("queue", [])}
        self.joining = (snapshot.get("run") or {}).get("steers") or []
        self.asking.waiting.clear()
        for request in snapshot.get("requests", []):
            self.asking.put(request)
        self.transcript.snapshot(snapshot)
        items = snapshot.get("items") or []
        self._said = self._said or bool(items or self.queue)
        if not snapshot.get("snapshot", True):
            return
        active = self.conversation.get("status") in AT_WORK and items and "run" in snapshot
        self._runs(str(items[-1]["runId"]) if active else None)

    def _enter_other(self) -> None:
        self.run_id = None
        self.transcript.forget()
        self.asking = Asking()

    def _told(self, method: str, params: Json) -> None:
        match method:
            case "event":
                self._event(params["kind"], params["entity"])
            case "agent/stream":
                self.phase = str(params.get("phase") or "")
                self.transcript.stream(params)
            case "agent/request/changed":
                self._asked_beneath(params.get("requests", []))

    def _asked_beneath(self, requests: list[Json]) -> None:
        """What subagents of this conversation ask is asked here; the rest waits elsewhere."""
        ours = self.link.conversation_id
        beneath = {r["id"]: r for r in requests if ours in (r.get("origin") or {}).get("conversationIds", [])}
        for request in beneath.values():
            if request["id"] not in self._answered:
                self.asking.put(request)
        for known in list(self.asking.waiting.values()):
            if known["conversationId"] != ours and known["id"] not in beneath:
                self.asking.put({**known, "status": "resolved"})
        self._answered -= {known for known in self._answered if known.startswith("sub_") and known not in beneath}
        self.elsewhere = sum(r["conversationId"] != ours and r["id"] not in beneath for r in requests)

    def _event(self, kind: str, entity: Json) -> None:
        match kind:
            case "item":
                self.phase, self._said = "", True
                self.transcript.item(entity)
            case "request":
                self._request(entity)
            case "run":
                self._run(entity)
            case "conversation":
                known = {name: held for name, held in self.conversation.items() if name != "compacting"}
                self.conversation = {**known, **entity}

    def _request(self, request: Json) -> None:
        known = self.asking.put(request)
        if request.get("status") in {"pending", "responding"}:
            return
        if request["id"] in self._answered:
            self._answered.discard(request["id"])
        elif known is not None or self.asking.was_shown(request):
            said = self.style.paint(f"#{request['number']} {cards.decided(request)}", "yellow")
            self.transcript.put([said], kind="decided")

    def _run(self, run: Json) -> None:
        status, run_id = run.get("status"), str(run["id"])
        if status == "queued":
            self.queue[run_id] = run
            return
        self.queue.pop(run_id, None)
        if status in GOING_ON:
            self._runs(run_id)
            self.joining = run.get("steers") or []
            self.to_retry = None
        elif run_id == self.run_id:
            self.transcript.run_ended()
            self._runs(None)
            self.joining = []
            self.to_retry = run_id if status in {"failed", "interrupted"} else None

    def _runs(self, run_id: str | None) -> None:
        if run_id != self.run_id:
            self.run_id, self.run_since, self.stopping, self.phase = run_id, self._now(), False, ""
