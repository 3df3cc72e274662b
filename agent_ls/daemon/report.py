"""What `agent-ls status` shows of the daemon."""

import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from agent_ls.core.effects import Effect
from agent_ls.editor.inbox import Inbox
from agent_ls.ports.host import Clock
from agent_ls.ports.instances import Instances
from agent_ls.runtime.drain import Drain
from agent_ls.runtime.registry import Registry
from agent_ls.version import __version__

BOOTS_SHOWN: Final = 3


class Reporter:
    """`parts` are what others have to say of themselves, by the name under which it is shown."""

    def __init__(
        self, registry: Registry, inbox: Inbox, clock: Clock, *, parts: Mapping[str, Callable[[], Any]]
    ) -> None:
        self._registry = registry
        self._inbox = inbox
        self._parts = parts
        self._clock = clock
        self._started = clock.monotonic()

    async def status(self) -> dict[str, Any]:
        """The object of `agent/status`; counts, names and sizes, no content."""
        services = self._registry.services
        ledger = await services.ledger.status()
        owed = await services.ledger.owed()
        instance_id, boots = await _boots(services.ledger)
        windows = [{"client": window.client, "folders": list(window.folders)} for window in self._inbox.windows]
        return {
            "pid": os.getpid(),
            "version": __version__,
            "bootId": services.boot_id,
            "instanceId": instance_id or services.boot_id,
            "uptimeS": round(self._clock.monotonic() - self._started, 1),
            "connections": {"count": len(windows), "windows": windows},
            "claims": len(self._registry.actors()),
            "runs": {"active": self._registry.running(), "count": len(self._registry.running())},
            "requests": {"pending": self._inbox.pending},
            "shells": {"running": _shells(self._registry)},
            "effects": {"owed": [_effect(each) for each in owed]},
            "ledger": {
                "engine": ledger.engine,
                "schema": ledger.schema,
                "events": ledger.events,
                "sizeBytes": ledger.size_bytes,
                "writable": ledger.writable,
                "error": ledger.error,
                **ledger.details,
            },
            "drain": _drain(services.drain),
            "instances": boots,
            **{name: say() for name, say in self._parts.items()},
        }


async def _boots(ledger: object) -> tuple[str, list[dict[str, Any]]]:
    """The daemons that held this ledger, the running one first; none where the ledger keeps no record."""
    if not isinstance(ledger, Instances):
        return "", []
    instance_id, found = await ledger.instances(BOOTS_SHOWN)
    return instance_id, [
        {
            "bootId": each.boot_id,
            "version": each.version,
            "config": each.config,
            "startedAt": each.started_at,
            "endedAt": each.ended_at,
            "mode": each.mode,
            "inFlight": list(each.in_flight),
            "epochs": None if each.epochs is None else list(each.epochs),
        }
        for each in found
    ]


def _shells(registry: Registry) -> list[str]:
    """In the background."""
    return [shell.id for actor in registry.actors() for shell in actor.state.shells.values()]


def _effect(effect: Effect) -> dict[str, Any]:
    return {
        "id": effect.id,
        "type": str(effect.type),
        "class": str(effect.effect_class),
        "attempts": effect.attempts,
        "availableAt": effect.available_at,
        "lastError": effect.last_error,
    }


def _drain(drain: Drain) -> dict[str, Any] | None:
    """None while the daemon serves."""
    if drain.mode is None:
        return None
    return {"mode": str(drain.mode), "deadlineMs": int(drain.left_s * 1000), "waitsFor": list(drain.at_work)}
