"""What a step cost and how much a model takes, by the table of the `genai-prices` package.

Owns when the table is loaded and what is asked of it; nothing is fetched. A price belongs to an address: a model
behind a gateway or on this machine costs what nobody here knows, and has tokens only. A cost that the server names
itself stays.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

import anyio
from anyio import to_thread

from agent_ls.core.items import Usage
from agent_ls.core.messages import Reply
from agent_ls.ports.provider import Emit, Failure, Model, ModelRequest


class Warm(Model, Protocol):
    """A model that can load what it needs ahead."""

    def warm_up(self) -> None: ...


class PricedModel:
    """A model whose replies say what they cost, where that is known.

    The table is loaded in a thread while the first answer is on its way, so that nothing waits for it.
    """

    def __init__(self, inner: Warm, *, base_url: str) -> None:
        self._inner = inner
        self._base_url = base_url
        self._loaded = False

    async def call(self, request: ModelRequest, emit: Emit) -> Reply | Failure:
        outcome = await self._call(request, emit)
        if isinstance(outcome, Failure) or outcome.usage is None or outcome.usage.cost_usd is not None:
            return outcome
        names = [name for name in (outcome.model, request.model) if name]
        cost = next((cost for name in names if (cost := price(outcome.usage, name, self._base_url)) is not None), None)
        return replace(outcome, usage=replace(outcome.usage, cost_usd=cost))

    def warm_up(self) -> None:
        self._inner.warm_up()

    async def models(self) -> Sequence[str] | Failure:
        return await self._inner.models()

    async def close(self) -> None:
        await self._inner.close()

    async def _call(self, request: ModelRequest, emit: Emit) -> Reply | Failure:
        if self._loaded:
            return await self._inner.call(request, emit)
        async with anyio.create_task_group() as group:
            group.start_soon(self._load, request.model)
            outcome = await self._inner.call(request, emit)
        return outcome

    async def _load(self, model: str) -> None:
        # The first look-up takes as long as the import: rules for finding models are made then.
        await to_thread.run_sync(price, Usage(input_tokens=1), model, self._base_url, abandon_on_cancel=True)
        self._loaded = True


def price(usage: Usage, model: str, base_url: str) -> float | None:
    """Dollars; None where the table does not know the address or the model."""
    import genai_prices

    counted = genai_prices.Usage(
        input_tokens=usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
    try:
        return float(genai_prices.calc_price(counted, model, provider_api_url=base_url).total_price)
    except (LookupError, ValueError):
        return None


def window(model: str, base_url: str) -> int | None:
    """Tokens that the model takes; None while the table is not loaded: importing it is nothing for an event loop."""
    return _window(model, base_url) if "genai_prices.data_snapshot" in sys.modules else None


@lru_cache(maxsize=64)
def _window(model: str, base_url: str) -> int | None:
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, found = get_snapshot().find_provider_model(model, None, None, base_url)
    except LookupError:
        return None
    return found.context_window
