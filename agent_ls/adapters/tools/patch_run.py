"""Carrying out what a patch was planned to do, file by file; what cannot be finished is taken back.

Owns that a patch is all there or not there at all, and that the model is told the truth where neither could be had.
"""

from collections.abc import Sequence

from agent_ls.adapters.tools.base import failed
from agent_ls.adapters.tools.file_input import refuse
from agent_ls.adapters.tools.patch_plan import Plan, Step
from agent_ls.core.items import ResultStatus, ToolResult
from agent_ls.core.textfile import printable
from agent_ls.ports.files import ABSENT, Files, Reason, Refused, Replaced
from agent_ls.ports.tools import ToolContext


async def carry_out(files: Files, plan: Plan, context: ToolContext) -> ToolResult:
    done: list[tuple[Step, Replaced]] = []
    for number, step in enumerate(plan.steps):
        result = await _do(files, step, token_of(context.item_id, number))
        if isinstance(result, Refused):
            return await _taken_back(files, [made for made, _ in done], step, why=result, item_id=context.item_id)
        done.append((step, result))
    seen = {step.place.uri: result.digest for step, result in done if _was_seen(step, context)}
    output = "\n".join(_said(step, result, unseen=step.place.uri not in seen) for step, result in done)
    return ToolResult(status=ResultStatus.OK, output=output, data={"hashes": seen})


def token_of(item_id: str, number: int) -> str:
    return f"{item_id}.f{number}"


async def _do(files: Files, step: Step, token: str) -> Replaced | Refused:
    if step.data is None:
        return await files.remove(step.place.path, expected=step.before, token=token)
    return await files.replace(step.place.path, step.data, expected=step.before, token=token)


async def _taken_back(files: Files, done: Sequence[Step], failing: Step, *, why: Refused, item_id: str) -> ToolResult:
    """The files that were changed before, the newest first, as they were."""
    kept: list[str] = []
    for number, step in reversed(list(enumerate(done))):
        token = token_of(item_id, number)
        if step.before == ABSENT:
            back = await files.remove(step.place.path, expected=step.after, token=token)
        else:
            back = await files.replace(step.place.path, step.was, expected=step.after, token=token)
        if isinstance(back, Refused):
            kept.append(step.name)
    if why.reason is Reason.UNKNOWN:
        kept.append(failing.name)
    if not kept:
        return failed(f"{refuse(why).message}; nothing of the patch was applied")
    changed = ", ".join(sorted(kept))
    output = f"{printable(why.message)}; {changed} may be changed and could not be put back, the rest is as it was"
    return ToolResult(status=ResultStatus.UNKNOWN, output=output)


def _was_seen(step: Step, context: ToolContext) -> bool:
    return step.before in {ABSENT, context.seen.get(step.place.uri)}


def _said(step: Step, result: Replaced, *, unseen: bool) -> str:
    what = "removed" if step.data is None else "created" if step.before == ABSENT else "changed"
    notes = [step.place.note and f"Note: {step.place.note}.", result.note and printable(result.note)]
    if result.in_place is not None:
        notes.append(f"It was overwritten in place, because {result.in_place}.")
    if unseen:
        notes.append("It had changed elsewhere since you read it; read it again before you change more of it.")
    return " ".join([f"{step.name}: {what}.", *(note for note in notes if note)])
