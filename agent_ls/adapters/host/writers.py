"""Whether another program has a file open for writing at this moment.

Owns the lease of Linux that tells: it is granted only on a file that nobody has open for writing. Where there are no
leases nobody can tell, nor on a network file system, which may refuse one for reasons of its own. Does not own what
is done about it.
"""

import errno
import fcntl
import os
import signal
import threading

# A lease that is broken sends a signal that would end the process; this one is ignored unless somebody asks for it.
_F_SETSIG = 10
_PAUSE_S = 0.002
_MOUNTS = "/proc/self/mountinfo"
_REMOTE = ("nfs", "cifs", "smb", "fuse", "9p", "ceph", "afs")


def present(handle: int) -> bool | None:
    """None where it cannot be told. `handle` is open for reading only."""
    set_lease = getattr(fcntl, "F_SETLEASE", None)
    if set_lease is None:
        return None
    try:
        fcntl.fcntl(handle, _F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, set_lease, fcntl.F_RDLCK)
        fcntl.fcntl(handle, set_lease, fcntl.F_UNLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN and not _is_remote(handle) else None
    return False


def pause() -> None:
    """For a program that writes and closes to come to its end."""
    threading.Event().wait(_PAUSE_S)


def _is_remote(handle: int) -> bool:
    """Counts as one where that cannot be read: nobody is kept from a file for it."""
    number = os.fstat(handle).st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    try:
        with open(_MOUNTS, encoding="utf-8", errors="replace") as mounts:
            fields = [line.split() for line in mounts]
    except OSError:
        return True
    # After the dash, which optional fields come before: type, source, options.
    return any(found[2] == device and found[found.index("-") + 1].startswith(_REMOTE) for found in fields)
