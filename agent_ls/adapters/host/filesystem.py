"""What kind of file system holds a path.

Owns the answer to one question: may a ledger and a lock live there? Does not own what is done about it.
"""

import os
from collections.abc import Iterable

# Locks and shared memory of SQLite do not hold on these. 9p is not among them: whole sandboxes live on it.
NETWORK_TYPES = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "glusterfs", "ncpfs", "beegfs"}
)
NETWORK_FUSE = frozenset({"fuse.sshfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.davfs2", "fuse.curlftpfs"})


def network_filesystem(path: str) -> str | None:
    """The type of the network file system that holds `path`, None for a local one or where it cannot be told."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            kind = mount_type(os.path.realpath(path), file)
    except OSError:
        return None
    return kind if kind in NETWORK_TYPES | NETWORK_FUSE else None


def mount_type(path: str, mountinfo: Iterable[str]) -> str | None:
    """The type of the mount that `path` is on: the longest mount point above it, the last of equal ones."""
    best, kind = "", None
    for line in mountinfo:
        left, _, right = line.partition(" - ")
        fields = left.split(" ")
        if len(fields) < 5 or not right:
            continue
        point = _unescaped(fields[4])
        if len(point) >= len(best) and (path == point or path.startswith(point.rstrip("/") + "/")):
            best, kind = point, right.split(" ")[0]
    return kind


def _unescaped(point: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, char)
    return point
