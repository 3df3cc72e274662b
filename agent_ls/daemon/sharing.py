"""A ledger that other daemons use too: who decides commands, and what is watched for as long as the daemon lives.

Owns what is wired to what for that. Where one machine has the ledger for itself, nothing is watched.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from agent_ls.config.settings import Settings
from agent_ls.core.errors import Refusal
from agent_ls.daemon.keeping import Keeper
from agent_ls.editor.commands import Answer, Commands
from agent_ls.editor.inbox import Inbox
from agent_ls.ports.rules import RuleStore
from agent_ls.ports.shared import Shared
from agent_ls.runtime.others import Abroad, Others
from agent_ls.runtime.registry import Registry

Work = Callable[[], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """`follow`: windows here have been told of a conversation up to a seq. `works` run until the daemon ends."""

    commands: Commands
    follow: Callable[[str, int], None] = lambda conversation_id, seq: None
    works: Mapping[str, Work] = field(default_factory=dict)


def sharing(
    registry: Registry,
    inbox: Inbox,
    delete: Callable[[str, str], Awaitable[Answer | Refusal]],
    *,
    settings: Settings,
    rules: RuleStore,
) -> Sharing:
    commands = Commands(registry, delete)
    commands.on_answer = Keeper(rules).on_answer
    ledger: object = registry.services.ledger
    if not isinstance(ledger, Shared):
        return Sharing(commands=commands)

    def told(about: Abroad) -> None:
        if about.summary is not None:
            inbox.heard(about.summary, about.requests)
        elif inbox.knows(about.conversation_id):
            inbox.deleted(about.conversation_id)

    others = Others(registry, ledger, ttl_s=settings.ledger.claim_ttl_s, decide=commands.take, told=told)
    commands.hints = others
    works = {"hints": others.listen, "lease": others.stay_certain, "other daemons": others.work}
    return Sharing(commands=commands, follow=others.follow, works=works)
