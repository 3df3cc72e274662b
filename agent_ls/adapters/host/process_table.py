"""Processes of this machine by what they belong to: a session, a group, a mark in their environment.

Owns reading the process table and signalling what was found. Linux has it under /proc; elsewhere only the group of a
process is known. Does not own how long to wait in between.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from agent_ls.ports.processes import MARKER, ProcessId

_DEAD: Final = "ZX"
_PROC: Final = Path("/proc")
_HAS_PROC: Final = (_PROC / "self/stat").exists()


@dataclass(frozen=True)
class Row:
    pid: int
    state: str
    parent: int
    group: int
    session: int
    started: str


def started_at(pid: int) -> str | None:
    """When the process began, unique with its number over reboots; None if there is none."""
    if _HAS_PROC:
        row = _row(pid)
        return row.started if row else None
    ps = ["ps", "-o", "lstart=", "-p", str(pid)]
    return subprocess.run(ps, capture_output=True, text=True, check=False).stdout.strip() or None


class Survivors:
    """All that belongs to a call and still runs. Zombies do not run."""

    def __init__(self, process: ProcessId, mark: str) -> None:
        self._process = process
        self._mark = f"\0{MARKER}={mark}\0".encode()
        self._known: list[Row] = []

    def term(self) -> bool:
        """Asks all of it to end; False if there is nothing."""
        return self._signal(signal.SIGTERM)

    def kill(self) -> bool:
        """To be repeated while it finds something: what is killed second may have started more before."""
        return self._signal(signal.SIGKILL)

    def alive(self) -> bool:
        if not _HAS_PROC:
            return self._group_alive()
        # The whole table is only read again when all that was known is gone.
        for known in self._known:
            row = _row(known.pid)
            if row is not None and row.started == known.started and row.state not in _DEAD:
                return True
        self._find()
        return bool(self._known)

    def _signal(self, number: signal.Signals) -> bool:
        if not _HAS_PROC:
            if not self._group_alive():
                return False
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
            return True
        self._find()
        if any(row.group == self._process.pid for row in self._known):
            # All of the group at once, so that no part of it reacts to the end of another.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
        for row in self._known:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if row.group != self._process.pid:
                    os.kill(row.pid, number)
                # A stopped process takes no TERM before it goes on.
                os.kill(row.pid, signal.SIGCONT)
        return bool(self._known)

    def _find(self) -> None:
        leader = self._process.pid
        same = bool(self._process.started) and started_at(leader) == self._process.started
        self._known = [
            row
            for row in _rows()
            if row.state not in _DEAD and row.pid != os.getpid()
            if (same and leader in {row.pid, row.group, row.session}) or self._is_marked(row.pid)
        ]

    def _is_marked(self, pid: int) -> bool:
        try:
            return self._mark in b"\0" + (_PROC / str(pid) / "environ").read_bytes()
        except OSError:
            return False

    def _group_alive(self) -> bool:
        if started_at(self._process.pid) not in {self._process.started, None}:
            return False
        try:
            os.killpg(self._process.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True


def dead_children() -> list[Row]:
    """Children of this process that nobody has waited for yet: its own, and orphans that were handed to it."""
    found: list[Row] = []
    if not _any_dead():
        return found
    with contextlib.suppress(OSError):
        for children in Path("/proc/self/task").glob("*/children"):
            rows = (_row(int(pid)) for pid in children.read_text().split())
            found += [row for row in rows if row is not None and row.state in _DEAD]
    return found


def _any_dead() -> bool:
    """One call for what is nearly always so: nothing is there. Reading the table takes hundreds."""
    if not _HAS_PROC:
        return False
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False


def _rows() -> Iterator[Row]:
    for name in os.listdir(_PROC):
        if name.isdecimal() and (row := _row(int(name))):
            yield row


def _row(pid: int) -> Row | None:
    try:
        text = (_PROC / str(pid) / "stat").read_bytes().decode(errors="replace")
    except OSError:
        return None
    # The name is in brackets and may hold anything, brackets and spaces included.
    fields = text[text.rfind(")") + 2 :].split()
    parent, group, session = map(int, fields[1:4])
    return Row(pid, fields[0], parent=parent, group=group, session=session, started=f"{_boot()}:{fields[19]}")


@cache
def _boot() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()[:8]
    except OSError:
        return ""
