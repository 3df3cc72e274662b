"""What a patch would do: each file as it is and as it would be, all of it checked before anything is touched.

Owns which files a patch may name and what has to hold of them. Does not write.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

from anyio import to_thread

from agent_ls.adapters.tools.arguments import twice
from agent_ls.adapters.tools.file_input import Opened, card_text, not_fresh, open_text, refuse, shown
from agent_ls.core import diff, hunks
from agent_ls.core.edits import Applied, Problem, own_lines
from agent_ls.core.hunks import Record
from agent_ls.core.patch import Deed, FilePatch, Malformed, lay_on, parse
from agent_ls.core.textfile import NotText, TextFile, Unencodable, decode, sha256
from agent_ls.ports.files import ABSENT, Files, Place, Refused
from agent_ls.ports.tools import Invalid, ToolContext

LARGEST_PATCH: Final = 1_000_000
MOST_FILES: Final = 50


@dataclass(frozen=True, kw_only=True)
class Step:
    """One file: `data` is what it will hold, None where it is removed. `bound` is what a decision is bound to."""

    opened: Opened
    name: str
    data: bytes | None
    diff: str
    bound: list[Any]

    @property
    def place(self) -> Place:
        return self.opened.place

    @property
    def before(self) -> str:
        return self.opened.digest

    @property
    def after(self) -> str:
        return ABSENT if self.data is None else sha256(self.data)

    @property
    def text(self) -> str | None:
        """What it will hold, with its own line endings."""
        if self.data is None:
            return None
        file = decode(self.data)
        assert not isinstance(file, NotText), "only texts are written"
        return file.text

    @property
    def was(self) -> bytes:
        file = self.opened.file
        return file.bom + file.to_bytes(file.text)

    def record(self) -> Record:
        before = None if self.before == ABSENT else self.opened.file.text
        return hunks.recorded(self.place.uri, before, self.text, raw=self.was)

    def card(self) -> dict[str, Any]:
        old, new = card_text(self.opened.file.text), card_text(self.text or "")
        return {
            "uri": self.place.uri,
            "path": self.name,
            "diff": self.diff,
            "before": old if new is not None else None,
            "after": new if old is not None else None,
            "beforeHash": self.before,
            "afterHash": self.after,
        }


@dataclass(frozen=True)
class Plan:
    """Files that are written, then files that are removed."""

    steps: tuple[Step, ...]


async def plan(files: Files, patch: str, context: ToolContext) -> Plan | Invalid:
    found = parse(patch)
    if isinstance(found, Malformed):
        return Invalid(f"The patch was not applied: {found.message}")
    if len(found) > MOST_FILES:
        return Invalid(f"The patch names {len(found)} files; make it smaller ({MOST_FILES} at most)")
    steps: list[Step] = []
    for file in found:
        made = await _steps(files, file, context)
        if isinstance(made, Invalid):
            return replace(made, message=f"{made.message}; nothing of the patch was applied")
        steps += made
    again = twice([step.place.uri for step in steps])
    if again is not None:
        name = next(step.name for step in steps if step.place.uri == again)
        return Invalid(f"The patch names {name} twice; join what it changes there. Nothing of it was applied")
    return Plan(tuple(sorted(steps, key=lambda step: step.data is None)))


async def _steps(files: Files, file: FilePatch, context: ToolContext) -> list[Step] | Invalid:
    opened = await open_text(files, file.path, context.root)
    if isinstance(opened, Refused):
        return refuse(opened)
    name = shown(opened.place.path, context.root)
    if file.deed is Deed.ADD:
        return _added(opened, name, file.text)
    if opened.digest == ABSENT:
        return Invalid(f"{name} does not exist")
    trouble = not_fresh(opened, context)
    if trouble is not None:
        return Invalid(trouble)
    if file.deed is Deed.DELETE:
        return [_removed(opened, name)]
    applied = await to_thread.run_sync(_applied, opened.file, file)
    if isinstance(applied, Problem):
        return Invalid(f"{name}: {applied.message}")
    if file.moved_to is None:
        return [await _updated(opened, name, applied)]
    return await _moved(files, opened, applied, file=file, context=context)


def _added(opened: Opened, name: str, text: str) -> list[Step] | Invalid:
    if opened.digest != ABSENT:
        return Invalid(f"{name} exists already; use `*** Update File:`")
    refused: Unencodable | None = TextFile("").check(text, "")
    if refused is not None:
        return Invalid(f"{name}: {refused.reason}")
    data = text.encode("utf-8")
    drawn = diff.of_rewrite("", text, name, created=True) or f"--- /dev/null\n+++ b/{name}\n\\ A new, empty file.\n"
    return [Step(opened=opened, name=name, data=data, diff=drawn, bound=["add", opened.place.uri, sha256(data)])]


def _removed(opened: Opened, name: str) -> Step:
    drawn = diff.of_rewrite(opened.file.flat.text, "", name).replace(f"+++ b/{name}\n", "+++ /dev/null\n", 1)
    drawn = drawn or f"--- a/{name}\n+++ /dev/null\n\\ An empty file.\n"
    return Step(opened=opened, name=name, data=None, diff=drawn, bound=["delete", opened.place.uri, opened.digest])


def _applied(file: TextFile, patch: FilePatch) -> Applied | Problem:
    """A file that only moves is as it is."""
    if not patch.pieces:
        return Applied(file.bom + file.to_bytes(file.text), file.flat.text, ())
    return lay_on(file, patch.pieces)


async def _updated(opened: Opened, name: str, applied: Applied) -> Step:
    flat = opened.file.flat.text
    drawn = await to_thread.run_sync(lambda: diff.of_edit(flat, applied.text, name, spans=applied.spans))
    bound = ["update", opened.place.uri, own_lines(flat, applied.spans)]
    return Step(opened=opened, name=name, data=applied.data, diff=drawn, bound=bound)


async def _moved(
    files: Files, opened: Opened, applied: Applied, *, file: FilePatch, context: ToolContext
) -> list[Step] | Invalid:
    target = await open_text(files, file.moved_to or "", context.root)
    if isinstance(target, Refused):
        return refuse(target)
    name, new_name = shown(opened.place.path, context.root), shown(target.place.path, context.root)
    if target.digest != ABSENT:
        return Invalid(f"{new_name} exists already, so {name} cannot be moved there")
    made = await _updated(opened, new_name, applied)
    drawn = made.diff or f"--- a/{name}\n+++ b/{new_name}\n\\ Moved as it is.\n"
    bound = ["move", opened.place.uri, target.place.uri, opened.digest]
    gone = replace(_removed(opened, name), diff="", bound=["moved", opened.place.uri])
    return [
        replace(made, opened=target, diff=drawn.replace(f"--- a/{new_name}", f"--- a/{name}", 1), bound=bound),
        gone,
    ]
