"""A conversation goes out as a file and comes back: by the protocol and by the command line."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import Gate, InOrder, Say, Wait, reply, say, use
from tests.scene import scene

pytestmark = pytest.mark.anyio

LONG = "".join(f"line {n} of a long answer\n" for n in range(20_000)).strip()


def plain(text: str, own: str) -> list[dict[str, Any]]:
    """The lines without what an import gives anew: the conversation's id, call ids, request numbers."""
    lines = [json.loads(line) for line in text.replace(own, "OWN").split("\n") if line]
    for line in lines:
        line.get("entity", {}).pop("number", None)
        line.get("entity", {}).get("payload", {}).pop("callId", None)
    return lines


async def bring_in(editor: Editor, home: Home, text: str, command_id: str = "import-1") -> Any:
    path = home.root / "export.jsonl"
    path.write_text(text, encoding="utf-8")
    return await editor.request("agent/conversation/import", {"commandId": command_id, "path": str(path)})


async def test_what_was_exported_is_imported_and_exported_the_same() -> None:
    script = InOrder([use("shell", command="/bin/echo one"), say(LONG, size=8192), say("Once more.")])
    async with scene(script) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run = await editor.send(conversation, "Do something.")
        await editor.decide(conversation, "allow")
        await editor.until_ended(conversation, run)
        text = await editor.export(conversation.id, "jsonl")
        done = await bring_in(editor, home, text)
        copy = done["conversation"]
        assert (done["gapCount"], done["gaps"], done["interrupted"], done["existed"]) == (0, [], 0, False)
        assert (done["blobs"], done["events"]) == (1, len(text.split("\n")) - 2)
        assert (copy["title"], copy["workspace"], copy["status"]) == ("Do something.", home.workspace.as_uri(), "idle")
        assert plain(await editor.export(copy["id"], "jsonl"), copy["id"]) == plain(text, conversation.id)
        same = await bring_in(editor, home, text, "import-2")
        assert (same["existed"], same["conversation"]["id"]) == (True, copy["id"])
        assert len(server.requests) == 2, "nothing is asked by an import"
        mirror = await editor.attach(copy["id"])
        await editor.until_ended(mirror, await editor.send(mirror, "Go on."))
        said = [m["content"] for m in server.requests[-1].body["messages"] if m["role"] == "assistant"]
        assert said[-1] == LONG, "the model is told the whole of it"


async def test_a_run_that_goes_on_is_exported_as_far_as_it_is_and_not_gone_on_with_in_the_copy() -> None:
    gate = Gate()
    async with scene(InOrder([reply(Say("So far"), Wait(gate))])) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run = await editor.send(conversation, "Do something.")
        await editor.wait_for(lambda: len(server.requests) == 1)
        done = await bring_in(editor, home, await editor.export(conversation.id, "jsonl"))
        assert (done["interrupted"], done["conversation"]["status"]) == (1, "idle")
        copy = await editor.attach(done["conversation"]["id"])
        (notice,) = copy.of_kind("notice")
        assert notice["payload"]["code"] == "imported"
        gate.open()
        await editor.until_ended(conversation, run)
        assert len(server.requests) == 1


async def test_what_is_too_long_for_an_answer_is_a_file_of_the_persons_own() -> None:
    script = InOrder([say(f"{n} {LONG}", size=65_536) for n in range(3)])
    async with scene(script) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        for n in range(3):
            await editor.until_ended(conversation, await editor.send(conversation, f"Write much, {n}."))
        params = {"conversationId": conversation.id, "format": "jsonl"}
        exported = await editor.request("agent/conversation/export", params)
        path = Path(exported["path"])
        assert (list(exported), path.parent, stat.S_IMODE(path.stat().st_mode)) == (
            ["path"],
            home.state / "exports",
            0o600,
        )
        said = await home.run("export", conversation.id, "--format", "jsonl")
        assert said.returncode == 0
        assert said.stdout.encode() == path.read_bytes()
        assert list(path.parent.iterdir()) == [path], "who prints it removes it"
        await editor.reply(
            await editor.begin("agent/conversation/delete", {"commandId": "d", "conversationId": conversation.id})
        )
        done = await editor.request("agent/conversation/import", {"commandId": "i", "path": str(path)})
        assert (done["gapCount"], done["blobs"]) == (0, 3)


async def test_the_command_line_says_what_was_lost_and_where(tmp_path: Path) -> None:
    async with scene(InOrder([say("Hi."), say("Again.")])) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Hello."))
        whole = tmp_path / "whole.jsonl"
        whole.write_text((await home.run("export", conversation.id, "--format", "jsonl")).stdout, encoding="utf-8")
        said = await home.run("import", str(whole))
        assert (said.returncode, said.stderr) == (0, "")
        assert ", whole: " in said.stdout
        lines = whole.read_text(encoding="utf-8").split("\n")
        torn = tmp_path / "torn.jsonl"
        torn.write_text("\n".join([*lines[:3], lines[3][:50] + lines[4], *lines[5:-3]]), encoding="utf-8")
        said = await home.run("import", str(torn))
        assert said.returncode == 0
        assert [line.partition(":")[0] for line in said.stderr.splitlines()] == [
            "line 4",
            "line 4",
            f"line {len(lines) - 3}",
        ]
        assert "with 3 gaps" in said.stdout
        nothing = tmp_path / "nothing.jsonl"
        nothing.write_text("not a line of it\n", encoding="utf-8")
        refused = await home.run("import", str(nothing))
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "Nothing in this file can be imported" in refused.stderr


async def test_a_copy_that_was_deleted_comes_back_under_another_id() -> None:
    async with scene(InOrder([say("Hi.")])) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Hello."))
        text = await editor.export(conversation.id, "jsonl")
        first = (await bring_in(editor, home, text))["conversation"]["id"]
        await editor.request("agent/conversation/delete", {"commandId": "d", "conversationId": first})
        again = await bring_in(editor, home, text, "import-2")
        assert (again["existed"], again["gapCount"]) == (False, 0)
        assert again["conversation"]["id"] not in (first, conversation.id)
        with pytest.raises(Refused) as refused:
            await editor.export(first)
        assert refused.value.code == "not_found"
