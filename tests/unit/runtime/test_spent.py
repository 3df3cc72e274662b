"""Money: at a limit the run ends with a notice, and the next message of the person goes on."""

from dataclasses import replace

import pytest

from agent_ls.core.items import Notice, Usage
from agent_ls.core.run import RunStatus
from agent_ls.runtime.services import Limits
from tests.unit.runtime.house import ID, HandTool, House, open_house

pytestmark = pytest.mark.anyio


def says(house: House, *calls: tuple[str, str], cost: float) -> None:
    house.model.says("so", *calls)
    said = house.model.script[-1]
    house.model.script[-1] = replace(said, reply=replace(said.reply, usage=Usage(cost_usd=cost)))  # type: ignore[type-var]


def status(house: House, ordinal: int) -> RunStatus:
    return house.actor.state.runs[f"{ID}.r{ordinal}"].status


def told(house: House) -> list[str]:
    return [i.payload.message for i in house.actor.state.items.values() if isinstance(i.payload, Notice)]


async def test_a_run_ends_at_what_it_may_cost() -> None:
    async with open_house(HandTool(), limits=Limits(usd_per_run=1.0)) as house:
        says(house, ("edit", '{"name": "a"}'), cost=0.6)
        says(house, ("edit", '{"name": "b"}'), cost=0.6)
        await house.create()
        await house.say()
        await house.rest()
        assert status(house, 1) is RunStatus.FAILED
        assert told(house) == ["This run cost $1.20; the limit is $1 (`limits.usd_per_run`)."]


async def test_the_day_has_a_limit_of_its_own_and_go_on_goes_on_beyond_it() -> None:
    async with open_house(HandTool(), limits=Limits(usd_per_day=1.0)) as house:
        says(house, cost=0.6)
        says(house, ("edit", '{"name": "b"}'), cost=0.6)
        says(house, ("edit", '{"name": "c"}'), cost=0.6)
        says(house, cost=0.6)
        await house.create()
        for text in ("one", "two", "go on"):
            await house.say(text)
            await house.rest()
        assert [status(house, n) for n in (1, 2, 3)] == [RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.COMPLETED]
        assert told(house) == ["Today's messages cost $1.20; the limit is $1 (`limits.usd_per_day`)."]
