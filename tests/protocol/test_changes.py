"""The person's review of applied edits: hunks listed, kept and taken back, one by one, in sight of every window."""

from pathlib import Path
from typing import Any

import pytest

from agent_ls.testing.buffers import Buffers
from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.scene import scene

pytestmark = pytest.mark.anyio

TEXT = "one\r\ntwo\nthree\nfour\nfive é"
READ = use("read", path="a.txt")
EDIT = use("edit", path="a.txt", edits=[{"old": "two\n", "new": "2\n2b\n"}, {"old": "five", "new": "5"}])
EDITED = TEXT.replace("two\n", "2\n2b\n").replace("five", "5")


async def changed(editor: Editor, home: Home, text: str = TEXT, name: str = "a.txt") -> tuple[Mirror, Path]:
    """A conversation in which the agent has done what the scenario says."""
    path = home.workspace / name
    path.write_bytes(text.encode())
    conversation = await editor.create(home.workspace, mode="edits")
    await editor.until_ended(conversation, await editor.send(conversation, "Change it."))
    return conversation, path


async def listed(editor: Editor, conversation: Mirror, **more: Any) -> list[dict[str, Any]]:
    answer = await editor.request("agent/change/list", {"conversationId": conversation.id, **more})
    found: list[dict[str, Any]] = answer["changes"]
    return found


async def decide(editor: Editor, conversation: Mirror, verb: str, path: Path, **more: Any) -> dict[str, Any]:
    named = {"conversationId": conversation.id, "uri": path.as_uri()}
    answer: dict[str, Any] = await editor.command(f"agent/change/{verb}", **named, **more)
    return answer


def states(changes: list[dict[str, Any]]) -> list[str]:
    return [hunk["state"] for change in changes for hunk in change["hunks"]]


async def test_each_hunk_of_an_edit_is_listed_where_it_stands_and_taken_back_alone() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home), home.editor(home.workspace) as editor:
        conversation, path = await changed(editor, home)
        (change,) = await listed(editor, conversation)
        first, second = change["hunks"]
        item_id = conversation.calls[1]["id"]
        assert (change["uri"], change["path"]) == (path.as_uri(), "a.txt")
        assert first == {
            "id": f"{item_id}.h1",
            "itemId": item_id,
            "runId": conversation.calls[1]["runId"],
            "range": {"start": {"line": 1, "character": 0}, "end": {"line": 3, "character": 0}},
            "old": "two\n",
            "new": "2\n2b\n",
            "state": "open",
        }
        end = {"line": 5, "character": 3}
        assert (second["old"], second["new"], second["range"]["end"]) == ("five é", "5 é", end)
        path.write_bytes(b"zero\n" + path.read_bytes())
        done = await decide(editor, conversation, "undo", path, hunkId=first["id"])
        assert (done["hunks"], path.read_bytes().decode()) == ([first["id"]], "zero\n" + TEXT.replace("five", "5"))
        assert states(await listed(editor, conversation)) == ["undone", "open"]
        await decide(editor, conversation, "keep", path)
        assert states(await listed(editor, conversation)) == ["undone", "kept"]
        with pytest.raises(Refused, match="undone already"):
            await decide(editor, conversation, "keep", path, hunkId=first["id"])
        await decide(editor, conversation, "undo", path, hunkId=second["id"])
        assert path.read_bytes().decode() == "zero\n" + TEXT


async def test_a_hunk_whose_own_lines_changed_is_left_alone_and_said() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home), home.editor(home.workspace) as editor:
        conversation, path = await changed(editor, home)
        typed = EDITED.replace("2b", "2b, and mine")
        path.write_bytes(typed.encode())
        first, second = (await listed(editor, conversation))[0]["hunks"]
        assert (first["state"], second["state"]) == ("stale", "open")
        with pytest.raises(Refused, match="not there any more") as refused:
            await decide(editor, conversation, "undo", path, hunkId=first["id"])
        assert (refused.value.code, path.read_bytes().decode()) == ("stale_document", typed)
        done = await decide(editor, conversation, "undo", path)
        assert (done["hunks"], done["left"]) == ([second["id"]], [first["id"]])
        assert path.read_bytes().decode() == typed.replace("5 é", "five é")


async def test_edits_over_each_other_are_taken_back_newest_first_and_a_new_file_goes() -> None:
    answers = [
        READ,
        EDIT,
        use("edit", path="a.txt", edits=[{"old": "2b", "new": "2c"}]),
        use("write", path="new/b.txt", content="b\n"),
        say("Done."),
    ]
    async with scene(InOrder(answers)) as (_, home), home.editor(home.workspace) as editor:
        conversation, path = await changed(editor, home)
        new = home.workspace / "new" / "b.txt"
        assert states(await listed(editor, conversation)) == ["stale", "open", "open", "open"]
        undone = await decide(editor, conversation, "undo", path)
        assert (len(undone["hunks"]), undone["left"], path.read_bytes().decode()) == (3, [], TEXT)
        await decide(editor, conversation, "undo", new)
        assert not new.exists()
        assert states(await listed(editor, conversation)) == ["undone"] * 4
        run = conversation.calls[0]["runId"]
        assert len(await listed(editor, conversation, runId=run)) == 2


