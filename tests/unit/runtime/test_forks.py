"""Where a fork may be made."""

from dataclasses import replace

import pytest

from agent_ls.core.errors import Code, Refusal
from agent_ls.runtime import forks
from agent_ls.runtime.forks import Point
from tests.unit.runtime.house import open_house

pytestmark = pytest.mark.anyio


async def test_a_conversation_whose_folder_is_on_another_machine_is_not_forked_here() -> None:
    async with open_house() as house:
        await house.create()
        there = replace(house.actor.state.conversation, id="c2", host="laptop")
        await house.registry.create("there", there, may_auto=False)
        made = {}
        for here in ("server", "laptop"):
            house.registry.services = replace(house.services, host=here)
            made[here] = await forks.make(house.registry, here, "c2", point=Point(), title=None, may_auto=False)
        assert isinstance(made["server"], Refusal)
        assert (made["server"].code, "on laptop" in made["server"].message) == (Code.UNSUPPORTED, True)
        assert not isinstance(made["laptop"], Refusal)
