"""A conversation of 20,000 events: windows get its last page, older ones when they ask, and a stop is a stop (B60).

That none of it reads the history is counted in tests/contract/ledger/test_long_history.py.
"""

import re
from pathlib import Path

import anyio
import pytest

from agent_ls.testing.editor import Editor
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import ByConversation, Gate, InOrder, Say, Silence, Wait, reply, say
from tests import long_history
from tests.scene import scene

pytestmark = pytest.mark.anyio

PAGE = 30
KNOWN = "clong"
MOST_MB = 300


async def pages_back(editor: Editor, mirror: Mirror, count: int) -> None:
    """Older pages on demand: each as long as asked for, none of it twice."""
    seen, newest = set(mirror.items), {"conversationId": KNOWN, "backfill": {"items": PAGE}}
    cursor = (await editor.request("agent/conversation/attach", newest))["olderCursor"]
    for _ in range(count):
        wanted = {"conversationId": KNOWN, "cursor": cursor, "limit": 100}
        page = await editor.request("agent/conversation/items", wanted)
        fresh = {item["id"] for item in page["items"]}
        assert (len(fresh), fresh & seen) == (100, set())
        cursor, seen = page["olderCursor"], seen | fresh


def peak_mb(home: Home) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{home.pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


@pytest.mark.timeout(120)
async def test_windows_of_a_very_long_conversation_get_pages_forks_and_a_stop() -> None:
    gate = Gate()
    story = reply(Say("Once upon "), Silence())
    scenario = ByConversation(
        {
            "Tell a story": InOrder([story]),
            "Else": InOrder([say("Otherwise.")]),
            "Work": InOrder([reply(Say("I work"), Wait(gate), Say(" and work."))]),
        }
    )
    async with scene(scenario) as (server, home):
        workspace = home.workspace.as_uri()
        assert await long_history.seed(home.state, KNOWN, workspace) >= long_history.EVENTS
        async with home.bridged(home.workspace, name="one") as one, home.bridged(home.workspace, name="two") as two:
            mirrors = [await editor.attach(KNOWN, backfill={"items": PAGE}) for editor in (one, two)]
            assert [(len(mirror.items), mirror.answers[-1]) for mirror in mirrors] == [(PAGE, "answer 200")] * 2
            await pages_back(one, mirrors[0], 3)
            other = await two.create(home.workspace, title="Other")
            at_work = await two.send(other, "Work.")
            await two.wait_for(lambda: other.shown == "I work")

            made = await one.request("agent/conversation/fork", {"commandId": "f", "conversationId": KNOWN})
            child = await two.attach(made["conversation"]["id"], backfill={"items": PAGE})
            assert (len(child.items), child.answers[-1]) == (PAGE, "answer 200")
            listed = (await two.request("agent/conversation/list", {"workspace": workspace}))["conversations"]
            assert {each["id"]: each.get("relation") for each in listed} == {
                KNOWN: None,
                other.id: None,
                child.id: "fork",
            }

            run_id = await one.send(mirrors[0], "Tell a story.")
            await two.wait_for(lambda: mirrors[1].shown == "Once upon ")
            with anyio.fail_after(10):
                await two.interrupt(run_id)
                for editor, mirror in ((one, mirrors[0]), (two, mirrors[1])):
                    await editor.until_ended(mirror, run_id, "interrupted")

            await two.until_ended(child, await two.send(child, "Else."))
            assert (child.answers[-1], mirrors[1].answers[-1]) == ("Otherwise.", "Once upon ")
            gate.open()
            await two.until_ended(other, at_work)
            assert peak_mb(home) < MOST_MB
            # Compacted as the parent is, and the same to the byte.
            (of_parent,) = (r for r in server.requests if "Tell a story." in r.user_texts)
            (of_child,) = (r for r in server.requests if "Else." in r.user_texts)
            assert of_child.body["messages"][:-1] == of_parent.body["messages"][:-1]
            assert len(of_child.body["messages"]) < 20 * 2 * (long_history.STEPS + 2)
            assert len(server.requests) == 3
