"""A Chat Completions answer: frames while it streams, the whole reply at its end.

Owns what counts as the end of such an answer: a finish reason or `[DONE]`; without either it was cut. What all wires
agree on is decode's.
"""

from typing import Any, Final

from agent_ls.adapters.models import failures
from agent_ls.adapters.models.chat_calls import CallBook, arguments_text
from agent_ls.adapters.models.decode import AnswerDecoder, count
from agent_ls.adapters.models.draft import OpenText
from agent_ls.adapters.models.failures import Spoken
from agent_ls.core.items import Usage
from agent_ls.core.messages import Stop
from agent_ls.ports.provider import Frame

STOPS: Final = {
    "stop": Stop.END_TURN,
    "tool_calls": Stop.TOOL_CALLS,
    "function_call": Stop.TOOL_CALLS,
    "length": Stop.MAX_TOKENS,
    "max_tokens": Stop.MAX_TOKENS,
    "content_filter": Stop.REFUSAL,
}


class ChatDecoder(AnswerDecoder):
    ENDS_AT_DONE = True

    def __init__(self, spoken: Spoken) -> None:
        super().__init__(spoken)
        self._run: OpenText | None = None  # the run that text may still be added to
        self._calls = CallBook()
        self._finish: str | None = None
        self._refused = False

    @property
    def settled(self) -> bool:
        return self.over or self._finish is not None

    def _is_own(self, payload: dict[str, Any]) -> bool:
        return "choices" in payload

    def _take_whole(self, payload: dict[str, Any]) -> bool:
        if not (isinstance(choices := payload.get("choices"), list) and choices):
            return False
        self._take(payload, [])
        return True

    def _stop(self) -> Stop:
        return Stop.REFUSAL if self._refused else STOPS.get(self._finish or "", Stop.END_TURN)

    def _take(self, payload: dict[str, Any], frames: list[Frame]) -> None:
        self._name_model(payload.get("model"))
        if isinstance(counts := payload.get("usage"), dict):
            self._usage = usage_of(counts)
        choices = payload.get("choices")
        if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
            return
        choice = choices[0]
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._delta(delta, frames)
        finish = choice.get("finish_reason") or choice.get("finishReason")
        if isinstance(finish, str) and finish:
            if finish == "error":
                self._refuse(failures.error_in(choice) or failures.ServerError("finish_reason: error"), frames)
            self._finish = finish

    def _delta(self, delta: dict[str, Any], frames: list[Frame]) -> None:
        for field in ("reasoning_content", "reasoning"):
            thought = delta.get(field)
            if thought and isinstance(thought, str):
                frames.append(self._grow(field, thought))
                break
        text = delta.get("content")
        if isinstance(text, list):
            text = "".join(part.get("text") or "" for part in text if isinstance(part, dict))
        if text and isinstance(text, str):
            frames.append(self._grow("", text))
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            self._refused = True
            frames.append(self._grow("", refusal))
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            for fragment in calls:
                if isinstance(fragment, dict):
                    self._fragment(fragment, frames)

    def _grow(self, field: str, delta: str) -> Frame:
        """`field`: what the server calls its reasoning, empty for text."""
        raw = {"field": field} if field else None
        if self._run is None or self._run.raw != raw:
            self._run = self._draft.text() if raw is None else self._draft.thought(raw)
        return self._run.grow(delta)

    def _fragment(self, fragment: dict[str, Any], frames: list[Frame]) -> None:
        function = fragment.get("function")
        if not isinstance(function, dict):
            function = {}
        name = function.get("name")
        name = name if isinstance(name, str) else ""
        arguments = arguments_text(function.get("arguments"))
        call = self._calls.find(fragment, name, arguments)
        if call is None:
            call = self._draft.call()
            self._run = None
            self._calls.add(fragment, call)
        else:
            self._calls.touch(fragment, call)
        named_now = bool(name) and not call.name
        if named_now:
            call.name = name
        grown = call.grow(arguments) if arguments else None
        if named_now:
            frames.append(call.begun())
        elif grown is not None and call.name:
            frames.append(grown)


def usage_of(counts: dict[str, Any]) -> Usage:
    """Tokens as our ledger counts them: what came from a cache is not counted as input a second time."""
    cached = count(counts.get("prompt_tokens_details"), "cached_tokens") or count(counts, "prompt_cache_hit_tokens")
    cost = counts.get("cost")
    return Usage(
        input_tokens=max(count(counts, "prompt_tokens") - cached, 0),
        output_tokens=count(counts, "completion_tokens"),
        cache_read_tokens=cached,
        cost_usd=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
    )
