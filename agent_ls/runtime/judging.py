"""What policy is asked about a prepared call.

Owns the way from a prepared call to a proposal, files under every name they have. What is said to it is core.policy's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_ls.core.conversation import Conversation, Mode
from agent_ls.core.delegation import bounded
from agent_ls.core.harmless import Seen
from agent_ls.core.policy import Proposal
from agent_ls.core.rules import Rule, starts
from agent_ls.core.sensitive import guarded
from agent_ls.ports.tools import Prepared
from agent_ls.runtime.services import Services


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What a call is judged in: a conversation, or a workspace before there is one. `root` is real."""

    root: str
    mode: Mode
    trusted: bool
    rules: Sequence[Rule]


async def standing(conversation: Conversation, root: str, services: Services) -> Standing:
    if conversation.delegated is not None:
        conversation = bounded(conversation, await services.subagents.above(conversation.delegated))
    rules = services.rules(conversation)
    return Standing(root=root, mode=conversation.mode, trusted=conversation.trusted, rules=rules)


def proposal(prepared: Prepared, services: Services, where: Standing) -> Proposal:
    proposed = Proposal(
        tool=prepared.tool,
        effect=str(prepared.effect),
        command=prepared.command,
        host=prepared.host,
        asks=prepared.asks,
        reads=prepared.reads,
        writes=prepared.writes,
        root=where.root,
        home=services.home,
        mode=where.mode,
        trusted=where.trusted,
        protected=services.protected,
        shared=prepared.shared,
        fold=services.folds(where.root),
        sights=prepared.sights,
        brought=prepared.brought,
    )
    return _by_every_name(proposed, services, where.rules)


def _by_every_name(proposed: Proposal, services: Services, rules: Sequence[Rule]) -> Proposal:
    """A file that has a guarded name as well counts under that one too."""
    if not (proposed.reads or proposed.writes or any(proposed.sights)):
        return proposed
    known = (*guarded(proposed.place, proposed.protected), *starts(rules, proposed.place))
    more: dict[str, Any] = {
        "reads": (*proposed.reads, *services.twins(proposed.reads, known)),
        "writes": (*proposed.writes, *services.twins(proposed.writes, known)),
        "sights": tuple(
            None if seen is None else (*seen, *_more(seen, services.twins([one.path for one in seen], known)))
            for seen in proposed.sights
        ),
    }
    return replace(proposed, **more)


def _more(seen: Sequence[Seen], twins: Sequence[str]) -> Sequence[Seen]:
    """Whoever looks at one of them may be looking at any."""
    sights = dict.fromkeys(one.sight for one in seen)
    return [Seen(path, sight) for path in twins for sight in sights]
