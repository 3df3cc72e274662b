"""What a model is sent with the next request: instructions, the transcript as messages, tools.

Owns that messages of ended runs are made once, and that what was compacted is not sent. Does not own pairing
(core.context), what stands for what is gone (core.carried), nor sending it (ring.py).
"""

from collections.abc import Sequence
from functools import partial

from agent_ls.core import carried, context, pictures
from agent_ls.core.conversation import cache_key
from agent_ls.core.items import Item
from agent_ls.core.messages import ModelMessage, UserTurn
from agent_ls.core.projection import ConversationState
from agent_ls.core.prompt import system_prompt
from agent_ls.ports.provider import ModelRequest
from agent_ls.runtime import equipment
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.hook_calls import HookCalls
from agent_ls.runtime.patience import patiently
from agent_ls.runtime.payloads import Inflater
from agent_ls.runtime.services import Services

Made = tuple[str, str]
"""Provider and model."""


class Requests:
    """`without_pictures`: they were too much for the server or the way to it, as this daemon has seen."""

    def __init__(self, actor: Actor, services: Services, hooks: HookCalls) -> None:
        self._actor = actor
        self._services = services
        self._hooks = hooks
        self._history = History()
        self._inflater = Inflater(services.ledger.get_blob)
        self.without_pictures = False

    async def whole(self, made_by: Made, step_id: str) -> ModelRequest:
        messages = await self.inflated(context.asked(self._history.messages(self._actor.state, *made_by)))
        return await self.request(made_by, step_id, messages)

    async def request(self, made_by: Made, step_id: str, messages: Sequence[ModelMessage]) -> ModelRequest:
        state = self._actor.state
        return ModelRequest(
            model=made_by[1],
            system=system_prompt(
                root=state.root,
                platform=self._services.platform,
                date=self._services.clock.now()[:10],
                more=[
                    *self._services.instructions(state.conversation),
                    *equipment.instructions(state.conversation),
                    *self._hooks.said,
                ],
            ),
            messages=tuple(messages),
            tools=await equipment.specs(state.conversation, self._services),
            step_id=step_id,
            cache_key=cache_key(state.conversation),
        )

    async def inflated(self, messages: Sequence[ModelMessage]) -> tuple[ModelMessage, ...]:
        """With what is kept in blobs, as a model is sent it, for a summary as well."""
        sent = pictures.left_out(messages) if self.without_pictures else messages
        return await patiently(partial(self._inflater.inflate, sent), self._services.clock)


class History:
    """Messages of ended runs are made once: what is there does not change any more, until it is compacted."""

    def __init__(self) -> None:
        self._key: tuple[str, str, str | None] | None = None
        self._ended: dict[str, tuple[int, tuple[ModelMessage, ...]]] = {}
        self._opening: tuple[UserTurn, ...] = ()

    def messages(self, state: ConversationState, provider: str, model: str) -> tuple[ModelMessage, ...]:
        key = (provider, model, None if state.compaction is None else state.compaction.id)
        if self._key != key:
            held = state.compacted
            self._key, self._ended = key, {}
            self._opening = () if held is None else (carried.opening(state, held),)
        built: list[Sequence[ModelMessage]] = [self._opening]
        for run_id, items in state.run_items.items():
            size, known = self._ended.get(run_id, (0, ()))
            # The end of a background shell may still come to a run that has ended.
            if size != len(items):
                known = context.messages(_sent(state, run_id), provider=provider, model=model)
                if state.runs[run_id].ended:
                    self._ended[run_id] = (len(items), known)
            built.append(known)
        return context.join(built)


def _sent(state: ConversationState, run_id: str) -> list[Item]:
    return [item for item in state.items_of(run_id) if item.ord >= state.kept_from]
