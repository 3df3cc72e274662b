"""A person's answer to a plan: accepted (as it is or changed), changed and left open, or refused with a reason.

Owns that an accepted plan ends the run that made it and starts the one that carries it out, in one commit, and which
mode that run has. Does not own the plan's item (plans.py).
"""

from dataclasses import replace
from typing import Any, Final

from agent_ls.core import plans
from agent_ls.core.attempt import AttemptFact
from agent_ls.core.call import CallFact
from agent_ls.core.conversation import Mode
from agent_ls.core.draft import Decision as Decided
from agent_ls.core.draft import Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import ConversationFact, ItemFact
from agent_ls.core.finalize import finish
from agent_ls.core.items import Block, Call, CallState, Item, ItemStatus, Plan, ResultStatus, ToolResult
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Answer, Decision, Request, RequestFact, check
from agent_ls.core.run import Run, RunFact, queued_run
from agent_ls.core.steer import too_late

CARRY_OUT: Final = "Carry out the plan."
_REFUSED: Final = "The person refused the plan and gave no reason. Ask what should be different."


def respond(state: ConversationState, request: Request, answer: Answer) -> Decided | Refusal:
    """`{status}`, and with an accepted plan `{runId}` of the run that carries it out."""
    draft = Draft(state, answer.at)
    if _is_what_was_decided(request, answer):
        return draft.done(status=str(request.status))
    markdown = _markdown(request, answer)
    # Who only changes the plan leaves it open: that is bound to what was shown like an acceptance of it.
    checked = answer if answer.decision is not Decision.ANSWER else replace(answer, decision=Decision.ALLOW)
    refusal = check(request, checked) or _check_scope(request, answer)
    if refusal is not None:
        return refusal
    if isinstance(markdown, Refusal):
        return markdown
    match answer.decision:
        case Decision.ALLOW:
            return _still_running(draft, request) or _accept(draft, request, answer, markdown=markdown)
        case Decision.ANSWER:
            return _revise(draft, request, markdown)
        case _:
            return _refuse(draft, request, answer)


def _is_what_was_decided(request: Request, answer: Answer) -> bool:
    if request.decision is not answer.decision or request.digest != answer.digest:
        return False
    if answer.decision is Decision.DENY:
        return True
    chosen = answer.option_id or plans.ACCEPT
    return chosen == (request.option_id or plans.ACCEPT) and answer.input in (None, request.input)


def _markdown(request: Request, answer: Answer) -> str | Refusal:
    """The plan as it would be accepted."""
    shown = str((request.input or {}).get(plans.MARKDOWN, ""))
    if answer.decision is Decision.DENY:
        return shown
    if answer.input is None and answer.decision is Decision.ALLOW:
        return shown
    text = (answer.input or {}).get(plans.MARKDOWN)
    if not isinstance(text, str) or not text.strip():
        return Refusal(
            Code.INVALID_PARAMS,
            f"Request #{request.number} is a plan, so `input` has to be {{markdown}} with the changed text.",
            "Leave out `input` to accept it as it is.",
        )
    if len(text) > plans.LONGEST:
        return Refusal(Code.INVALID_PARAMS, f"The plan is longer than {plans.LONGEST:,} characters.", "Shorten it.")
    return text


def _check_scope(request: Request, answer: Answer) -> Refusal | None:
    if answer.scope in (None, "once"):
        return None
    return Refusal(
        Code.INVALID_PARAMS,
        f"Request #{request.number} is a plan; it cannot be accepted for scope `{answer.scope}`.",
        f"Accept it with option `{plans.ACCEPT}` or `{plans.ACCEPT_EDITS}`.",
    )


def _still_running(draft: Draft, request: Request) -> Refusal | None:
    """The run ends with the acceptance, and what has begun in it has a result of its own to come."""
    calls = (item for item in draft.run_items(request.run_id) if isinstance(item.payload, Call))
    if not any(item.call.state is CallState.STARTED for item in calls):
        return None
    return Refusal(
        Code.CONVERSATION_BUSY,
        f"Something that was called beside the plan of request #{request.number} is still running.",
        "Accept the plan when it has ended, or stop it first.",
    )


