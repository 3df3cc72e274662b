"""The files around a SQLite ledger: private modes, the reserve for a full disk, file systems that cannot hold one.

Owns nothing inside the database.
"""

import fcntl
import os
import select
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agent_ls.core.errors import Code, Refusal
from agent_ls.ports.ledger import LedgerError

RESERVE_BYTES = 1 << 20
_LOOK_AGAIN_S = 0.02
# SQLite's write-ahead log needs shared memory between processes, which these do not give.
_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "afs", "ceph", "glusterfs", "fuse.glusterfs"}
)


@contextmanager
def alone(path: Path, busy_s: float) -> Iterator[None]:
    """Opening is for one process at a time: changing the journal's mode, copying and migrating wait for nobody.

    Who has waited for `busy_s` goes on and meets SQLite's own locks.
    """
    lock = os.open(path.with_name(path.name + ".opening"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + busy_s
    try:
        while not _locked(lock) and time.monotonic() < deadline:
            select.select([], [], [], _LOOK_AGAIN_S)
        yield
    finally:
        os.close(lock)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Reserve:
    """A file that holds space back, given up when the disk is full."""

    def __init__(self, path: Path, size: int = RESERVE_BYTES) -> None:
        self._path = path
        self._size = size

    @property
    def held(self) -> bool:
        return self._path.exists()

    def take(self) -> bool:
        """Holds the space, again if it was given up. False while there is too little."""
        try:
            if self.held and self._path.stat().st_size == self._size:
                return True
            # Written, not just sized: a hole holds nothing back.
            self._path.write_bytes(bytes(self._size))
            self._path.chmod(0o600)
        except OSError:
            self.release()
            return False
        return True

    def release(self) -> None:
        with suppress(OSError):
            self._path.unlink()


def make_private(path: Path) -> None:
    """Creates the file for its owner alone. SQLite gives the files beside it the same mode."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    path.chmod(0o600)


def refuse_network(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> None:
    kind = file_system_of(path, mounts)
    if kind in _NETWORK:
        raise LedgerError(
            Refusal(
                Code.LEDGER_UNAVAILABLE,
                f"The ledger cannot be kept on a network file system ({kind}): {path.parent}.",
                "Set AGENT_LS_STATE_DIR to a folder on a local disk.",
            )
        )


def file_system_of(path: Path, mounts: Path) -> str | None:
    """Type of the mount that the path is on; None where the system does not say."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    place = path.parent.resolve()
    best, kind = -1, None
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        mount = Path(fields[4].replace("\\040", " "))
        # Later mounts lie over earlier ones of the same place.
        if place.is_relative_to(mount) and len(mount.parts) >= best:
            best, kind = len(mount.parts), after.split()[0]
    return kind


def connect(path: Path, *, busy_s: float, read_only: bool = False) -> sqlite3.Connection:
    """A connection for one thread at a time, every commit on it synced."""
    mode = "ro" if read_only else "rw"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    connection.execute(f"PRAGMA busy_timeout = {int(busy_s * 1000)}")
    if read_only:
        connection.execute("PRAGMA query_only = 1")
        return connection
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    # The writer checkpoints when it is idle; in a commit it would make that one wait.
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    # A log that once grew long gives its space back when it is begun anew.
    connection.execute("PRAGMA journal_size_limit = 1048576")
    if sys.platform == "darwin":
        connection.execute("PRAGMA fullfsync = 1")
        connection.execute("PRAGMA checkpoint_fullfsync = 1")
    return connection
