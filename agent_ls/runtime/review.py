"""The person's review of applied edits: which hunks there are, how they stand, and taking one back.

Owns the way from a hunk to the file that it is in: a hunk is undone where it stands now, if its own lines are as the
agent wrote them, and nothing else of the file changes. Through the window where the file is open, on disk where not.
Does not own the marks (core.review) nor where a hunk stands (core.hunks).
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import anyio
from anyio import to_thread

from agent_ls.core import hunks
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.hunks import Found, Hunk, Record, Standing
from agent_ls.core.items import Item, ResultStatus
from agent_ls.core.projection import ConversationState
from agent_ls.core.review import Mark, Review, reviewable
from agent_ls.core.textfile import NotText, TextFile, decode, split_lines
from agent_ls.core.uris import NotLocal, local_path
from agent_ls.ports.files import ABSENT, Files, Reason, Refused, Replaced

LARGEST: Final = 10 * 1024 * 1024
KEPT_RECORDS: Final = 64


@dataclass(frozen=True, kw_only=True)
class Applied:
    """One hunk as it stands now: lines [start, end) of the text. `number` counts the hunks of its call."""

    item: Item
    number: int
    hunk: Hunk
    state: str
    start: int
    end: int

    @property
    def id(self) -> str:
        return f"{self.item.id}.h{self.number}"

    @property
    def decided(self) -> bool:
        return self.state in set(Mark)


@dataclass(frozen=True, kw_only=True)
class FileReview:
    """`text` is what counts for the file now, None where there is none; `trouble` why it cannot be looked at."""

    uri: str
    digest: str
    text: str | None
    applied: tuple[Applied, ...]
    trouble: str | None = None


@dataclass(frozen=True)
class _Part:
    """What one call did to one file."""

    item: Item
    first: int
    record: Record

    def numbers(self) -> range:
        return range(self.first, self.first + len(self.record.hunks))

    def mark(self, number: int) -> str | None:
        return (self.item.call.reviewed or {}).get(str(number))


@dataclass(frozen=True)
class _Now:
    digest: str
    file: TextFile | None

    @property
    def text(self) -> str | None:
        return None if self.file is None else self.file.text


class Reviewer:
    """`get_blob` fetches what was kept of a change."""

    def __init__(self, files: Files, get_blob: Callable[[str], Awaitable[bytes | None]]) -> None:
        self._files = files
        self._get_blob = get_blob
        self._records: dict[str, tuple[Record, ...]] = {}
        self._one_at_a_time = anyio.Lock()

    async def files(self, state: ConversationState, run_id: str | None = None) -> list[FileReview]:
        """Every file that the agent has changed, in the order in which it did so first."""
        parts = await self._parts(state, run_id)
        return [await self._file(uri, found) for uri, found in parts.items()]

    async def of(self, state: ConversationState, uri: str) -> FileReview | Refusal:
        """One file that the agent has changed."""
        parts = (await self._parts(state, None)).get(uri)
        return _no_change(uri) if parts is None else await self._file(uri, parts)

    async def keep(self, state: ConversationState, uri: str, hunk_id: str | None) -> Review | Refusal:
        """The marks that say so. A file that is kept is kept as it is, whatever became of single hunks."""
        review = await self.of(state, uri)
        if isinstance(review, Refusal):
            return review
        chosen = _chosen(review, hunk_id)
        if isinstance(chosen, Refusal):
            return chosen
        if hunk_id is not None and chosen[0].state == Mark.UNDONE:
            return Refusal(Code.STALE_DOCUMENT, "This change is undone already, so it cannot be kept.", _LOOK)
        return _review(Mark.KEPT, [one for one in chosen if not one.decided])

    async def undo(
        self, state: ConversationState, uri: str, *, hunk_id: str | None, seen: str | None, token: str
    ) -> Review | Refusal:
        """Takes the hunk, or every open one of the file, out of it; the marks that say so.

        `seen` is the hash of the file that the person looked at, where they say. Of a file, the newest hunk goes first;
        what cannot be undone is left and named.
        """
        async with self._one_at_a_time:
            parts = (await self._parts(state, None)).get(uri, [])
            now = await self._now(uri)
            if isinstance(now, Refused):
                return _refusal(now)
            if seen is not None and seen != now.digest:
                return Refusal(Code.STALE_DOCUMENT, f"{_name(uri)} has changed since it was shown.", _LOOK)
            undoing = _Undoing(now)
            await to_thread.run_sync(undoing.run, parts, hunk_id)
            refused = undoing.refused(uri, hunk_id)
            if refused is not None:
                return refused
            done = await self._write(uri, now, undoing.file, token=token)
        if isinstance(done, Refused):
            return _refusal(done)
        note = {} if done is None or done.note is None else {"note": done.note}
        return _review(Mark.UNDONE, undoing.undone, left=[one.id for one in undoing.left], **note)

    async def _file(self, uri: str, parts: Sequence[_Part]) -> FileReview:
        if all(part.mark(number) for part in parts for number in part.numbers()):
            return FileReview(uri=uri, digest="", text=None, applied=tuple(_as_recorded(parts)))
        now = await self._now(uri)
        if isinstance(now, Refused):
            applied = tuple(_as_recorded(parts))
            return FileReview(uri=uri, digest="", text=None, applied=applied, trouble=now.message)
        applied = await to_thread.run_sync(_standing, parts, now.text)
        return FileReview(uri=uri, digest=now.digest, text=now.text, applied=applied)

    async def _now(self, uri: str) -> _Now | Refused:
        path = local_path(uri)
        if isinstance(path, NotLocal):
            return Refused(Reason.NOT_LOCAL, path.message)
        content = await self._files.read(path, LARGEST)
        if isinstance(content, Refused):
            return _Now(ABSENT, None) if content.reason is Reason.MISSING else content
        file = decode(content.data)
        if isinstance(file, NotText):
            return Refused(Reason.NOT_A_FILE, f"{path} is no text any more: {file.reason}")
        return _Now(content.digest, file)

    async def _write(self, uri: str, now: _Now, file: TextFile | None, *, token: str) -> Replaced | Refused | None:
        """None: nothing had to be done."""
        path = local_path(uri)
        assert not isinstance(path, NotLocal)
        if file is now.file:
            return None
        try:
            if file is None:
                done = await self._files.remove(path, expected=now.digest, token=token)
                if not isinstance(done, Refused) or done.reason is not Reason.OPEN:
                    return done
                return await self._files.replace(path, b"", expected=now.digest, token=token)
            try:
                data = file.bom + file.to_bytes(file.text)
            except UnicodeEncodeError:
                return Refused(Reason.STALE, f"{path} is in another encoding now, which cannot hold the text before")
            return await self._files.replace(path, data, expected=now.digest, token=token)
        finally:
            self._files.forget(token)

    async def _parts(self, state: ConversationState, run_id: str | None) -> dict[str, list[_Part]]:
        """By file, what each call did to it, oldest first."""
        items = state.items.values() if run_id is None else state.items_of(run_id)
        found: dict[str, list[_Part]] = {}
        for item in sorted(reviewable(items), key=lambda item: (item.updated_at or "", item.ord)):
            first = 1
            for record in await self._record(item.call.record or ""):
                found.setdefault(record.uri, []).append(_Part(item, first, record))
                first += len(record.hunks)
        return found

    async def _record(self, digest: str) -> tuple[Record, ...]:
        known = self._records.get(digest)
        if known is not None:
            return known
        content = await self._get_blob(digest)
        if content is None:
            return ()
        try:
            known = hunks.decode(content)
        except ValueError:
            return ()
        if len(self._records) >= KEPT_RECORDS:
            self._records.pop(next(iter(self._records)))
        self._records[digest] = known
        return known


class _Undoing:
    """Takes hunks out of one text, the newest first, so that one that lies over another uncovers it."""

    def __init__(self, now: _Now) -> None:
        self.file = now.file
        self.undone: list[Applied] = []
        self.left: list[Applied] = []
        self.known = False

    def run(self, parts: Sequence[_Part], hunk_id: str | None) -> None:
        for part in reversed(parts):
            text = None if self.file is None else self.file.text
            for number, hunk, standing in reversed(_hunks(part, text)):
                one = _applied(part, number, hunk, standing=standing)
                self.known = self.known or hunk_id in (None, one.id)
                if one.id == hunk_id or (hunk_id is None and not one.decided):
                    self._take(part.record, one, standing)

    def refused(self, uri: str, hunk_id: str | None) -> Refusal | None:
        if not self.known:
            return _no_change(uri) if hunk_id is None else _no_hunk(hunk_id)
        if self.left and not self.undone:
            message = f"The agent's text is not there any more in {_name(uri)}, so nothing was undone."
            return Refusal(Code.STALE_DOCUMENT, message, _LOOK, {"left": [one.id for one in self.left]})
        return None

    def _take(self, record: Record, one: Applied, standing: Standing) -> None:
        if one.state == Mark.UNDONE or standing.found is Found.UNDONE:
            self.undone.append(one)
            return
        if standing.found is Found.STALE:
            if _certain(one):
                self.left.append(one)
            return
        self.undone.append(one)
        if self.file is None:
            removed = decode(record.raw or b"")
            assert not isinstance(removed, NotText), "only texts are removed"
            self.file = removed
            return
        text = hunks.undone(self.file.text, one.hunk, standing)
        self.file = None if record.created and not text else self.file.holding(text)


def _standing(parts: Sequence[_Part], text: str | None) -> tuple[Applied, ...]:
    found = [
        _applied(part, number, hunk, standing=standing)
        for part in parts
        for number, hunk, standing in _hunks(part, text)
    ]
    return tuple(one for one in found if one.state in {Found.OPEN, *Mark} or _certain(one))


def _hunks(part: _Part, text: str | None) -> list[tuple[int, Hunk, Standing]]:
    standings = hunks.stand(part.record, text)
    return list(zip(part.numbers(), part.record.hunks, standings, strict=True))


def _as_recorded(parts: Sequence[_Part]) -> list[Applied]:
    """Where nothing is open any more, or the file cannot be read: where the hunks were when they were made."""
    return [
        _applied(part, number, hunk, standing=Standing(Found.STALE, hunk.at, hunk.at + len(split_lines(hunk.new))))
        for part in parts
        for number, hunk in zip(part.numbers(), part.record.hunks, strict=True)
    ]


def _applied(part: _Part, number: int, hunk: Hunk, *, standing: Standing) -> Applied:
    state = part.mark(number) or str(standing.found)
    return Applied(item=part.item, number=number, hunk=hunk, state=state, start=standing.start, end=standing.end)


def _certain(one: Applied) -> bool:
    """Whether the change was made for sure; else only its text in the file shows that it was."""
    result = one.item.call.result
    return result is not None and result.status is ResultStatus.OK


def _chosen(review: FileReview, hunk_id: str | None) -> list[Applied] | Refusal:
    if hunk_id is None:
        return list(review.applied)
    return [one for one in review.applied if one.id == hunk_id] or _no_hunk(hunk_id)


def _review(mark: Mark, decided: Sequence[Applied], left: Sequence[str] = (), **said: Any) -> Review:
    marks: dict[str, dict[str, Mark]] = {}
    for one in decided:
        marks.setdefault(one.item.id, {})[str(one.number)] = mark
    return Review(marks=marks, said={"hunks": [one.id for one in decided], "left": list(left), **said})


def _refusal(refused: Refused) -> Refusal:
    code = Code.PERMISSION_DENIED if refused.reason is Reason.FORBIDDEN else Code.STALE_DOCUMENT
    return Refusal(code, f"Nothing was undone: {refused.message}.", _LOOK)


def _no_change(uri: str) -> Refusal:
    return Refusal(Code.NOT_FOUND, f"The agent has changed nothing in {_name(uri)}.", _LOOK)


def _no_hunk(hunk_id: str) -> Refusal:
    return Refusal(Code.NOT_FOUND, f"There is no change `{hunk_id[:300]}` in this file.", _LOOK)


def _name(uri: str) -> str:
    path = local_path(uri)
    return uri if isinstance(path, NotLocal) else path


_LOOK: Final = "Look at the file; `agent/change/list` says how each change stands now."
