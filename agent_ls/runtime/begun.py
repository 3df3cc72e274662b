"""A command that may run at once begins in the commit of its reply, and so needs none of its own to begin.

Owns which call that can be: the only one of its reply, allowed by a rule, with its locks free. They are held from
before the commit on, and its tool gets it ready meanwhile. Does not own running it (batch.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

from agent_ls.core import ids
from agent_ls.core.attempt import Attempt
from agent_ls.core.locks import Holder
from agent_ls.core.step import Triage, TriageVerdict
from agent_ls.ports.tools import Prepared, ToolContext, ToolEffect, readies
from agent_ls.runtime.actor import Actor
from agent_ls.runtime.places import tool_context
from agent_ls.runtime.services import Services


@dataclass(eq=False)
class Begun:
    """`asked_at`: when its commit was asked for. `release`: its locks. `decided`: that commit is over."""

    item_id: str
    prepared: Prepared
    _: KW_ONLY
    tool: object
    context: ToolContext
    asked_at: float
    release: Callable[[], None]
    decided: bool = field(default=False, init=False)

    async def get_ready(self) -> None:
        """While the commit is on its way to the disk."""
        if not self.decided and readies(self.tool):
            self.tool.ready(self.prepared, self.context)

    def give_back(self) -> None:
        """By whoever has it when it is over, or when it does not begin after all."""
        self.decided = True
        if readies(self.tool):
            self.tool.put_back(self.item_id, self.context.spool)
        self.release()


class EarlyStart:
    def __init__(self, actor: Actor, services: Services, prepared: Mapping[str, Prepared]) -> None:
        self._actor = actor
        self._services = services
        self._prepared = prepared

    def seize(self, attempt: Attempt, triage: Sequence[Triage]) -> Begun | None:
        """The call that begins with the commit, if there is one. Must not wait: what was judged still holds then."""
        if len(triage) != 1 or triage[0].verdict is not TriageVerdict.ALLOW or self._services.drain.begun:
            return None
        item_id = ids.part_id(attempt.step_id, triage[0].part)
        prepared = self._prepared.get(item_id)
        # What a command does does not depend on what was looked at: an edit is looked at once more, under its lock.
        if prepared is None or prepared.effect is not ToolEffect.SHELL or prepared.record is not None:
            return None
        who = Holder(self._actor.id, attempt.run_id, item_id)
        give_back = self._services.locks.seize(prepared.keys, who, since=self._services.clock.now())
        if give_back is None:
            return None
        begun = Begun(
            item_id,
            prepared,
            tool=self._services.toolbox.tools.get(prepared.tool),
            context=tool_context(self._actor.state, item_id, self._services),
            asked_at=self._services.clock.monotonic(),
            release=give_back,
        )
        self._services.supervisor.start(f"{item_id} gets ready", begun.get_ready)
        return begun
