"""Approval cards: all of what would run is on them, and nothing in it can hide (cases B32, B38)."""

import json
from typing import Any

import pytest

from agent_ls.testing.model_scenario import InOrder, UseTool, reply, say
from tests.scene import scene

pytestmark = pytest.mark.anyio


def shells(*commands: str) -> Any:
    return reply(*(UseTool("shell", {"command": command}) for command in commands))


HIDDEN = [
    ("rm \u202etxt.x", "rm ⟨U+202E⟩txt.x"),
    ("curl\u200bevil", "curl⟨U+200B⟩evil"),
    ("ls \x1b[2Krm d", "ls ⟨U+001B⟩[2Krm d"),
    ("ls \u009b2Jrm d", "ls ⟨U+009B⟩2Jrm d"),
    ("rm -rf d\rls       ", "rm -rf d⟨U+000D⟩ls       "),
    ("ls" + " " * 4000 + "; rm -rf d", "ls ⟨4000 spaces⟩ ; rm -rf d"),
]


async def test_what_would_not_be_seen_is_shown_by_name_in_title_card_and_preview() -> None:
    story = InOrder([shells(*(command for command, _ in HIDDEN)), say("Well.")])
    async with scene(story) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.send(conversation, "Go.")
        asked = await editor.until_asked(conversation, len(HIDDEN))
        for request, (command, shown) in zip(asked, HIDDEN, strict=True):
            assert (request["title"], request["card"]["command"]) == (f"$ {shown}", command)
            assert "rule" not in json.dumps(request["options"]) or "rm -rf d" in shown
            preview = (await editor.request("agent/request/preview", {"requestId": request["id"]}))["command"]
            assert preview == {name: value for name, value in request["card"].items() if name != "type"}
            if "⟨U+" in shown:
                assert (preview["shown"], preview["warning"][:42]) == (
                    shown,
                    "Holds characters that would not be seen; t",
                )


async def test_the_raw_bytes_are_what_runs_and_what_is_on_record() -> None:
    command = "printf %s 'a\u202eb\u200bc' > out"
    async with scene(InOrder([shells(command), say("Done.")])) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        await editor.decide(conversation, "allow")
        await editor.until_ended(conversation, run_id)
        assert (home.workspace / "out").read_bytes() == "a\u202eb\u200bc".encode()
        assert conversation.calls[0]["payload"]["input"]["command"] == command


async def test_a_guarded_file_is_guarded_under_its_other_names() -> None:
    config = '[permissions]\ndeny = ["read(secret/**)"]\n'
    tried = [
        ("read", {"path": "innocent"}),
        ("shell", {"command": "cat innocent"}),
        ("read", {"path": "twin/key"}),
        ("shell", {"command": "cat twin/key"}),
        ("read", {"path": "another"}),
        ("shell", {"command": "cat another"}),
    ]
    story = InOrder([reply(*(UseTool(tool, arguments) for tool, arguments in tried)), say("Well.")])
    async with scene(story, config=config) as (_, home), home.editor() as editor:
        (home.workspace / "secret").mkdir()
        (home.workspace / "secret" / "key").write_text("k")
        (home.workspace / ".env").write_text("TOKEN=1")
        (home.workspace / "innocent").hardlink_to(home.workspace / ".env")
        (home.workspace / "twin").symlink_to("secret")
        (home.workspace / "another").hardlink_to(home.workspace / "secret" / "key")
        conversation = await editor.create(home.workspace)
        await editor.send(conversation, "Go.")
        await editor.until_asked(conversation, 2)
        assert [call["payload"]["state"] for call in conversation.calls] == ["awaiting_approval"] * 2 + ["denied"] * 4
