"""What comes of a conversation that was exported and is imported: the same under new ids, at rest, granting nothing."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import settings

from agent_ls.core.conversation import Mode
from agent_ls.core.events import ConversationFact, Event
from agent_ls.core.imported import Found, Gap, Standard, Strange, Taken, ordered, taken
from agent_ls.core.invariants import check_history, violations
from agent_ls.core.items import ItemKind, Notice
from agent_ls.core.made_whole import LOST
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import RequestStatus
from agent_ls.core.run import RunStatus
from agent_ls.wire.encode import to_wire
from tests.unit.core.test_histories import Histories
from tests.unit.core.world import ALLOW, ASK, World, call, conversation

NEW = "c0123456789abcdef"
STANDARD = Standard(conversation=conversation(id=NEW, title="Imported"), at="2026-05-05T00:00:00.000Z")


def found(events: Sequence[Event]) -> list[Found | Strange]:
    return [Found(event.seq, event.seq, event.at, event.fact, event.entity, len(events)) for event in events]


def imported(events: Sequence[Event], *, standard: Standard = STANDARD, first_number: int = 1) -> Taken:
    return taken(ordered(found(events)), standard, first_number=first_number, gaps=0)


def history_of(done: Taken) -> list[Event]:
    return [
        Event(NEW, seq, fact.at or "", fact.kind, str(fact.name), fact.entity)
        for seq, fact in enumerate(done.facts, start=1)
    ]


def state_of(done: Taken) -> ConversationState:
    newest = {fact.entity.id: fact.entity for fact in done.facts}
    return ConversationState.of(newest.values(), len(done.facts))


def plain(events: Sequence[Event], own: str) -> str:
    """Without what an import gives anew: the conversation's id, and ids that a model is told."""
    shown = json.dumps([[e.seq, e.at, e.fact, to_wire(e.entity)] for e in events], sort_keys=True, default=str)
    calls = {c["callId"]: f"call {n}" for n, c in enumerate(_calls(events))}
    for known, name in calls.items():
        shown = shown.replace(f'"{known}"', f'"{name}"')
    # As a word: a digest may have the same two letters in it.
    return re.sub(rf"\b{own}\b", "OWN", shown)


def _calls(events: Sequence[Event]) -> list[dict[str, str]]:
    payloads = {e.entity.id: to_wire(e.entity).get("payload", {}) for e in events}
    return [payload for payload in payloads.values() if "callId" in payload]


class Imports(Histories):
    """Any history, cut off at any moment."""

    def teardown(self) -> None:
        whole = imported(self.world.events)
        state = state_of(whole)
        assert violations(state, live=False, unsettled=()) == []
        assert check_history(history_of(whole)) == []
        assert state.active is None
        assert not state.pending
        assert not state.queued or state.conversation.queue_held
        copied = history_of(whole)[: len(self.world.events)]
        unnumbered = plain(self.world.events, "c1")
        assert _without_numbers(plain(copied, NEW)) == _without_numbers(unnumbered)
        again = imported(history_of(whole))
        assert again.interrupted == 0
        assert plain(history_of(again), NEW) == plain(history_of(whole), NEW), "what is at rest comes back as it is"


def _without_numbers(shown: str) -> str:
    """Rules and request numbers are not taken along."""
    events = json.loads(shown)
    for event in events:
        for name in ("number", "rules", "mode", "archived"):
            event[3].pop(name, None)
    return json.dumps(events)


TestImports = Imports.TestCase
TestImports.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)


def busy() -> World:
    """A run that waits for a person, with a message behind it."""
    world = World()
    world.say("first")
    world.reply((ASK, call()), (ALLOW, call(keys=("file:///w/a",))))
    world.say("second")
    return world


def test_a_run_that_had_not_ended_is_interrupted_with_a_notice_and_its_request_cannot_be_answered() -> None:
    done = imported(busy().events, first_number=70)
    state = state_of(done)
    assert done.interrupted == 1
    assert [run.status for run in state.runs.values()] == [RunStatus.INTERRUPTED, RunStatus.QUEUED]
    assert state.conversation.queue_held
    assert [(r.number, r.status) for r in state.requests.values()] == [(70, RequestStatus.CANCELLED)]
    notices = [item.payload.code for item in state.items.values() if isinstance(item.payload, Notice)]
    assert notices == ["imported"]


