"""What `agent-ls status` shows of the daemon."""

import os
from typing import Any

from agent_ls.editor.inbox import Inbox
from agent_ls.ports.host import Clock
from agent_ls.runtime.registry import Registry
from agent_ls.version import __version__


class Reporter:
    def __init__(self, registry: Registry, inbox: Inbox, clock: Clock) -> None:
        self._registry = registry
        self._inbox = inbox
        self._clock = clock
        self._started = clock.monotonic()

    async def status(self) -> dict[str, Any]:
        """The object of `agent/status`; counts, names and sizes, no content."""
        services = self._registry.services
        ledger = await services.ledger.status()
        owed = await services.ledger.owed()
        windows = [{"client": window.client, "folders": list(window.folders)} for window in self._inbox.windows]
        return {
            "pid": os.getpid(),
            "version": __version__,
            "bootId": services.boot_id,
            "instanceId": services.boot_id,
            "uptimeS": round(self._clock.monotonic() - self._started, 1),
            "connections": {"count": len(windows), "windows": windows},
            "claims": len(self._registry.actors()),
            "runs": {"active": self._registry.running(), "count": len(self._registry.running())},
            "requests": {"pending": self._inbox.pending},
            "effects": {"owed": [{"id": effect.id, "type": str(effect.type)} for effect in owed]},
            "ledger": {
                "engine": ledger.engine,
                "schema": ledger.schema,
                "events": ledger.events,
                "sizeBytes": ledger.size_bytes,
                "writable": ledger.writable,
                "error": ledger.error,
                **ledger.details,
            },
            "drain": None,
        }
