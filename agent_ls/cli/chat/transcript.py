"""What happened in the conversation, as lines for good and as rows that still change.

Owns which of it was shown already: a committed item completes what was streamed and never repeats it; a call is shown
once it is settled, and with the end of its output while it runs. Pure: takes wire objects, draws nothing.
"""

from typing import Any, Final

from agent_ls.cli import render
from agent_ls.cli.cells import clip, untabbed, wrap
from agent_ls.cli.chat.markdown import Markdown
from agent_ls.cli.terminal import Style, prose
from agent_ls.core.call import SETTLED
from agent_ls.core.display import named, one_line
from agent_ls.core.items import CALLS

Json = dict[str, Any]
_TOGETHER: Final = frozenset({("card", "decided"), ("decided", "call")})
_TAIL_ROWS: Final = 5
_TAIL_CHARS: Final = 8_000
_THOUGHT_ROWS: Final = 2


class Transcript:
    """`columns` may change at any time; `take` gives the lines that are new since the last time."""

    def __init__(self, style: Style, columns: int) -> None:
        self.columns = columns
        self._style = style
        self._lines: list[str] = []
        self._shown: set[str] = set()
        self.last_run: str | None = None
        self._answers: dict[str, _Answer] = {}
        self._running: dict[str, Json] = {}
        self._outputs: dict[str, str] = {}
        self._thoughts: dict[str, str] = {}
        self._seen_cards: set[str] = set()
        self._last = ""

    def take(self) -> list[str]:
        lines, self._lines = self._lines, []
        return lines

    def snapshot(self, held: Json) -> None:
        """The past, what is in flight, what runs; said again after a reconnect, where the new one knows better."""
        self._outputs.clear()
        self._thoughts.clear()
        if held.get("snapshot", True):
            self._running.clear()
        for item in render.as_said(held.get("items", [])):
            self.item(item)
        for stream in held.get("streams", []):
            self.stream(stream)

    def item(self, item: Json) -> None:
        kind, item_id = item["kind"], str(item["id"])
        self.last_run = str(item["runId"])
        if item_id in self._shown:
            return
        if kind in CALLS:
            self._call(item_id, item)
            return
        self._shown.add(item_id)
        self._thoughts.pop(item_id, None)
        match kind:
            case "assistant_message":
                self._finish(item_id, str(item["payload"].get("text", "")))
            case "reasoning":
                self._thought(str(item["payload"].get("text", "")))
            case _:
                self._close_all()
                lines = [row for line in render.item(item, self._style) for row in self._wrapped(line, "  ")]
                self.put(lines, kind=kind)

    def stream(self, part: Json) -> None:
        """`delta` and `output` go on, `text` is all of it so far."""
        item_id = str(part["itemId"])
        if item_id in self._shown:
            return
        if part.get("output") is not None:
            self._outputs[item_id] = (self._outputs.get(item_id, "") + str(part["output"]))[-_TAIL_CHARS:]
            return
        match part.get("phase", "answering"):
            case "answering":
                answer = self._answer(item_id)
                whole, delta = part.get("text"), part.get("delta")
                if whole is not None or delta:
                    self._write(answer, str(whole) if whole is not None else answer.text + str(delta))
            case "thinking":
                before = "" if part.get("text") is not None else self._thoughts.get(item_id, "")
                self._thoughts[item_id] = (before + str(part.get("text") or part.get("delta") or ""))[-_TAIL_CHARS:]

    def forget(self) -> None:
        """Another conversation from now on."""
        self.run_ended()
        self._shown.clear()

    def run_ended(self) -> None:
        """What a killed daemon left in flight will never be completed."""
        self._close_all()
        self._answers.clear()
        self._running.clear()
        self._outputs.clear()
        self._thoughts.clear()

    def put(self, lines: list[str], *, kind: str) -> None:
        """Lines of one thing; things of another kind stand apart."""
        if not lines:
            return
        apart = (kind != self._last or kind in {"user_message", "card", "told"}) and (self._last, kind) not in _TOGETHER
        if apart and self._last:
            self._lines.append("")
        self._last = kind
        self._lines += lines

    def note(self, text: str, *names: str) -> None:
        """A line of ours beside the conversation."""
        self.put(self._wrapped(self._style.paint(text, *(names or ("dim",))), "  "), kind="note")

    def card_seen(self, request_id: str) -> None:
        """Its diff stands above already; the call need not say it again."""
        self._seen_cards.add(request_id)

    def live(self, beat: int) -> list[str]:
        """What is in flight. `beat` counts up while something moves."""
        rows: list[str] = []
        for answer in self._answers.values():
            if answer.unfinished:
                rows += answer.markdown.preview(answer.rest, self.columns)
        for thought in self._thoughts.values():
            rows += self._thinking(thought, beat)
        for item_id, item in self._running.items():
            rows += self._working(item, self._outputs.get(item_id, ""), beat)
        return rows

    @property
    def apart(self) -> bool:
        """Whether the rows in flight go on with what was put last."""
        return self._last != "answer" or not any(answer.unfinished for answer in self._answers.values())

    def _call(self, item_id: str, item: Json) -> None:
        payload: Json = item["payload"]
        if payload.get("state") not in SETTLED:
            if payload.get("state") == "started":
                self._running[item_id] = item
            else:
                self._running.pop(item_id, None)
            return
        self._shown.add(item_id)
        self._running.pop(item_id, None)
        self._outputs.pop(item_id, None)
        shown = payload.get("requestId") in self._seen_cards
        head, *more = [untabbed(line) for line in render.call(item, self._style, shown=shown)]
        lines = [*self._wrapped(head, "    "), *more]
        if item["kind"] != "command" and (payload.get("result") or {}).get("status") != "ok":
            # A sentence to be read; output and diffs stay whole, so that they are copied as they are.
            lines = [row for line in lines for row in self._wrapped(line, "    ")]
        self.put(lines, kind="call")

    def _answer(self, item_id: str) -> "_Answer":
        """One answer is in flight at a time: where another begins, the one before will not be completed."""
        if item_id not in self._answers:
            self._close_all()
            self._answers = {item_id: _Answer(self._style)}
        return self._answers[item_id]

    def _close_all(self) -> None:
        for answer in self._answers.values():
            self._close(answer)

    def _write(self, answer: "_Answer", whole: str) -> None:
        if answer.text.startswith(whole):
            # A copy from before a crash may end earlier than what was seen.
            return
        if not whole.startswith(answer.text):
            # The model is asked again: what it said before is void, and a new answer begins.
            self._close(answer)
            self.note("⋯ the answer was cut off here and begins again")
            answer.restart()
        answer.text = whole
        *lines, answer.rest = whole[answer.written :].split("\n")
        for line in lines:
            answer.written += len(line) + 1
            self._answered(answer.markdown.line(line, self.columns))

    def _finish(self, item_id: str, text: str) -> None:
        answer = self._answers.pop(item_id, None) or _Answer(self._style)
        self._write(answer, text.rstrip())
        self._close(answer)

    def _close(self, answer: "_Answer") -> None:
        if answer.rest.strip():
            self._answered(answer.markdown.line(answer.rest, self.columns))
        self._answered(answer.markdown.end(self.columns))
        answer.rest, answer.written = "", len(answer.text)

    def _answered(self, rows: list[str]) -> None:
        if self._last == "answer" or any(row.strip() for row in rows):
            self.put(rows, kind="answer")

    def _thought(self, text: str) -> None:
        rows = [line for line in prose(text).split("\n") if line.strip()]
        if rows:
            more = " …" if len(rows) > 1 else ""
            self.put([clip(self._style.dim(f"✻ {untabbed(rows[0])}{more}"), self.columns)], kind="reasoning")

    def _thinking(self, text: str, beat: int) -> list[str]:
        mark = self._style.paint(spinner(beat), "magenta")
        rows = [
            row for line in named(text).split("\n") if line.strip() for row in wrap(untabbed(line), self.columns - 2)
        ]
        tail = rows[-_THOUGHT_ROWS:]
        return [f"{mark} {self._style.dim('thinking')}", *(self._style.dim(f"  {row}") for row in tail)]

    def _working(self, item: Json, output: str, beat: int) -> list[str]:
        mark = self._style.paint(spinner(beat), "cyan")
        rows = [f"{mark} {self._style.bold(render.call_title(item['payload']))}"]
        # Progress bars write one line over and over: its last state is what a terminal would show.
        ends = [line.rstrip("\r").rpartition("\r")[2] for line in output.rstrip("\n").split("\n")] if output else []
        tail = [f"    {one_line(untabbed(line), 400)}" for line in ends[-_TAIL_ROWS:]]
        return rows + [self._style.dim(clip(line, self.columns)) for line in tail]

    def _wrapped(self, line: str, hang: str) -> list[str]:
        return wrap(untabbed(line), self.columns, hang)


def spinner(beat: int) -> str:
    return "◐◓◑◒"[beat % 4]


class _Answer:
    """An answer as it streams: `written` characters of `text` are out as whole lines, `rest` is not."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self.restart()

    @property
    def unfinished(self) -> bool:
        """Whether some of it is seen and not out for good."""
        return bool(self.rest) or self.markdown.holds

    def restart(self) -> None:
        self.markdown = Markdown(self._style)
        self.text = ""
        self.rest = ""
        self.written = 0
