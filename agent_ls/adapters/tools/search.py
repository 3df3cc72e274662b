"""Searches in a process of their own: started, waited for, ended with the call that asked.

Owns the process and the sentences about what a search left out. A thread could not be ended, and an expression can
take for ever; what the process does is search_worker's.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio

from agent_ls.adapters.tools.file_input import refuse, shown
from agent_ls.core.display import one_line
from agent_ls.core.rules import Ground
from agent_ls.core.sensitive import asks_to_read
from agent_ls.core.uris import is_within
from agent_ls.ports.files import Files, Place, Refused
from agent_ls.ports.processes import MARKER, Processes
from agent_ls.ports.tools import Invalid, ToolContext

ROWS: Final = 200
SECONDS: Final = 20.0
_GRACE: Final = 5.0
_DRAIN: Final = 2.0
_LONGEST_PATH: Final = 4096
_LARGEST_ANSWER: Final = 4 << 20
_START: Final = "from agent_ls.adapters.tools.search_worker import main; main()"

Json = dict[str, Any]


@dataclass(frozen=True)
class Search:
    """What is looked for beneath a place. `more` is what only one of the tools says."""

    kind: str
    place: Place
    pattern: str
    more: Mapping[str, Any]


async def locate(files: Files, path: str | None, context: ToolContext, *, folder: bool) -> Place | Invalid:
    """Where a search begins; the workspace when nothing is said."""
    place = await files.locate(path or ".", context.root)
    if isinstance(place, Refused):
        return refuse(place)
    name = shown(place.path, context.root)
    if not os.path.isdir(place.path):
        if not place.exists:
            return Invalid(f"{name} does not exist; check the path")
        if folder or not os.path.isfile(place.path):
            return Invalid(f"{name} is not a folder{'' if folder else ' and not a file'}; check the path")
    return place


def reads(place: Place) -> tuple[str, ...]:
    """For policy: of a folder, all that is in it."""
    beneath = "/" if os.path.isdir(place.path) else ""
    return tuple(path.rstrip("/") + beneath for path in place.paths)


class Searcher:
    """`seconds` is when a search is cut; what it has found by then is told."""

    def __init__(self, processes: Processes, *, seconds: float = SECONDS) -> None:
        self._processes = processes
        self._seconds = seconds

    async def run(self, search: Search, context: ToolContext) -> Json | str:
        """The worker's answer, or why there is none."""
        said = _Said()
        try:
            child = self._processes.start(
                [sys.executable, "-I", "-c", _START, json.dumps(self._request(search, context))],
                cwd="/",
                environment={"LC_ALL": "C.UTF-8", "PATH": os.defpath, MARKER: context.item_id},
                output=said.take,
            )
        except OSError as error:
            return f"the search could not be started: {error.strerror or error}"
        try:
            with anyio.move_on_after(self._seconds + _GRACE):
                await child.wait()
                await child.drain(_DRAIN)
        finally:
            if child.exit is None:
                with anyio.CancelScope(shield=True):
                    await self._processes.end(child.id, context.item_id, grace=0)
                    with anyio.move_on_after(_GRACE):
                        await child.wait()
            child.close()
        found = said.answer(self._seconds)
        return found if isinstance(found, str) else found | {"seconds": self._seconds}

    def _request(self, search: Search, context: ToolContext) -> Json:
        unread = context.unread()
        inside = is_within(search.place.path, context.root)
        # Who was asked about this very place has said yes to what it holds.
        asked = asks_to_read(search.place.path, Ground(context.root, "")) is not None
        skip = unread.denied if search.kind == "glob" or asked else (*unread.denied, *unread.asked)
        return {
            "kind": search.kind,
            "root": search.place.path,
            "pattern": search.pattern,
            "skip": list(skip),
            "guarded": [] if asked else list(unread.folders),
            "top": context.root if inside else None,
            "rows": ROWS,
            "seconds": self._seconds,
            "path": context.environment.get("PATH") or os.defpath,
            "workspace": context.root,
            **search.more,
        }


class _Said:
    """Output of the worker, bounded."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def take(self, data: bytes) -> None:
        self._size += len(data)
        if self._size <= _LARGEST_ANSWER:
            self._parts.append(data)

    def answer(self, seconds: float) -> Json | str:
        line = b"".join(self._parts).rstrip().rpartition(b"\n")[2]
        try:
            found: Json = json.loads(line)
        except ValueError:
            return f"the search did not end within {seconds:g} s; make pattern or path narrower"
        return str(found["error"]) if "error" in found else found


def notes(found: Json, *, narrower: str) -> list[str]:
    """What the model has to know about what it does not see."""
    said: list[str] = []
    if found["late"]:
        said.append(f"cut after {found['seconds']:g} s, so there may be more; {narrower}")
    elif found["more"]:
        said.append(f"cut here, there is more; {narrower}")
    if found["leftOut"]:
        said.append(f"{counted(found['leftOut'])} left out (rules on reads, or likely secrets)")
    if found["tooLarge"]:
        said.append(f"{counted(found['tooLarge'])} of more than 10 MiB not looked into")
    return said


def counted(number: int) -> str:
    return f"{number:,} file{'' if number == 1 else 's'}"


def named(place: Place, path: str, root: str) -> str:
    """A path of a row as the other tools take it."""
    return one_line(shown(os.path.join(place.path, path) if path else place.path, root), _LONGEST_PATH)
