"""A person's answer to a request, and what it does to the call that waits for it.

Owns that decision and consequence are one commit, so that an answer can never be delivered without effect.
"""

from dataclasses import replace

from agent_ls.core import amend, plan_answers, questions
from agent_ls.core.call import NO_REASON, CallFact, kept_in
from agent_ls.core.draft import Decision as Decided
from agent_ls.core.draft import Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.events import ConversationFact, ItemFact
from agent_ls.core.interrupt import note
from agent_ls.core.items import Call, Item, ItemStatus, Question, ResultStatus, ToolResult
from agent_ls.core.kept_rules import Kept
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Answer, Decision, Request, RequestFact, RequestKind, RequestStatus, check
from agent_ls.core.rules import Ruling
from agent_ls.core.run import Interrupt

RERUN = "rerun"
TELL = "tell"


def respond(state: ConversationState, request_id: str, answer: Answer) -> Decided | Refusal:
    """`{status}` of the request. The same decision again is not an error; a different one learns who was first."""
    request = state.requests.get(request_id)
    if request is None:
        return Refusal(Code.UNKNOWN_REQUEST, f"There is no request `{request_id}`.")
    if request.kind is RequestKind.PLAN and answer.decision is not Decision.CANCEL:
        return plan_answers.respond(state, request, answer)
    draft = Draft(state, answer.at)
    answer = _with_scope(request, answer)
    unfit = None
    if isinstance(fitted := _fitted(state, request, answer), Refusal):
        unfit = fitted
    else:
        answer = fitted
    if _is_what_was_decided(request, answer):
        return draft.done(status=str(request.status))
    refusal = check(request, answer) or _check_scope(request, answer) or unfit
    if refusal is not None:
        return refusal
    if answer.decision is Decision.CANCEL:
        return _cancel(draft, request, answer)
    if answer.amended is not None and answer.decision is Decision.ALLOW:
        request = amend.revise(draft, request, answer.amended, by_person=True)
    if request.kind is RequestKind.APPROVAL:
        _decide_call(draft, request, answer)
    else:
        _answer_question(draft, request, answer)
    moved = draft.move_request(
        request,
        RequestFact.RESOLVED,
        decision=answer.decision,
        scope=answer.scope,
        option_id=answer.option_id,
        reason=answer.reason,
        answers=answer.answers,
        decided_at=answer.at,
        **answer.who,
    )
    return draft.done(status=str(moved.status))


def _with_scope(request: Request, answer: Answer) -> Answer:
    """An option that is named by its id means the scope that it showed."""
    option = next((option for option in request.options if option.id == answer.option_id), None)
    return answer if answer.scope or option is None else replace(answer, scope=option.scope)


def _fitted(state: ConversationState, request: Request, answer: Answer) -> Answer | Refusal:
    """An answer to questions of the agent, told by question as they were offered."""
    asked = state.items[request.item_id].payload
    if answer.decision is not Decision.ANSWER or not isinstance(asked, Question):
        return answer
    fitted = questions.fit(asked.questions, answer.answers, answer.option_id)
    if isinstance(fitted, str):
        return Refusal(
            Code.INVALID_PARAMS,
            f"Request #{request.number} was not answered: {fitted}.",
            f"`agent-ls show {request.number}` shows what is asked and what can be chosen.",
        )
    return replace(answer, answers=fitted)


def _is_what_was_decided(request: Request, answer: Answer) -> bool:
    """Whether the answer asks for no other outcome than the one that was recorded."""
    if answer.decision is Decision.CANCEL:
        return request.status is RequestStatus.CANCELLED
    if request.decision is not answer.decision or request.digest != answer.digest or answer.input is not None:
        return False
    if answer.decision is Decision.ALLOW:
        return (answer.scope or "once") == (request.scope or "once") and _rule_of(request, answer) == _rule_of(request)
    said = (request.option_id, request.answers) == (answer.option_id, answer.answers)
    return said or answer.decision is Decision.DENY


def _rule_of(request: Request, answer: Answer | None = None) -> str | None:
    said = answer or request
    return chosen_rule(request, scope=said.scope, option_id=said.option_id)


