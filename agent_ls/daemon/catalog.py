"""The providers of the settings as models that can be called.

Owns which wire serves which kind, one live model per provider, and fetching keys off the loop. Does not own what is
configured (config) nor any wire (adapters.models).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from anyio import to_thread

from agent_ls.adapters.host.key_command import printed_key
from agent_ls.adapters.models.anthropic import AnthropicModel
from agent_ls.adapters.models.demo import DemoModel
from agent_ls.adapters.models.http import HttpLimits
from agent_ls.adapters.models.openai_chat import OpenAIChatModel
from agent_ls.adapters.models.openai_responses import OpenAIResponsesModel
from agent_ls.adapters.models.pricing import PricedModel, window
from agent_ls.adapters.models.wire import WireModel
from agent_ls.config.providers import Provider
from agent_ls.config.secret import CommandKey, EnvironmentKey, Keys, KeySource, Secret, mask
from agent_ls.config.settings import Settings
from agent_ls.core.conversation import Mode
from agent_ls.core.errors import Refusal
from agent_ls.core.masking import written_values
from agent_ls.core.messages import Reply
from agent_ls.editor.desk import ProviderInfo
from agent_ls.ports.host import Clock
from agent_ls.ports.provider import Cause, Emit, Failure, Model, ModelRequest

WIRES: Final[Mapping[str, type[WireModel]]] = {
    "anthropic": AnthropicModel,
    "openai": OpenAIResponsesModel,
    "openai-compatible": OpenAIChatModel,
}


class Providers:
    """Implements editor.desk.Catalog, and resolves names to models for the runtime."""

    def __init__(self, settings: Settings, environ: dict[str, str], clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._keys = Keys(environ, printed_key)
        self._models: dict[str, Model] = {}
        self._retired: list[Model] = []

    def use(self, settings: Settings) -> None:
        """From the next step on. What is being asked now is answered; a model whose settings did not change stays."""
        before, self._settings = self._settings, settings
        for name in list(self._models):
            same = settings.http == before.http and settings.providers.get(name) == before.providers.get(name)
            if not same:
                self._retired.append(self._models.pop(name))

    @property
    def mode(self) -> Mode:
        return self._settings.mode

    def providers(self) -> Sequence[ProviderInfo]:
        return [_info(provider) for provider in self._settings.providers.values()]

    def choose(self, name: str | None) -> ProviderInfo | Refusal:
        found = self._settings.usable(name)
        return found if isinstance(found, Refusal) else _info(found)

    async def models(self, name: str) -> Sequence[str] | Failure:
        model = self.resolve(name)
        return model if isinstance(model, Failure) else await model.models()

    def resolve(self, name: str) -> Model | Failure:
        provider = self._settings.usable(name)
        if isinstance(provider, Refusal):
            return Failure(Cause.NOT_FOUND, provider.message, detail=provider.hint)
        known = self._models.get(name)
        if known is None:
            known = self._models[name] = self._make(provider)
        return known

    def window(self, name: str, model: str) -> int | None:
        """Tokens that a model takes: as configured, else as the table says, once that is loaded."""
        provider = self._settings.providers.get(name)
        if provider is None or provider.context_window is not None:
            return None if provider is None else provider.context_window
        if provider.base_url is None or provider.is_local:
            return None
        return window(model, provider.base_url)

    async def warm_up(self) -> None:
        """Loads what the default provider needs, off the loop, before the first message waits for it."""
        name = self._settings.provider
        model = self.resolve(name) if name is not None else None
        if isinstance(model, KeyedModel | PricedModel):
            await to_thread.run_sync(model.warm_up, abandon_on_cancel=True)

    async def close(self) -> None:
        for model in (*self._models.values(), *self._retired):
            await model.close()

    def _make(self, provider: Provider) -> Model:
        if provider.kind == "demo":
            return DemoModel(sleep=self._clock.sleep)
        wire = WIRES.get(provider.kind)
        if wire is None or provider.base_url is None:
            raise ValueError(f"settings called {provider.name} usable, but no wire serves {provider.kind}")
        http = self._settings.http
        local = provider.is_local
        limits = HttpLimits(
            connect_s=http.connect_timeout_s,
            first_byte_s=http.first_byte_timeout_s,
            local_first_byte_s=self._settings.first_byte_timeout_s(provider) if local else http.first_byte_timeout_s,
            idle_s=http.idle_timeout_s,
            pings_only_s=http.pings_only_timeout_s,
        )
        served = partial(
            wire,
            name=provider.name,
            base_url=provider.base_url,
            key_source=_source(provider),
            headers=provider.headers,
            http=limits,
        )
        model = KeyedModel(self._keys, provider.key, served, hidden=written_values(provider.headers))
        return model if local else PricedModel(model, base_url=provider.base_url)


class KeyedModel:
    """Fetches the key before each call, off the loop when a program has to print it."""

    def __init__(
        self,
        keys: Keys,
        source: KeySource | None,
        wire: Callable[..., WireModel],
        *,
        hidden: frozenset[str] = frozenset(),
    ) -> None:
        """`wire` makes the model, given where it gets its key from. `hidden`: what else no error may repeat."""
        self._keys = keys
        self._hidden = hidden
        self._source = source
        self._fetched: Secret | None = None
        self._inner = wire(api_key=None if source is None else self._key)

    async def call(self, request: ModelRequest, emit: Emit) -> Reply | Failure:
        trouble = await self._fetch()
        if trouble is not None:
            return trouble
        outcome = await self._inner.call(request, emit)
        if isinstance(outcome, Failure) and outcome.cause is Cause.UNAUTHORIZED:
            self._keys.forget(self._source)
        return self._masked(outcome) if isinstance(outcome, Failure) else outcome

    def warm_up(self) -> None:
        self._inner.warm_up()

    async def models(self) -> Sequence[str] | Failure:
        trouble = await self._fetch()
        found = trouble or await self._inner.models()
        return self._masked(found) if isinstance(found, Failure) else found

    async def close(self) -> None:
        await self._inner.close()

    def _masked(self, failure: Failure) -> Failure:
        """Servers repeat in their errors what they were sent."""
        values = [*self._hidden, self._key() or ""]
        return replace(failure, message=mask(failure.message, values), detail=mask(failure.detail, values))

    def _key(self) -> str | None:
        return None if self._fetched is None else self._fetched.reveal()

    async def _fetch(self) -> Failure | None:
        if self._source is None:
            return None
        if isinstance(self._source, CommandKey):
            found = await to_thread.run_sync(self._keys.get, self._source)
        else:
            found = self._keys.get(self._source)
        if isinstance(found, Failure):
            return found
        self._fetched = found
        return None


def _source(provider: Provider) -> str | None:
    match provider.key:
        case EnvironmentKey(name=name):
            return name
        case CommandKey():
            return "api_key_command"
        case _:
            return None


def _info(provider: Provider) -> ProviderInfo:
    return ProviderInfo(
        name=provider.name,
        kind=provider.kind,
        model=provider.model,
        available=provider.problem is None,
        reason=provider.problem,
        context_window=provider.context_window,
    )
