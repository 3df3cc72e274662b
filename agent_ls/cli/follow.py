"""Following a conversation: attach, then everything that happens, through restarts of the daemon.

Owns order and completeness: each event once, in order of seq, whatever breaks in between. Does not own what is shown
(screen.py) nor when to stop (whoever iterates).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from agent_ls.cli.client import Client, ClientError

Json = dict[str, Any]
_TRIES: Final = 5
_PAGE: Final = 200


@dataclass(frozen=True, kw_only=True)
class Happened:
    """One thing that came: `snapshot` of an attach, `event`, or `stream`.

    `message` is the notification that says only this; `last`: nothing of the same commit comes after it.
    """

    kind: str
    body: Json
    message: Json = field(default_factory=dict)
    last: bool = True


@dataclass
class Follower:
    """A conversation as one client sees it. `patience`: seconds without any news after which it is given up."""

    client: Client
    conversation_id: str
    connect: Callable[[], Client]
    backfill: int = 0
    seq: int = 0
    patience: float | None = None
    stopped: bool = False

    def attach(self) -> Json:
        """The snapshot. Attached again, what was missed follows as events; a new snapshot where that is too much."""
        params: Json = {"conversationId": self.conversation_id, "backfill": {"items": self.backfill}}
        if self.seq:
            params["after"] = self.seq
        snapshot: Json = self.client.call("agent/conversation/attach", params)
        self.seq = int(snapshot.get("seq", 0))
        return snapshot

    def happenings(self) -> Iterator[Happened]:
        """Everything from now on. Where the daemon went away, the new one's snapshot comes in between."""
        while True:
            for method, params in self._notifications():
                if method == "agent/drain":
                    self.stopped = params.get("reason") == "shutdown"
                if params.get("conversationId") != self.conversation_id:
                    continue
                if method == "agent/resync":
                    break
                yield from self._read(method, params)
            else:
                self._reconnect()
            self.backfill = max(self.backfill, _PAGE)
            yield Happened(kind="snapshot", body=self.attach())

    def _notifications(self) -> Iterator[tuple[str, Json]]:
        """Until the connection ends."""
        try:
            yield from self.client.events(self.patience)
        except ClientError as error:
            if error.code != "connection_lost":
                raise
            return
        raise ClientError("timeout", f"Nothing came from the daemon for {self.patience:g} s.", "`agent-ls log`")

    def _read(self, method: str, params: Json) -> Iterator[Happened]:
        message: Json = {"method": method, "params": params}
        if method == "agent/stream":
            yield Happened(kind="stream", body=params, message=message)
        if method != "agent/event":
            return
        events = [event for event in params.get("events", []) if event["seq"] > self.seq]
        for event in events:
            self.seq = event["seq"]
            single = {"method": method, "params": {"conversationId": self.conversation_id, "events": [event]}}
            yield Happened(kind="event", body=event, message=single, last=event is events[-1])

    def _reconnect(self) -> None:
        self.client.close()
        if self.stopped:
            # Somebody wanted it gone: it is not for whoever looks on to start it again.
            hint = f"`agent-ls attach {self.conversation_id}` starts it again and goes on; nothing is lost."
            raise ClientError("stopped", "The daemon was stopped.", hint)
        for left in reversed(range(_TRIES)):
            try:
                self.client = self.connect()
                return
            except ClientError:
                if not left:
                    raise
