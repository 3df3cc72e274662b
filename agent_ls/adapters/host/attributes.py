"""Owner, mode, access lists and extended attributes of one file, given to another.

Owns what has to be the same for a swap to be invisible. Contents are not its business.
"""

import os
import stat


class Different(Exception):
    """Something about the file cannot be given to its replacement; `what` names it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


def take_over(source: int, target: int) -> None:
    """Both are open descriptors; raises Different and leaves the target half-way when something cannot be had."""
    wanted = os.fstat(source)
    present = os.fstat(target)
    if (wanted.st_uid, wanted.st_gid) != (present.st_uid, present.st_gid):
        try:
            os.fchown(target, wanted.st_uid, wanted.st_gid)
        except OSError:
            raise Different("owner or group") from None
    _take_attributes(source, target)
    # Last: a change of owner takes set-user-id away, and an access list changes the group's bits.
    os.fchmod(target, stat.S_IMODE(wanted.st_mode))
    if stat.S_IMODE(os.fstat(target).st_mode) != stat.S_IMODE(wanted.st_mode):
        raise Different("mode")


def _take_attributes(source: int, target: int) -> None:
    wanted, present = _attributes(source), _attributes(target)
    name = ""
    try:
        for name in present.keys() - wanted.keys():
            os.removexattr(target, name)
        for name, value in wanted.items():
            if present.get(name) != value:
                os.setxattr(target, name, value)
    except OSError:
        raise Different(f"attribute {name}") from None


def _attributes(handle: int) -> dict[str, bytes]:
    if not hasattr(os, "listxattr"):
        return {}
    try:
        names = os.listxattr(handle)
    except OSError:
        return {}
    found: dict[str, bytes] = {}
    for name in names:
        try:
            found[name] = os.getxattr(handle, name)
        except OSError:
            raise Different(f"attribute {name}") from None
    return found
