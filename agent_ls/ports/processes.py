"""Child processes as a tool sees them: started in a session of their own, read as they write, ended for good.

Implemented in adapters.host.processes. Knows nothing of shells or of what output means.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

MARKER: Final = "AGENT_LS_ITEM"
"""Variable in the environment of every process of a call: found again whatever session it moved to."""


@dataclass(frozen=True)
class ProcessId:
    """`started` tells a process from a later one with the same number."""

    pid: int
    started: str


class Child(Protocol):
    """Output goes to the callback it was started with, from the loop, in order."""

    @property
    def id(self) -> ProcessId: ...

    @property
    def exit(self) -> int | None:
        """As in subprocess: below zero is a signal; None while it runs."""
        ...

    async def wait(self) -> int:
        """Until the process itself has ended, whoever else holds its pipe."""
        ...

    async def drain(self, seconds: float) -> None:
        """Until all its output has been read, at most so long."""
        ...

    def let_go(self) -> None:
        """What was started `held` may begin."""
        ...

    def close(self) -> None:
        """Lets go of it. A process that still runs is not ended by this; one that is held has an empty stdin then."""
        ...


class Processes(Protocol):
    def start(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        environment: Mapping[str, str],
        output: Callable[[bytes], None],
        held: bool = False,
    ) -> Child:
        """No terminal, empty stdin, stdout and stderr in one pipe. Raises OSError if it cannot be started.

        `held`: its stdin is a line that comes with `let_go`, and ends without one if nobody ever lets it go.
        """
        ...

    async def end(self, process: ProcessId, mark: str, *, grace: float) -> bool:
        """Ends the process, its group, its session and whatever carries the mark: TERM, after `grace` seconds KILL.

        False if nothing of it was running. Returns when all of it is gone, or cannot be ended.
        """
        ...
