"""An answer of OpenAI's Responses: frames while it streams, the whole reply at its end.

Owns what the events of this wire mean. An answer ends with `response.completed`, `incomplete` or `failed`; thoughts are
kept sealed, to be sent back as they came. What all wires agree on is decode's.
"""

from dataclasses import dataclass
from typing import Any, Final

from agent_ls.adapters.models import failures
from agent_ls.adapters.models.decode import AnswerDecoder, count, text_in
from agent_ls.adapters.models.draft import OpenCall, OpenText
from agent_ls.adapters.models.failures import ServerError, Spoken
from agent_ls.core.items import Usage
from agent_ls.core.messages import Stop
from agent_ls.ports.provider import Frame

ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})
STOPS: Final = {"max_output_tokens": Stop.MAX_TOKENS, "content_filter": Stop.REFUSAL}


@dataclass
class _Output:
    """An output item. `paragraph`: which part of its summary or content grew last."""

    part: OpenText | OpenCall | None = None
    paragraph: int = 0


class ResponsesDecoder(AnswerDecoder):
    def __init__(self, spoken: Spoken) -> None:
        super().__init__(spoken)
        self._outputs: dict[int, _Output] = {}
        self._why = Stop.END_TURN
        self._refused = False

    def _is_own(self, payload: dict[str, Any]) -> bool:
        return text_in(payload, "type").startswith("response.")

    def _stop(self) -> Stop:
        return Stop.REFUSAL if self._refused else self._why

    def _take_whole(self, payload: dict[str, Any]) -> bool:
        if not isinstance(payload.get("output"), list):
            return False
        self._end(payload, [])
        return True

    def _take(self, payload: dict[str, Any], frames: list[Frame]) -> None:
        place = payload.get("output_index")
        output = self._outputs.setdefault(place if isinstance(place, int) else 0, _Output())
        delta, item = text_in(payload, "delta"), payload.get("item")
        match payload.get("type"):
            case "response.created" | "response.in_progress":
                self._name_model(text_in(payload.get("response"), "model"))
            case "response.output_item.added" if isinstance(item, dict):
                self._begin(output, item, frames)
            case "response.output_item.done" if isinstance(item, dict):
                self._item(output, item, frames)
            case "response.output_text.delta" if delta:
                self._text(output, delta, frames)
            case "response.refusal.delta" if delta:
                self._refused = True
                self._text(output, delta, frames)
            case "response.reasoning_summary_text.delta" if delta:
                self._thought(output, delta, count(payload, "summary_index"), frames=frames)
            case "response.reasoning_text.delta" if delta:
                self._thought(output, delta, count(payload, "content_index"), frames=frames)
            case "response.function_call_arguments.delta" if delta and isinstance(output.part, OpenCall):
                frames.append(output.part.grow(delta))
            case str(kind) if kind in ENDS:
                response = payload.get("response")
                self._end(response if isinstance(response, dict) else {"status": kind.partition(".")[2]}, frames)
            case _:
                pass

    def _begin(self, output: _Output, item: dict[str, Any], frames: list[Frame]) -> None:
        if item.get("type") == "function_call" and output.part is None:
            call = output.part = self._draft.call(id=text_in(item, "call_id"), name=text_in(item, "name"))
            frames.append(call.begun())

    def _item(self, output: _Output, item: dict[str, Any], frames: list[Frame]) -> None:
        """An item that is whole: what it holds and was not streamed is taken from it."""
        self._begin(output, item, frames)
        match item.get("type"):
            case "message" if output.part is None:
                for content in _dicts(item.get("content")):
                    self._refused = self._refused or bool(text_in(content, "refusal"))
                    if text := text_in(content, "text") or text_in(content, "refusal"):
                        self._text(output, text, frames)
            case "function_call" if isinstance(output.part, OpenCall) and not output.part.pieces:
                if arguments := text_in(item, "arguments"):
                    frames.append(output.part.grow(arguments))
            case "reasoning":
                if output.part is None:
                    for place, words in enumerate(_dicts(item.get("summary")) or _dicts(item.get("content"))):
                        if text := text_in(words, "text"):
                            self._thought(output, text, place, frames=frames)
                if item.get("encrypted_content"):
                    thought = output.part = output.part or self._draft.thought()
                    if isinstance(thought, OpenText):
                        thought.raw = item
            case _:
                pass

    def _text(self, output: _Output, delta: str, frames: list[Frame]) -> None:
        part = output.part = output.part or self._draft.text()
        frames.append(part.grow(delta))

    def _thought(self, output: _Output, delta: str, paragraph: int, *, frames: list[Frame]) -> None:
        part = output.part = output.part or self._draft.thought()
        if paragraph != output.paragraph and isinstance(part, OpenText) and part.pieces:
            delta = "\n\n" + delta
        output.paragraph = paragraph
        frames.append(part.grow(delta))

    def _end(self, response: dict[str, Any], frames: list[Frame]) -> None:
        self._name_model(response.get("model"))
        if isinstance(counts := response.get("usage"), dict):
            self._usage = usage_of(counts)
        if response.get("status") == "failed":
            self._refuse(failures.error_in(response) or ServerError("status: failed"), frames)
            return
        for place, item in enumerate(_dicts(response.get("output")) if self._draft.empty else ()):
            self._item(self._outputs.setdefault(place, _Output()), item, frames)
        if response.get("status") == "incomplete":
            self._why = STOPS.get(text_in(response.get("incomplete_details"), "reason"), Stop.MAX_TOKENS)
        self.over = True


def usage_of(counts: dict[str, Any]) -> Usage:
    """Tokens as our ledger counts them: what came from a cache is not counted as input a second time."""
    cached = count(counts.get("input_tokens_details"), "cached_tokens")
    return Usage(
        input_tokens=max(count(counts, "input_tokens") - cached, 0),
        output_tokens=count(counts, "output_tokens"),
        cache_read_tokens=cached,
    )


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
