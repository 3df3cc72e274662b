"""What a step costs, where that is known, and that nothing waits for it."""

from collections.abc import Sequence

import anyio
import pytest

from agent_ls.adapters.models.pricing import PricedModel, price
from agent_ls.core.items import Usage
from agent_ls.core.messages import Reply, Stop, TextPart
from agent_ls.ports.provider import Cause, Emit, Failure, ModelRequest

pytestmark = pytest.mark.anyio

ANTHROPIC = "https://api.anthropic.com"
MODEL = "claude-sonnet-4-5"
USED = Usage(input_tokens=1_000, output_tokens=100, cache_read_tokens=10_000, cache_write_tokens=2_000)
COST = (1_000 * 3 + 100 * 15 + 10_000 * 0.3 + 2_000 * 3.75) / 1_000_000


class Answers:
    """A model that gives the same outcome each time."""

    def __init__(self, outcome: Reply | Failure) -> None:
        self._outcome = outcome

    async def call(self, request: ModelRequest, emit: Emit) -> Reply | Failure:
        return self._outcome

    async def models(self) -> Sequence[str] | Failure:
        return ("a",)

    async def close(self) -> None:
        return None


def answered(usage: Usage | None, model: str | None = None) -> Reply:
    return Reply((TextPart("a"),), Stop.END_TURN, usage, model)


async def outcome(of: Reply | Failure, base_url: str = ANTHROPIC, model: str = MODEL) -> Reply | Failure:
    priced = PricedModel(Answers(of), base_url=base_url)
    request = ModelRequest(model=model, system="", messages=(), tools=(), step_id="s", cache_key="k")
    with anyio.fail_after(5):
        first = await priced.call(request, lambda _: None)
        assert await priced.call(request, lambda _: None) == first
    return first


def test_what_the_cache_read_and_kept_has_prices_of_its_own() -> None:
    assert price(USED, MODEL, ANTHROPIC) == pytest.approx(COST)


@pytest.mark.parametrize(
    ("model", "base_url"),
    [(MODEL, "https://gateway.example/v1"), ("scripted-1", ANTHROPIC), (MODEL, "http://127.0.0.1:1/v1"), ("", "")],
)
def test_where_nothing_is_known_there_are_tokens_only(model: str, base_url: str) -> None:
    assert price(USED, model, base_url) is None


async def test_a_reply_says_what_it_cost_under_either_name_of_its_model() -> None:
    for named in (None, "claude-sonnet-4-5-20250929", "a-name-of-the-gateway"):
        result = await outcome(answered(USED, named))
        assert isinstance(result, Reply)
        assert result.usage is not None
        assert result.usage.cost_usd == pytest.approx(COST)


@pytest.mark.parametrize(
    "unchanged",
    [
        answered(None),
        answered(Usage(input_tokens=1, cost_usd=0.5)),
        Failure(Cause.CUT, "It was cut."),
    ],
)
async def test_what_needs_no_price_passes_unchanged(unchanged: Reply | Failure) -> None:
    assert await outcome(unchanged) == unchanged
