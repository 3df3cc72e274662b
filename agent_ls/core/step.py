"""One step: a model's reply becomes items, its calls are triaged, and the run goes on or ends.

Owns which facts a reply yields. Does not own how calls are judged (policy.py) or prepared (tools): both come in as
`Triage`, one for each call, in call order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from agent_ls.core import call as calls
from agent_ls.core import delegation, ids, plans, questions, shell_ends, todo
from agent_ls.core.attempt import Attempt, AttemptFact, made_by
from agent_ls.core.call import CallFact
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.finalize import finish, unanswered_messages
from agent_ls.core.items import (
    AssistantMessage,
    Call,
    CallState,
    Item,
    ItemKind,
    ItemStatus,
    Notice,
    Question,
    Reasoning,
    ResultStatus,
    ToolResult,
    Usage,
)
from agent_ls.core.messages import Part, ReasoningPart, Reply, Stop, TextPart
from agent_ls.core.partial import Said, keep_partial
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Option, Request, RequestFact, RequestKind, RequestStatus
from agent_ls.core.run import RunStatus
from agent_ls.core.shells import leaves_shell
from agent_ls.core.steer import join

IDENTICAL_FAILURES: Final = 3


class TriageVerdict(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"
    INVALID = "invalid"


@dataclass(frozen=True, kw_only=True)
class Triage:
    """A judged call: `call` still proposed, `part` its place in the reply, `text` what the model is told if not run.

    For ASK: `number`, `title`, `options` and `card` of the request; with `questions` or a `plan`, the answer of the
    person is the call's result. For ALLOW: `result` where the call has no effects and was run already; `begins` where
    it is started as soon as this is committed.
    """

    part: int
    kind: ItemKind
    call: Call
    verdict: TriageVerdict
    rule: str | None = None
    text: str = ""
    number: int = 0
    title: str = ""
    options: tuple[Option, ...] = ()
    card: dict[str, Any] | None = None
    questions: tuple[dict[str, Any], ...] = ()
    plan: str | None = None
    result: ToolResult | None = None
    begins: bool = False


def take_reply(
    state: ConversationState, asked: Attempt, reply: Reply, *, triage: Sequence[Triage], at: str
) -> Decision | None:
    """`asked` is the attempt as it was when the model was asked. None if that step was answered meanwhile."""
    attempt = state.attempts[asked.id]
    if not attempt.live or attempt.step_id != asked.step_id:
        return None
    draft = Draft(state, at)
    judged = {entry.part: entry for entry in triage}
    for index, part in enumerate(reply.parts):
        if index in judged:
            _add_call(draft, attempt, judged[index])
        else:
            _add_said(draft, attempt, index, part=part, reply=reply)
    usage = reply.usage or Usage()
    draft.move_attempt(
        attempt.id,
        AttemptFact.STEPPED,
        steps=attempt.steps + 1,
        last_stop=str(reply.stop),
        usage=attempt.usage.plus(usage),
        last_usage=reply.usage,
    )
    _go_on_or_end(draft, attempt, reply, triage=triage)
    return draft.done()


def _add_said(draft: Draft, attempt: Attempt, index: int, *, part: Part, reply: Reply) -> None:
    where = {"attempt_id": attempt.id, "step_id": attempt.step_id}
    item_id = ids.part_id(attempt.step_id, index)
    match part:
        case TextPart() if not part.text.strip():
            pass
        case TextPart():
            said = AssistantMessage(text=part.text, model=reply.model, usage=reply.usage, full=part.blob)
            draft.add_item(attempt.run_id, item_id, ItemKind.ASSISTANT_MESSAGE, payload=said, **where)
        case ReasoningPart():
            # Replayed only to whom made it: the name that was asked for, since servers answer under others.
            provider, model = made_by(draft.conversation, attempt)
            thought = Reasoning(text=part.text, provider=provider, model=model, raw=part.raw, full=part.blob)
            draft.add_item(attempt.run_id, item_id, ItemKind.REASONING, payload=thought, **where)
        case _:
            raise ValueError(f"call {part.name} was not triaged")


_FACTS: Final[Mapping[TriageVerdict, CallFact]] = {
    TriageVerdict.ALLOW: CallFact.APPROVED,
    TriageVerdict.ASK: CallFact.ASKED,
    TriageVerdict.DENY: CallFact.DENIED,
    TriageVerdict.INVALID: CallFact.NOT_RUN,
}
_RESULTS: Final = {TriageVerdict.DENY: ResultStatus.DENIED, TriageVerdict.INVALID: ResultStatus.ERROR}


def _add_call(draft: Draft, attempt: Attempt, entry: Triage) -> None:
    item_id = ids.part_id(attempt.step_id, entry.part)
    call = replace(entry.call, call_id=ids.call_id(item_id))
    more: dict[str, Any] = {"attempt_id": attempt.id, "step_id": attempt.step_id, "status": ItemStatus.PENDING}
    item = draft.new_item(attempt.run_id, item_id, entry.kind, payload=call, **more)
    facts: dict[str, Any] = {"rule": entry.rule} if entry.rule else {}
    if entry.verdict in _RESULTS:
        facts["result"] = ToolResult(status=_RESULTS[entry.verdict], output=entry.text)
    if entry.verdict in (TriageVerdict.ALLOW, TriageVerdict.DENY):
        facts["decided_by"] = "rule"
    if entry.verdict is TriageVerdict.ASK:
        facts["request_id"] = ids.request_id(_asked_about(item_id, entry))
    fact = _FACTS[entry.verdict]
    item = calls.evolve(item, fact, draft.at, **facts)
    if entry.result is not None:
        # Without effects nothing has to be on record before it runs: all its states are passed through in one commit.
        fact = CallFact.FINISHED
        item = calls.settle(calls.evolve(item, CallFact.STARTED, draft.at), fact, draft.at, result=entry.result)
    draft.put(fact, item)
    if entry.begins:
        draft.put(CallFact.STARTED, calls.evolve(item, CallFact.STARTED, draft.at))
    if entry.result is not None:
        todo.keep(draft, item)
    if entry.verdict is TriageVerdict.ASK:
        _ask(draft, item, entry)


def _asked_about(item_id: str, entry: Triage) -> str:
    """Id of the item that the request is about."""
    if entry.plan is not None:
        return ids.plan_id(item_id)
    return ids.question_id(item_id) if entry.questions else item_id


def _ask(draft: Draft, item: Item, entry: Triage) -> None:
    asked, kind = item, RequestKind.APPROVAL
    shown: dict[str, Any] | None = entry.call.input
    if entry.questions:
        asked, kind, shown = _add_question(draft, item, entry), RequestKind.QUESTION, None
    elif entry.plan is not None:
        asked, kind = plans.propose(draft, item, entry.plan), RequestKind.PLAN
        shown = {plans.MARKDOWN: entry.plan}
    request = Request(
        id=ids.request_id(asked.id),
        number=entry.number,
        conversation_id=item.conversation_id,
        run_id=item.run_id,
        item_id=asked.id,
        kind=kind,
        title=entry.title,
        tool=entry.call.tool,
        input=shown,
        options=questions.options(entry.questions) if entry.questions else entry.options,
        card=entry.card,
        questions=entry.questions,
        origin=delegation.origin(draft.conversation),
        digest=entry.call.digest or "",
        status=RequestStatus.PENDING,
        created_at=draft.at,
    )
    draft.put(RequestFact.ASKED, request)


def _add_question(draft: Draft, call: Item, entry: Triage) -> Item:
    return draft.add_item(
        call.run_id,
        ids.question_id(call.id),
        ItemKind.QUESTION,
        payload=Question(questions=entry.questions, call_id=call.call.call_id),
        attempt_id=call.attempt_id,
        parent_id=call.id,
        status=ItemStatus.PENDING,
    )


def _go_on_or_end(draft: Draft, attempt: Attempt, reply: Reply, *, triage: Sequence[Triage]) -> None:
    if triage:
        failure = repeated_failure(draft.run_items(attempt.run_id))
        if failure is not None:
            finish(draft, attempt.run_id, AttemptFact.FAILED, error=failure)
        return
    if reply.stop is Stop.MAX_TOKENS:
        said = "The answer was cut at the model's limit. Say `go on` to hear the rest."
        _notice(draft, attempt, code="max_tokens", message=said)
    if not any(isinstance(part, TextPart) and part.text.strip() for part in reply.parts):
        _notice(draft, attempt, code="empty_answer", message="The model ended without saying anything.")
    if reply.stop is Stop.REFUSAL:
        _notice(draft, attempt, code="refusal", message="The model refused to answer this.")
    if draft.get_run(attempt.run_id).steers:
        join(draft, attempt.run_id, answers=unanswered_messages(draft, attempt.run_id))
        return
    finish(draft, attempt.run_id, AttemptFact.COMPLETED)


def _notice(draft: Draft, attempt: Attempt, *, code: str, message: str) -> None:
    note = draft.fresh_note_id(attempt.run_id, "n")
    draft.add_item(
        attempt.run_id, note, ItemKind.NOTICE, payload=Notice(code=code, message=message), attempt_id=attempt.id
    )


def repeated_failure(items: Sequence[Item]) -> Notice | None:
    """The third step in a row with nothing but the same failing call: the model does not learn from its result."""
    by_step: dict[str | None, list[Call]] = {}
    for item in items:
        if isinstance(item.payload, Call):
            by_step.setdefault(item.step_id, []).append(item.payload)
    steps = list(by_step.values())[-IDENTICAL_FAILURES:]
    last = [call for step in steps for call in step]
    if len(steps) < IDENTICAL_FAILURES or any(_asked(call) != _asked(last[0]) for call in last):
        return None
    if any(call.result is None or call.result.status is not ResultStatus.ERROR for call in last):
        return None
    return Notice(
        code="provider_error",
        message=f"The model made the same failing call to `{last[0].tool}` {IDENTICAL_FAILURES} times, so the run was "
        "stopped.",
        hint="Say what you want in other words, or use another model.",
    )


def _asked(call: Call) -> tuple[object, ...]:
    return call.tool, call.raw_arguments, call.input, call.input_blob


def end(
    state: ConversationState,
    run_id: str,
    outcome: AttemptFact,
    *,
    said: Said = (),
    by: Attempt | None = None,
    error: Notice | None = None,
    notice: Notice | None = None,
    at: str,
) -> Decision | None:
    """Ends the run's active attempt and with it the run. None if it has ended already.

    `said` is what the attempt `by` had put on the screen: the active one, or the one whose place it takes.
    """
    run = state.runs[run_id]
    if run.ended or run.status is RunStatus.FINALIZING:
        return None
    draft = Draft(state, at)
    attempt = by or state.attempt_of(run)
    if attempt is not None and attempt.run_id == run_id:
        keep_partial(draft, attempt, said)
    if notice is not None:
        draft.add_item(run_id, draft.fresh_note_id(run_id, "n"), ItemKind.NOTICE, payload=notice)
    finish(draft, run_id, outcome, error=error)
    return draft.done()


def move_item(state: ConversationState, item_id: str, fact: CallFact, *, at: str, **facts: Any) -> Decision:
    """One call one state further."""
    draft = Draft(state, at)
    draft.move_call(item_id, fact, **facts)
    return draft.done()


def finish_call(state: ConversationState, item_id: str, result: ToolResult, *, at: str) -> Decision | None:
    """The result of a call that ran. A read that was not announced as started is started and finished in one commit."""
    draft = Draft(state, at)
    if state.items[item_id].call.state is CallState.APPROVED:
        draft.move_call(item_id, CallFact.STARTED)
    if draft.get_item(item_id).call.state is not CallState.STARTED:
        return None
    item = draft.move_call(item_id, CallFact.FINISHED, result=result)
    todo.keep(draft, item)
    delegation.keep(draft, item)
    if leaves_shell(result):
        draft.effects.append(shell_ends.watch(item_id, item.conversation_id))
    return draft.done()
