"""The files of the tools as the person sees them: what windows have open stands in front of the disk.

Owns which text a read sees and where an edit goes (the table of editor.md), and that nothing is ever written to disk
beneath an open copy. Does not own how copies are kept in step (documents), which one counts (standing) nor how one is
edited (through). The file tools know nothing of windows beyond a note in their results.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from anyio import to_thread

from agent_ls.core import diff
from agent_ls.core.ids import conversation_of
from agent_ls.core.textfile import NotText, decode, sha256
from agent_ls.core.uris import NotLocal, file_uri, is_within, local_path, relative
from agent_ls.editor import through
from agent_ls.editor.documents import Documents, EditingWindow, Overlay, fingerprint
from agent_ls.editor.standing import NO_FILE, OnDisk, Saved, Unsaved, bytes_of, names, standing, text_of
from agent_ls.editor.through import Made, NotMade, Patience, Uncertain
from agent_ls.ports.files import ABSENT, Content, Files, Found, Place, Reason, Refused, Replaced

_LARGEST: Final = 10 * 1024 * 1024
# Below this, hashing and decoding take less time than the way to a thread and back.
_AT_ONCE: Final = 128 * 1024
_LONGEST_DIFF: Final = 4_000


class Marks(Protocol):
    """What survives a crash: by the token of an edit, the window that it was sent through."""

    def put(self, token: str, window: str) -> None: ...

    def find(self, token: str) -> str | None: ...

    def drop(self, token: str) -> None: ...


@dataclass(frozen=True)
class _Stand:
    disk: OnDisk
    what: Saved | Unsaved

    @property
    def digest(self) -> str:
        return self.disk.digest if isinstance(self.what, Saved) else sha256(bytes_of(self.what.text, self.disk))


class WindowFiles:
    """Implements ports.files.Files."""

    def __init__(self, disk: Files, documents: Documents, marks: Marks, *, patience: Patience | None = None) -> None:
        self._disk = disk
        self._documents = documents
        self._marks = marks
        self._patience = patience or Patience()

    async def locate(self, path: str, root: str) -> Place | Refused:
        """A file that so far only a window holds is there for the tools."""
        place = await self._disk.locate(path, root)
        if isinstance(place, Place) and not place.exists:
            await self._documents.returning.wait(place.uri)
            held = any(overlay.dirty and str(overlay.text) for overlay in self._documents.at(place.uri))
            return replace(place, exists=held)
        return place

    async def find(self, path: str, root: str, limit: int) -> Found | Refused:
        found = await self._disk.find(path, root, limit)
        if isinstance(found, Refused):
            return found
        key = found.place.uri
        if found.place.exists and not self._documents.at(key) and not self._documents.returning.awaits(key):
            return found
        # What a window has open, or had and is about to have again, stands in front of what was found.
        place = await self.locate(path, root)
        return place if isinstance(place, Refused) else Found(place, await self.read(place.path, limit))

    async def read(self, path: str, limit: int) -> Content | Refused:
        await self._documents.returning.wait(file_uri(path))
        copies = self._documents.at(file_uri(path))
        if not copies:
            return await self._disk.read(path, limit)
        stand = await self._stand(path, None)
        if isinstance(stand, Refused):
            return stand
        if isinstance(stand.what, Saved):
            disk = stand.disk
            found = disk is not NO_FILE and len(disk.data) <= limit
            return Content(disk.data, disk.digest) if found else await self._disk.read(path, limit)
        data = bytes_of(stand.what.text, stand.disk)
        if len(data) > limit:
            return Refused(Reason.TOO_LARGE, f"{path} has {len(data):,} bytes, more than the {limit:,} that tools take")
        return Content(data, sha256(data), f"unsaved text of your editor ({names(stand.what.copies)})")

    async def replace(self, path: str, data: bytes, *, expected: str, token: str) -> Replaced | Refused:
        await self._documents.returning.wait(file_uri(path))
        if not self._documents.at(file_uri(path)):
            return await self._disk.replace(path, data, expected=expected, token=token)
        stand = await self._stand(path, self._documents.sender(conversation_of(token)))
        if isinstance(stand, Refused):
            return stand
        if not stand.what.copies:  # closed while the disk was looked at
            return await self._disk.replace(path, data, expected=expected, token=token)
        if stand.digest != expected:
            return Refused(Reason.STALE, f"{path} changed meanwhile, nothing was written; read it again")
        self._marks.put(token, names(stand.what.copies))
        if isinstance(stand.what, Saved):
            return await self._saved(path, data, stand.disk, copy=stand.what.copies[0])
        return await self._unsaved(path, data, stand.disk, copies=stand.what.copies)

    async def remove(self, path: str, *, expected: str, token: str) -> Replaced | Refused:
        await self._documents.returning.wait(file_uri(path))
        copies = self._documents.at(file_uri(path))
        if not copies:
            return await self._disk.remove(path, expected=expected, token=token)
        message = f"{path} is open in {names(copies)}, so it was not removed; it has to be closed there first"
        return Refused(Reason.OPEN, message)

    async def reclaim(self, path: str, *, before: str, after: str, token: str) -> str | Refused:
        there = await self._disk.reclaim(path, before=before, after=after, token=token)
        if isinstance(there, Refused) or there == after:
            return there
        copies, sent = self._documents.at(file_uri(path)), self._marks.find(token)
        disk = await self._look(path)
        if isinstance(disk, Refused):
            return disk
        held = [sha256(bytes_of(str(overlay.text), disk)) for overlay in copies]
        if after in held:
            return after
        if sent is not None and not copies:
            message = f"it was being made in {sent}, which has not come back; read {path} to see"
            return Refused(Reason.UNKNOWN, message)
        if before in held or sent is None:
            return before if before in held else there
        return held[0]

    def forget(self, token: str) -> None:
        self._marks.drop(token)

    def unsaved(self, root: str) -> Sequence[str]:
        """What a shell in this folder has to be told: edits of the agent that are not on disk yet."""
        found = []
        for overlay in self._documents.everything():
            if overlay.by_agent and is_within(overlay.key, file_uri(root)):
                path = local_path(overlay.key)
                assert not isinstance(path, NotLocal)
                found.append(f"not saved in {overlay.window.client}: {relative(path, root)}")
        return tuple(sorted(found))

    async def _stand(self, path: str, first: EditingWindow | None) -> _Stand | Refused:
        key = file_uri(path)
        for overlay in self._documents.at(key):
            await overlay.settled.wait()
        disk = await self._look(path)
        if isinstance(disk, Refused):
            return disk
        copies = self._documents.at(key)
        for overlay in copies:
            if disk.file is not None and not overlay.lost and fingerprint(str(overlay.text)) == disk.print:
                overlay.as_on_disk(disk.print)
        what = standing(copies, disk, path, first=first)
        return what if isinstance(what, Refused) else _Stand(disk, what)

    async def _look(self, path: str) -> OnDisk | Refused:
        return await look(self._disk, path)

    async def _saved(self, path: str, data: bytes, disk: OnDisk, *, copy: Overlay) -> Replaced | Refused:
        """The disk's text counts: the copy takes the new one, and the window saves it."""
        target = _target(copy, data, disk, path=path)
        if isinstance(target, Refused):
            return target
        done = await through.put(copy, target, self._patience)
        if not isinstance(done, Made):
            return await self._failed(path, data, done)
        copy.by_agent = True
        digest, client = sha256(data), copy.window.client
        if not done.exact:
            note = f"It is changed in {client}, where the person is typing, and not saved there."
            return Replaced(digest=digest, note=note)
        if not copy.saves:
            note = f"It is changed in {client} and not saved there; the file on disk is as it was."
            return Replaced(digest=digest, note=note)
        return await self._save(path, data, disk, copy=copy)

    async def _save(self, path: str, data: bytes, disk: OnDisk, *, copy: Overlay) -> Replaced:
        why = await through.save(copy, self._patience)
        now = await self._look(path)
        planned, client = sha256(data), copy.window.client
        if isinstance(now, OnDisk) and now.digest == planned:
            if fingerprint(str(copy.text)) == now.print:
                copy.as_on_disk(now.print)
            return Replaced(digest=planned, note=f"It is saved, through {client}.")
        if isinstance(now, Refused) or now.digest == disk.digest:
            said = f" ({why})" if why else ""
            note = f"It is changed in {client} and not saved there{said}; the file on disk is as it was."
            return Replaced(digest=planned, note=note)
        if why is not None and fingerprint(str(copy.text)) != now.print:
            # It was not the window that wrote there: what the agent is told as saved would be in no file.
            note = (
                f"It is changed in {client} and not saved there ({why}); something else has changed the file on disk."
            )
            return Replaced(digest=planned, note=note)
        copy.by_agent = False
        return _reformatted(path, data, now, client=client)

    async def _unsaved(self, path: str, data: bytes, disk: OnDisk, *, copies: Sequence[Overlay]) -> Replaced | Refused:
        """The windows' text counts: each copy takes the new one, and whether to save is the person's to say."""
        note = f"It had unsaved changes in {names(copies)}, so it is changed there and not saved."
        for number, copy in enumerate(copies):
            target = _target(copy, data, disk, path=path)
            done = target if isinstance(target, Refused) else await through.put(copy, target, self._patience)
            if isinstance(done, Made):
                copy.by_agent = True
            elif number == 0:
                return done if isinstance(done, Refused) else await self._failed(path, data, done)
            else:
                why = done.message if isinstance(done, Refused) else done.why
                note += f" But {why}, so that {names([copies[0], copy])} it may hold different texts now."
        return Replaced(digest=sha256(data), note=note)

    async def _failed(self, path: str, data: bytes, done: NotMade | Uncertain) -> Replaced | Refused:
        if isinstance(done, NotMade):
            reason = Reason.STALE if done.stale else Reason.FAILED
            return Refused(reason, f"{path} was not changed: {done.why}; read it again before another try")
        disk = await self._look(path)
        if isinstance(disk, OnDisk) and disk.digest == sha256(data):
            return Replaced(digest=disk.digest)
        message = (
            f"{done.why}, so it is not known whether {path} is changed there; nothing was written to disk beside it"
        )
        return Refused(Reason.UNKNOWN, f"{message}; read it to see")


