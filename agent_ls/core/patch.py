"""A patch in the form that some models are trained on: read, and laid on a file's text.

    *** Begin Patch
    *** Add File: path / *** Delete File: path / *** Update File: path, *** Move to: path
    @@ a line above the place        (both optional)
     context, -removed, +added
    *** End of File
    *** End Patch

Owns the form and where a hunk applies: its lines stand in the file literally and at one place alone, as for an edit.
Context is never touched. Does not own files.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate

from agent_ls.core.edits import Applied, Problem, Span, Trouble, laid_on
from agent_ls.core.textfile import TextFile

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_MOVE, _EOF = "*** Move to: ", "*** End of File"
_SHOWN = 8


class Deed(StrEnum):
    ADD = "Add"
    DELETE = "Delete"
    UPDATE = "Update"


@dataclass
class Piece:
    """`lines` with their sign: blank, `-` or `+`. `heads`: lines above, outermost first; `last`: it ends the file."""

    heads: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    last: bool = False

    @property
    def old(self) -> list[str]:
        return [line[1:] for line in self.lines if line[0] != "+"]


@dataclass
class FilePatch:
    """`number` counts its pieces' places in the patch for people."""

    deed: Deed
    path: str
    moved_to: str | None = None
    content: list[str] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Of a new file."""
        return "".join(f"{line}\n" for line in self.content)


@dataclass(frozen=True)
class Malformed:
    message: str


def parse(patch: str) -> list[FilePatch] | Malformed:
    lines = patch.strip("\n").replace("\r\n", "\n").split("\n")
    if not lines or lines[0].strip() != _BEGIN or lines[-1].strip() != _END:
        return Malformed(f"a patch begins with `{_BEGIN}` and ends with `{_END}`, each on a line of its own")
    files: list[FilePatch] = []
    for number, line in enumerate(lines[1:-1], start=2):
        problem = _take(files, line)
        if problem is not None:
            return Malformed(f"line {number} of the patch {problem}")
    if not files:
        return Malformed("the patch holds no file; begin each with `*** Add File: `, `*** Update File: ` or "
                         "`*** Delete File: `")  # fmt: skip
    empty = next((file for file in files if file.deed is Deed.UPDATE and not _does_something(file)), None)
    return files if empty is None else Malformed(f"nothing is changed in {empty.path}; give lines with - or +")


def lay_on(file: TextFile, pieces: Sequence[Piece]) -> Applied | Problem:
    """The file with every piece made, or the first reason why none is."""
    lines = file.flat.text.split("\n")
    ends = bool(lines) and lines[-1] == ""
    if ends:
        lines.pop()
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    spans: list[Span] = []
    done = 0
    for index, piece in enumerate(pieces):
        place = _place(lines, piece, done, index=index)
        if isinstance(place, Problem):
            return place
        spans += _spans(piece, place, starts, index=index, end=len(file.flat.text))
        done = place + len(piece.old)
    return laid_on(file, spans)


def _take(files: list[FilePatch], line: str) -> str | None:
    """Adds one line of the patch; what is wrong with it."""
    for deed in Deed:
        if line.startswith(head := f"*** {deed} File: "):
            files.append(FilePatch(deed, line[len(head) :].strip()))
            return None if files[-1].path else "names no file"
    if not files:
        return "stands before the first file"
    file = files[-1]
    if line.startswith(_MOVE) and file.deed is Deed.UPDATE and not file.pieces:
        file.moved_to = line[len(_MOVE) :].strip()
        return None
    match file.deed:
        case Deed.ADD:
            if not line.startswith("+"):
                return "has to begin with + (all of a new file does)"
            file.content.append(line[1:])
            return None
        case Deed.DELETE:
            return None if not line.strip() else "stands under a file that is deleted"
        case Deed.UPDATE:
            return _take_piece(file.pieces, line)


def _take_piece(pieces: list[Piece], line: str) -> str | None:
    if line.startswith("@@"):
        if not pieces or pieces[-1].lines:
            pieces.append(Piece())
        if head := line[2:].removesuffix("@@").strip():
            pieces[-1].heads.append(head)
        return None
    if line == _EOF:
        if not pieces or not pieces[-1].lines:
            return "ends a file in which nothing was changed"
        pieces[-1].last = True
        return None
    if line[:1] not in {"", " ", "-", "+"}:
        return "has to begin with a blank, - or +"
    if not pieces or pieces[-1].last:
        pieces.append(Piece())
    pieces[-1].lines.append(line or " ")
    return None


def _does_something(file: FilePatch) -> bool:
    return file.moved_to is not None or any(line[0] != " " for piece in file.pieces for line in piece.lines)


def _place(lines: Sequence[str], piece: Piece, start: int, *, index: int) -> int | Problem:
    """The line at which the piece begins."""
    for head in piece.heads:
        found = next((n for n in range(start, len(lines)) if lines[n].strip() == head), None)
        if found is None:
            return _problem(Trouble.NOT_FOUND, index, f"the line `{head[:200]}` after @@ is not in the file there")
        start = found + 1
    old = piece.old
    if not old:
        return start if piece.heads else len(lines)
    places = [n for n in range(start, len(lines) - len(old) + 1) if lines[n : n + len(old)] == old]
    if piece.last:
        places = [n for n in places if n + len(old) == len(lines)]
    if len(places) == 1:
        return places[0]
    if not places:
        return _missing(lines, old, index, start=start)
    at = ", ".join(str(place + 1) for place in places[:_SHOWN])
    message = f"its lines are there {len(places)} times, on lines {at}; add lines around them, or an @@ line above"
    return _problem(Trouble.AMBIGUOUS, index, message, lines=tuple(place + 1 for place in places[:_SHOWN]))


def _missing(lines: Sequence[str], old: Sequence[str], index: int, *, start: int) -> Problem:
    loose = [line.split() for line in old]
    near = next(
        (n for n in range(start, len(lines) - len(old) + 1) if [x.split() for x in lines[n : n + len(old)]] == loose),
        None,
    )
    if near is not None:
        message = f"its lines differ from those on line {near + 1} by blanks alone; copy them exactly"
        return _problem(Trouble.ONLY_NORMALISED, index, message, lines=(near + 1,))
    where = f" after line {start}" if start else ""
    return _problem(
        Trouble.NOT_FOUND, index, f"its lines are not in the file{where}; read it again and copy them exactly"
    )


def _problem(trouble: Trouble, index: int, message: str, *, lines: tuple[int, ...] = ()) -> Problem:
    return Problem(trouble, f"change {index + 1}: {message}", index, lines)


def _spans(piece: Piece, place: int, starts: Sequence[int], *, index: int, end: int) -> list[Span]:
    """One for each run of removed and added lines; lines of context lie between them."""
    spans: list[Span] = []
    run: list[str] = []
    first = line_no = place
    for line in [*piece.lines, " "]:
        if line[0] == " ":
            if run:
                spans.append(_span(run, first, line_no, starts=starts, index=index, end=end))
            run, first = [], line_no + 1
            line_no += 1
            continue
        run.append(line)
        line_no += line[0] == "-"
    return spans


def _span(run: Sequence[str], first: int, stop: int, *, starts: Sequence[int], index: int, end: int) -> Span:
    """Lines [first, stop) become the added ones; a file that ends without a newline goes on doing so."""
    new = "".join(f"{line[1:]}\n" for line in run if line[0] == "+")
    begin, close = starts[first], starts[stop]
    if close > end:
        close = end
        if new:
            new = new.removesuffix("\n")
        elif begin:
            begin -= 1
    if begin > end:
        # Behind a last line that has no newline.
        return Span(end, end, "\n" + new.removesuffix("\n"), index)
    return Span(begin, close, new, index)
