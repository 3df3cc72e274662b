"""When a conversation is compacted, where it is cut, and what becomes of the wish of a person."""

from dataclasses import replace
from typing import Any

import pytest

from agent_ls.core import carried, compacting, compaction, sizes
from agent_ls.core.compacting import Compact
from agent_ls.core.compaction import Cut, Policy
from agent_ls.core.dispatch import send
from agent_ls.core.draft import Draft
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.failure import Cause, Failure
from agent_ls.core.interrupt import interrupt
from agent_ls.core.invariants import violations
from agent_ls.core.items import Block, Compaction, Handoff, ItemKind, Plan, Usage
from agent_ls.core.merge_back import STRATEGY
from agent_ls.core.messages import AssistantTurn, Reply, Stop, TextPart, ToolSpec, UserTurn
from agent_ls.core.overflow import is_overflow
from agent_ls.core.owed import Compact as CompactOwed
from agent_ls.core.owed import owed
from agent_ls.core.projection import ConversationState
from agent_ls.core.step import take_reply
from agent_ls.core.summary import digest, fitting, is_usable
from tests.unit.core.world import ALLOW, ASK, World, call, message, stop

WISH = Compact(by="ada", from_="nvim", instructions="Keep it.")


def talked(*texts: str) -> World:
    world = World()
    for text in texts:
        world.say(text)
        world.reply(text=f"about {text}")
    return world


def noted(world: World) -> str:
    world.commit(compacting.note(world.state, WISH, world.now()))
    wish = world.state.conversation.compacting
    assert wish is not None
    return wish.id


def compacted(world: World, kept_from: int, **more: Any) -> Compaction:
    made = Compaction(summary="Short.", summarized=0, kept_from=kept_from, **more)
    world.commit(compaction.commit(world.state, made, attempt=None, wish_id=None, at=world.now()))
    held = world.state.compacted
    assert held is not None
    return held


def handed(world: World, text: str) -> None:
    """What a fork has come to, put at the end."""
    told = Handoff(strategy=STRATEGY, from_="f", to=world.state.conversation.id, text=text)
    draft = Draft(world.state, world.now())
    run_id = list(world.state.runs)[-1]
    draft.add_item(run_id, draft.fresh_note_id(run_id, "handoff"), ItemKind.HANDOFF, payload=told)
    world.commit(draft.done())


@pytest.mark.parametrize(
    ("window", "reserved"), [(1_000_000, 16_384), (200_000, 16_384), (50_000, 10_000), (8_192, 1_638), (4, 1), (1, 1)]
)
def test_the_reserve_is_a_fifth_of_the_window_and_never_large(window: int, reserved: int) -> None:
    assert (compaction.reserve(window), compaction.limit(window, Policy())) == (reserved, window - reserved)


def test_a_threshold_of_the_person_takes_the_place_of_the_reserve() -> None:
    assert compaction.limit(200_000, Policy(threshold=0.5)) == 100_000


def test_half_a_small_window_is_kept_at_most() -> None:
    assert [compaction.target(window, Policy()) for window in (None, 200_000, 8_000)] == [20_000, 20_000, 4_000]


def test_what_was_merged_back_is_weighed_as_well_and_is_in_a_digest() -> None:
    world = talked("a")
    handed(world, "The fork found the fault.")
    kinds = [atom.items[0].kind for atom in compaction.atoms(world.state)]
    assert kinds == [ItemKind.USER_MESSAGE, ItemKind.ASSISTANT_MESSAGE, ItemKind.HANDOFF]
    assert "The fork found the fault." in digest(world.state.items.values(), earlier="", most=1_000)


def test_whole_runs_go_from_thirty_percent_on_until_the_rest_is_small_enough() -> None:
    found = compaction.atoms(talked(*"abcdefghij").state)
    assert [atom.starts_run for atom in found] == [True, False] * 10
    sized = [100] * 20
    at = [compaction.cut(found, sized, target=target, mode="sliding", end=99) for target in (2_000, 1_200, 500, 100)]
    assert at == [
        Cut(6, "sliding", found[6].ord),
        Cut(8, "sliding", found[8].ord),
        Cut(16, "sliding", found[16].ord),
        Cut(20, "all", 99),
    ]


