"""What must hold at every moment: the invariants of the domain, looked up in a state or in a history.

Owns the checks and how a violation reads. Whoever calls (the tests, after each step) decides what follows; nothing is
repaired here. Numbers are those of the list in docs/architecture.md.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from agent_ls.core import attempt as attempts
from agent_ls.core import call as calls
from agent_ls.core import request as requests
from agent_ls.core import run as runs
from agent_ls.core.attempt import ENDED_BY, Attempt, AttemptFact
from agent_ls.core.call import SETTLED, CallFact
from agent_ls.core.events import AnyEntity, ConversationFact, Event, ItemFact
from agent_ls.core.items import Call, CallState, Item
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Request, RequestFact, RequestStatus
from agent_ls.core.run import Run, RunFact, RunStatus
from agent_ls.core.tool_effect import ToolEffect


def violations(state: ConversationState, *, live: bool, unsettled: Collection[str]) -> list[str]:
    """Sentences about what does not hold, none for a sound state.

    `live`: a driver of this daemon works on the conversation. `unsettled`: ids of effects that the ledger owes.
    """
    if not state.exists:
        return []
    found: list[str] = [*_of_inputs(state), *_of_indices(state)]
    wish = state.conversation.compacting
    if wish is not None and not live and wish.id not in unsettled:
        found.append(f"1: nobody compacts {state.conversation.id} and no effect is owed for it")
    for run in state.runs.values():
        found += _of_run(state, run, live=live, unsettled=unsettled)
    for item in state.items.values():
        found += _of_item(state, item)
    for request in state.requests.values():
        found += _of_request(state, request)
    return found


def check_history(events: Sequence[Event]) -> list[str]:
    """Violations of what only the order of events shows: gapless numbers, legal steps, the barrier."""
    found: list[str] = []
    before: dict[str, AnyEntity] = {}
    barred: set[str] = set()
    for place, event in enumerate(events, start=1):
        if event.seq != place:
            found.append(f"4: event {place} has seq {event.seq}")
        if event.conversation_id != events[0].conversation_id:
            found.append(f"4: event {place} belongs to {event.conversation_id}")
        entity = event.entity
        found += _of_step(before.get(entity.id), event)
        before[entity.id] = entity
        if event.fact == RunFact.FINALIZING:
            barred.add(entity.id)
        if isinstance(entity, Run) and entity.status is RunStatus.COMPLETED and entity.id not in barred:
            found.append(f"7: {entity.id} completed without the finalizing barrier")
    return found + _repeated("4: place {} is taken {} times", (e.ord for e in before.values() if isinstance(e, Item)))


def _of_run(state: ConversationState, run: Run, *, live: bool, unsettled: Collection[str]) -> Iterator[str]:
    mine = [attempt for attempt in state.attempts.values() if attempt.run_id == run.id]
    active = state.attempt_of(run)
    alive = [attempt.id for attempt in mine if attempt.live and attempt is not active]
    if alive:
        yield f"2: {', '.join(alive)} of {run.id} lives beside the active attempt"
    if run.status in (RunStatus.QUEUED, RunStatus.CANCELLED):
        if mine:
            yield f"1: {run.id} is {run.status} and has attempts"
        return
    if active is None:
        yield f"1: {run.id} is {run.status} and has no attempt"
    elif run.ended:
        expected = ENDED_BY.get(run.status)
        if active.live or (expected is not None and active.status is not expected):
            yield f"2: {run.id} is {run.status}, its attempt {active.status}"
    elif active.live and not live and active.id not in unsettled:
        yield f"1: nobody works on {run.id} and no effect is owed for it"
    for attempt in mine:
        if not attempt.live and attempt.id in unsettled:
            yield f"1: the effect of {attempt.id} outlives it"
    if (run.id in unsettled) is not (run.status is RunStatus.FINALIZING):
        yield f"1: {run.id} is {run.status}, and keeping its files is {'' if run.id in unsettled else 'not '}owed"
    if active is not None and run.status is RunStatus.FINALIZING and active.live:
        yield f"2: {run.id} is finalizing and its attempt {active.status}"
    if run.retry is not None and (run.status is not RunStatus.RUNNING or run.retry.item_id not in state.items):
        yield f"8: {run.id} is {run.status} and waits to ask again"


def _of_item(state: ConversationState, item: Item) -> Iterator[str]:
    ended = state.runs[item.run_id].ended
    if ended and item.open:
        yield f"8: {item.id} is {item.status} under a run that has ended"
    if not isinstance(item.payload, Call):
        return
    call = item.payload
    if call.state is CallState.PROPOSED:
        yield f"3: {item.id} was never judged"
    if (call.state in SETTLED) is not (call.result is not None):
        yield f"3: {item.id} is {call.state} with{'out' if call.result is None else ''} a result"
    if item.status is not calls.status_of(call):
        yield f"3: {item.id} shows {item.status} for a call that is {call.state}"
    if call.state is CallState.AWAITING_APPROVAL and call.request_id not in state.pending:
        yield f"3: {item.id} waits for a request that nobody can answer"


def _of_request(state: ConversationState, request: Request) -> Iterator[str]:
    if request.pending and state.runs[request.run_id].ended:
        yield f"6: {request.id} is pending under a run that has ended"
    decided = request.decision is not None
    if decided is not (request.status in (RequestStatus.RESPONDING, RequestStatus.RESOLVED)):
        yield f"6: {request.id} is {request.status} with decision {request.decision}"


def _of_inputs(state: ConversationState) -> Iterator[str]:
    compacting = state.conversation.compacting is not None
    if state.active is None and not compacting and state.queued and not state.conversation.queue_held:
        yield "5: queued messages wait although no run is active and nobody holds the queue"
    if state.active is None and not compacting and any(run.at_once for run in state.queued.values()):
        yield "5: a message that was to start at once waits although no run is active"
    for run in state.runs.values():
        if run.user_item_id is None and not run.content:
            yield f"5: the message of {run.id} is gone"
        if run.user_item_id is not None and run.user_item_id not in state.items:
            yield f"5: the message of {run.id} never reached the transcript"
    answered = [answer for attempt in state.attempts.values() for answer in attempt.answers]
    yield from _repeated("5: {} was answered {} times", answered)
    for run in state.runs.values():
        if run.status is RunStatus.COMPLETED and run.user_item_id not in answered:
            yield f"5: {run.id} completed without an answer to its message"


def _of_indices(state: ConversationState) -> Iterator[str]:
    going = [run for run in state.runs.values() if not run.ended and run.status is not RunStatus.QUEUED]
    if going != ([] if state.active is None else [state.active]):
        yield f"1: runs that go on are {[run.id for run in going]}"
    yield from _repeated("6: request number {} is given {} times", (r.number for r in state.requests.values()))
    yield from _repeated("3: call id {} is given {} times", _call_ids(state))


def _call_ids(state: ConversationState) -> Iterator[str]:
    return (item.payload.call_id for item in state.items.values() if isinstance(item.payload, Call))


def _of_step(old: AnyEntity | None, event: Event) -> Iterator[str]:
    """One fact may follow another of the same thing only as its table says."""
    new = event.entity
    if old is not None and type(old) is not type(new):
        yield f"4: {new.id} changed its kind"
        return
    try:
        expected = _expected(old, event.fact, new)
    except (KeyError, ValueError):
        yield f"4: {event.kind} {event.fact} cannot follow in {new.id} at {event.seq}"
        return
    if expected is not None and expected != _status(new):
        yield f"4: {new.id} is {_status(new)} after {event.fact}"
    if isinstance(old, Item) and isinstance(new, Item) and old.ord != new.ord:
        yield f"4: {new.id} changed its place"


def _expected(old: AnyEntity | None, fact: str, new: AnyEntity) -> str | None:
    """The status that the table gives; None where there is none. KeyError or ValueError if the fact is illegal."""
    match new:
        case Run():
            return runs.TRANSITIONS[old.status if isinstance(old, Run) else None, RunFact(fact)]
        case Attempt():
            return attempts.TRANSITIONS[old.status if isinstance(old, Attempt) else None, AttemptFact(fact)]
        case Request():
            return requests.TRANSITIONS[old.status if isinstance(old, Request) else None, RequestFact(fact)]
        case Item(payload=Call()):
            return calls.TRANSITIONS[_before(old, fact, new.call), CallFact(fact)]
        case Item():
            first = ItemFact(fact) is ItemFact.ADDED
        case _:
            first = ConversationFact(fact) is ConversationFact.CREATED
    if first is not (old is None):
        raise ValueError(fact)
    return None


def _before(old: AnyEntity | None, fact: str, call: Call) -> CallState:
    """A read needs no record before it runs: all its states may have been passed through in one commit."""
    if isinstance(old, Item):
        return old.call.state
    return CallState.STARTED if fact == CallFact.FINISHED and call.effect == ToolEffect.READ else CallState.PROPOSED


def _status(entity: AnyEntity) -> str | None:
    match entity:
        case Run() | Attempt() | Request():
            return entity.status
        case Item(payload=Call()):
            return entity.call.state
        case _:
            return None


def _repeated(sentence: str, found: Iterable[Any]) -> list[str]:
    return [sentence.format(value, times) for value, times in Counter(found).items() if times > 1]
