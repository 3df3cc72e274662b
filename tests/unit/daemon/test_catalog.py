"""Which wire serves which kind of provider."""

import pytest

from agent_ls.adapters.models.anthropic import AnthropicModel
from agent_ls.adapters.models.openai_chat import OpenAIChatModel
from agent_ls.adapters.models.openai_responses import OpenAIResponsesModel
from agent_ls.adapters.models.wire import WireModel
from agent_ls.config.providers import BUILT
from agent_ls.daemon.catalog import WIRES


@pytest.mark.parametrize(
    ("kind", "wire"),
    [("anthropic", AnthropicModel), ("openai", OpenAIResponsesModel), ("openai-compatible", OpenAIChatModel)],
)
def test_each_kind_has_its_wire(kind: str, wire: type[WireModel]) -> None:
    assert WIRES[kind] is wire


def test_each_kind_that_configuration_calls_built_has_one() -> None:
    assert {*WIRES, "demo"} == set(BUILT)
