"""The process in which glob and grep look: one search from its argument to one line of JSON on standard output.

Owns its limits (time, memory, rows), so that no pattern and no folder can hold up the daemon: an expression that never
ends is ended by an alarm, and what was found until then is told. Changes nothing. Imports little: it starts each time.
"""

import heapq
import json
import os
import re
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

from agent_ls.adapters.tools import search_match
from agent_ls.adapters.tools.search_links import Links
from agent_ls.adapters.tools.search_list import listed, options
from agent_ls.adapters.tools.search_walk import Walk
from agent_ls.core.globs import names_hidden, regex_of

MEMORY: Final = 2 << 30
CHARACTERS: Final = 40_000

Json = dict[str, Any]


class _Late(BaseException):
    """Time is up. No Exception, so that nothing takes it for trouble with a file."""


def main() -> None:
    warnings.simplefilter("ignore")
    asked: Json = json.loads(sys.argv[1])
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, asked["seconds"])
    found = search(asked)
    # Names that are no UTF-8 travel as escapes.
    sys.stdout.write(json.dumps(found) + "\n")


def search(asked: Json) -> Json:
    """`{rows, more, seen, leftOut, tooLarge, late, error?}`; rows are paths for glob, `[path, lines]` for grep."""
    found: Json = {"rows": [], "more": False, "late": False, "tooLarge": 0}
    walk = _walk(asked)
    if isinstance(walk, str):
        return found | {"error": walk}
    try:
        if os.path.realpath(asked["root"]) != asked["root"]:
            return found | {"error": "the path leads to another place than it did"}
        (_glob if asked["kind"] == "glob" else _grep)(asked, walk, found)
    except _Late:
        found["late"] = True
    except search_match.BadPattern as error:
        found["error"] = f"the pattern is not a regular expression that can be used: {error}"
    except (MemoryError, RecursionError):
        found["error"] = "the search took too much memory; make the pattern simpler"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return found | {"seen": walk.seen, "leftOut": walk.left_out}


def _ring(_number: int, _frame: object) -> None:
    raise _Late


def _walk(asked: Json) -> Walk | str:
    pattern = asked["pattern"] if asked["kind"] == "glob" else asked["glob"]
    skip = re.compile("|".join(asked["skip"])) if asked["skip"] else None
    fits = _fits(pattern) if pattern else _all
    if fits is None:
        return f"`{pattern}` is not a pattern for file names: a bracket or brace does not close"
    hidden = bool(pattern) and names_hidden(pattern.removeprefix("!"))
    return Walk(asked["root"], fits, skip=skip, hidden=hidden, top=asked["top"])


def _all(_path: str) -> bool:
    return True


def _fits(pattern: str) -> Callable[[str], bool] | None:
    regex = regex_of(pattern.removeprefix("!"))
    if regex is None:
        return None
    wanted = not pattern.startswith("!")
    return lambda path: (regex.fullmatch(path) is not None) is wanted


def _glob(asked: Json, walk: Walk, found: Json) -> None:
    """The newest, told even when the time was up."""
    found["total"] = 0
    program = _ripgrep(asked["path"], asked["workspace"])
    paths = listed(program, walk, pattern=asked["pattern"], newest=True) if program else None
    if paths is None:
        _walked(asked, walk, found)
        return
    first = [(_changed(os.path.join(walk.root, path)), path) for path in paths[: asked["rows"]]]
    found["rows"] = [path for _, path in sorted(first, key=lambda entry: (-entry[0], entry[1]))]
    found["total"] = len(paths)
    found["more"] = len(paths) > len(first)