def test_a_file_grants_nothing() -> None:
    world = World()
    rule = {"verdict": "allow", "pattern": "shell(*)", "by": "x", "at": "t"}
    wide = replace(
        world.state.conversation, mode=Mode.AUTO, rules=(rule,), workspace="file:///", archived=True, parent_id="c9"
    )
    events = [*world.events, Event("c1", 2, world.now(), world.events[0].kind, "updated", wide)]
    held = state_of(imported(events)).conversation
    assert held == replace(STANDARD.conversation, title=wide.title, created_at=held.created_at)
    assert (held.mode, held.rules, held.archived, held.parent_id) == (Mode.ASK, (), False, None)


def test_a_stricter_mode_stays() -> None:
    world = World()
    plan = replace(world.state.conversation, mode=Mode.PLAN)
    events = [*world.events, Event("c1", 2, world.now(), world.events[0].kind, "updated", plan)]
    assert state_of(imported(events)).conversation.mode is Mode.PLAN


def test_a_history_without_its_beginning_gets_one() -> None:
    events = busy().events[3:]
    history = ordered(found(events))
    assert history.gaps[0] == Gap(4, "Events 1 to 3 are missing.")
    done = taken(history, STANDARD, first_number=1, gaps=1)
    state = state_of(done)
    assert (done.facts[0].name, state.conversation.id) == (ConversationFact.CREATED, NEW)
    assert violations(state, live=False, unsettled=()) == []


@pytest.mark.parametrize("kind", ["run", "attempt", "item", "request"])
def test_whatever_kind_is_lost_the_rest_is_sound(kind: str) -> None:
    events = [event for event in busy().events if str(event.kind) != kind]
    state = state_of(taken(ordered(found(events)), STANDARD, first_number=1, gaps=3))
    assert violations(state, live=False, unsettled=()) == []
    codes = [item.payload.code for item in state.items.values() if isinstance(item.payload, Notice)]
    assert "import_gaps" in codes


def test_a_lost_message_is_said_to_be_lost_in_its_place() -> None:
    events = [e for e in busy().events if not str(e.entity.id).endswith(".u1")]
    state = state_of(taken(ordered(found(events)), STANDARD, first_number=1, gaps=1))
    first = min(state.items.values(), key=lambda item: item.ord)
    assert (first.kind, LOST in str(to_wire(first.payload))) == (ItemKind.USER_MESSAGE, True)


def test_runs_are_counted_anew_so_that_the_next_one_has_an_id_of_its_own() -> None:
    world = busy()
    events = [event for event in world.events if f"{event.entity.id}.".startswith("c1.r2.") or event.seq == 1]
    state = state_of(taken(ordered(found(events)), STANDARD, first_number=1, gaps=1))
    assert [(run.id, run.ordinal) for run in state.runs.values()] == [(f"{NEW}.r1", 1)]


def test_what_a_newer_version_wrote_is_a_notice_in_its_run() -> None:
    world = busy()
    last = world.events[-1].seq
    strange: list[Found | Strange] = [
        Strange(last + n, last + n, None, "checkpoint", f"c1.r1.k{n}", "c1", "c1.r1" if n == 1 else None)
        for n in (1, 2)
    ]
    state = state_of(taken(ordered([*found(world.events), *strange]), STANDARD, first_number=1, gaps=0))
    said = [item.payload.message for item in state.items.values() if isinstance(item.payload, Notice)]
    assert sum("`checkpoint`" in text for text in said) == 2
    assert violations(state, live=False, unsettled=()) == []


def test_order_duplicates_and_holes_are_seen() -> None:
    events = found(busy().events)
    history = ordered([*reversed(events), *events])
    assert (list(history.events), list(history.gaps)) == (events, [])
    holes = ordered(events[:2] + events[4:6])
    assert [gap.what for gap in holes.gaps] == [
        "Events 3 to 4 are missing.",
        f"Events 7 to {len(events)} are missing.",
    ]


def test_events_of_another_conversation_are_left_out_and_said() -> None:
    events = found(busy().events)
    other = World().events[0]
    stray = Found(99, 99, None, "created", replace(other.entity, id="c2"))
    history = ordered([*events, stray])
    assert [(gap.line, "another conversation" in gap.what) for gap in history.gaps] == [(99, True)]
    assert len(history.events) == len(events)
