"""What a fork's parent is told: never more than there is room for, the newest first, and what was left out is named."""

from dataclasses import replace

from agent_ls.core.conversation import Forked
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.finalize import captured
from agent_ls.core.items import Handoff
from agent_ls.core.merge_back import LIMIT, MergeBack, merge, merged_through, outcome
from tests.unit.core.world import World


def fork_with(*answers: str) -> World:
    """A fork of `p` of which everything is new."""
    world = World()
    began = Forked(conversation_id="p", title="P", through=0, origin="p")
    world.state.apply(replace(world.state.conversation, title="F", forked_from=began, parent_id="p"))
    for n, answer in enumerate(answers, 1):
        world.say(f"question {n}")
        world.reply(text=answer)
        at_rest(world)
    return world


def at_rest(world: World) -> None:
    """The run that ends has kept its files, if it has any."""
    run = world.state.active
    if run is not None:
        world.commit(captured(world.state, run.id, world.now()))


def told(world: World, after: int = 0) -> MergeBack:
    found = outcome(world.state, into="p", after=after)
    assert isinstance(found, MergeBack), found
    return found


def test_the_newest_are_told_as_far_as_there_is_room_and_the_rest_is_named() -> None:
    wish = told(fork_with(*(f"answer {n} " + "x" * 20_000 for n in range(1, 13))))
    assert len(wish.text) < LIMIT + 1_000
    assert wish.omitted == ("5 earlier messages and their answers",)
    assert "(left out, as it would be too long: 5 earlier messages and their answers)" in wish.text
    assert [f"question {n}\n" in wish.text for n in range(1, 13)] == [False] * 5 + [True] * 7
    assert wish.text.index("question 11\n") < wish.text.index("question 12\n")


def test_only_what_came_after_a_place_is_told() -> None:
    world = fork_with("one", "two")
    first = told(world)
    assert ("one" in first.text, "two" in first.text, first.omitted) == (True, True, ())
    refused = outcome(world.state, into="p", after=first.through)
    assert isinstance(refused, Refusal)
    world.say("question 3")
    world.reply(text="three")
    at_rest(world)
    later = told(world, first.through)
    assert ("two" in later.text, "three" in later.text, later.after) == (False, True, first.through)


def test_it_stands_at_the_end_of_the_parent_and_one_that_was_overtaken_is_refused() -> None:
    parent = fork_with("hello")
    wish = MergeBack(from_id="c9", text="so", omitted=(), after=0, through=7)
    parent.commit(merge(parent.state, wish, parent.now()))
    last = max(parent.state.items.values(), key=lambda item: item.ord)
    assert last.payload == Handoff(strategy="merge_back", from_="c9", to="c1", text="so", through=7)
    assert (merged_through(parent.state, "c9"), merged_through(parent.state, "c8")) == (7, 0)
    refused = merge(parent.state, replace(wish, through=8), parent.now())
    assert isinstance(refused, Refusal)
    assert refused.code is Code.COMMAND_CONFLICT


def test_where_nothing_was_said_yet_there_is_no_place_for_it() -> None:
    refused = merge(World().state, MergeBack(from_id="c9", text="so", omitted=(), after=0, through=7), "t")
    assert isinstance(refused, Refusal)
    assert refused.code is Code.INVALID_PARAMS
