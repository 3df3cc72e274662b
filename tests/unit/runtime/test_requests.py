"""What a model is sent."""

import pytest

from agent_ls.core.items import Block
from agent_ls.core.messages import UserTurn
from agent_ls.runtime.hook_calls import HookCalls
from agent_ls.runtime.requests import Requests
from tests.unit.runtime.house import open_house

pytestmark = pytest.mark.anyio


async def test_pictures_that_were_too_much_are_not_sent_for_a_summary_either() -> None:
    said = UserTurn((Block(type="text", text="Look."), Block(type="image", mime_type="image/png", data="aaaa")))
    async with open_house() as house:
        await house.create()
        requests = Requests(house.actor, house.services, HookCalls(house.actor, house.services))
        assert await requests.inflated([said]) == (said,)
        requests.without_pictures = True
        ((text, note),) = [turn.content for turn in await requests.inflated([said]) if isinstance(turn, UserTurn)]
        assert (text, note.type) == (said.content[0], "text")
