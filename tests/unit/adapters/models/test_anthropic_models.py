"""What follows from the name of a model of Anthropic."""

from typing import Any

import pytest

from agent_ls.adapters.models.anthropic_models import longest_answer, thinking

BUDGET = {"type": "enabled", "budget_tokens": 8_000}
ADAPTIVE = {"type": "adaptive", "display": "summarized"}


@pytest.mark.parametrize(
    ("model", "tokens", "how"),
    [
        ("claude-2.1", 4_096, None),
        ("claude-3-haiku-20240307", 4_096, None),
        ("claude-3-5-sonnet-20241022", 8_192, None),
        ("claude-3-7-sonnet-latest", 16_000, BUDGET),
        ("claude-sonnet-4-20250514", 16_000, BUDGET),
        ("claude-opus-4-1", 16_000, BUDGET),
        ("claude-sonnet-4-5-20250929", 32_000, BUDGET),
        ("anthropic/claude-opus-4.6", 32_000, ADAPTIVE),
        ("claude-opus-4-7@20260401", 32_000, ADAPTIVE),
        ("claude-sonnet-5", 32_000, ADAPTIVE),
        ("claude-next", 8_192, None),
        ("scripted-1", 8_192, None),
    ],
)
def test_how_long_a_model_may_answer_and_how_it_thinks(model: str, tokens: int, how: dict[str, Any] | None) -> None:
    assert (longest_answer(model), thinking(model, longest_answer(model))) == (tokens, how)


def test_an_answer_too_short_for_thoughts_has_none() -> None:
    assert thinking("claude-sonnet-4-5", 8_000) is None
