"""An answer of Anthropic's Messages: frames while it streams, the whole reply at its end.

Owns what the events of this wire mean. An answer ends with `message_stop` and nothing else; thoughts are kept with
their signatures, to be sent back as they came. What all wires agree on is decode's.
"""

import json
from dataclasses import dataclass, field
from typing import Any, Final

from agent_ls.adapters.models.decode import AnswerDecoder, count, text_in
from agent_ls.adapters.models.draft import OpenCall, OpenText
from agent_ls.adapters.models.failures import Spoken
from agent_ls.core.items import Usage
from agent_ls.core.messages import Stop
from agent_ls.ports.provider import Frame

OWN: Final = frozenset({
    "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
    "message_stop", "ping",
})  # fmt: skip

STOPS: Final = {
    "end_turn": Stop.END_TURN,
    "stop_sequence": Stop.END_TURN,
    "tool_use": Stop.TOOL_CALLS,
    "max_tokens": Stop.MAX_TOKENS,
    "model_context_window_exceeded": Stop.MAX_TOKENS,
    "refusal": Stop.REFUSAL,
}


@dataclass
class _Block:
    """A content block. A part of the reply is made of it once there is something in it."""

    type: str
    part: OpenText | OpenCall | None = None
    signature: list[str] = field(default_factory=list)
    given: dict[str, Any] | None = None  # input that came with the start of a call


class AnthropicDecoder(AnswerDecoder):
    def __init__(self, spoken: Spoken) -> None:
        super().__init__(spoken)
        self._blocks: dict[int, _Block] = {}
        self._counts: dict[str, Any] = {}
        self._why = ""

    def _is_own(self, payload: dict[str, Any]) -> bool:
        return payload.get("type") in OWN

    def _stop(self) -> Stop:
        return STOPS.get(self._why, Stop.END_TURN)

    def _take(self, payload: dict[str, Any], frames: list[Frame]) -> None:
        index = payload.get("index")
        place = index if isinstance(index, int) else -1
        match payload:
            case {"type": "message_start", "message": dict(message)}:
                self._name_model(message.get("model"))
                self._count(message.get("usage"))
            case {"type": "content_block_start", "content_block": dict(block)}:
                self._begin(place, block, frames)
            case {"type": "content_block_delta", "delta": dict(delta)} if place in self._blocks:
                self._delta(self._blocks[place], delta, frames)
            case {"type": "content_block_stop"} if place in self._blocks:
                self._close(self._blocks.pop(place), frames)
            case {"type": "message_delta", "delta": dict(delta)}:
                self._why = text_in(delta, "stop_reason") or self._why
                self._count(payload.get("usage"))
            case {"type": "message_stop"}:
                self._end(frames)
            case _:
                pass

    def _take_whole(self, payload: dict[str, Any]) -> bool:
        if payload.get("type") != "message" or not isinstance(content := payload.get("content"), list):
            return False
        self._name_model(payload.get("model"))
        self._why = text_in(payload, "stop_reason")
        self._count(payload.get("usage"))
        for place, block in enumerate(content):
            if isinstance(block, dict):
                self._begin(place, block, [])
        self._end([])
        return True

    def _begin(self, place: int, given: dict[str, Any], frames: list[Frame]) -> None:
        kind = text_in(given, "type")
        block = self._blocks[place] = _Block(kind)
        match kind:
            case "text" | "thinking":
                self._delta(block, {f"{kind}": text_in(given, kind), "type": f"{kind}_delta"}, frames)
                self._delta(block, {"signature": text_in(given, "signature"), "type": "signature_delta"}, frames)
            case "redacted_thinking":
                self._draft.thought(given)
            case "tool_use":
                block.part = self._draft.call(id=text_in(given, "id"), name=text_in(given, "name"))
                block.given = given["input"] if isinstance(given.get("input"), dict) else None
                frames.append(block.part.begun())

    def _delta(self, block: _Block, delta: dict[str, Any], frames: list[Frame]) -> None:
        match delta:
            case {"type": "text_delta", "text": str(text)} if text:
                part = block.part = block.part or self._draft.text()
                frames.append(part.grow(text))
            case {"type": "thinking_delta", "thinking": str(text)} if text:
                part = block.part = block.part or self._draft.thought()
                frames.append(part.grow(text))
            case {"type": "signature_delta", "signature": str(signature)} if signature and block.type == "thinking":
                block.part = block.part or self._draft.thought()
                block.signature.append(signature)
            case {"type": "input_json_delta", "partial_json": str(text)} if text and block.part is not None:
                frames.append(block.part.grow(text))
            case _:
                pass

    def _close(self, block: _Block, frames: list[Frame]) -> None:
        match block.part:
            case OpenCall() as call if block.given and not call.pieces:
                frames.append(call.grow(json.dumps(block.given, ensure_ascii=False)))
            case OpenText(thought=True) as thought if block.signature:
                # Without its signature no server takes a thought back.
                signature = "".join(block.signature)
                thought.raw = {"type": "thinking", "thinking": thought.text, "signature": signature}
            case _:
                pass

    def _end(self, frames: list[Frame]) -> None:
        for block in self._blocks.values():
            self._close(block, frames)
        self._blocks.clear()
        self.over = True

    def _count(self, counts: Any) -> None:
        """Counts come twice, at the start and at the end; the later one holds, where it says anything."""
        if isinstance(counts, dict):
            self._counts |= {name: value for name, value in counts.items() if value is not None}
            self._usage = usage_of(self._counts)


def usage_of(counts: dict[str, Any]) -> Usage:
    """Input is counted here without what the cache read or kept, as in our ledger."""
    return Usage(
        input_tokens=count(counts, "input_tokens"),
        output_tokens=count(counts, "output_tokens"),
        cache_read_tokens=count(counts, "cache_read_input_tokens"),
        cache_write_tokens=count(counts, "cache_creation_input_tokens"),
    )