def _check_scope(request: Request, answer: Answer) -> Refusal | None:
    scope = answer.scope or "once"
    if answer.input is not None and (answer.amended is None or answer.decision is not Decision.ALLOW):
        message = f"Only a call that is allowed can be changed, so #{request.number} was not decided."
        return Refusal(Code.INVALID_PARAMS, message, "Leave `input` out.")
    if answer.amended is not None and scope != "once":
        return Refusal(
            Code.INVALID_PARAMS,
            f"A call that you have changed can be allowed once; #{request.number} was not decided.",
            "Leave `scope` out, or allow it as it is.",
        )
    if scope == "once" or answer.decision is not Decision.ALLOW:
        return None
    offered = sorted({option.scope for option in request.options if option.scope})
    if scope in offered:
        return None
    return Refusal(
        Code.INVALID_PARAMS,
        f"Request #{request.number} cannot be allowed for scope `{scope}`.",
        f"Allow it {' or '.join(offered) or 'once'}.",
    )


def _decide_call(draft: Draft, request: Request, answer: Answer) -> None:
    if answer.decision is Decision.ALLOW:
        draft.move_call(request.item_id, CallFact.APPROVED, **answer.who)
        _keep_rule(draft, request, answer)
        return
    reason = (answer.reason or "").strip()
    output = reason or NO_REASON
    call = draft.get_item(request.item_id).call
    if call.walled is not None:
        # It has run, and what came of that is no refusal.
        said = f"The person said no: {reason}" if reason else NO_REASON
        draft.move_call(request.item_id, CallFact.FINISHED, result=kept_in(call.walled, said), **answer.who)
        return
    result = ToolResult(status=ResultStatus.DENIED, output=output)
    draft.move_call(request.item_id, CallFact.DENIED, result=result, **answer.who)


def chosen_rule(request: Request, *, scope: str | None, option_id: str | None) -> str | None:
    """The rule that an "always" showed: that of the option that was named, else the first one for this scope."""
    offered = [option for option in request.options if option.scope == scope and option.rule]
    named = next((option for option in offered if option.id == option_id), None)
    if option_id is not None:
        return named.rule if named else None
    return offered[0].rule if offered else None


def _keep_rule(draft: Draft, request: Request, answer: Answer) -> None:
    """Stores exactly the rule that the chosen option showed. One for a workspace is kept elsewhere (daemon.keeping)."""
    rule = chosen_rule(request, scope=answer.scope, option_id=answer.option_id)
    if rule is None or answer.scope != "conversation":
        return
    kept = Kept(effect=Ruling.ALLOW, pattern=rule, by=answer.by, at=answer.at)
    conversation = draft.conversation
    if all(old["pattern"] != rule for old in conversation.rules):
        moved = replace(conversation, rules=(*conversation.rules, kept.entry), updated_at=draft.at)
        draft.put(ConversationFact.UPDATED, moved)


def _answer_question(draft: Draft, request: Request, answer: Answer) -> None:
    item = draft.get_item(request.item_id)
    if isinstance(item.payload, Call):
        if answer.decision is Decision.ANSWER and chosen(answer) == RERUN:
            draft.move_call(item.id, CallFact.RERUN, result=None, again=True, **answer.who)
        return
    if isinstance(item.payload, Question):
        _settle_asked(draft, item, item.payload, answer=answer)


def _settle_asked(draft: Draft, item: Item, asked: Question, *, answer: Answer) -> None:
    """The answer is the result of the call that asked; nothing else has to run."""
    call_id = str(item.parent_id)
    answered = answer.decision is Decision.ANSWER
    status = ItemStatus.COMPLETED if answered else ItemStatus.CANCELLED
    payload = replace(asked, answers=answer.answers if answered else None)
    if answered:
        words = questions.in_words(asked.questions, answer.answers)
        draft.answer_call(call_id, ToolResult(status=ResultStatus.OK, output=words), **answer.who)
    else:
        output = (answer.reason or "").strip() or questions.UNWILLING
        result = ToolResult(status=ResultStatus.DENIED, output=output)
        draft.move_call(call_id, CallFact.DENIED, result=result, **answer.who)
    draft.put(ItemFact.UPDATED, replace(item, payload=payload, status=status, updated_at=draft.at))


def chosen(answer: Answer) -> str:
    """The option that an answer names, by `optionId` or in `answers`."""
    if answer.option_id is not None:
        return answer.option_id
    said = answer.answers
    if isinstance(said, dict):
        said = list(said.values())
    flat = [part for entry in said for part in (entry if isinstance(entry, list) else [entry])] if said else []
    return RERUN if RERUN in flat else TELL


def _cancel(draft: Draft, request: Request, answer: Answer) -> Decided:
    run = draft.get_run(request.run_id)
    note(draft, run, Interrupt(by=answer.by, from_=answer.from_, at=answer.at))
    return draft.done(status="cancelled")
