"""`ask`: the answer on stdout, everything else beside it, and an exit code that a script can trust."""

import io
import json
import os
import signal
import threading
from typing import Any

import pytest

from tests.unit.cli.conftest import CommandLine, Start
from tests.unit.cli.fake_daemon import FakeDaemon, Link, Refusal
from tests.unit.cli.test_requests import REQUEST

Json = dict[str, Any]
RUN = "c.r1"


def run_event(seq: int, status: str, **more: Any) -> Json:
    return {"seq": seq, "at": "t", "kind": "run", "fact": status, "entity": {"id": RUN, "status": status, **more}}


def text_event(seq: int, item_id: str, text: str) -> Json:
    item = {"id": item_id, "runId": RUN, "kind": "assistant_message", "status": "completed", "payload": {"text": text}}
    return {"seq": seq, "at": "t", "kind": "item", "fact": "added", "entity": item}


def asked_event(seq: int, **more: Any) -> Json:
    return {"seq": seq, "at": "t", "kind": "request", "fact": "asked", "entity": {**REQUEST, **more}}


def stream(item_id: str, **more: Any) -> Json:
    return {"conversationId": "c", "itemId": item_id, "cursor": 0, "phase": "answering", **more}


class Story:
    """The daemon's side: what it tells after the message was sent, and after each attach again."""

    def __init__(self, *told: tuple[str, Json], again: tuple[tuple[str, Json], ...] = (), cut: bool = False) -> None:
        self.told, self.again, self.cut = told, again, cut
        self.attached = 0

    def answers(self) -> dict[str, Any]:
        return {
            "agent/conversation/create": {"conversation": {"id": "c"}, "seq": 1},
            "agent/conversation/attach": self._attach,
            "agent/message/send": self._send,
            "agent/run/interrupt": self._interrupt,
        }

    def _attach(self, link: Link, _params: Json) -> Any:
        self.attached += 1
        self.link = link
        snapshot = {"conversation": {"id": "c"}, "items": [], "requests": [], "streams": [], "queue": [], "seq": 1}
        return (snapshot, lambda: self._tell(link, self.again)) if self.attached > 1 else snapshot

    def _send(self, link: Link, _params: Json) -> Any:
        def tell() -> None:
            self._tell(link, self.told)
            if self.cut:
                link.cut()

        return {"runId": RUN, "disposition": "started", "seq": 2}, tell

    def _interrupt(self, _link: Link, _params: Json) -> Any:
        return {"seq": 9}, lambda: self.link.event("c", run_event(10, "interrupted"))

    def _tell(self, link: Link, told: tuple[tuple[str, Json], ...]) -> None:
        for method, params in told:
            if method == "event":
                link.event("c", params)
            else:
                link.notify(method, params)


def test_the_answer_streams_to_stdout_and_is_not_repeated(command_line: CommandLine, daemon: Start) -> None:
    story = Story(
        ("event", run_event(2, "running")),
        ("agent/stream", stream("m", delta="Hel")),
        ("agent/stream", stream("m", delta="lo")),
        ("event", text_event(3, "m", "Hello.")),
        ("event", run_event(4, "completed")),
    )
    fake = daemon(story.answers())
    said = command_line("ask", "hi", "there")
    assert (said.code, said.out, said.err) == (0, "Hello.\n", "")
    assert fake.sent("agent/message/send") == [
        {"conversationId": "c", "content": [{"type": "text", "text": "hi there"}]}
    ]
    assert fake.sent("agent/conversation/create") == [{"workspace": "file://" + os.getcwd()}]


def test_a_committed_answer_appears_although_its_stream_was_lost(command_line: CommandLine, daemon: Start) -> None:
    story = Story(
        ("agent/stream", stream("m", text="wrong try")),
        ("event", text_event(3, "m", "Right.")),
        ("event", run_event(4, "completed")),
    )
    daemon(story.answers())
    assert command_line("ask", "hi").out == "wrong try\nRight.\n"


def test_a_run_that_waits_exits_with_2_and_its_number(command_line: CommandLine, daemon: Start) -> None:
    daemon(Story(("event", asked_event(3, runId=RUN))).answers())
    said = command_line("ask", "hi")
    assert (said.code, said.out) == (2, "")
    assert "$ make test" in said.err
    assert "agent-ls approve 7" in said.err
    assert "#7" in said.err.splitlines()[-1]


def test_an_approval_after_ask_needs_no_second_look(command_line: CommandLine, daemon: Start) -> None:
    fake = daemon(Story(("event", asked_event(3, runId=RUN))).answers())
    command_line("ask", "hi")
    fake.answers["agent/request/list"] = {"requests": [REQUEST]}
    assert command_line("approve", "7").code == 0


