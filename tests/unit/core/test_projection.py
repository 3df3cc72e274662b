"""A state folded from events is the state loaded from the newest entities, in whatever order they come."""

from hypothesis import given
from hypothesis import strategies as st

from agent_ls.core.conversation import ConversationStatus
from agent_ls.core.interrupt import interrupt
from agent_ls.core.items import Item, ResultStatus, ToolResult
from agent_ls.core.projection import ConversationState
from agent_ls.core.step import move_item
from tests.unit.core.world import ALLOW, ASK, World, call, conversation, stop

FILE = "file:///w/a"


def finish(world: World, item: Item, **data: str) -> None:
    world.commit(move_item(world.state, item.id, "started", at=world.now()))  # type: ignore[arg-type]
    result = ToolResult(status=ResultStatus.OK, data=dict(data))
    world.commit(move_item(world.state, item.id, "finished", at=world.now(), result=result))  # type: ignore[arg-type]


def story() -> World:
    world = World()
    world.say("one")
    first, second = world.reply((ALLOW, call("edit")), (ALLOW, call("read")), text="I look")
    finish(world, second, uri=FILE, hash="before", cwd="/w/x")
    finish(world, first, uri=FILE, hash="after", cwd="/w/y")
    world.reply((ASK, call()))
    world.say("two")
    return world


@given(st.randoms(use_true_random=False))
def test_the_order_in_which_entities_are_loaded_does_not_matter(shuffled) -> None:
    world = story()
    entities = world.entities()
    shuffled.shuffle(entities)
    loaded = ConversationState.of(entities, world.state.seq)
    loaded.epoch = world.state.epoch
    assert vars(loaded) == vars(world.state)


def test_what_was_learned_last_counts_not_what_stands_last() -> None:
    """The read stands behind the edit that the person allowed later: what the edit wrote is what is known."""
    world = story()
    loaded = ConversationState.of(world.entities(), world.state.seq)
    assert (world.state.seen, world.state.cwd) == ({FILE: "after"}, "/w/y")
    assert (loaded.seen, loaded.cwd) == ({FILE: "after"}, "/w/y")


def test_a_result_that_nobody_knows_teaches_nothing() -> None:
    world = World()
    world.say()
    (item,) = world.reply((ALLOW, call()))
    world.commit(move_item(world.state, item.id, "started", at="t"))  # type: ignore[arg-type]
    unknown = ToolResult(status=ResultStatus.UNKNOWN, data={"uri": FILE, "hash": "x"})
    world.commit(move_item(world.state, item.id, "finished", at="t", result=unknown))  # type: ignore[arg-type]
    assert world.state.seen == {}


def test_calls_of_the_newest_step_are_those_that_are_looked_at() -> None:
    world = World()
    run = world.say()
    (first,) = world.reply((ALLOW, call()))
    finish(world, first)
    second, third = world.reply((ALLOW, call()), (ALLOW, call()))
    attempt = world.state.attempts[f"{run}.a1"]
    assert [item.id for item in world.state.step_calls(attempt)] == [second.id, third.id]


def test_what_a_window_shows_follows_from_runs_and_requests() -> None:
    world = World()
    shown = [world.state.status()]
    run = world.say()
    shown.append(world.state.status())
    world.reply((ASK, call()))
    shown.append(world.state.status())
    world.commit(interrupt(world.state, run, stop()))
    shown.append(world.state.status())
    assert shown == [
        ConversationStatus.IDLE,
        ConversationStatus.RUNNING,
        ConversationStatus.WAITING,
        ConversationStatus.STOPPING,
    ]


def test_the_root_is_a_path_of_this_machine() -> None:
    state = ConversationState()
    state.apply(conversation(workspace="file:///w/my%20project"))
    assert (state.exists, state.root) == (True, "/w/my project")
    assert not ConversationState().exists
