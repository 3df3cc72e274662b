"""The chat's link to the daemon: requests that do not wait, one conversation followed, daemons that die survived.

Owns that nothing said is lost: what was not answered when the daemon went away is said again to the new one, with the
same command ids. Owns that each event is told once, in order. Does not own what is shown.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from agent_ls.cli.client import Client, ClientError, error_of

Json = dict[str, Any]
BACKFILL: Final = 200
Connect = Callable[[], Client]
Then = Callable[[Json], None]
Refused = Callable[[ClientError], None]


def nothing(_: object) -> None:
    """Where nobody waits for the answer."""


@dataclass(frozen=True)
class _Posted:
    method: str
    params: Json
    then: Then
    refused: Refused


class Link:
    """`conversation_id` is the one followed. `told` gets (method, params) of what concerns it or all conversations."""

    def __init__(self, connect: Connect, told: Callable[[str, Json], None], attached: Then) -> None:
        self.conversation_id = ""
        self.client: Client | None = None
        self._connect = connect
        self._told = told
        self._attached = attached
        self._seq = 0
        self._stopped = False
        self._unanswered: dict[int, _Posted] = {}
        self._unsent: list[_Posted] = []

    @property
    def has_arrived(self) -> bool:
        """Whether `read` has something to tell before anything more comes."""
        return self.client is not None and self.client.has_arrived

    @property
    def rests(self) -> bool:
        """Whether the daemon was stopped on purpose and nothing was said since: no reason to start another one."""
        return self._stopped and not self._unanswered and not self._unsent

    def open(self) -> Client:
        """A connection; ClientError where there is none to be had. What is owed to the daemon is said again."""
        self.client = client = self._connect()
        self._stopped = False
        if self.conversation_id:
            self.attach()
        owed, self._unsent = [*self._unanswered.values(), *self._unsent], []
        self._unanswered.clear()
        for posted in owed:
            self._post(posted)
        return client

    def close(self) -> None:
        if self.client is not None:
            self.client.close()
            self.client = None

    def follow(self, conversation_id: str) -> None:
        """Another conversation from now on; `attached` gets its snapshot."""
        if self.client is not None and self.conversation_id:
            self.post("agent/conversation/detach", {"conversationId": self.conversation_id})
        self.conversation_id, self._seq = conversation_id, 0
        if self.client is not None:
            self.attach()

    def attach(self) -> None:
        """The answer of the daemon comes before the events after it, so it is waited for."""
        assert self.client is not None
        params: Json = {"conversationId": self.conversation_id, "backfill": {"items": BACKFILL}}
        if self._seq:
            params["after"] = self._seq
        snapshot: Json = self.client.call("agent/conversation/attach", params)
        self._seq = int(snapshot.get("seq", 0))
        self._attached(snapshot)

    def post(
        self, method: str, params: Json, then: Then = lambda _: None, *, refused: Refused = lambda _: None
    ) -> None:
        """Asks without waiting. With no daemon, it is kept until there is one."""
        self._post(_Posted(method, params, then, refused))

    def read(self) -> None:
        """Whatever has arrived; ClientError `connection_lost` where the daemon went away."""
        if self.client is None:
            return
        for message in self.client.arrived():
            if "method" in message:
                self._notice(str(message["method"]), message.get("params") or {})
            else:
                self._answer(message)

    def _post(self, posted: _Posted) -> None:
        if self.client is None:
            self._unsent.append(posted)
            return
        try:
            self._unanswered[self.client.post(posted.method, posted.params)] = posted
        except ClientError:
            # Reading tells that the daemon is gone; this is said to the next one.
            self._unsent.append(posted)

    def _answer(self, message: Json) -> None:
        posted = self._unanswered.pop(int(message.get("id") or 0), None)
        if posted is None:
            return
        if "error" in message:
            posted.refused(error_of(message["error"]))
        else:
            posted.then(message.get("result") or {})

    def _notice(self, method: str, params: Json) -> None:
        theirs = params.get("conversationId", self.conversation_id) != self.conversation_id
        if theirs:
            return
        if method == "agent/drain":
            self._stopped = params.get("reason") == "shutdown"
        if method == "agent/resync":
            self.attach()
        elif method == "agent/event":
            events = [event for event in params.get("events", []) if event["seq"] > self._seq]
            for event in events:
                self._seq = int(event["seq"])
                self._told("event", event)
        else:
            self._told(method, params)