async def test_a_patch_is_listed_file_by_file_and_what_it_removed_comes_back() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.txt\n-three\n+3\n*** Delete File: old.txt\n*** Add File: b.txt\n+b\n"
        "*** End Patch"
    )
    answers = [READ, use("read", path="old.txt"), use("apply_patch", patch=patch), say("Done.")]
    async with scene(InOrder(answers)) as (_, home), home.editor(home.workspace) as editor:
        old, new = home.workspace / "old.txt", home.workspace / "b.txt"
        old.write_bytes(b"\xef\xbb\xbfold\r\n")
        conversation, path = await changed(editor, home)
        assert (path.read_bytes().decode(), new.exists(), old.exists()) == (TEXT.replace("three", "3"), True, False)
        changes = await listed(editor, conversation)
        assert ([change["path"] for change in changes], states(changes)) == (
            ["a.txt", "b.txt", "old.txt"],
            ["open"] * 3,
        )
        for one in (old, new, path):
            await decide(editor, conversation, "undo", one)
        assert (path.read_bytes().decode(), new.exists(), old.read_bytes()) == (TEXT, False, b"\xef\xbb\xbfold\r\n")
        assert states(await listed(editor, conversation)) == ["undone"] * 3


async def test_an_undo_goes_through_the_window_that_has_the_file_open_in_one_step() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home):
        path, buffers = home.workspace / "a.txt", Buffers()
        async with home.editor(home.workspace, name="vim", features=["document.save"]) as editor:
            conversation, path = await changed(editor, home)
            editor.answer = buffers.answer
            await editor.notify("textDocument/didOpen", buffers.open(path))
            await editor.notify("textDocument/didChange", buffers.type(path, "# mine\n", 0))
            (change,) = await listed(editor, conversation)
            assert change["hunks"][0]["range"]["start"] == {"line": 2, "character": 0}
            done = await decide(editor, conversation, "undo", path, hunkId=change["hunks"][0]["id"])
        wanted = "# mine\n" + TEXT.replace("five", "5")
        assert (buffers[path].text, len(buffers[path].edits), path.read_bytes().decode()) == (wanted, 1, EDITED)
        assert "unsaved changes in vim" in done["note"]


async def test_what_was_decided_outlives_kill_9_is_told_to_other_windows_and_done_once() -> None:
    async with scene(InOrder([READ, EDIT, say("Done."), say("Go on.")])) as (_, home):
        async with home.editor(home.workspace) as editor, home.editor(home.workspace, name="other") as other:
            conversation, path = await changed(editor, home)
            watched = await other.attach(conversation.id)
            first, second = (await listed(editor, conversation))[0]["hunks"]
            again = {"commandId": "undo-1", "hunkId": first["id"]}
            done = await decide(editor, conversation, "undo", path, **again)
            await decide(editor, conversation, "keep", path, hunkId=second["id"])
            wanted = {"1": "undone", "2": "kept"}
            await other.wait_for(lambda: watched.items[first["itemId"]]["payload"].get("reviewed") == wanted)
        await home.kill9()
        async with home.editor(home.workspace) as editor:
            conversation = await editor.attach(conversation.id)
            assert states(await listed(editor, conversation)) == ["undone", "kept"]
            path.write_bytes(EDITED.encode())
            assert await decide(editor, conversation, "undo", path, **again) == done
            assert path.read_bytes().decode() == EDITED
            with pytest.raises(Refused, match="already used"):
                await decide(editor, conversation, "undo", path, commandId="undo-1", hunkId=second["id"])


async def test_a_file_that_is_not_the_one_that_was_shown_is_not_touched() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home), home.editor(home.workspace) as editor:
        conversation, path = await changed(editor, home)
        (change,) = await listed(editor, conversation)
        path.write_bytes(EDITED.encode() + b" more")
        with pytest.raises(Refused, match="since it was shown"):
            await decide(editor, conversation, "undo", path, hash=change["hash"])
        with pytest.raises(Refused, match="no change `x`"):
            await decide(editor, conversation, "undo", path, hunkId="x")
        with pytest.raises(Refused, match="changed nothing in"):
            await decide(editor, conversation, "undo", home.workspace / "b.txt")
        assert path.read_bytes().decode() == EDITED + " more"
