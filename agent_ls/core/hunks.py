"""Hunks of an applied edit: what the agent put where, found again in the file as it is now, and taken back exactly.

Owns the record that is kept of a change, where a hunk of it stands later, and its inverse. Texts are as in the file,
with its own line endings and without a BOM. Does not own what a person has decided on a hunk (review.py) nor the disk.
"""

import base64
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

from agent_ls.core.alignment import images
from agent_ls.core.textfile import split_lines


@dataclass(frozen=True)
class Hunk:
    """Lines `old` became lines `new`, which begin at line `at` (counted from 0) of the text after the change."""

    at: int
    old: str
    new: str


@dataclass(frozen=True, kw_only=True)
class Record:
    """One file of a change. `after` is None where the change removed the file; then `raw` is all that it held."""

    uri: str
    after: str | None
    hunks: tuple[Hunk, ...]
    created: bool = False
    raw: bytes | None = None


class Found(StrEnum):
    """`OPEN`: as the agent wrote it. `UNDONE`: as it was before the agent. `STALE`: something else."""

    OPEN = "open"
    UNDONE = "undone"
    STALE = "stale"


@dataclass(frozen=True)
class Standing:
    """Lines [start, end) of the text as it is now, where the hunk is or would be."""

    found: Found
    start: int
    end: int


def recorded(uri: str, before: str | None, after: str | None, *, raw: bytes | None = None) -> Record:
    """None stands for a file that is not there. `raw`: the bytes of a file that the change removes."""
    was, will = split_lines(before or ""), split_lines(after or "")
    hunks = tuple(Hunk(c, "".join(was[a:b]), "".join(will[c:d])) for a, b, c, d in _changed(was, will))
    if not hunks and None in (before, after):
        hunks = (Hunk(0, "", ""),)  # that an empty file comes or goes is a change too
    return Record(uri=uri, after=after, hunks=hunks, created=before is None, raw=raw if after is None else None)


def encode(records: Iterable[Record]) -> bytes:
    whole = [
        {
            "uri": record.uri,
            "after": record.after,
            "created": record.created,
            "raw": None if record.raw is None else base64.b64encode(record.raw).decode("ascii"),
            "hunks": [[hunk.at, hunk.old, hunk.new] for hunk in record.hunks],
        }
        for record in records
    ]
    return zlib.compress(json.dumps(whole, separators=(",", ":")).encode("ascii"), 1)


def decode(data: bytes) -> tuple[Record, ...]:
    """Raises ValueError for anything that `encode` has not made."""
    try:
        whole: list[dict[str, Any]] = json.loads(zlib.decompress(data))
        return tuple(
            Record(
                uri=str(part["uri"]),
                after=part["after"],
                created=bool(part["created"]),
                raw=None if part["raw"] is None else base64.b64decode(part["raw"]),
                hunks=tuple(Hunk(int(at), str(old), str(new)) for at, old, new in part["hunks"]),
            )
            for part in whole
        )
    except (zlib.error, KeyError, TypeError) as error:
        raise ValueError("this is no record of a change") from error


def stand(record: Record, now: str | None) -> tuple[Standing, ...]:
    """Every hunk of the record in the text as it is now; None: there is no file."""
    if record.after is None or now is None:
        gone = now is None
        if record.after is None:
            found = Found.OPEN if gone else Found.UNDONE if now == record.hunks[0].old else Found.STALE
        else:
            found = Found.UNDONE if record.created else Found.STALE
        return tuple(Standing(found, 0, 0) for _ in record.hunks)
    if not record.after and record.created:
        return (Standing(Found.STALE if now else Found.OPEN, 0, 0),)
    there = split_lines(now)
    held = split_lines(record.after)
    image = images(held, there)
    return tuple(_stand(hunk, image, there) for hunk in record.hunks)


def undone(now: str, hunk: Hunk, standing: Standing) -> str:
    """The text without the hunk, every other byte as it is."""
    lines = split_lines(now)
    return "".join(lines[: standing.start]) + hunk.old + "".join(lines[standing.end :])


def before(record: Record) -> str:
    """The whole text before the change."""
    lines = split_lines(record.after or "")
    for hunk in reversed(record.hunks):
        lines[hunk.at : hunk.at + len(split_lines(hunk.new))] = [hunk.old]
    return "".join(lines)


def _stand(hunk: Hunk, image: Sequence[int | None], there: Sequence[str]) -> Standing:
    old, new = split_lines(hunk.old), split_lines(hunk.new)
    first, last = hunk.at, hunk.at + len(new)
    before = image[first - 1] if first else -1
    after = image[last] if last < len(image) else len(there)
    if new and (place := image[first]) is not None and all(image[first + k] == place + k for k in range(len(new))):
        return Standing(Found.OPEN, place, place + len(new))
    if before is None and after is None:
        return _somewhere(old, image[:first], image[last:], there=there)
    # Where the line on one side is changed as well, the other side alone tells the place.
    start = before + 1 if before is not None else max(0, (after or 0) - len(old))
    end = after if after is not None else min(len(there), start + len(old))
    certain = bool(old) or (before is not None and after is not None)
    if certain and list(there[start:end]) == old:
        return Standing(Found.UNDONE, start, end)
    if new:
        return Standing(Found.STALE, start, max(start, end))
    if before is None or after is None:
        place = start if before is not None else end
        return Standing(Found.OPEN, place, place)
    return Standing(Found.OPEN if start == end else Found.STALE, start, max(start, end))


def _somewhere(
    old: Sequence[str], above: Sequence[int | None], beneath: Sequence[int | None], *, there: Sequence[str]
) -> Standing:
    """Between the nearest lines that are still there."""
    start = next((place for place in reversed(above) if place is not None), -1) + 1
    end = max(start, next((place for place in beneath if place is not None), len(there)))
    places = [place for place in range(start, end - len(old) + 1) if list(there[place : place + len(old)]) == old]
    if old and len(places) == 1:
        return Standing(Found.UNDONE, places[0], places[0] + len(old))
    return Standing(Found.STALE, start, end)


def _changed(was: Sequence[str], will: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """Lines [a, b) became lines [c, d), as small as they can be."""
    pairs = [(one, other) for one, other in enumerate(images(was, will)) if other is not None]
    borders = [(-1, -1), *pairs, (len(was), len(will))]
    return [(a + 1, b, c + 1, d) for (a, c), (b, d) in pairwise(borders) if a + 1 < b or c + 1 < d]
