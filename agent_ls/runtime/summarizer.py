"""Who writes the summary of a compaction: the model that is asked for it, or the daemon where that fails.

Owns the tries and when a digest takes the place of a summary. Does not own the words (core.summary), nor when there is
a compaction (compactor.py). What the model says here is shown to nobody as an answer.
"""

from dataclasses import dataclass

from agent_ls.core import compaction, sizes, summary
from agent_ls.core.compaction import Cut
from agent_ls.core.failure import Cause, Failure
from agent_ls.core.items import Notice, Usage
from agent_ls.core.messages import ModelMessage
from agent_ls.ports.provider import Frame, ModelRequest
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.requests import Made, Requests
from agent_ls.runtime.services import Services
from agent_ls.runtime.told import notice_of

TOO_LARGE = "The request for a summary would itself have been too large."


@dataclass(frozen=True, kw_only=True)
class Task:
    """`going` is what the summary stands for, `room` the tokens that a request for it may have."""

    made_by: Made
    going: tuple[ModelMessage, ...]
    cut: Cut
    instructions: str | None
    room: int | None
    wanted: bool
    step_id: str


@dataclass(frozen=True, kw_only=True)
class Written:
    """`trouble`: why it is a digest; `model` is the one that wrote it, None for a digest."""

    text: str
    usage: Usage | None = None
    model: str | None = None
    trouble: str | None = None


class Summarizer:
    def __init__(self, actor: Actor, services: Services, requests: Requests) -> None:
        self._actor = actor
        self._services = services
        self._requests = requests

    async def write(self, task: Task) -> Written | Notice:
        """A notice where what was written is no use: empty, or longer than what it stands for."""
        request = await self._request(task)
        if request is None:
            return self._digest(task, TOO_LARGE)
        model = self._services.models(task.made_by[0])
        size, usage = 0, Usage()
        for _ in range(compaction.TRIES):
            reply = model if isinstance(model, Failure) else await model.call(request, _unseen)
            if isinstance(reply, Failure) and reply.cause is not Cause.EMPTY:
                return self._digest(task, notice_of(reply).message)
            if isinstance(reply, Failure):
                continue
            text = summary.text_of(reply)
            usage, size = usage.plus(reply.usage or Usage()), sizes.of_text(text)
            if summary.is_usable(size, _replaced(task)):
                return Written(text=text, usage=usage, model=reply.model or request.model)
        return self._no_use(task, size)

    async def _request(self, task: Task) -> ModelRequest | None:
        """The same instructions and tools as ever, so that the provider's cache still holds what comes first."""
        bare = await self._requests.request(task.made_by, task.step_id, ())
        room = None if task.room is None else task.room - sizes.of_fixed(bare.system, bare.tools)
        messages = summary.fitting(summary.request(task.going, task.instructions), room)
        if messages is None:
            return None
        model = self._services.compaction.model or task.made_by[1]
        return await self._requests.request((task.made_by[0], model), task.step_id, messages)

    def _digest(self, task: Task, trouble: str) -> Written | Notice:
        state = self._actor.state
        going = [item for item in state.items.values() if state.kept_from <= item.ord < task.cut.kept_from]
        earlier = "" if state.compacted is None else state.compacted.summary
        ordered = sorted(going, key=lambda item: item.ord)
        text = summary.digest(ordered, earlier=earlier, most=_replaced(task) // 2)
        size = sizes.of_text(text)
        if not summary.is_usable(size, _replaced(task)):
            return self._no_use(task, size)
        return Written(text=text, trouble=trouble)

    def _no_use(self, task: Task, size: int) -> Notice:
        return compaction.no_use(size=size, replaced=_replaced(task), wanted=task.wanted)


def _replaced(task: Task) -> int:
    return sizes.of_messages(task.going)


def _unseen(_: Frame) -> None:
    return
