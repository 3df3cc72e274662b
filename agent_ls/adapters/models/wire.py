"""A model behind HTTP, as far as all wires agree: whose key goes along, what is listed, one call.

Owns the provider's name and key. A wire says its paths, how a key is presented, and brings its encoder and decoder;
bytes and time limits are http's. Trouble with the server is a Failure value, cancellation passes, the rest is our bug.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from agent_ls.adapters.models.failures import Spoken, nonsense
from agent_ls.adapters.models.http import HttpLimits, ModelHttp, StreamDecoder
from agent_ls.core.addresses import is_loopback
from agent_ls.core.messages import Reply
from agent_ls.ports.provider import Cause, Emit, Failure, ModelRequest


class WireModel(ABC):
    """One provider of configuration. `api_key` is asked for at each call, so that a new key needs no restart.

    `key_source` names where the key comes from, for a sentence: an environment variable, a command.
    """

    KEY_HEADERS: ClassVar[frozenset[str]] = frozenset({"authorization"})
    """Headers that carry a key; a provider configured with one of its own needs none from us."""

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
        own = {**self._standing_headers(), **(headers or {})}
        self._http = ModelHttp(base_url=base_url, headers=own, limits=http or HttpLimits())
        self._api_key = api_key
        self._key_source = key_source
        self._own_key = any(header.lower() in self.KEY_HEADERS for header in own)
        self._local = is_loopback(base_url)

    async def call(self, request: ModelRequest, emit: Emit) -> Reply | Failure:
        spoken = self._spoken(request.model)
        headers = self._key(spoken)
        if isinstance(headers, Failure):
            return headers
        return await self._http.stream(
            self._path("call"),
            self._body(request),
            headers=headers,
            spoken=spoken,
            decoder=self._decoder(spoken),
            emit=emit,
        )

    async def models(self) -> Sequence[str] | Failure:
        spoken = self._spoken("")
        headers = self._key(spoken)
        if isinstance(headers, Failure):
            return headers
        payload = await self._http.get(self._path("models"), headers=headers, spoken=spoken)
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

    # What a wire says.

    @abstractmethod
    def _path(self, what: str) -> str:
        """Below the base URL: where a `call` is made, where the `models` are listed."""

    @abstractmethod
    def _body(self, request: ModelRequest) -> Any: ...

    @abstractmethod
    def _decoder(self, spoken: Spoken) -> StreamDecoder: ...

    def _present(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"}

    def _standing_headers(self) -> dict[str, str]:
        return {}

    def _spoken(self, model: str) -> Spoken:
        secret = (self._api_key() or "").strip() if self._api_key is not None else ""
        return Spoken(
            provider=self._name,
            base_url=self._http.base_url,
            model=model,
            key_source=self._key_source,
            secret=secret or None,
        )

    def _key(self, spoken: Spoken) -> dict[str, str] | Failure:
        if spoken.secret is None:
            wanted = self._api_key is not None and not self._local and not self._own_key
            return _no_key(spoken) if wanted else {}
        if not (spoken.secret.isascii() and spoken.secret.isprintable()):
            where = spoken.key_source or "config.toml"
            message = f"The key of provider {spoken.provider!r} holds signs that no key has. Set it again in {where}."
            return Failure(Cause.UNAUTHORIZED, message)
        return self._present(spoken.secret)


def _no_key(spoken: Spoken) -> Failure:
    where = spoken.key_source or f"a key for provider {spoken.provider!r} in config.toml"
    message = f"There is no key for {spoken.provider!r} ({spoken.address}). Set {where};"
    return Failure(Cause.UNAUTHORIZED, message + " `agent-ls doctor` shows what was found.")
