"""Chat Completions as a model: any server that speaks OpenAI's older wire.

Owns the paths of this wire. Encoding is chat_encode, decoding chat_decode, keys and calls wire.
"""

from typing import Any, Final

from agent_ls.adapters.models.chat_decode import ChatDecoder
from agent_ls.adapters.models.chat_encode import encode
from agent_ls.adapters.models.failures import Spoken
from agent_ls.adapters.models.wire import WireModel
from agent_ls.core.addresses import host_of
from agent_ls.ports.provider import ModelRequest

OFFICIAL_HOST: Final = "api.openai.com"


class OpenAIChatModel(WireModel):
    def _path(self, what: str) -> str:
        return "/models" if what == "models" else "/chat/completions"

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        return encode(request, official=host_of(self._http.base_url) == OFFICIAL_HOST)

    def _decoder(self, spoken: Spoken) -> ChatDecoder:
        return ChatDecoder(spoken)