async def look(files: Files, path: str) -> OnDisk | Refused:
    """What the disk holds; no file is an empty one."""
    content = await files.read(path, _LARGEST)
    if isinstance(content, Refused):
        return NO_FILE if content.reason is Reason.MISSING else content
    if len(content.data) < _AT_ONCE:
        return OnDisk.of(content)
    return await to_thread.run_sync(OnDisk.of, content)


def _target(copy: Overlay, data: bytes, disk: OnDisk, *, path: str) -> str | Refused:
    """The text that the window's copy should become."""
    client = copy.window.client
    if isinstance(decode(data), NotText) or disk.file is None:
        return Refused(Reason.NOT_A_FILE, f"{path} is open in {client} and holds no text; nothing was changed")
    if not disk.certain and disk.print not in {copy.base, fingerprint(str(copy.text))}:
        message = (
            f"{path} is open in {client} in an encoding that agent-ls cannot tell; it has to be closed there first"
        )
        return Refused(Reason.FAILED, message)
    target = text_of(data, disk, str(copy.text))
    if target is None:
        return Refused(Reason.FAILED, f"{path} is open in {client}, and the new content is no text of its encoding")
    return target


def _reformatted(path: str, data: bytes, now: OnDisk, *, client: str) -> Replaced:
    """The file was saved, and not as it was edited: a formatter, or somebody else. The model is shown what changed."""
    planned, digest = decode(data), sha256(data)
    note = f"It is saved, through {client}, which changed it further on saving"
    if isinstance(planned, NotText) or now.file is None or now.digest == ABSENT:
        return Replaced(digest=digest, note=f"{note}; read it again.")
    shown = diff.of_rewrite(planned.flat.text, now.file.flat.text, path)
    if not shown:
        return Replaced(digest=now.digest, note=f"{note}: line endings or encoding only.")
    if len(shown) > _LONGEST_DIFF:
        return Replaced(digest=digest, note=f"{note} in many places; read it again.")
    return Replaced(digest=now.digest, note=f"{note}:\n{shown}")
