"""A decision in the making sees what it has already recorded, and leaves the state alone."""

from agent_ls.core.call import CallFact
from agent_ls.core.draft import Draft
from agent_ls.core.items import CallState, ItemKind, Notice, ResultStatus, ToolResult
from agent_ls.core.request import RequestFact
from agent_ls.core.run import RunFact, RunStatus
from tests.unit.core.world import ASK, World, call


def test_what_is_recorded_is_read_back_and_the_state_is_untouched() -> None:
    world = World()
    run = world.say()
    (item,) = world.reply((ASK, call()))
    before = dict(vars(world.state))
    draft = Draft(world.state, "t9")
    draft.move_run(run, RunFact.FINALIZING)
    draft.move_call(item.id, CallFact.NOT_RUN, result=ToolResult(status=ResultStatus.NOT_RUN))
    assert draft.get_run(run).status is RunStatus.FINALIZING
    assert draft.get_item(item.id).call.state is CallState.NOT_RUN
    assert vars(world.state) == before


def test_a_request_that_was_settled_in_the_draft_is_no_longer_pending_there() -> None:
    world = World()
    run = world.say()
    (item,) = world.reply((ASK, call()))
    draft = Draft(world.state, "t9")
    (request,) = draft.pending_requests(run)
    assert request == world.request(item)
    draft.move_request(request, RequestFact.CANCELLED)
    assert draft.pending_requests(run) == []


def test_new_items_get_the_next_places_and_the_next_free_names() -> None:
    world = World()
    run = world.say()
    draft = Draft(world.state, "t9")
    made = [
        draft.add_item(run, draft.fresh_note_id(run, "n"), ItemKind.NOTICE, payload=Notice(code="x", message="y"))
        for _ in range(3)
    ]
    assert [(item.ord, item.id) for item in made] == [(2, f"{run}.n1"), (3, f"{run}.n2"), (4, f"{run}.n3")]
    assert [item.id for item in draft.run_items(run)] == [f"{run}.u1", *(item.id for item in made)]


def test_the_decision_holds_facts_in_order_and_says_which_number_comes_next() -> None:
    world = World()
    run = world.say()
    draft = Draft(world.state, "t9")
    assert draft.next_seq == world.state.seq + 1
    draft.move_run(run, RunFact.FINALIZING)
    draft.move_run(run, RunFact.COMPLETED)
    assert draft.next_seq == world.state.seq + 3
    done = draft.done(runId=run)
    assert [str(fact.name) for fact in done.facts] == ["finalizing", "completed"]
    assert (done.result, done.effects, done.settled) == ({"runId": run}, (), ())
