"""The wires under contract, and a model beside the scripted server it speaks to.

Holds no test. A new wire is one more line in WIRES.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio

from agent_ls.adapters.models.anthropic import AnthropicModel
from agent_ls.adapters.models.http import HttpLimits
from agent_ls.adapters.models.openai_chat import OpenAIChatModel
from agent_ls.adapters.models.openai_responses import OpenAIResponsesModel
from agent_ls.core.items import Block
from agent_ls.core.messages import ModelMessage, Reply, ToolSpec, UserTurn
from agent_ls.ports.provider import Failure, Frame, Model, ModelRequest
from agent_ls.testing.model_scenario import (
    Http,
    InOrder,
    Step,
    Stream,
)
from agent_ls.testing.model_server import ModelServer, serve_model

WIRES: dict[str, Callable[..., Model]] = {
    "anthropic": AnthropicModel,
    "chat": OpenAIChatModel,
    "responses": OpenAIResponsesModel,
}
TINY = HttpLimits(first_byte_s=0.2, local_first_byte_s=0.2, idle_s=0.2, pings_only_s=0.5, tail_s=0.2)
READ = ToolSpec("read", "Reads.", {"type": "object", "properties": {}})


class Line:
    """A model and the server it speaks to; `frames` of the call at hand."""

    def __init__(self, model: Model, server: ModelServer) -> None:
        self.model = model
        self.server = server
        self.frames: list[Frame] = []

    async def call(self, *messages: ModelMessage, model: str = "scripted-1") -> Reply | Failure:
        self.frames.clear()
        with anyio.fail_after(5):
            return await self.model.call(asked(*messages, model=model), self.frames.append)

    async def reply(self, *messages: ModelMessage) -> Reply:
        result = await self.call(*messages)
        assert isinstance(result, Reply), (result, self.server.refused)
        return result

    async def failure(self, *messages: ModelMessage, model: str = "scripted-1") -> Failure:
        result = await self.call(*messages, model=model)
        assert isinstance(result, Failure), result
        return result


@asynccontextmanager
async def line(
    wire: Callable[..., Model], *answers: Stream | Http, key: str | None = None, **options: object
) -> AsyncIterator[Line]:
    async with serve_model(InOrder(answers), key=key) as server:
        model = wire(name="mine", base_url=server.base_url, **options)
        try:
            yield Line(model, server)
        finally:
            await model.close()


def user(text: str = "hi") -> UserTurn:
    return UserTurn((Block(type="text", text=text),))


def asked(*messages: ModelMessage, model: str = "scripted-1") -> ModelRequest:
    return ModelRequest(
        model=model, system="sys", messages=messages or (user(),), tools=(READ,), step_id="s", cache_key="k"
    )


def stream(*steps: Step, **how: object) -> Stream:
    return Stream(steps=steps, **how)  # type: ignore[arg-type]
