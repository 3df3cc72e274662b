"""Background shells as the runtime sees them: whether one runs, when it ends, how it is ended.

Implemented in adapters.tools.shell_background. What the ledger says of them is core.shells.
"""

from typing import Protocol

from agent_ls.ports.processes import ProcessId


class Shells(Protocol):
    """By the item of the call that began it. What is said of an end is for the model and the person alike."""

    def running(self, item_id: str) -> bool:
        """Whether it is one of this daemon's, and its end has not been told yet."""
        ...

    def process(self, item_id: str) -> ProcessId | None: ...

    async def over(self, item_id: str) -> str:
        """Waits for its end, and says how it ended and what it said last. Only for one that is running."""
        ...

    async def stop(self, item_id: str, why: str) -> bool:
        """Ends it with all that it has started; `why` is told with its end. False if it is not running."""
        ...

    async def left(self, item_id: str, spool: str) -> str:
        """For one that an earlier daemon has left: ends what still runs of it, and says so."""
        ...


class NoShells:
    """For a daemon without such a tool: there never is one."""

    def running(self, item_id: str) -> bool:
        return False

    def process(self, item_id: str) -> ProcessId | None:
        return None

    async def over(self, item_id: str) -> str:
        raise LookupError(item_id)

    async def stop(self, item_id: str, why: str) -> bool:
        return False

    async def left(self, item_id: str, spool: str) -> str:
        return "It is not running here."
