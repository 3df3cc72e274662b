"""apply_patch: several files in one call, for models that are trained on that form. All of it or nothing.

Owns the tool's input, card and what recovery finds. What the patch means is core.patch, which files it makes is
patch_plan.py, doing it patch_run.py.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field

from agent_ls.adapters.tools.arguments import Arguments, parse
from agent_ls.adapters.tools.base import OurTool, failed
from agent_ls.adapters.tools.file_input import shown
from agent_ls.adapters.tools.patch_plan import LARGEST_PATCH, MOST_FILES, Plan, plan
from agent_ls.adapters.tools.patch_run import carry_out, token_of
from agent_ls.core import hunks
from agent_ls.core.digests import digest_of
from agent_ls.core.items import Call, ItemKind, ResultStatus, ToolResult
from agent_ls.core.uris import NotLocal, local_path
from agent_ls.ports.files import ABSENT, Files, Refused
from agent_ls.ports.tools import Invalid, Prepared, Replay, ToolContext, ToolEffect

_DESCRIPTION = (
    "Changes files, all or none: `*** Begin Patch`, per file `*** Add File: path` (lines with +), `*** Delete File: "
    "path` or `*** Update File: path` (then maybe `*** Move to: path`) with context (blank), - and + lines, an `@@ "
    "line above` where they are not unique, then `*** End Patch`. Existing files must have been read."
)
# Their instructions come in this form; others do better with edit.
# Of diffs, and of texts: what travels in one entity.
MOST_SHOWN: Final = 64 * 1024
LARGEST_PLAN: Final = 2 * MOST_FILES
_TRAINED: Final = re.compile(r"(^|/)(gpt-|codex|o\d)", re.IGNORECASE)


class PatchInput(Arguments):
    patch: str = Field(max_length=LARGEST_PATCH)


class ApplyPatchTool(OurTool):
    name = "apply_patch"
    description = _DESCRIPTION
    input = PatchInput
    kind = ItemKind.FILE_CHANGE
    effect = ToolEffect.EDIT
    replay = Replay.VERIFY

    def __init__(self, files: Files) -> None:
        super().__init__()
        self._files = files

    def fits(self, model: str) -> bool:
        return _TRAINED.search(model) is not None

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        given = parse(PatchInput, arguments)
        planned = given if isinstance(given, Invalid) else await plan(self._files, given.patch, context)
        if isinstance(planned, Invalid):
            return planned
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=f"Patch {_named(planned)}",
            digest=_digest(planned),
            card=_card(planned),
            keys=tuple(step.place.uri for step in planned.steps),
            reads=tuple(path for step in planned.steps if step.before != ABSENT for path in step.place.paths),
            writes=tuple(path for step in planned.steps for path in step.place.paths),
            uri=planned.steps[0].place.uri,
            diff=_diff(planned),
            before=json.dumps({step.place.uri: step.before for step in planned.steps}),
            after=json.dumps({step.place.uri: step.after for step in planned.steps}),
            shared=any(step.place.shared for step in planned.steps),
            record=lambda: hunks.encode([step.record() for step in planned.steps]),
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        given = parse(PatchInput, prepared.input)
        planned = given if isinstance(given, Invalid) else await plan(self._files, given.patch, context)
        if isinstance(planned, Invalid):
            return failed(planned.message)
        if _digest(planned) != prepared.digest:
            return failed("stale: a file is not what it was when this was decided on; read it again")
        return await carry_out(self._files, planned, context)

    async def recover(self, call: Call, context: ToolContext) -> ToolResult | None:
        """Looks at every file: all of them changed, none, or nobody knows what to make of it."""
        try:
            before, after = json.loads(call.before or ""), json.loads(call.after or "")
        except ValueError:
            return _unknown("what it was to change was not recorded")
        there: dict[str, str] = {}
        for number, uri in enumerate(before):
            path = local_path(uri)
            if isinstance(path, NotLocal):
                return _unknown(path.message)
            token = token_of(context.item_id, number)
            found = await self._files.reclaim(path, before=before[uri], after=after[uri], token=token)
            if isinstance(found, Refused):
                return _unknown(found.message)
            there[uri] = found
        if there == before:
            return None
        if there == after:
            output = "The patch was applied as asked; the daemon was restarted before it could say so."
            return ToolResult(status=ResultStatus.OK, output=output, data={"hashes": after})
        changed = [shown(str(local_path(uri)), context.root) for uri in there if there[uri] != before[uri]]
        return _unknown(f"{', '.join(changed)} changed and the rest did not; read them to see")

    def forget(self, item_id: str, spool: str) -> None:
        """To be called when the result is committed."""
        for number in range(LARGEST_PLAN):
            self._files.forget(token_of(item_id, number))


def _digest(planned: Plan) -> str:
    return digest_of(tool="apply_patch", steps=[step.bound for step in planned.steps])


def _named(planned: Plan) -> str:
    return planned.steps[0].name if len(planned.steps) == 1 else f"{len(planned.steps)} files"


def _card(planned: Plan) -> dict[str, Any]:
    """As that of an edit; with more than one file, each of them under `files`."""
    cards = [step.card() for step in planned.steps]
    if len(cards) == 1:
        return {"type": "edit", **cards[0]}
    size = 0
    for card in cards:
        size += sum(len(card[name] or "") for name in ("before", "after"))
        if size > MOST_SHOWN:
            card |= {"before": None, "after": None}
    first = planned.steps[0]
    diffs = [{name: value for name, value in card.items() if name != "diff"} for card in cards]
    return {"type": "edit", "uri": first.place.uri, "path": _named(planned), "diff": _diff(planned), "files": diffs}


def _diff(planned: Plan) -> str:
    """Of all files, as long as it fits; those that do not are named, and a preview has them."""
    shown_, left = "", list[str]()
    for step in planned.steps:
        if len(shown_) + len(step.diff) > MOST_SHOWN:
            left.append(step.name)
        else:
            shown_ += step.diff
    return shown_ + (f"\\ Too long to show here: {', '.join(left)}\n" if left else "")


def _unknown(why: str) -> ToolResult:
    return ToolResult(status=ResultStatus.UNKNOWN, output=f"the daemon stopped during this patch: {why}.")
