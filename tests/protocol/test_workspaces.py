"""Which URIs are workspaces: folders of this machine, whatever bytes their names are made of."""

import os
from pathlib import Path

import pytest

from agent_ls.testing.editor import Refused
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.scene import scene

pytestmark = pytest.mark.anyio


async def test_what_names_no_folder_of_this_machine_is_refused() -> None:
    async with scene(InOrder([])) as (_, home), home.editor() as editor:
        here = home.workspace.as_uri()
        wrong = [
            here.replace("file://", "file://elsewhere"),
            f"{here}?q#f",
            f"{here}/gone",
            f"{here}%00",
            "w",
            "http://x/",
        ]
        for workspace in wrong:
            with pytest.raises(Refused) as refused:
                await editor.request(
                    "agent/conversation/create", {"commandId": workspace[-150:], "workspace": workspace}
                )
            assert (refused.value.code, workspace) == ("invalid_params", workspace)


async def test_a_folder_whose_name_is_no_utf_8_is_worked_in() -> None:
    story = InOrder([use("shell", command="cat a && echo new > b"), say("Done.")])
    async with scene(story) as (_, home), home.editor() as editor:
        folder = os.fsencode(home.workspace) + b"/d\xff?#"
        os.mkdir(folder)
        Path(os.fsdecode(folder), "a").write_text("found")
        made = await editor.request(
            "agent/conversation/create",
            {"commandId": "c", "workspace": f"{home.workspace.as_uri()}/d%FF%3F%23", "mode": "auto", "allowAuto": True},
        )
        conversation = await editor.attach(made["conversation"]["id"])
        await editor.until_ended(conversation, await editor.send(conversation, "Go."))
        assert [call["payload"]["result"]["output"] for call in conversation.calls] == ["found"]
        assert Path(os.fsdecode(folder), "b").read_text() == "new\n"


async def test_what_would_happen_in_a_folder_without_trust_is_explained_the_same_from_a_conversation() -> None:
    async with scene(InOrder([])) as (_, home), home.editor(home.workspace, trusted=False) as editor:
        where = {"workspace": home.workspace.as_uri()}
        made = await editor.request("agent/conversation/create", {"commandId": "untrusted", **where})
        call = {"tool": "shell", "input": {"command": "make"}}
        found = [
            await editor.request("agent/permission/explain", {**call, **seen_from})
            for seen_from in (where, {"conversationId": made["conversation"]["id"]})
        ]
        untrusted = {
            "effect": "deny",
            "reason": "This workspace is not trusted, so nothing in it is changed or started.",
            "decidedBy": "built-in: an untrusted workspace is read-only",
        }
        assert found == [untrusted, untrusted]
