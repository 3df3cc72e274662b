"""A conversation on a terminal as it happens: text and output as they stream, calls when done, cards when asked.

Owns what has been written already, so that a committed item completes what was streamed and never repeats it. Does not
own how a thing looks (render.py).
"""

import sys
from collections.abc import Iterable
from typing import Any, TextIO

from agent_ls.cli import cards, render
from agent_ls.cli.flow import Flow
from agent_ls.cli.outputs import Outputs
from agent_ls.cli.terminal import columns_of, is_terminal, prose, style_of, wrapped
from agent_ls.core.call import SETTLED
from agent_ls.core.items import CALLS

Json = dict[str, Any]


class Screen:
    """`answer` gets what the model says and nothing else; `activity` gets the rest. They may be one stream.

    With `run_id`, only that run is shown. `hints`: cards say which command answers them.
    """

    def __init__(self, *, answer: TextIO, activity: TextIO, run_id: str | None = None, hints: bool = True) -> None:
        self._run_id = run_id
        self._hints = hints
        self._answer = answer
        self._activity = activity
        self._style = style_of(activity)
        self._together = answer is activity or (is_terminal(answer) and is_terminal(activity))
        self._written: dict[str, str] = {}
        self._shown: set[str] = set()
        self._cards: dict[str, str] = {}
        self._open_line = False
        self._flow = Flow()
        # Whether an error stands on it already.
        self.failed = False
        # Where nobody watches, the end of an output with its call is enough.
        self._outputs = Outputs(self._style) if is_terminal(activity) else None

    def snapshot(self, held: Json) -> None:
        """The past as far as it was asked for, what is in flight, and what waits for an answer."""
        for item in render.as_said(held.get("items", [])):
            if self._ours("item", item):
                self._item(item)
        for stream in held.get("streams", []):
            self.stream(stream)
        for request in held.get("requests", []):
            if self._ours("request", request):
                self._request(request)

    def event(self, event: Json) -> None:
        entity: Json = event["entity"]
        if not self._ours(event["kind"], entity):
            return
        match event["kind"]:
            case "item":
                self._item(entity)
            case "request":
                self._request(entity)
            case "run":
                self._run(entity)

    def stream(self, part: Json) -> None:
        """`delta` goes on, `text` is all of it so far; output of commands is shown live to a person."""
        if part.get("output") is not None and self._outputs is not None:
            self.line(self._outputs.lines(part))
        if part.get("phase", "answering") != "answering":
            return
        item_id, written = str(part["itemId"]), self._written.get(str(part["itemId"]), "")
        if item_id in self._shown:
            return
        if part.get("text") is not None:
            self._write(item_id, written, whole=str(part["text"]))
        elif part.get("delta"):
            self._write(item_id, written, whole=written + str(part["delta"]))

    def line(self, lines: Iterable[str]) -> None:
        """Beside the answer, on lines of their own."""
        lines = list(lines)
        if lines:
            self.end_line()
        for line in lines:
            print(line, file=self._activity, flush=True)

    def cards(self, requests: Iterable[Json]) -> None:
        """Of requests that belong here although another conversation asks them."""
        for request in requests:
            self._request(request)

    def end_line(self) -> None:
        if self._open_line and self._together:
            self._put("\n")

    def _item(self, item: Json) -> None:
        kind, item_id = item["kind"], str(item["id"])
        if item_id in self._shown:
            return
        if kind == "assistant_message":
            self._shown.add(item_id)
            self._finish(item_id, str(item["payload"].get("text", "")))
        elif kind in CALLS:
            self._call(item_id, item)
        elif not (self._run_id and kind in {"user_message", "reasoning"}):
            self._shown.add(item_id)
            self.failed |= kind == "error"
            columns = columns_of(self._activity)
            lines = [row for line in render.item(item, self._style) for row in wrapped(line, columns)]
            self.line(["", *lines] if kind == "user_message" else lines)

    def _call(self, item_id: str, item: Json) -> None:
        state = item["payload"].get("state")
        if self._outputs is not None and state == "started":
            self._outputs.started(item)
        if state not in SETTLED:
            return
        self._shown.add(item_id)
        left, seen = self._outputs.settled(item) if self._outputs is not None else ([], False)
        carded = item["payload"].get("requestId") in self._cards
        lines = render.call(item, self._style, shown=carded)
        self.line([*left, *(lines[:1] if seen else lines)])

    def _request(self, request: Json) -> None:
        state = f"{request.get('status')} {request.get('digest')}"
        if self._cards.get(request["id"]) == state:
            return
        known = request["id"] in self._cards
        self._cards[request["id"]] = state
        if request.get("status") == "pending":
            columns = columns_of(self._activity)
            self.line(["", *cards.card(request, self._style, answers=self._hints, columns=columns)])
        elif known:
            self.line([self._style.dim(f"#{request.get('number')} {cards.decided(request)}")])

    def _run(self, run: Json) -> None:
        if run.get("status") in {"completed", "failed", "interrupted", "cancelled"}:
            self.end_line()

    def _write(self, item_id: str, written: str, *, whole: str) -> None:
        if not whole.startswith(written):
            # What was in flight is void (the model is asked again): a new line, never a mixture.
            self._put("\n" if self._open_line else "")
            written = ""
        if not written and whole and self._answer is self._activity:
            self._put("\n")
        self._put(prose(whole[len(written) :]))
        self._written[item_id] = whole

    def _finish(self, item_id: str, text: str) -> None:
        self._write(item_id, self._written.pop(item_id, ""), whole=text)
        self._put("\n" if self._open_line else "")

    def _put(self, text: str) -> None:
        """On a terminal, a word is held back until it is whole."""
        columns = columns_of(self._answer)
        shown = text if columns is None else self._flow.feed(text, columns)
        if shown:
            self._answer.write(shown)
            self._answer.flush()
        if text:
            self._open_line = not text.endswith("\n")

    def _ours(self, kind: str, entity: Json) -> bool:
        if self._run_id is None:
            return True
        return self._run_id == (entity["id"] if kind == "run" else entity.get("runId"))


def on_terminal(*, hints: bool = True) -> Screen:
    """Answer and activity on standard output, as a person follows them."""
    return Screen(answer=sys.stdout, activity=sys.stdout, hints=hints)
