"""A conversation of 20,000 events: windows get its last page, older ones when they ask, and a stop is a stop (B60)."""

from functools import partial

import anyio
import pytest
from anyio import to_thread

from agent_ls.testing.model_scenario import InOrder, Say, Silence, reply
from benchmarks.seed import seed
from tests.scene import scene

pytestmark = pytest.mark.anyio

EVENTS = 20_000
PAGE = 30
KNOWN = "clong"


@pytest.mark.timeout(120)
async def test_windows_of_a_very_long_conversation_get_pages_and_its_stream_is_stopped() -> None:
    async with scene(InOrder([reply(Say("Once upon "), Silence())])) as (_, home):
        workspace = home.workspace.as_uri()
        seeded = (await to_thread.run_sync(partial(seed, home.state, workspace, {KNOWN: EVENTS})))[KNOWN]
        async with home.bridged(home.workspace, name="one") as one, home.bridged(home.workspace, name="two") as two:
            mirrors = [await editor.attach(KNOWN, backfill={"items": PAGE}) for editor in (one, two)]
            assert [len(mirror.items) for mirror in mirrors] == [PAGE, PAGE]
            assert mirrors[0].seq >= EVENTS
            whole = await one.request(
                "agent/conversation/attach", {"conversationId": KNOWN, "backfill": {"items": PAGE}}
            )
            cursor, seen = whole["olderCursor"], set(mirrors[0].items)
            for _ in range(3):
                page = await one.request(
                    "agent/conversation/items", {"conversationId": KNOWN, "cursor": cursor, "limit": 100}
                )
                fresh = {item["id"] for item in page["items"]}
                assert (len(fresh), fresh & seen) == (100, set()), "older ones, and none twice"
                cursor, seen = page["olderCursor"], seen | fresh
            assert len(seen) < seeded.messages, "the rest is not read"
            (summary,) = (await two.request("agent/conversation/list", {"workspace": workspace}))["conversations"]
            assert summary["id"] == KNOWN

            run_id = await one.send(mirrors[0], "Tell a story.")
            await two.wait_for(lambda: mirrors[1].shown == "Once upon ")
            with anyio.fail_after(10):
                await two.interrupt(run_id)
                for editor, mirror in ((one, mirrors[0]), (two, mirrors[1])):
                    await editor.until_ended(mirror, run_id, "interrupted")
