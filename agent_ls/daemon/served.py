"""The daemon while it serves: one window after the other, until it comes to rest.

Owns the order in which it comes to rest. Does not own what it is made of (compose), nor the process (lifecycle).
"""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agent_ls.adapters.host.watcher import watch_file
from agent_ls.core.errors import Refused
from agent_ls.daemon.reload import Reloader
from agent_ls.editor.connection import Handler
from agent_ls.editor.desk import Desk
from agent_ls.editor.inbox import Inbox
from agent_ls.editor.window import Window
from agent_ls.ports.instances import Instances
from agent_ls.runtime.drain import DrainMode
from agent_ls.runtime.hook_calls import end_sessions
from agent_ls.runtime.janitor import Janitor

log = logging.getLogger(__name__)

TAKE_OVER_S: Final = 3.0
# What is abandoned writes down what has happened, and its processes end: asked first, then killed.
ABANDON_S: Final = 8.0
RETRY_AFTER_MS: Final = 500


@dataclass
class Daemon:
    """Everything that serves windows. `idle` says whether it could end without anybody noticing."""

    desk: Desk
    table: Mapping[str, Handler]
    inbox: Inbox
    reloader: Reloader
    janitor: Janitor

    async def serve(self, stream: Any, denied: Refused | None) -> None:
        """One window, for as long as its link lives."""
        window = Window(stream, self.table, desk=self.desk, pid=os.getpid(), denied=denied)
        await window.serve()

    @property
    def idle(self) -> bool:
        return not self.inbox.windows and not self.inbox.pending and not self.desk.registry.running()

    async def recover(self) -> int:
        return await self.desk.registry.recover_all(TAKE_OVER_S)

    def reload(self) -> None:
        """Reads the configuration again, beside everything else."""
        self.desk.services.supervisor.start("reload", self.reloader.reload)

    async def watch(self) -> None:
        """Reads it again whenever its file has changed."""
        await watch_file(self.reloader.settings.path, self.reload)

    async def come_to_rest(self) -> None:
        """Once it is told to end: waits for what runs until the deadline, then leaves it to the next daemon.

        Everybody is served meanwhile; what they send is committed and not run.
        """
        drain, registry = self.desk.services.drain, self.desk.registry
        log.info("draining (%s), %d conversations at work", drain.mode, len(drain.at_work))
        if not await drain.settled():
            log.warning("%d conversations did not come to a commit in time", len(drain.at_work))
            registry.abandon()
            await drain.settled(ABANDON_S)
        handoff = drain.mode is DrainMode.HANDOFF
        if not handoff:
            await end_sessions(self.desk.services)
        await registry.shells.stop_all(f"the daemon was {'restarted' if handoff else 'stopped'}")
        for actor in registry.actors():
            if self.desk.services.feed.clear_all(actor.id):
                await self.desk.services.ledger.drop_partials(actor.id)
        ledger: object = self.desk.services.ledger
        if isinstance(ledger, Instances):
            ledger.ends_as(str(drain.mode), registry.running())

    def say_goodbye(self) -> None:
        reason = str(self.desk.services.drain.mode)
        for window in self.inbox.windows:
            window.notify("agent/drain", {"retryAfterMs": RETRY_AFTER_MS, "reason": reason})
