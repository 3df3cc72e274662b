"""A conversation as one window sees it: folded from the answer of an attach and from what came after.

Owns the promises that hold for every window: events without gap or repeat, text in flight that grows where it stood,
one order of items. A broken promise is an AssertionError at the message that breaks it.
"""

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]


class Mirror:
    """`events` are all that came since the attach, `texts` and `outputs` what was ever shown in flight, by item."""

    def __init__(self, answer: Json) -> None:
        self.conversation: Json = answer["conversation"]
        self.id: str = self.conversation["id"]
        self.seq: int = answer["seq"]
        self.items: dict[str, Json] = {item["id"]: item for item in answer["items"]}
        self.requests: dict[str, Json] = {request["id"]: request for request in answer["requests"]}
        self.runs: dict[str, Json] = {run["id"]: run for run in answer["queue"]}
        self.attempts: dict[str, Json] = {}
        self.events: list[Json] = []
        self.texts: dict[str, str] = {}
        self.outputs: dict[str, str] = {}
        self._cursors: dict[str, int] = {}
        self.resume(answer)

    def resume(self, answer: Json) -> None:
        """After an attach from where this window stood: events go on, text in flight is as the answer says."""
        assert answer["seq"] == self.seq, f"resumed at {answer['seq']}, not {self.seq}"
        self._cursors = {stream["itemId"]: stream["cursor"] for stream in answer["streams"]}
        self.texts |= {stream["itemId"]: stream.get("text", "") for stream in answer["streams"]}
        self.outputs |= {stream["itemId"]: stream.get("output", "") for stream in answer["streams"]}

    def take_events(self, events: list[Json]) -> None:
        for event in events:
            assert event["seq"] == self.seq + 1, f"event {event['seq']} came after {self.seq}"
            self.seq = event["seq"]
            self.events.append(event)
            self._upsert(event["kind"], event["entity"])

    def take_stream(self, params: Json) -> None:
        item_id = params["itemId"]
        if "output" in params:
            shown, part = self.outputs, params["output"]
        elif "text" in params:
            shown, part = self.texts, params["text"]
            shown[item_id], self._cursors[item_id] = "", 0
        else:
            shown, part = self.texts, params["delta"]
        stood = self._cursors.get(item_id, 0)
        assert params["cursor"] == stood + len(part), f"text of {item_id} goes on at {params['cursor']}, not {stood}"
        self._cursors[item_id] = params["cursor"]
        shown[item_id] = shown.get(item_id, "") + part

    def of_kind(self, *kinds: str) -> list[Json]:
        """Items in the order of the transcript."""
        found = [item for item in self.items.values() if item["kind"] in kinds]
        return sorted(found, key=lambda item: int(item["ord"]))

    @property
    def transcript(self) -> list[tuple[str, str]]:
        """(kind, status) of every item, in order."""
        return [(i["kind"], i["status"]) for i in sorted(self.items.values(), key=lambda item: int(item["ord"]))]

    @property
    def answers(self) -> list[str]:
        """What the model said, as committed."""
        return [item["payload"]["text"] for item in self.of_kind("assistant_message")]

    @property
    def calls(self) -> list[Json]:
        return self.of_kind("tool_call", "command", "file_change")

    @property
    def pending(self) -> list[Json]:
        """Requests that wait for the person, oldest first."""
        found = [request for request in self.requests.values() if request["status"] == "pending"]
        return sorted(found, key=lambda request: int(request["number"]))

    @property
    def shown(self) -> str:
        """All text in flight that this window has ever seen."""
        return "".join(self.texts.values())

    @property
    def output(self) -> str:
        return "".join(self.outputs.values())

    def status(self, run_id: str) -> str:
        """Of a run; empty while this window has heard nothing of it."""
        return str(self.runs.get(run_id, {}).get("status", ""))

    def result(self, item_id: str) -> Json:
        """The result of a call, empty while there is none."""
        found: Json = self.items[item_id]["payload"].get("result") or {}
        return found

    def facts(self, of: Callable[[Json], bool]) -> list[str]:
        """The facts about entities that `of` chooses, in the order in which they were committed."""
        return [event["fact"] for event in self.events if of(event["entity"])]

    def _upsert(self, kind: str, entity: Json) -> None:
        match kind:
            case "conversation":
                self.conversation = entity
            case "run":
                self.runs[entity["id"]] = entity
            case "attempt":
                self.attempts[entity["id"]] = entity
            case "item":
                self.items[entity["id"]] = entity
            case "request":
                self.requests[entity["id"]] = entity
