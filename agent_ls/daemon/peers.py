"""Who is at the other end of a socket: a process of this person, or one that the daemon itself has brought forth.

Owns the check of uid and ancestry, and what the daemon has to be for it (child subreaper). Does not own the reply to
a peer that is turned away (listener, connection). Fails closed: what cannot be told counts as not allowed.

A process that a shell of the agent's leaves behind is re-parented to the daemon, not to init, so its ancestry still
leads here. Those orphans are then ours to reap.
"""

import ctypes
import os
import sys
from contextlib import suppress
from socket import socket
from typing import Literal

from agent_ls.adapters.host.process_table import Row, dead_children
from agent_ls.bridge.start import peer
from agent_ls.daemon.seal import is_sealed

PR_SET_CHILD_SUBREAPER = 36
DEEPEST = 4096

Verdict = Literal["welcome", "descendant", "stranger"]


def verdict(link: socket, daemon: int, *, seals: bool = False) -> Verdict:
    """What to do with a peer of the daemon whose pid is `daemon`; `seals`: its children bear the mark."""
    found = peer(link)
    if found is None:
        return "stranger"
    pid, uid = found
    if uid != os.getuid():
        return "stranger"
    left_over = seals and pid != daemon and is_sealed(pid)
    return "descendant" if left_over or descends(pid, daemon) else "welcome"


def descends(pid: int, ancestor: int) -> bool:
    """Whether `ancestor` is above `pid`. A process that is gone counts as below: nobody can tell any more.

    The ancestor's own connections count as welcome: nothing that an agent runs is in that process.
    """
    if not sys.platform.startswith("linux"):
        return False  # docs/security.md: no ancestry without /proc
    if pid == ancestor:
        return False
    for _ in range(DEEPEST):
        parent = _parent(pid)
        if parent is None or parent == ancestor:
            return True
        if parent <= 1:
            return False
        pid = parent
    return True


def become_subreaper() -> bool:
    """Have orphans below this process re-parented to it; whether the system can do that."""
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


class OrphanReaper:
    """Reaps what was re-parented to us and has ended, and leaves our own children to those who wait for them.

    Who started a child reaps it within one turn of the loop. So one that is still dead at a later `sweep`
    has nobody who waits for it. A command can leave thousands: all of them go at once, or process numbers run out.
    """

    def __init__(self) -> None:
        self._seen: frozenset[Row] = frozenset()

    def sweep(self) -> int:
        """How many were reaped."""
        dead = frozenset(dead_children())
        orphans = dead & self._seen
        for orphan in orphans:
            with suppress(ChildProcessError):
                os.waitpid(orphan.pid, os.WNOHANG)
        self._seen = dead - orphans
        return len(orphans)


def _parent(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in parentheses may hold anything, also a parenthesis.
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return None
