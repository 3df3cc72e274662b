"""What policy is asked about a prepared call.

Owns the way from a prepared call to a proposal, files under every name they have. What is said to it is core.policy's.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent_ls.core.conversation import Mode
from agent_ls.core.delegation import bounded
from agent_ls.core.harmless import Seen
from agent_ls.core.policy import Proposal, Verdict, judge
from agent_ls.core.projection import ConversationState
from agent_ls.core.rules import Rule, starts
from agent_ls.core.sensitive import guarded, secret_folders
from agent_ls.ports.tools import Prepared, Tool, ToolEffect
from agent_ls.runtime.services import Services


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What a call is judged in: a conversation, or a workspace before there is one. `root` is real."""

    root: str
    mode: Mode
    trusted: bool
    rules: Sequence[Rule]


async def judged(prepared: Prepared, state: ConversationState, services: Services) -> Verdict:
    """As policy sees it now."""
    where = await circumstances(state, services)
    return judge(proposal(prepared, services, where), where.rules)


async def circumstances(state: ConversationState, services: Services) -> Circumstances:
    conversation = state.conversation
    if conversation.delegated is not None:
        conversation = bounded(conversation, await services.subagents.above(conversation.delegated))
    rules, root = services.rules(conversation), os.path.realpath(state.root)
    return Circumstances(root=root, mode=conversation.mode, trusted=conversation.trusted, rules=rules)


def change_of(tool: Tool, given: Mapping[str, Any], root: str) -> Prepared | None:
    """A change of the file that is named, whatever it would make of it; None for what changes no file by its path."""
    path = given.get("path")
    if tool.effect is not ToolEffect.EDIT or not isinstance(path, str) or not path or "\0" in path:
        return None
    real = os.path.realpath(os.path.join(root, os.path.expanduser(path)))
    return Prepared(
        tool=tool.name,
        input=dict(given),
        effect=tool.effect,
        title="",
        digest="",
        card={},
        reads=(real,) if os.path.exists(real) else (),
        writes=(real,),
    )


def proposal(prepared: Prepared, services: Services, where: Circumstances) -> Proposal:
    proposed = Proposal(
        tool=prepared.tool,
        effect=prepared.effect,
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
        fold=any(services.folds(folder) for folder in _folders(prepared, where.root)),
        sights=prepared.sights,
        brought=prepared.brought,
    )
    return _by_every_name(proposed, services, where.rules)


def _by_every_name(proposed: Proposal, services: Services, rules: Sequence[Rule]) -> Proposal:
    """A file that has a guarded name as well counts under that one too."""
    if not (proposed.reads or proposed.writes or any(proposed.sights)):
        return proposed
    known = (*guarded(proposed.place, proposed.protected), *starts(rules, proposed.place))
    folders = dict.fromkeys((*secret_folders(proposed.place), *starts(rules, proposed.place)))
    unsure: list[str] = []

    def others(paths: Sequence[str]) -> Sequence[str]:
        linked, doubt = services.linked(paths, folders)
        unsure.extend([doubt] if doubt is not None else [])
        return (*services.twins(paths, known), *linked)

    more: dict[str, Any] = {
        "reads": (*proposed.reads, *others(proposed.reads)),
        "writes": (*proposed.writes, *others(proposed.writes)),
        "sights": tuple(
            None if seen is None else (*seen, *_more(seen, others([one.path for one in seen])))
            for seen in proposed.sights
        ),
    }
    more["unsure"] = unsure[0] if unsure else None
    return replace(proposed, **more)


def _folders(prepared: Prepared, root: str) -> Iterable[str]:
    """Each may be on a volume of its own."""
    return dict.fromkeys((root, *(os.path.dirname(path.rstrip("/")) for path in (*prepared.reads, *prepared.writes))))


def _more(seen: Sequence[Seen], twins: Sequence[str]) -> Sequence[Seen]:
    """Whoever looks at one of them may be looking at any."""
    sights = dict.fromkeys(one.sight for one in seen)
    return [Seen(path, sight) for path in twins for sight in sights]