def _accept(draft: Draft, request: Request, answer: Answer, *, markdown: str) -> Decided:
    plan = draft.get_item(request.item_id)
    changed = markdown != str((request.input or {}).get(plans.MARKDOWN, ""))
    said = "The person accepted the plan" + (", changed as it is told below" if changed else "")
    result = ToolResult(status=ResultStatus.OK, output=f"{said}. It is carried out in a run of its own.")
    draft.answer_call(str(plan.parent_id), result, **answer.who)
    _settle(draft, plan, markdown, state=plans.ACCEPTED)
    moved = draft.move_request(request, RequestFact.RESOLVED, **_decided(answer, markdown))
    _change_mode(draft, answer.option_id)
    run = _queued_first(draft, request.run_id, plan.id, markdown=markdown)
    finish(draft, request.run_id, AttemptFact.COMPLETED)
    return draft.done(status=str(moved.status), runId=run.id)


def _revise(draft: Draft, request: Request, markdown: str) -> Decided:
    plan = draft.get_item(request.item_id)
    fresh = plans.digest(markdown)
    _settle(draft, plan, markdown, state=plans.PROPOSED)
    draft.move_call(str(plan.parent_id), CallFact.REVISED, digest=fresh)
    moved = draft.move_request(request, RequestFact.REVISED, input={plans.MARKDOWN: markdown}, digest=fresh)
    return draft.done(status=str(moved.status), digest=fresh)


def _refuse(draft: Draft, request: Request, answer: Answer) -> Decided:
    plan = draft.get_item(request.item_id)
    output = (answer.reason or "").strip() or _REFUSED
    result = ToolResult(status=ResultStatus.DENIED, output=output)
    draft.move_call(str(plan.parent_id), CallFact.DENIED, result=result, **answer.who)
    assert isinstance(plan.payload, Plan)
    _settle(draft, plan, plan.payload.markdown, state=plans.REFUSED)
    moved = draft.move_request(request, RequestFact.RESOLVED, **_decided(answer, plan.payload.markdown))
    return draft.done(status=str(moved.status))


_STATUS: Final = {
    plans.PROPOSED: ItemStatus.PENDING,
    plans.ACCEPTED: ItemStatus.COMPLETED,
    plans.REFUSED: ItemStatus.CANCELLED,
}


def _settle(draft: Draft, plan: Item, markdown: str, *, state: str) -> None:
    assert isinstance(plan.payload, Plan)
    payload = replace(plan.payload, markdown=markdown, state=state)
    draft.put(ItemFact.UPDATED, replace(plan, payload=payload, status=_STATUS[state], updated_at=draft.at))


def _decided(answer: Answer, markdown: str) -> dict[str, Any]:
    """What is recorded: the plan as it was decided on, and the digest of that."""
    return {
        "decision": answer.decision,
        "option_id": answer.option_id,
        "reason": answer.reason,
        "input": {plans.MARKDOWN: markdown},
        "digest": plans.digest(markdown),
        "decided_at": answer.at,
        **answer.who,
    }


def _change_mode(draft: Draft, option_id: str | None) -> None:
    """Nothing can be carried out in mode plan. Without another wish, every step of it is asked for."""
    before = draft.conversation
    mode = Mode.ASK if before.mode is Mode.PLAN else before.mode
    if option_id == plans.ACCEPT_EDITS and mode is not Mode.AUTO:
        mode = Mode.EDITS
    if mode is not before.mode:
        draft.put(ConversationFact.UPDATED, replace(before, mode=mode, updated_at=draft.at))


def _queued_first(draft: Draft, run_id: str, plan_id: str, *, markdown: str) -> Run:
    """The run that carries it out, in front of everything that waits."""
    too_late(draft, run_id)
    ordinal = 1 + max(run.ordinal for run in (*draft.state.runs.values(), *draft.queue()))
    run = queued_run(
        draft.conversation.id,
        ordinal,
        content=(Block(type="text", text=CARRY_OUT),),
        context=(plans.attached(markdown),),
        position=min((waiting.position or 0 for waiting in draft.queue()), default=1) - 1,
        at=draft.at,
        # Held are the messages that waited; who accepts a plan wants it carried out now.
        at_once=True,
        plan_id=plan_id,
    )
    draft.put(RunFact.QUEUED, run)
    return run
