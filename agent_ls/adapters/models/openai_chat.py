"""Chat Completions as a model: any server that speaks OpenAI's older wire.

Owns path, key and headers of this wire. Encoding is chat_encode, decoding chat_decode, bytes and time limits http.
Trouble with the server is a Failure value, cancellation passes, the rest is our bug.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from agent_ls.adapters.models.chat_decode import ChatDecoder
from agent_ls.adapters.models.chat_encode import encode
from agent_ls.adapters.models.failures import Spoken, nonsense
from agent_ls.adapters.models.http import HttpLimits, ModelHttp, host_of, is_loopback
from agent_ls.ports.provider import Cause, Emit, Failure, ModelRequest, Reply

OFFICIAL_HOST: Final = "api.openai.com"


class OpenAIChatModel:
    """One provider of configuration. `api_key` is asked for at each call, so that a new key needs no restart.

    `key_source` names where the key comes from, for a sentence: an environment variable, a command.
    """

    def __init__(
        self,
        *,
        name: str,
        base_url: str,
        api_key: Callable[[], str | None] | None = None,
        key_source: str | None = None,
        headers: Mapping[str, str] | None = None,
        http: HttpLimits | None = None,
    ) -> None:
        self._name = name
        self._http = ModelHttp(base_url=base_url, headers=headers or {}, limits=http or HttpLimits())
        self._api_key = api_key
        self._key_source = key_source
        self._own_authorization = any(header.lower() == "authorization" for header in headers or {})
        self._local = is_loopback(base_url)
        self._official = host_of(base_url) == OFFICIAL_HOST

    async def call(self, request: ModelRequest, emit: Emit) -> Reply | Failure:
        spoken = self._spoken(request.model)
        headers = self._authorization(spoken)
        if isinstance(headers, Failure):
            return headers
        return await self._http.stream(
            "/chat/completions",
            encode(request, official=self._official),
            headers=headers,
            spoken=spoken,
            decoder=ChatDecoder(spoken),
            emit=emit,
        )

    async def models(self) -> Sequence[str] | Failure:
        spoken = self._spoken("")
        headers = self._authorization(spoken)
        if isinstance(headers, Failure):
            return headers
        payload = await self._http.get("/models", headers=headers, spoken=spoken)
        if isinstance(payload, Failure):
            return payload
        listed = payload.get("data") or payload.get("models") if isinstance(payload, dict) else payload
        if not isinstance(listed, list):
            return nonsense(spoken, "answered with no list of models")
        names = [entry.get("id") or entry.get("name") for entry in listed if isinstance(entry, dict)]
        return [name for name in names if isinstance(name, str)]

    async def close(self) -> None:
        await self._http.close()

    def warm_up(self) -> None:
        """Load the HTTP library and make the client now, so that the first message does not wait for it."""
        self._http.warm_up()

    def _spoken(self, model: str) -> Spoken:
        secret = (self._api_key() or "").strip() if self._api_key is not None else ""
        return Spoken(
            provider=self._name,
            base_url=self._http.base_url,
            model=model,
            key_source=self._key_source,
            secret=secret or None,
        )

    def _authorization(self, spoken: Spoken) -> dict[str, str] | Failure:
        if spoken.secret is None:
            wanted = self._api_key is not None and not self._local and not self._own_authorization
            return _no_key(spoken) if wanted else {}
        if not (spoken.secret.isascii() and spoken.secret.isprintable()):
            where = spoken.key_source or "config.toml"
            message = f"The key of provider {spoken.provider!r} holds signs that no key has. Set it again in {where}."
            return Failure(Cause.UNAUTHORIZED, message)
        return {"Authorization": f"Bearer {spoken.secret}"}


def _no_key(spoken: Spoken) -> Failure:
    where = spoken.key_source or f"a key for provider {spoken.provider!r} in config.toml"
    message = f"There is no key for {spoken.provider!r} ({spoken.address}). Set {where};"
    return Failure(Cause.UNAUTHORIZED, message + " `agent-ls doctor` shows what was found.")
