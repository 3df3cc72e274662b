"""How a file stands: the disk and every open copy of it, laid side by side.

Owns which text counts for a file and through which windows an edit of it goes. Pure: the disk's state comes in as a
value. Does not own how an edit is made (through) nor the words of the tools.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from agent_ls.core.textfile import NotText, TextFile, decode, has_surrogates
from agent_ls.editor.documents import EditingWindow, Overlay, fingerprint
from agent_ls.ports.files import ABSENT, Content, Reason, Refused


@dataclass(frozen=True, kw_only=True)
class OnDisk:
    """`file` is None when the bytes are no text; no file at all is an empty text with the digest ABSENT."""

    data: bytes
    digest: str
    file: TextFile | None
    print: str

    @classmethod
    def of(cls, content: Content) -> "OnDisk":
        file = decode(content.data)
        if isinstance(file, NotText):
            return cls(data=content.data, digest=content.digest, file=None, print="")
        return cls(data=content.data, digest=content.digest, file=file, print=fingerprint(file.text))

    @property
    def certain(self) -> bool:
        """Whether an editor must read the bytes as we do."""
        return self.file is not None and not self.file.legacy and not has_surrogates(self.file.text)


NO_FILE = OnDisk(data=b"", digest=ABSENT, file=TextFile(""), print=fingerprint(""))


@dataclass(frozen=True)
class Saved:
    """The disk's text counts. An edit goes through the first of these windows, and is saved there if it can be."""

    copies: Sequence[Overlay]


@dataclass(frozen=True)
class Unsaved:
    """The text that these windows hold counts, all the same one. An edit goes through each, unsaved."""

    copies: Sequence[Overlay]
    text: str


class Copy(Enum):
    SAME = "same"
    BEHIND = "behind"
    UNSAVED = "unsaved"
    CONFLICT = "conflict"
    LOST = "lost"


def standing(
    copies: Sequence[Overlay], disk: OnDisk, path: str, *, first: EditingWindow | None
) -> Saved | Unsaved | Refused:
    """`first` is the window that an edit should go through if it can: the one that owns the run."""
    found = [(overlay, _copy(overlay, disk)) for overlay in _ordered(copies, first)]
    for kind, sentence in _TROUBLE.items():
        if stuck := [overlay for overlay, how in found if how is kind]:
            return Refused(Reason.STALE, f"{path} {sentence.format(windows=names(stuck))}")
    unsaved = [overlay for overlay, how in found if how is Copy.UNSAVED]
    if unsaved:
        return _one_text(unsaved, path)
    return Saved(sorted((o for o, _ in found), key=lambda o: _rank(o, disk, first)))


def names(copies: Sequence[Overlay]) -> str:
    """The windows by the name of their editor; numbered where that says nothing."""
    labels = [overlay.window.client for overlay in copies]
    if len(set(labels)) < len(labels):
        labels = [f"{overlay.window.client} (window {overlay.window.number})" for overlay in copies]
    return " and in ".join(labels)


def bytes_of(text: str, disk: OnDisk) -> bytes:
    """What a window holds as this file would hold it: encoding, BOM, line endings where an editor hides them."""
    file = disk.file or TextFile("")
    if hides_returns(text, file):
        text = text.replace("\n", "\r\n")
    if file.bom:
        text = text.removeprefix("\ufeff")
    try:
        return file.bom + file.to_bytes(text)
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def text_of(data: bytes, disk: OnDisk, held: str) -> str | None:
    """Bytes of this file as the text that a window which holds `held` should have; None when they are no text."""
    file = disk.file or TextFile("")
    try:
        text = data.removeprefix(file.bom).decode(file.codec, file.errors)
    except UnicodeDecodeError:
        return None
    if hides_returns(held, file):
        text = text.replace("\r\n", "\n")
    if file.bom and held.startswith("\ufeff"):
        text = "\ufeff" + text
    if file.text.endswith("\n") and not held.endswith("\n") and fingerprint(held) == disk.print:
        text = text.removesuffix("\n")  # an editor that adds the last one when it saves
    return text


def hides_returns(text: str, file: TextFile) -> bool:
    """Whether the editor holds a CRLF file with plain newlines, as Emacs does."""
    return "\r" not in text and file.flat.style == "\r\n"


def _copy(overlay: Overlay, disk: OnDisk) -> Copy:
    if overlay.lost:
        return Copy.LOST
    held = fingerprint(str(overlay.text))
    if disk.file is not None and held == disk.print:
        return Copy.SAME
    if not overlay.dirty:
        return Copy.BEHIND
    return Copy.UNSAVED if overlay.base == disk.print else Copy.CONFLICT


_TROUBLE = {
    Copy.CONFLICT: (
        "was changed on disk while it has unsaved changes in {windows} (stale_document); "
        "the person has to save it or load it again there, then read it again"
    ),
    Copy.LOST: (
        "is open in {windows}, whose text agent-ls has lost track of (stale_document); "
        "the person has to save it or open it again there, then read it again"
    ),
}


def _one_text(unsaved: Sequence[Overlay], path: str) -> Unsaved | Refused:
    text = str(unsaved[0].text)
    for other in unsaved[1:]:
        if fingerprint(str(other.text)) != fingerprint(text):
            both = names([unsaved[0], other])
            message = (
                f"{path} has different unsaved texts in {both} (stale_document); "
                "the person has to save one of them or make them the same, then read it again"
            )
            return Refused(Reason.STALE, message)
    return Unsaved(unsaved, text)


def _ordered(copies: Sequence[Overlay], first: EditingWindow | None) -> list[Overlay]:
    return sorted(copies, key=lambda overlay: overlay.window is not first)


def _rank(overlay: Overlay, disk: OnDisk, first: EditingWindow | None) -> tuple[bool, bool, bool]:
    """A copy that is as the disk before one that is behind it, then the owner's, then one that can save."""
    return _copy(overlay, disk) is Copy.BEHIND, overlay.window is not first, not overlay.saves
