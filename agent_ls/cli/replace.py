"""Ending the daemon and putting another one in its place, from a terminal.

Owns the waiting and what is said when it does not come to pass. Does not own how a daemon comes to its end
(daemon.lifecycle) nor how a successor gets its turn (daemon.handoff).
"""

from __future__ import annotations

import os
import select
import signal
import time
from typing import Final

from agent_ls import paths
from agent_ls.bridge.start import alive, last_words, no_answer, start_successor
from agent_ls.cli.client import HELLO_S, Client, ClientError
from agent_ls.cli.processes import ended
from agent_ls.cli.terminal import aside

STOP_S: Final = 2.0
HANDOFF_S: Final = 30.0
# Beyond the deadline: ending what is abandoned, closing, and the new one's start.
_GRACE_S: Final = 25.0
_SAY_S: Final = 1.5
_LOOK_S: Final = 0.02


def holder_pid() -> int | None:
    holder = paths.read_holder()
    return holder.pid if holder and alive(holder.pid) else None


def stop(*, force: bool, deadline_s: float) -> int | None:
    """The pid that has ended, None if there was no daemon."""
    pid = holder_pid()
    patience = STOP_S if force else HELLO_S
    try:
        with Client.connect(start=False, timeout=patience) as client:
            pid = int(client.call("agent/status", timeout=patience)["pid"])
            client.call("agent/drain", {"mode": "shutdown", "deadlineMs": int(deadline_s * 1000)}, timeout=patience)
    except ClientError as error:
        if pid is None:
            if error.code == "no_daemon":
                return None
            raise
        if error.code != "connection_lost" and not force:
            raise
    if not ended(pid, deadline_s + (STOP_S if force else _GRACE_S)):
        if not force:
            raise ClientError("timeout", f"The daemon (pid {pid}) has not ended.", "`agent-ls stop --force` kills it.")
        os.kill(pid, signal.SIGKILL)
        ended(pid, 5.0)
    return pid


def hand_over(old: int, *, deadline_s: float) -> int:
    """Has another daemon take the place of the one with this pid, which comes to its end first; the new one's pid."""
    successor = start_successor(os.environ, "--deadline-ms", str(int(deadline_s * 1000)))
    began = time.monotonic()
    has_said = False
    while (new := _in_its_place(old)) is None:
        waited = time.monotonic() - began
        if not alive(successor) and (reason := last_words(successor=True)):
            stays = alive(old) and reason != no_answer()
            raise ClientError("no_daemon", f"The daemon was not replaced: {reason}", _STAYS if stays else "")
        if waited > deadline_s + _GRACE_S:
            raise ClientError("timeout", no_answer() if alive(old) else "No daemon took its place.", _LOG)
        if waited > _SAY_S and not has_said:
            has_said = True
            aside(f"What runs may come to its next step first, for at most {deadline_s:g} s.")
        select.select([], [], [], _LOOK_S)
    return new


def _in_its_place(old: int) -> int | None:
    new = holder_pid()
    if new is None or new == old:
        return None
    try:
        with Client.connect(start=False) as client:
            return int(client.call("agent/status")["pid"])
    except ClientError as error:
        if error.code in {"no_daemon", "connection_lost"}:
            return None
        raise


_STAYS: Final = "The one that was there goes on."
_LOG: Final = "`agent-ls log` shows what the daemons were doing."
