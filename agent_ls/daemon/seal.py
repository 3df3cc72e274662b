"""A mark that all have whom a daemon has ever brought forth, and that they cannot take off.

Ancestry ends with the daemon: what a command left running has no daemon above it once that one has ended, and would
pass for a program of the person's. So the daemon lowers a limit of its own that nobody needs (bytes in POSIX message
queues) before it starts anything. Children inherit it, and only root can raise it again.

Owns the mark and what a daemon may do that bears it from birth, because the agent started it. Linux only: elsewhere
nobody is sealed. Does not own the rest of who may connect (peers).
"""

import os
import sys
from pathlib import Path
from typing import Final

# Below what every process gets on Linux (819,200), above what a program with such queues is likely to ask for.
SEAL: Final = 815_104
STAMP: Final = "started-by-agent"


class Sealed(Exception):
    """The text is a sentence that says what to do."""


def seal(state_dir: str) -> bool:
    """Marks this process and all it will start; whether the mark tells peers apart. To be called once, early.

    A daemon that bears it already was started by the agent. It may serve a state of its own (tests of this very
    program, run by an agent) but never one of the person's: there it would let the agent in.
    """
    if not sys.platform.startswith("linux"):
        return False
    if is_sealed(os.getpid()):
        _own_state_only(Path(state_dir))
        return False
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_MSGQUEUE)
    resource.setrlimit(resource.RLIMIT_MSGQUEUE, (min(soft, SEAL) if soft >= 0 else SEAL, SEAL))
    return hard == resource.RLIM_INFINITY or hard > SEAL


def is_sealed(pid: int) -> bool:
    """A process that is gone counts as sealed: nobody can tell any more."""
    try:
        lines = Path(f"/proc/{pid}/limits").read_bytes().splitlines()
    except OSError:
        return True
    for line in lines:
        if line.startswith(b"Max msgqueue size"):
            hard = line.split()[4]
            return hard.isdigit() and int(hard) <= SEAL
    return False


def _own_state_only(state: Path) -> None:
    stamp = state / STAMP
    if (state / "ledger.db").exists() and not stamp.exists():
        raise Sealed(
            "A process that the agent started may not start the daemon of this state directory. Start it from a "
            f"terminal of your own (there `ulimit -Hq` says more than {SEAL}), or set AGENT_LS_STATE_DIR to a new one."
        )
    stamp.touch(mode=0o600)