def test_within_one_long_run_it_is_cut_between_steps_and_before_no_open_call() -> None:
    world = World()
    world.say()
    for _ in range(6):
        item = world.reply((ALLOW, call("read", effect="read", raw_arguments=world.now())))[0]
        done = replace(item.call, state="finished")
        world.state.items[item.id] = replace(item, payload=done)
    (waiting,) = world.reply((ASK, call()))
    found = compaction.atoms(world.state)
    at = compaction.cut(found, [1, *[100] * 7], target=300, mode="sliding", end=99)
    assert at == Cut(5, "sliding", found[5].ord)
    assert compaction.cut(found, [1] * 8, target=0, mode="all", end=99) == Cut(7, "all", waiting.ord)


def test_few_messages_go_as_a_whole_and_none_but_the_persons_not_at_all() -> None:
    few = compaction.atoms(talked("a").state)
    assert compaction.cut(few, [1, 1], target=9, mode="sliding", end=99) == Cut(2, "all", 99)
    world = World()
    world.say()
    assert compaction.cut(compaction.atoms(world.state), [1], target=9, mode="all", end=99) is None


def test_a_wish_is_owed_once_waits_for_nothing_where_no_run_goes_on_and_holds_what_is_said_meanwhile() -> None:
    world = talked("a")
    wish = noted(world)
    assert owed(world.state) == CompactOwed(None)
    assert wish in world.unsettled
    again = compacting.note(world.state, WISH, "t")
    assert isinstance(again, Refusal)
    assert again.code is Code.CONVERSATION_BUSY
    run_id = world.say("b")
    assert world.state.runs[run_id].status == "queued"
    assert violations(world.state, live=False, unsettled=world.unsettled) == []
    made = Compaction(summary="Short.", summarized=0, kept_from=world.state.next_ord)
    world.commit(compaction.commit(world.state, made, attempt=None, wish_id=wish, at=world.now()))
    assert (world.state.runs[run_id].status, wish in world.unsettled) == ("running", False)
    assert compaction.commit(world.state, made, attempt=None, wish_id=wish, at="t") is None, "it is over"
    assert violations(world.state, live=True, unsettled=world.unsettled) == []


def test_a_stop_drops_the_wish_also_twice_and_what_waited_is_held() -> None:
    world = talked("a")
    noted(world)
    waiting = world.say("b")
    for _ in range(2):
        world.commit(interrupt(world.state, "c1.r1", stop()))
    assert (world.state.conversation.compacting, world.state.conversation.queue_held) == (None, True)
    assert world.state.runs[waiting].status == "queued"
    assert violations(world.state, live=False, unsettled=world.unsettled) == []


def test_a_stop_of_a_run_drops_a_wish_that_waits_for_its_next_step() -> None:
    world = talked("a")
    run_id = world.say("b")
    noted(world)
    world.commit(interrupt(world.state, run_id, stop()))
    assert world.state.conversation.compacting is None


def test_what_nobody_owes_is_seen() -> None:
    world = talked("a")
    noted(world)
    assert violations(world.state, live=False, unsettled=set()) == [
        "1: nobody compacts c1 and no effect is owed for it"
    ]


def test_the_first_item_that_is_kept_is_named_and_all_before_it_are_counted() -> None:
    world = talked("a", "b")
    second = next(item for item in world.state.items.values() if item.run_id == "c1.r2")
    held = compacted(world, second.ord)
    assert (held.first_kept, held.summarized) == (second.id, 2)
    held = compacted(world, world.state.next_ord)
    assert (held.first_kept, held.summarized) == (None, 4)


def test_use_that_was_counted_before_the_newest_compaction_is_not_believed() -> None:
    world = World()
    world.say("a" * 400)
    attempt = world.state.attempts["c1.r1.a1"]
    reply = Reply((TextPart("b" * 40),), Stop.END_TURN, Usage(input_tokens=70, cache_read_tokens=20, output_tokens=10))
    world.commit(take_reply(world.state, attempt, reply, triage=[], at=world.now()))
    world.say("c" * 400)
    assert sizes.used(world.state) == 100 + 100
    compacted(world, world.state.next_ord, tokens_after=30)
    assert sizes.anchor(world.state) is None
    assert sizes.used(world.state) == 30


