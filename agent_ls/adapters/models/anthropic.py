"""Anthropic's Messages as a model.

Owns paths, key and version header of this wire. Encoding is anthropic_encode, decoding anthropic_decode, calls wire.
"""

from typing import Any, Final

from agent_ls.adapters.models.anthropic_decode import AnthropicDecoder
from agent_ls.adapters.models.anthropic_encode import encode
from agent_ls.adapters.models.failures import Spoken
from agent_ls.adapters.models.wire import WireModel
from agent_ls.ports.provider import ModelRequest

VERSION: Final = "2023-06-01"


class AnthropicModel(WireModel):
    KEY_HEADERS = frozenset({"x-api-key", "authorization"})

    def _path(self, what: str) -> str:
        # Its address is usually written without the version that other servers have in theirs.
        below = "" if self._http.base_url.endswith("/v1") else "/v1"
        return below + ("/models?limit=1000" if what == "models" else "/messages")

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        return encode(request)

    def _decoder(self, spoken: Spoken) -> AnthropicDecoder:
        return AnthropicDecoder(spoken)

    def _present(self, key: str) -> dict[str, str]:
        return {"x-api-key": key}

    def _standing_headers(self) -> dict[str, str]:
        return {"anthropic-version": VERSION}
