"""Waiting for a process that is not our child to end."""

import select
import time

from agent_ls.bridge.start import alive

_LOOK_S = 0.02


def ended(pid: int, seconds: float) -> bool:
    """Whether it has ended within this time."""
    until = time.monotonic() + seconds
    while alive(pid):
        if time.monotonic() > until:
            return False
        select.select([], [], [], _LOOK_S)
    return True