def test_a_state_that_is_read_again_knows_the_same() -> None:
    world = talked("a", "b", "c")
    compacted(world, 3)
    compacted(world, 5, mode="all")
    again = ConversationState.of(reversed(world.entities()), world.state.seq)
    assert (again.kept_from, again.compaction) == (5, world.state.compaction)


def test_the_last_words_are_repeated_and_older_ones_are_quoted() -> None:
    world = talked("do not run tests", "second")
    kept_from = world.state.next_ord
    assert carried.messages(world.state, kept_from) == ("c1.r2.u1",)
    assert "- do not run tests" in carried.text(world.state, kept_from)
    held = compacted(world, kept_from, messages=("c1.r2.u1",), answered=True, carried="Mind this.")
    texts = [block.text for block in carried.opening(world.state, held).content]
    assert texts[1:] == [
        "Mind this.",
        "[The person said this last, word for word. It has been dealt with.]",
        "second",
    ]


@pytest.mark.parametrize(
    ("failure", "seen"),
    [
        (Failure(Cause.OVERFLOW, "x"), True),
        (Failure(Cause.INVALID, "x", status=400), True),
        (Failure(Cause.INVALID, "x", detail="no such tool", status=400), False),
        (Failure(Cause.INVALID, "x", status=422), False),
        (Failure(Cause.SERVER, "x", status=500), False),
    ],
)
def test_a_refusal_without_words_is_an_overflow_where_the_window_is_full(failure: Failure, *, seen: bool) -> None:
    assert is_overflow(failure, size=99, window=100) is seen
    assert is_overflow(failure, size=50, window=100) is (failure.cause is Cause.OVERFLOW)


def test_what_is_sent_is_estimated_by_characters_and_pictures() -> None:
    picture = Block(type="image", mime_type="image/png", data="AAAA" * 1000)
    tool = ToolSpec("read", "Reads.", {})
    messages = (UserTurn((Block(type="text", text="a" * 40), picture)), AssistantTurn((TextPart("b" * 9),)))
    assert sizes.of_request("c" * 8, (tool,), messages) == 10 + 1_200 + 3 + 5


def test_a_digest_is_the_same_each_time_and_never_long() -> None:
    items = list(talked(*(f"{n} " + "x" * 500 for n in range(100))).state.items.values())
    text = digest(items, earlier="Before.", most=500)
    assert text == digest(items, earlier="Before.", most=500)
    assert is_usable(sizes.of_text(text), 600)
    assert "older entries are left out" in text
    assert text.startswith("Before.\n\n- …"), "what was summarized before is not lost with the next digest"
    long = digest(items, earlier="b" * 9_000, most=500)
    assert (long.startswith("b" * 1_000), is_usable(sizes.of_text(long), 600)) == (True, True)
    assert digest(items[:2], earlier="Before.", most=500).startswith("Before.\n\n- The person: 0 x")


def test_a_request_for_a_summary_that_can_not_be_made_to_fit_is_not_made() -> None:
    said = (UserTurn((Block(type="text", text="a" * 4_000),)),)
    assert (fitting(said, 1_000), fitting(said, 999), fitting(said, None)) == (said, None, said)


def test_a_plan_that_was_accepted_is_there_word_for_word_until_it_has_been_carried_out() -> None:
    world = talked("plan it")
    draft = Draft(world.state, world.now())
    plan = draft.add_item(
        "c1.r1", "c1.r1.plan1", ItemKind.PLAN, payload=Plan(markdown="1. dig\n2. fill", state="accepted")
    )
    world.commit(draft.done())
    accepted = "The plan that the person accepted, word for word:\n1. dig\n2. fill"
    assert accepted in carried.text(world.state, world.state.next_ord)
    world.commit(send(world.state, message("carry it out"), world.now()))
    run = world.state.active
    assert run is not None
    world.state.apply(replace(run, plan_id=plan.id))
    assert accepted in carried.text(world.state, world.state.next_ord)
    world.reply(text="Done.")
    assert accepted not in carried.text(world.state, world.state.next_ord)
    assert "has been carried out; do not do it again." in carried.text(world.state, world.state.next_ord)
