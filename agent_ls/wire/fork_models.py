"""Parameters of `agent/conversation/fork` and `mergeBack`."""

from typing import Self

from pydantic import model_validator

from agent_ls.wire.models import Command, Id, Params, Text


class ForkPoint(Params):
    """After which run or item; one of them."""

    run_id: Id | None = None
    checkpoint_id: Id | None = None
    item_id: Id | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(known is not None for known in (self.run_id, self.checkpoint_id, self.item_id)) != 1:
            raise ValueError("`at` takes one of `runId`, `itemId` and `checkpointId`")
        return self


class ForkConversation(Command):
    """Without `at` from the end, or as far as a run that goes on has come."""

    conversation_id: Id
    at: ForkPoint | None = None
    title: Text | None = None


class MergeBack(Command):
    """`from`: the fork; `into`: the conversation that it was made of."""

    from_: Id
    into: Id
