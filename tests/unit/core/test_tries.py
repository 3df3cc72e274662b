"""Which tries of a run count: those without progress since, and all of them where the person has set a bound."""

from dataclasses import replace

import pytest

from agent_ls.core import retry, wait
from agent_ls.core.attempt import Attempt
from agent_ls.core.failure import Cause, Failure
from agent_ls.core.retry import Never, Plan
from agent_ls.core.run import Run
from agent_ls.core.wait import STEPS_A_TRY, Trouble
from tests.unit.core.world import World

DOWN = Failure(Cause.NETWORK, "no route")


def a_run(*, steps: int, retries: int = 0, tried: int | None = None, tried_at: int | None = None) -> World:
    world = World()
    world.say()
    run, attempt = active(world)
    world.state.apply(replace(attempt, steps=steps))
    world.state.apply(replace(run, retries=retries, tried=tried, tried_at=tried_at))
    return world


def active(world: World) -> tuple[Run, Attempt]:
    run = world.state.active
    assert run is not None
    attempt = world.state.attempt_of(run)
    assert attempt is not None
    return run, attempt


@pytest.mark.parametrize(
    ("steps", "tried", "tried_at", "used"),
    [
        (0, 3, 0, 3),
        (STEPS_A_TRY - 1, 3, 0, 3),
        (STEPS_A_TRY, 3, 0, 2),
        (3 * STEPS_A_TRY, 3, 0, 0),
        (90 * STEPS_A_TRY, 3, 0, 0),
        (90 * STEPS_A_TRY, 3, 90 * STEPS_A_TRY, 3),
        (5, None, None, 2),
    ],
)
def test_steps_that_were_answered_give_tries_back(
    steps: int, tried: int | None, tried_at: int | None, used: int
) -> None:
    world = a_run(steps=steps, retries=2, tried=tried, tried_at=tried_at)
    assert wait.used(world.state, active(world)[0].id) == used


def test_no_progress_saves_tries_for_later() -> None:
    world = a_run(steps=50 * STEPS_A_TRY)
    planned: list[int] = []
    while True:
        run, attempt = active(world)
        used = wait.used(world.state, run.id)
        decided = retry.plan(DOWN, retries=used, most=None, jitter=0.5, now=world.now(), made=run.retries)
        if isinstance(decided, Never):
            break
        planned.append(decided.n)
        world.commit(wait.note(world.state, attempt, Trouble(plan=decided, message="again"), at=world.now()))
        world.commit(wait.over(world.state, run.id, world.now()))
    assert planned == [1, 2, 3]


@pytest.mark.parametrize(("made", "expected"), [(4, Plan(1.0, 1, 3)), (5, Never())])
def test_a_bound_that_the_person_has_set_counts_all_of_them(made: int, expected: Plan | Never) -> None:
    assert retry.plan(DOWN, retries=0, most=5, jitter=0.5, now="2026-01-01T12:00:00Z", made=made) == expected
