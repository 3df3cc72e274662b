"""What the file tools share: the place a call means, how it is named to people, what was seen of it before.

Owns limits and sentences that read, write and edit have in common. Does not touch the disk but through ports.files.
"""

from dataclasses import dataclass

from anyio import to_thread

from agent_ls.core.textfile import NotText, TextFile, decode, printable
from agent_ls.core.uris import relative
from agent_ls.ports.files import ABSENT, Files, Place, Reason, Refused
from agent_ls.ports.tools import Invalid, Prepared, ToolContext

LARGEST_FILE = 10 * 1024 * 1024
# Above this, decoding would keep the loop from others.
AT_ONCE = 128 * 1024
# Three texts of this size and their escapes fit into one entity on the wire.
LARGEST_SHOWN = 32 * 1024


# What says nothing of the file itself: two texts of it that a person has yet to make one, a disk that is full.
_PASSING = frozenset({Reason.STALE, Reason.FAILED, Reason.UNKNOWN, Reason.OPEN})


@dataclass(frozen=True)
class Opened:
    """A text file as it is on disk; `digest` is ABSENT and the text empty when there is none."""

    place: Place
    file: TextFile
    digest: str


async def open_text(files: Files, path: str, root: str) -> Opened | Refused:
    """The text at a path, or of a new file there. Binary, special and large files are refused."""
    place = await files.locate(path, root)
    if isinstance(place, Refused):
        return place
    if not place.exists:
        folder = await files.locate(root, root)
        if isinstance(folder, Refused) or not folder.exists:
            return Refused(Reason.MISSING, f"the workspace {root} is gone, and nothing makes it again")
        return Opened(place, TextFile(""), ABSENT)
    content = await files.read(place.path, LARGEST_FILE)
    if isinstance(content, Refused):
        return content
    large = len(content.data) > AT_ONCE
    file = await to_thread.run_sync(_decoded, content.data) if large else decode(content.data)
    if isinstance(file, NotText):
        message = f"{path} cannot be edited as text: {file.reason}; use shell for it"
        return Refused(Reason.NOT_A_FILE, message)
    return Opened(place, file, content.digest)


def _decoded(data: bytes) -> TextFile | NotText:
    """With its text flattened, which is kept."""
    file = decode(data)
    if isinstance(file, TextFile):
        _ = file.flat
    return file


def not_fresh(opened: Opened, context: ToolContext) -> str | None:
    """Why an existing file may not be changed now: never read here, or changed since.

    Where a person decides, what they are shown counts: the file may have changed elsewhere.
    """
    name = shown(opened.place.path, context.root)
    seen = context.seen.get(opened.place.uri)
    if seen is None:
        return f"{name} exists and was not read in this conversation; read it first"
    if seen != opened.digest and not context.shown:
        return f"stale: {name} changed since it was read; read it again"
    return None


def moved(prepared: Prepared, place: Place) -> str | None:
    """A link that leads elsewhere than when the call was decided on."""
    if place.uri == prepared.uri:
        return None
    return f"stale: {printable(place.asked)} leads to another file than it did; ask for it again"


def shown(path: str, root: str) -> str:
    """Relative within the workspace."""
    return printable(relative(path, root))


def card_text(text: str) -> str | None:
    """A text for the approval card; None when it is too long to travel, its hash stands beside it."""
    return printable(text) if len(text.encode("utf-8", "surrogatepass")) <= LARGEST_SHOWN else None


def refuse(refused: Refused) -> Invalid:
    prefix = "stale: " if refused.reason is Reason.STALE else ""
    return Invalid(prefix + printable(refused.message), passing=refused.reason in _PASSING)