def _changed(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0


def _walked(asked: Json, walk: Walk, found: Json) -> None:
    newest: list[tuple[float, str]] = []
    total = 0
    try:
        for path, held in walk.files():
            total += 1
            entry = (held.st_mtime, path)
            if len(newest) < asked["rows"]:
                heapq.heappush(newest, entry)
            else:
                heapq.heappushpop(newest, entry)
    finally:
        found["total"] = total
        found["rows"] = [path for _, path in sorted(newest, key=lambda entry: (-entry[0], entry[1]))]
        found["more"] = total > len(newest)


def _grep(asked: Json, walk: Walk, found: Json) -> None:
    room, characters = asked["rows"], CHARACTERS
    links = Links(asked.get("guarded", ()))
    for path, lines in _matches(asked, walk, found):
        if links.hides(os.path.join(asked["root"], path) if path else asked["root"]):
            walk.left_out += 1
            continue
        rows = _rows(asked["mode"], lines)
        kept = rows[: max(room, 0)]
        characters -= len(path) + sum(len(row[1]) for row in kept)
        if kept and characters >= 0:
            found["rows"].append([path, kept])
        room -= len(rows)
        if room < 0 or characters < 0:
            found["more"] = True
            return


def _rows(mode: str, lines: list[search_match.Line]) -> list[Any]:
    match mode:
        case "files":
            return [(0, "", True)]
        case "count":
            return [(sum(fits for _, _, fits in lines), "", True)]
        case _:
            return lines


def _matches(asked: Json, walk: Walk, found: Json) -> Iterator[tuple[str, list[search_match.Line]]]:
    mode, root = asked["mode"], asked["root"]
    most = {"content": asked["rows"] + 1, "files": 1}.get(mode, 1_000_000)
    wanted = search_match.Wanted(asked["pattern"], asked["context"] if mode == "content" else 0, most)
    program = _ripgrep(asked["path"], asked["workspace"])
    if os.path.isfile(root):
        yield from _among([""], program, root, wanted=wanted)
    elif program is None:
        yield from search_match.by_python(root, _small(walk, found), wanted)
    else:
        yield from _beneath(program, asked, walk, found=found, wanted=wanted)


def _beneath(
    program: str, asked: Json, walk: Walk, *, found: Json, wanted: search_match.Wanted
) -> Iterator[tuple[str, list[search_match.Line]]]:
    """Ripgrep goes through the folder by itself where nothing is left out that it would read; else file by file."""
    told = options(walk)
    tree = None if told is None or asked["glob"] else search_match.Tree(program, walk.root, told, wanted=wanted)
    try:
        paths = listed(program, walk, pattern=asked["glob"] or "")
        if paths is None:
            yield from _among(_small(walk, found), program, walk.root, wanted=wanted)
            return
        if tree is not None and not walk.left_out:
            begun = False
            try:
                for path, lines in tree.lines():
                    begun = True
                    if walk.shows(path):
                        yield path, lines
            except search_match.BadPattern:
                if begun:
                    raise
                yield from search_match.by_python(walk.root, _not_large(paths, walk, found), wanted)
            else:
                if tree.looked_into < len(paths):
                    _not_large(paths, walk, found)
            return
    finally:
        if tree is not None:
            tree.close()
    yield from _among(_not_large(paths, walk, found), program, walk.root, wanted=wanted)


def _among(
    files: Iterable[str], program: str | None, root: str, *, wanted: search_match.Wanted
) -> Iterator[tuple[str, list[search_match.Line]]]:
    if program is None:
        yield from search_match.by_python(root, files, wanted)
        return
    given: list[str] = []
    begun = False
    try:
        for found in search_match.by_ripgrep(program, root, _noted(files, given), wanted=wanted):
            begun = True
            yield found
    except search_match.BadPattern:
        # Lookaround and back references are Python's alone.
        if begun:
            raise
        yield from search_match.by_python(root, _chained(given, files), wanted)


def _not_large(paths: list[str], walk: Walk, found: Json) -> list[str]:
    kept = [path for path in paths if _size(os.path.join(walk.root, path)) <= search_match.LARGEST_FILE]
    found["tooLarge"] = len(paths) - len(kept)
    return kept


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _small(walk: Walk, found: Json) -> Iterator[str]:
    for path, held in walk.files():
        if held.st_size > search_match.LARGEST_FILE:
            found["tooLarge"] += 1
        else:
            yield path


def _noted(files: Iterable[str], given: list[str]) -> Iterator[str]:
    for path in files:
        given.append(path)
        yield path


def _chained(given: list[str], files: Iterable[str]) -> Iterator[str]:
    yield from given
    if not isinstance(files, list):
        yield from files


def _ripgrep(path: str, workspace: str) -> str | None:
    """Never one that lies in the workspace: nothing of it is started."""
    for folder in path.split(os.pathsep):
        program = os.path.realpath(os.path.join(folder, "rg"))
        inside = program.startswith(workspace.rstrip("/") + "/")
        if folder.startswith("/") and not inside and os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    return None
