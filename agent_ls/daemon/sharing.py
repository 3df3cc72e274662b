"""A ledger that other daemons use too: who decides commands, and what is watched for as long as the daemon lives.

Owns what is wired to what for that. Where one machine has the ledger for itself, nothing is watched.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from agent_ls.config.settings import Settings
from agent_ls.core.errors import Refusal
from agent_ls.core.run import Interrupt
from agent_ls.daemon.keeping import Keeper
from agent_ls.editor.commands import Answer, Commands
from agent_ls.editor.inbox import Inbox
from agent_ls.editor.orders import Order, Stop
from agent_ls.ports.rules import RuleStore
from agent_ls.ports.shared import Shared
from agent_ls.runtime.others import Abroad, Others
from agent_ls.runtime.registry import Registry

log = logging.getLogger(__name__)

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

    async def stop_elsewhere(conversation_id: str, run_id: str, stop: Interrupt) -> None:
        order = Order(
            command_id=f"stop {run_id} {stop.at}",
            conversation_id=conversation_id,
            wish=Stop(run_id=run_id, noted=replace(stop, hold_queue=True)),
            what=f"stop {run_id}",
        )
        stopped = await commands.run(order)
        if isinstance(stopped, Refusal):
            log.warning("a subagent at another daemon could not be stopped: %s", stopped.code)

    registry.services.stop_elsewhere = stop_elsewhere

    def told(about: Abroad) -> None:
        if about.summary is not None:
            inbox.heard(about.summary, about.requests)
        elif inbox.knows(about.conversation_id):
            inbox.deleted(about.conversation_id)

    others = Others(registry, ledger, ttl_s=settings.ledger.claim_ttl_s, decide=commands.take, told=told)
    commands.hints = others
    works = {"hints": others.listen, "lease": others.stay_certain, "other daemons": others.work}
    return Sharing(commands=commands, follow=others.follow, works=works)
