"""What a ledger has besides when several daemons share it: hints of what others did, and commands left for them.

Owns nothing. The PostgreSQL engine implements it; whoever wants it asks `isinstance(ledger, Shared)`.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True)
class Handed:
    """A command on its way to the owner of its conversation."""

    command_id: str
    conversation_id: str
    payload: dict[str, Any]
    at: str


@runtime_checkable
class Shared(Protocol):
    def changes(self) -> AsyncIterator[str | None]:
        """Ids of conversations that other daemons have changed, or left a command for. A hint, never the data.

        None whenever anything may have changed: first of all, and after a time without a connection. Never ends by
        itself.
        """
        ...

    async def owner(self, conversation_id: str) -> str | None:
        """The boot id of the daemon that holds the claim, if its lease has not ended."""
        ...

    async def held(self) -> Mapping[str, int]:
        """Every conversation that this daemon has claimed and nobody has taken from it, with its epoch."""
        ...

    async def unheld(self) -> tuple[Sequence[str], float | None]:
        """Conversations that owe something, or have a command waiting, and that no living daemon holds.

        And the seconds until the first lease of others ends under which something is owed; None without one.
        """
        ...

    async def present(self, host: str) -> bool:
        """Whether a daemon of this host lives."""
        ...

    async def hand_over(self, handed: Handed) -> bool:
        """Leaves a command to the owner of its conversation. False if it is known: its receipt tells its answer."""
        ...

    async def handed_over(self) -> Sequence[Handed]:
        """Commands that others have left for this daemon, oldest first. Each stays until its receipt is committed."""
        ...

    async def drop_handed(self, command_id: str) -> None:
        """Of a command that gets no receipt."""
        ...

    async def renew(self) -> None:
        """Renews the lease now, as after a sleep. `keep` does it at a third of its life."""
        ...

    async def keep(self) -> None:
        """Renews the lease and writes partials down, until it is cancelled."""
        ...
