"""What happened is shown once, completely, and what is in flight is never mixed with it."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ls.cli import render
from agent_ls.cli.chat.transcript import Transcript
from agent_ls.cli.terminal import PLAIN

Json = dict[str, Any]
ENDS = ("completed", "failed", "cancelled", "interrupted")
ANSWER = "First line.\n\nSecond line\nand third."


def item(kind: str, item_id: str = "c.i1", status: str = "completed", **payload: Any) -> Json:
    return {"id": item_id, "runId": "c.r1", "kind": kind, "status": status, "payload": payload}


def stream(item_id: str = "c.i1", **more: Any) -> Json:
    return {"itemId": item_id, "phase": "answering", **more}


def command(state: str, **result: Any) -> Json:
    status = "completed" if state == "finished" else "running"
    given = {"callId": "k", "tool": "shell", "input": {"command": "make"}, "state": state}
    return item("command", "c.i2", status, **given, **({"result": {"status": "ok", **result}} if result else {}))


@settings(deadline=None)
@given(st.lists(st.integers(0, len(ANSWER))), st.sampled_from(["text", "delta"]))
def test_an_answer_is_shown_once_however_it_was_streamed(cuts: list[int], form: str) -> None:
    transcript, lines = Transcript(PLAIN, 79), []
    cuts = sorted(cuts)
    for start, end in zip([0, *cuts], [*cuts, len(ANSWER)], strict=True):
        part = {"text": ANSWER[:end]} if form == "text" else {"delta": ANSWER[start:end]}
        transcript.stream(stream(**part))
        lines += transcript.take()
        assert "\n".join([*lines, *transcript.live(0)]).rstrip("\n") == ANSWER[:end].rstrip("\n")
    transcript.item(item("assistant_message", text=ANSWER))
    assert (lines + transcript.take(), transcript.live(0)) == (ANSWER.split("\n"), [])


def test_a_table_is_out_once_something_follows_it() -> None:
    transcript = Transcript(PLAIN, 79)
    transcript.stream(stream(text="| a |\n|---|\n| 1 |\n"))
    assert (transcript.take(), transcript.live(0)) == ([], ["a", "─", "1"])
    transcript.stream(stream(text="| a |\n|---|\n| 1 |\n\nSo"))
    assert (transcript.take(), transcript.live(0)) == (["a", "─", "1", ""], ["So"])
    transcript.item(item("assistant_message", text="| a |\n|---|\n| 1 |\n\nSo\n\n| b |\n|---|"))
    assert (transcript.take(), transcript.live(0)) == (["So", "", "b", "─"], [])


def test_a_plan_that_was_seen_as_a_card_is_not_said_again() -> None:
    plan = {"tool": "plan", "title": "Plan: P", "input": {"markdown": "# P"}, "state": "finished", "requestId": "q"}
    settled = item("tool_call", **plan, result={"status": "ok", "output": "Accepted."})
    transcript = Transcript(PLAIN, 79)
    transcript.item(settled)
    assert transcript.take() == ["● Plan: P", "    # P", "    Accepted."]
    transcript = Transcript(PLAIN, 79)
    transcript.card_seen("q")
    transcript.item(settled)
    assert transcript.take() == ["● Plan: P", "    Accepted."]


def test_an_answer_that_begins_again_is_not_mixed_with_the_one_before() -> None:
    transcript = Transcript(PLAIN, 79)
    transcript.stream(stream(delta="It was a"))
    transcript.stream(stream(text="Now it is"))
    transcript.item(item("assistant_message", text="Now it is different."))
    assert transcript.take() == [
        "It was a", "", "⋯ the answer was cut off here and begins again", "", "Now it is different.",
    ]  # fmt: skip


def test_what_was_said_before_a_stop_is_told_before_it() -> None:
    transcript = Transcript(PLAIN, 79)
    cut = item("assistant_message", "c.i3", "interrupted", text="Once upon")
    again = item("user_message", "c.i4", content=[{"type": "text", "text": "Again"}])
    transcript.snapshot({"items": [item("interrupt", "c.i2", by="you"), cut, again]})
    assert [line for line in transcript.take() if line] == ["Once upon", "■ Stopped by you.", "› Again"]


def test_a_call_says_by_its_sign_how_it_ended() -> None:
    signs = [render.call(item("command", status=status, tool="shell"), PLAIN)[0][0] for status in ENDS]
    assert signs == ["●", "✗", "⊘", "⊘"]


def test_what_a_notice_quotes_stands_beneath_it_in_lines() -> None:
    assert render.item(item("notice", message="The shell ended. It said last:\ntick 1\ntick 2"), PLAIN) == [
        "! The shell ended. It said last:", "    tick 1", "    tick 2",
    ]  # fmt: skip


def test_a_copy_that_ends_earlier_changes_nothing() -> None:
    transcript = Transcript(PLAIN, 79)
    transcript.stream(stream(delta="It was a long"))
    transcript.stream(stream(text="It was"))
    assert (transcript.take(), transcript.live(0)) == ([], ["It was a long"])


def test_a_command_shows_the_end_of_its_output_while_it_runs() -> None:
    transcript = Transcript(PLAIN, 79)
    transcript.item(command("started"))
    transcript.stream({"itemId": "c.i2", "phase": "tool", "output": "1\n2\n3\n10 %\r20 %"})
    transcript.stream({"itemId": "c.i2", "phase": "tool", "output": "\r30 %\r\n4\n5\n6\n"})
    assert transcript.live(0) == ["◐ $ make", "    3", "    30 %", "    4", "    5", "    6"]
    transcript.item(command("finished", output="done\n"))
    assert (transcript.take(), transcript.live(0)) == (["● $ make", "    done"], [])


def test_nothing_hides_in_what_a_command_prints() -> None:
    transcript = Transcript(PLAIN, 79)
    transcript.item(command("started"))
    transcript.stream({"itemId": "c.i2", "phase": "tool", "output": "a\x1b[2Jb\u202ec"})
    assert transcript.live(0)[1:] == ["    a⟨U+001B⟩[2Jb⟨U+202E⟩c"]


def test_what_a_killed_daemon_left_in_flight_ends_with_the_run() -> None:
    transcript = Transcript(PLAIN, 79)
    transcript.item(command("started"))
    transcript.stream(stream(delta="half"))
    transcript.run_ended()
    assert (transcript.take(), transcript.live(0)) == (["half"], [])


def test_the_same_item_is_shown_once() -> None:
    transcript = Transcript(PLAIN, 79)
    for _ in range(2):
        transcript.item(item("user_message", content=[{"type": "text", "text": "hello"}]))
    assert transcript.take() == ["› hello"]
