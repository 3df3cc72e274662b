"""The half of write and edit that is the same: from a planned new content to an approved, verified one.

Owns the card, the run under the lock and what recovery finds. What the new content is, each tool says itself.
"""

from dataclasses import dataclass
from typing import Any

from agent_ls.adapters.tools.base import failed
from agent_ls.adapters.tools.file_input import Opened, card_text, refuse, shown
from agent_ls.core import hunks
from agent_ls.core.hunks import Record
from agent_ls.core.items import Call, ResultStatus, ToolResult
from agent_ls.core.textfile import NotText, decode, printable, sha256
from agent_ls.core.uris import NotLocal, local_path
from agent_ls.ports.files import ABSENT, Files, Reason, Refused
from agent_ls.ports.tools import Invalid, Prepared, ToolContext, ToolEffect


@dataclass(frozen=True, kw_only=True)
class Change:
    """A new content for a file. `text` is it with `\\n` endings; `said` tells the model what was done.

    `own` are the lines that are replaced and what by, where not the whole file is.
    """

    opened: Opened
    data: bytes
    text: str
    diff: str
    said: str
    own: tuple[tuple[str, str], ...] = ()


def prepared(tool: str, change: Change, root: str, *, arguments: dict[str, Any], digest: str) -> Prepared:
    place, before = change.opened.place, change.opened.digest
    after = sha256(change.data)
    name = shown(place.path, root)
    old, new = card_text(change.opened.file.flat.text), card_text(change.text)
    card = {
        "type": "edit",
        "uri": place.uri,
        "path": name,
        "diff": change.diff,
        "before": old if new is not None else None,
        "after": new if old is not None else None,
        "beforeHash": before,
        "afterHash": after,
    }
    return Prepared(
        tool=tool,
        input=arguments,
        effect=ToolEffect.EDIT,
        title=f"{'Create' if before == ABSENT else tool.title()} {name}",
        digest=digest,
        card=card,
        keys=(place.uri,),
        reads=() if before == ABSENT else place.paths,
        writes=place.paths,
        uri=place.uri,
        diff=change.diff,
        before=before,
        after=after,
        shared=place.shared,
        record=lambda: hunks.encode([_record(change)]),
    )


def _record(change: Change) -> Record:
    opened = change.opened
    after = decode(change.data)
    assert not isinstance(after, NotText), "only texts are written"
    return hunks.recorded(opened.place.uri, None if opened.digest == ABSENT else opened.file.text, after.text)


async def carry_out(files: Files, change: Change, context: ToolContext) -> ToolResult:
    place = change.opened.place
    done = await files.replace(place.path, change.data, expected=change.opened.digest, token=context.item_id)
    if isinstance(done, Refused):
        if done.reason is Reason.UNKNOWN:
            return ToolResult(status=ResultStatus.UNKNOWN, output=printable(done.message))
        return failed(refuse(done).message)
    said = change.said
    if place.note is not None:
        said += f" Note: {place.note}."
    if done.in_place is not None:
        said += f" It was overwritten in place, because {done.in_place}."
    if done.note is not None:
        said += f" {printable(done.note)}"
    data = {"uri": place.uri, "hash": done.digest}
    if change.opened.digest not in {ABSENT, context.seen.get(place.uri)}:
        # A person allowed it over a file that had changed elsewhere, and the model has not seen how.
        said += " The file had changed elsewhere since you read it; read it again before you change more of it."
        del data["hash"]
    return ToolResult(status=ResultStatus.OK, output=said, data=data)


async def find_out(files: Files, call: Call, context: ToolContext) -> ToolResult | None:
    """Whether a change whose result was lost has happened: the disk tells."""
    path = None if call.uri is None else local_path(call.uri)
    if path is None or isinstance(path, NotLocal) or call.before is None or call.after is None:
        return _unknown("what it was to change was not recorded")
    there = await files.reclaim(path, before=call.before, after=call.after, token=context.item_id)
    name = shown(path, context.root)
    match there:
        case Refused(message=message):
            return _unknown(message)
        case digest if digest == call.after:
            output = f"{name} was changed as asked; the daemon was restarted before it could say so."
            data = {"uri": call.uri, "hash": digest}
            return ToolResult(status=ResultStatus.OK, output=output, data=data)
        case digest if digest == call.before:
            return None
        case _:
            return _unknown(f"{name} holds neither the text before nor the one after it; read it to see")


def stale(reason: str | Invalid) -> ToolResult:
    return failed(reason if isinstance(reason, str) else reason.message)


def _unknown(why: str) -> ToolResult:
    return ToolResult(status=ResultStatus.UNKNOWN, output=f"the daemon stopped during this change: {why}.")
