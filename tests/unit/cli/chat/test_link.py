"""The link outlives daemons: nothing said is lost or said under another name, nothing told is told twice."""

import select
from typing import Any

from agent_ls.cli.chat.link import Link
from agent_ls.cli.client import Client, ClientError
from tests.unit.cli.conftest import Start
from tests.unit.cli.fake_daemon import Link as Wire
from tests.unit.cli.fake_daemon import Refusal

Json = dict[str, Any]
LIMIT_S = 10.0


class Heard:
    """What the link told, in order."""

    def __init__(self) -> None:
        self.all: list[Any] = []
        self.link = Link(lambda: Client.connect(start=False), self.told, self.attached)

    def told(self, method: str, params: Json) -> None:
        self.all.append((method, params.get("seq", params)))

    def attached(self, snapshot: Json) -> None:
        self.all.append(("attached", snapshot["seq"]))

    def until(self, count: int) -> list[Any]:
        while len(self.all) < count:
            client = self.link.client
            assert client is not None
            ready = self.link.has_arrived or select.select([client], [], [], LIMIT_S)[0]
            assert ready, f"no more came than {self.all}"
            try:
                self.link.read()
            except ClientError as error:
                self.link.close()
                self.all.append(error.code)
        return self.all


def event(seq: int) -> Json:
    return {"seq": seq, "at": "t", "kind": "item", "fact": "added", "entity": {"id": f"c.i{seq}"}}


def test_what_was_not_answered_is_said_again_under_the_same_name(daemon: Start) -> None:
    names: list[str] = []

    def send(wire: Wire, params: Json) -> Any:
        names.append(params["commandId"])
        if len(names) == 1:
            wire.cut()
        return {"runId": "c.r1"}

    attach = {"conversation": {"id": "c"}, "seq": 4}
    fake = daemon({"agent/message/send": send, "agent/conversation/attach": attach})
    heard = Heard()
    heard.link.open()
    heard.link.follow("c")
    heard.link.post("agent/message/send", {"commandId": "k"}, heard.all.append)
    assert heard.until(2) == [("attached", 4), "connection_lost"]
    heard.link.post("agent/run/interrupt", {"commandId": "later"}, heard.all.append)
    heard.link.open()
    assert heard.until(5)[2:] == [("attached", 4), {"runId": "c.r1"}, {}]
    assert names == ["k", "k"]
    assert [params.get("after") for params in fake.sent("agent/conversation/attach")] == [None, 4]
    heard.link.close()


def test_events_are_told_once_and_in_order(daemon: Start) -> None:
    def attach(wire: Wire, _params: Json) -> Any:
        def after() -> None:
            wire.event("c", event(3), event(5))
            wire.event("other", event(9))
            wire.event("c", event(5), event(6))
            wire.notify("agent/stream", {"conversationId": "c", "itemId": "i", "delta": "x"})

        return {"conversation": {"id": "c"}, "seq": 4}, after

    daemon({"agent/conversation/attach": attach})
    heard = Heard()
    heard.link.open()
    heard.link.follow("c")
    assert heard.until(4) == [
        ("attached", 4),
        ("event", 5),
        ("event", 6),
        ("agent/stream", {"conversationId": "c", "itemId": "i", "delta": "x"}),
    ]
    heard.link.close()


def test_a_refusal_goes_to_who_asked(daemon: Start) -> None:
    def refuse(_wire: Wire, _params: Json) -> Any:
        raise Refusal("already_decided", "It was allowed in Neovim.")

    daemon({"agent/request/respond": refuse})
    heard = Heard()
    heard.link.open()
    heard.link.post("agent/request/respond", {}, refused=lambda error: heard.all.append(error.code))
    assert heard.until(1) == ["already_decided"]
    heard.link.close()
