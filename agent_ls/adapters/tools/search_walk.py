"""Files beneath a folder as a search sees them, in the worker process: sorted, without what git ignores.

Owns what is passed over: ignored files, hidden ones unless asked for, git's own, links, whatever is no regular file,
and what may not be read. Reads no file but `.gitignore`. Never follows a link.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

_LARGEST_IGNORE = 1 << 20


class _Rules(NamedTuple):
    """One file of rules. Its folder lies above the root by `prefix`, or beneath it, where `cut` signs are its own."""

    spec: Any
    prefix: str = ""
    cut: int = 0
    any_of: re.Pattern[str] | None = None
    """Fits whatever the rules say anything about, and costs a tenth of asking them."""

    def say(self, path: str) -> bool | None:
        name = self.prefix + path[self.cut :]
        if self.any_of is not None and self.any_of.match(name) is None:
            return None
        said: bool | None = self.spec.check_file(name).include
        return said


class Walk:
    """`fits` says of a path relative to `root` whether it is wanted; `hidden`, whether names with a dot in front are.

    `skip` fits absolute paths that are left out. Counts what was looked at (`seen`) and left out (`left_out`). No
    dataclass: that module takes a quarter of the worker's start.
    """

    def __init__(
        self, root: str, fits: Callable[[str], bool], *, skip: re.Pattern[str] | None, hidden: bool, top: str | None
    ) -> None:
        self.root = root
        self.fits = fits
        self.skip = skip
        self.hidden = hidden
        self.top = top
        self.seen = 0
        self.left_out = 0
        self._rules: list[list[_Rules]] = []

    def shows(self, path: str) -> bool:
        """Of a path that others found: neither hidden nor left out."""
        if not self.hidden and (path.startswith(".") or "/." in path):
            return False
        return self.skip is None or self.skip.fullmatch(os.path.join(self.root, path)) is None

    def files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Paths relative to `root`, folder by folder, each sorted by name."""
        self._rules = [above(self.root, self.top)]
        stack = [self._entries("")]
        while stack:
            entry = next(stack[-1], None)
            if entry is None:
                stack.pop()
                self._rules.pop()
                continue
            path, held, is_folder = entry
            if is_folder:
                stack.append(self._entries(path + "/"))
                continue
            self.seen += 1
            if not self.fits(path):
                continue
            if self.skip is not None and self.skip.fullmatch(os.path.join(self.root, path)):
                self.left_out += 1
                continue
            try:
                found = held.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode):
                yield path, found

    def _entries(self, folder: str) -> Iterator[tuple[str, os.DirEntry[str], bool]]:
        where = os.path.join(self.root, folder)
        try:
            with os.scandir(where) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            entries = []
        mine = None
        if any(entry.name == ".gitignore" for entry in entries):
            mine = _spec(os.path.join(where, ".gitignore"))
        above = self._rules[-1]
        self._rules.append([*above, _Rules(mine, cut=len(folder), any_of=_any_of(mine))] if mine is not None else above)
        return self._wanted(folder, entries)

    def _wanted(self, folder: str, entries: list[os.DirEntry[str]]) -> Iterator[tuple[str, os.DirEntry[str], bool]]:
        for entry in entries:
            name = entry.name
            if name == ".git" or (name.startswith(".") and not self.hidden):
                continue
            try:
                is_folder = entry.is_dir(follow_symlinks=False)
                if not is_folder and not entry.is_file(follow_symlinks=False):
                    continue
            except OSError:
                continue
            path = folder + name
            if not self._ignored(path, is_folder=is_folder):
                yield path, entry, is_folder

    def _ignored(self, path: str, *, is_folder: bool) -> bool:
        """The innermost file that says anything about it counts."""
        name = path + "/" if is_folder else path
        for rules in reversed(self._rules[-1]):
            said: bool | None = rules.say(name)
            if said is not None:
                return said
        return False


def above(root: str, top: str | None) -> list[_Rules]:
    """Rules of the folders from the repository's top down to the one that `root` lies in.

    A root that is itself ignored was asked for by name: then they do not count beneath it.
    """
    top = repository(root) or top
    if top is None or os.path.commonpath([top, root]) != top:
        return []
    places = [(top, os.path.join(top, ".git", "info", "exclude"))]
    between = [] if root == top else os.path.relpath(os.path.dirname(root), top).split("/")
    folder = top
    for name in between:
        folder = os.path.normpath(os.path.join(folder, name))
        places.append((folder, os.path.join(folder, ".gitignore")))
    if between and between != ["."]:
        places.insert(1, (top, os.path.join(top, ".gitignore")))
    found = [
        _Rules(spec, prefix=_prefix(root, where), any_of=_any_of(spec))
        for where, path in places
        if (spec := _spec(path)) is not None
    ]
    return [] if any(rules.prefix and rules.spec.match_file(rules.prefix) for rules in found) else found


def _prefix(root: str, folder: str) -> str:
    """What stands before a path relative to `root` to make it relative to `folder`."""
    return "" if folder == root else os.path.relpath(root, folder) + "/"


def repository(folder: str) -> str | None:
    """The top of the one that the folder lies in."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        if folder == "/":
            return None
        folder = os.path.dirname(folder)
    return folder


def _spec(path: str) -> Any:
    """The rules of one file, None where there is none. The library is loaded for the first one: 25 ms."""
    data = read_regular(path, _LARGEST_IGNORE)
    if data is None:
        return None
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore import GitIgnorePatternError

    lines = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff").splitlines()
    try:
        return GitIgnoreSpec.from_lines(lines)
    except GitIgnorePatternError:
        return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])


def _any_of(spec: Any) -> re.Pattern[str] | None:
    """None where the rules cannot be put into one expression: then each is asked."""
    texts = [pattern.regex.pattern for pattern in spec.patterns if pattern.include is not None]
    try:
        return re.compile("|".join(f"(?:{text.replace('(?P<ps_d>', '(?:')})" for text in texts) or "(?!)")
    except (re.error, RecursionError):
        return None


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore import GitIgnorePatternError

    try:
        GitIgnoreSpec.from_lines([line])
    except GitIgnorePatternError:
        return False
    return True


def read_regular(path: str, limit: int) -> bytes | None:
    """The whole of a regular file of at most `limit` bytes. Never waits for another process, never follows a link."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    try:
        handle = os.open(path, flags)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        parts, size = [], 0
        while size <= limit and (part := os.read(handle, 1 << 20)):
            parts.append(part)
            size += len(part)
        return b"".join(parts) if size <= limit else None
    except OSError:
        return None
    finally:
        os.close(handle)
