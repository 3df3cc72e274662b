"""The real place of a path: links, `..`, dangling links, names that differ by Unicode form alone.

Owns what the disk says about a path; how a URI is spelled is core.uris. Nothing here opens a file.
"""

import errno
import os
import stat
import unicodedata
from dataclasses import replace

from agent_ls.adapters.host.identity import as_spelled
from agent_ls.core.uris import NotLocal, file_uri, local_path, scheme_of
from agent_ls.ports.files import Place, Reason, Refused


def locate(path: str, root: str) -> Place | Refused:
    """Blocking. Relative to `root`; a folder has a place too."""
    absolute = _absolute(path, root)
    if isinstance(absolute, Refused):
        return absolute
    try:
        found = os.stat(absolute)
        exists, shared = True, stat.S_ISREG(found.st_mode) and found.st_nlink > 1
    except FileNotFoundError:
        exists = shared = False
    except OSError as error:
        return _refused(path, error)
    note = None
    if not exists and not os.path.lexists(absolute):
        twin = _twin(absolute)
        if twin is not None:
            absolute, exists = twin, True
            note = "the name on disk has its accents in another Unicode form; that file was taken"
        elif (meant := _doubled(path, root)) is not None:
            here = f"{path} does not exist here, and {meant} does: paths begin in the workspace, not at its name"
            return Refused(Reason.MISSING, f"{here}. Say {meant}, or ./{path} for a new file of that name")
    try:
        return replace(_place(absolute, exists=exists, note=note), shared=shared)
    except OSError as error:
        return _refused(path, error)


def canonical_uri(path: str) -> str:
    """The lock key of an absolute path, whether or not there is such a file."""
    return file_uri(as_spelled(os.path.realpath(path)))


def key_of(uri: str) -> str:
    """The lock key of a URI as a client spells it; what is not a local file keeps its whole URI."""
    path = local_path(uri)
    return uri if isinstance(path, NotLocal) else canonical_uri(path)


def _absolute(path: str, root: str) -> str | Refused:
    scheme = scheme_of(path)
    if scheme is not None:
        local = local_path(path)
        if isinstance(local, NotLocal):
            return Refused(Reason.NOT_LOCAL, local.message)
        path = local
    if not path or "\0" in path:
        return Refused(Reason.MISSING, "path is empty or holds a NUL; give the path of a file")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return Refused(Reason.MISSING, "path holds half of a surrogate pair, and no file name can; list the folder")
    # `..` is left for the kernel and realpath: behind a link, text alone gets it wrong.
    return os.path.join(root, os.path.expanduser(path))


def _doubled(path: str, root: str) -> str | None:
    """What is there under the path without its first name, where that is the workspace's own: `B/src/x.py` in B."""
    name, _, rest = path.partition("/")
    if not rest or name != os.path.basename(root.rstrip("/")) or os.path.lexists(os.path.join(root, name)):
        return None
    return rest if os.path.isfile(os.path.join(root, rest)) else None


def _place(absolute: str, *, exists: bool, note: str | None) -> Place:
    real = as_spelled(os.path.realpath(absolute))
    folder, name = os.path.split(absolute.rstrip("/"))
    # A trailing `.` or `..` names a folder; its link and its target are told apart by nothing.
    asked = real if name in {"", ".", ".."} else os.path.join(os.path.realpath(folder), name)
    return Place(path=real, uri=file_uri(real), asked=asked, exists=exists, note=note)


def _twin(absolute: str) -> str | None:
    """The one entry of the folder whose name is the same but for composed or decomposed accents."""
    folder, name = os.path.split(absolute)
    if name.isascii():
        return None
    wanted = unicodedata.normalize("NFC", name)
    try:
        twins = [entry for entry in os.listdir(folder) if unicodedata.normalize("NFC", entry) == wanted]
    except OSError:
        return None
    return os.path.join(folder, twins[0]) if len(twins) == 1 else None


def _refused(path: str, error: OSError) -> Refused:
    match error.errno:
        case errno.ELOOP:
            return Refused(Reason.FAILED, f"{path} goes round in a loop of symbolic links; name the file itself")
        case errno.ENOTDIR:
            return Refused(Reason.MISSING, f"{path} cannot exist: a part of the way to it is a file, not a folder")
        case errno.EACCES | errno.EPERM:
            return Refused(Reason.FORBIDDEN, f"{path} cannot be reached: a folder on the way may not be entered")
        case errno.ENAMETOOLONG:
            return Refused(Reason.MISSING, "path is longer than a path can be; shorten it")
        case _:
            return Refused(Reason.FAILED, f"{path} cannot be looked at: {error.strerror}")


def kind_of(mode: int) -> str:
    """What a thing that is not a regular file is called."""
    kinds = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
        (stat.S_ISLNK, "a symbolic link"),
    )
    return next((name for test, name in kinds if test(mode)), "not a regular file")
