"""Where a fork may begin, how it is called, and that it is sound wherever that is."""

from dataclasses import replace

import pytest

from agent_ls.core import step
from agent_ls.core.call import CallFact
from agent_ls.core.conversation import FORK, Mode
from agent_ls.core.errors import Refusal
from agent_ls.core.fork import border, forked, last_text, next_title, refused, without_auto
from agent_ls.core.items import Item, ResultStatus, ToolResult
from tests.unit.core.forked import faults, fork_of, sent
from tests.unit.core.world import ALLOW, ASK, World, call


def ids(items: list[Item]) -> list[str]:
    return [item.id for item in items]


def worked() -> tuple[World, list[Item]]:
    """A run of two steps: text with two calls that have their results, and an answer."""
    world = World()
    world.say("do it")
    for item in world.reply((ALLOW, call("read")), (ALLOW, call("read")), text="I look."):
        result = ToolResult(status=ResultStatus.OK, output="so")
        world.commit(step.move_item(world.state, item.id, CallFact.STARTED, at=world.now()))
        world.commit(step.finish_call(world.state, item.id, result, at=world.now()))
    world.reply(text="Done.")
    return world, sorted(world.state.items.values(), key=lambda item: item.ord)


def test_borders_are_the_messages_and_the_ends_of_answers() -> None:
    _, items = worked()
    user, said, first, second, done = items
    found = [border(items, item.ord) for item in items]
    assert found == [user, user, user, second, done]
    assert [refused(items, item) for item in (user, second, done)] == [None] * 3
    for inside in (said, first):
        refusal = refused(items, inside)
        assert isinstance(refusal, Refusal)
        assert refusal.hint == f"Fork at `{user.id}`, right before or at `{second.id}`, where it ends."


def test_what_still_goes_on_is_behind_the_border() -> None:
    world = World()
    world.say("do it")
    world.reply((ALLOW, call("read")), (ASK, call("read")), text="I look.")
    items = sorted(world.state.items.values(), key=lambda item: item.ord)
    assert border(items, items[-1].ord) == items[0]
    refusal = refused(items, items[-1])
    assert refusal is not None
    assert (refusal.message, refusal.hint) == (
        "This item is still going on, so nothing can be gone on from it yet.",
        f"Fork at `{items[0].id}`, right before.",
    )


def test_a_window_that_does_not_show_the_whole_answer_tells_nothing() -> None:
    _, items = worked()
    assert border(items[1:4], items[2].ord) is None
    assert border(items[2:], items[3].ord) is None


def test_every_border_of_a_history_gives_a_sound_fork() -> None:
    world, items = worked()
    assert faults(world.state) == []
    for item in (items[0], items[3], items[4]):
        fork = fork_of(world.state, item)
        assert sent(fork) == sent(world.state, item.ord)
        assert fork.next_ord == item.ord + 1
    assert last_text(items, items[3].ord) == "I look."


def test_a_fork_of_a_fork_has_the_same_root() -> None:
    world, items = worked()
    first = fork_of(world.state, items[-1])
    second = fork_of(first, first.items[f"{first.conversation.id}.{items[-1].id.partition('.')[2]}"], "again")
    began = second.conversation.forked_from
    assert began is not None
    assert (began.origin, began.conversation_id) == ("c1", first.conversation.id)
    assert sent(second) == sent(world.state)


def test_what_was_denied_for_the_parent_is_denied_for_the_fork_and_nothing_is_allowed() -> None:
    world, items = worked()
    deny, ask, allow = ({"verdict": verdict, "pattern": "shell(rm)"} for verdict in ("deny", "ask", "allow"))
    parent = replace(world.state.conversation, rules=(deny, allow, ask), mode=Mode.AUTO, queue_held=True, archived=True)
    made = forked(parent, items[-1], "k", title=" Mine ", at="later")
    assert made.rules == (deny, ask)
    assert (made.title, made.relation, made.parent_id) == ("Mine", FORK, "c1")
    assert (made.queue_held, made.archived, made.created_at) == (False, False, "later")
    assert (without_auto(made).mode, without_auto(replace(made, mode=Mode.PLAN)).mode) == (Mode.ASK, Mode.PLAN)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Fix it", "Fix it (fork)"),
        ("Fix it (fork)", "Fix it (fork 2)"),
        ("Fix it (fork 9)", "Fix it (fork 10)"),
        ("(fork)", "(fork) (fork)"),
        ("two\nlines (fork)", "two\nlines (fork 2)"),
        ("", ""),
    ],
)
def test_a_fork_is_named_after_its_parent(title: str, expected: str) -> None:
    assert next_title(title) == expected
