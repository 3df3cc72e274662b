"""OpenAI's Responses as a model.

Owns the paths of this wire, and that thoughts in words are done without where an account may not have them. Encoding is
openai_responses_encode, decoding openai_responses_decode, calls wire.
"""

from typing import Any

from agent_ls.adapters.models.failures import Spoken
from agent_ls.adapters.models.openai_responses_decode import ResponsesDecoder
from agent_ls.adapters.models.openai_responses_encode import encode
from agent_ls.adapters.models.wire import WireModel
from agent_ls.core.messages import Reply
from agent_ls.ports.provider import Cause, Emit, Failure, ModelRequest


class OpenAIResponsesModel(WireModel):
    _summaries = True

    async def call(self, request: ModelRequest, emit: Emit) -> Reply | Failure:
        outcome = await super().call(request, emit)
        if self._summaries and isinstance(outcome, Failure) and _summaries_refused(outcome):
            # Not the same request again: one that was refused for what it asked for, without that.
            self._summaries = False
            outcome = await super().call(request, emit)
        return outcome

    def _path(self, what: str) -> str:
        return "/models" if what == "models" else "/responses"

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        return encode(request, summaries=self._summaries)

    def _decoder(self, spoken: Spoken) -> ResponsesDecoder:
        return ResponsesDecoder(spoken)


def _summaries_refused(failure: Failure) -> bool:
    return failure.cause is Cause.INVALID and not failure.shown and "reasoning summar" in failure.detail.lower()