def test_with_wait_it_stays_until_the_end(command_line: CommandLine, daemon: Start) -> None:
    story = Story(
        ("event", asked_event(3, runId=RUN)),
        ("event", asked_event(4, runId=RUN, status="resolved", decision="allow", decidedBy="you")),
        ("event", run_event(5, "completed")),
    )
    daemon(story.answers())
    said = command_line("ask", "hi", "--wait")
    assert said.code == 0
    assert "#7 allowed by you" in said.err


def test_a_failed_run_says_why_and_exits_with_1(command_line: CommandLine, daemon: Start) -> None:
    error = {"code": "unauthorized", "message": "The key was refused.", "hint": "Look at OPENAI_API_KEY."}
    daemon(Story(("event", run_event(3, "failed", error=error))).answers())
    said = command_line("ask", "hi")
    assert (said.code, said.out) == (1, "")
    assert said.err == "agent-ls: The key was refused.\n  Look at OPENAI_API_KEY.\n"


def test_an_error_that_the_conversation_shows_is_not_said_twice(command_line: CommandLine, daemon: Start) -> None:
    error = {"code": "unauthorized", "message": "The key was refused.", "hint": "Look at OPENAI_API_KEY."}
    item = {"id": "e", "runId": RUN, "kind": "error", "status": "completed", "payload": error}
    daemon(
        Story(
            ("event", {"seq": 3, "at": "t", "kind": "item", "fact": "added", "entity": item}),
            ("event", run_event(4, "failed", error=error)),
        ).answers()
    )
    said = command_line("ask", "hi")
    assert (said.code, said.out, said.err) == (1, "", "! The key was refused.\n  Look at OPENAI_API_KEY.\n")


def test_json_is_one_notification_a_line(command_line: CommandLine, daemon: Start) -> None:
    events = [run_event(2, "running"), run_event(3, "completed")]
    part = stream("m", delta="x")
    daemon(Story(("event", events[0]), ("agent/stream", part), ("event", events[1])).answers())
    said = command_line("ask", "hi", "--json")
    assert [json.loads(line) for line in said.out.splitlines()] == [
        {"method": "agent/event", "params": {"conversationId": "c", "events": [events[0]]}},
        {"method": "agent/stream", "params": part},
        {"method": "agent/event", "params": {"conversationId": "c", "events": [events[1]]}},
    ]


def test_a_daemon_that_dies_is_met_again_and_nothing_is_told_twice(command_line: CommandLine, daemon: Start) -> None:
    story = Story(
        ("event", text_event(2, "m1", "First.")),
        again=(
            ("event", text_event(2, "m1", "First.")),
            ("event", text_event(3, "m2", "Second.")),
            ("event", run_event(4, "completed")),
        ),
        cut=True,
    )
    fake = daemon(story.answers())
    said = command_line("ask", "hi")
    assert (said.code, said.out) == (0, "First.\nSecond.\n")
    assert fake.sent("agent/conversation/attach")[1] == {
        "conversationId": "c",
        "after": 2,
        "backfill": {"items": 200},
    }


def test_control_c_stops_the_run_and_waits_for_its_end(command_line: CommandLine, daemon: Start) -> None:
    fake = daemon(Story(("event", run_event(2, "running"))).answers())
    presser = threading.Thread(target=_press_once_sent, args=(fake,))
    presser.start()
    said = command_line("ask", "hi")
    presser.join(10)
    assert said.code == 130
    assert fake.sent("agent/run/interrupt") == [{"runId": RUN}]


def test_mode_auto_needs_the_persons_word_which_travels_with_it(command_line: CommandLine, daemon: Start) -> None:
    fake = daemon(Story(("event", run_event(2, "completed"))).answers())
    command_line("ask", "hi", "--allow-auto")
    command_line("ask", "hi", "--mode", "auto")
    chosen = [
        {name: params.get(name) for name in ("mode", "allowAuto")} for params in fake.sent("agent/conversation/create")
    ]
    assert chosen == [{"mode": "auto", "allowAuto": True}, {"mode": "auto", "allowAuto": None}]


def test_a_refused_message_is_one_sentence(command_line: CommandLine, daemon: Start) -> None:
    def refuse(_link: Link, _params: Json) -> Json:
        raise Refusal("provider_unavailable", "There is no model to ask.", "Run agent-ls doctor.")

    daemon({**Story().answers(), "agent/message/send": refuse})
    said = command_line("ask", "hi")
    assert (said.code, said.err) == (1, "agent-ls: There is no model to ask.\n  Run agent-ls doctor.\n")


def test_no_message_at_all_is_an_error(command_line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(" "))
    assert command_line("ask").code == 1


def _press_once_sent(fake: FakeDaemon) -> None:
    fake.wait_for("agent/message/send")
    os.kill(os.getpid(), signal.SIGINT)
