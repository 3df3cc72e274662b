"""Who waits for whom: calls that change one file go in order, others never wait for each other."""

from typing import Any

import pytest

from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import ByConversation, InOrder, say, use
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

HOLD = "echo held; cat gate"


def edit(path: str, old: str, new: str) -> Any:
    return use("edit", path=path, edits=[{"old": old, "new": new}])


async def locks(editor: Editor) -> list[tuple[str, str, int]]:
    """(key, conversation, how many calls wait for it) of all locks that are held."""
    found = (await editor.request("agent/lock/list", {}))["locks"]
    return [(lock["key"], lock["conversationId"], lock["waiting"]) for lock in found]


async def hold(editor: Editor, workspace: Any) -> tuple[Mirror, str]:
    """A conversation whose command stands before the gate and holds its workspace."""
    holder = await editor.create(workspace)
    run_id = await editor.send(holder, "hold")
    await editor.decide(holder, "allow")
    await editor.wait_for(lambda: "held" in holder.output)
    return holder, run_id


def started(conversation: Mirror) -> list[str]:
    """Tools that have begun, in order."""
    events = (e for e in conversation.events if (e["kind"], e["fact"]) == ("item", "started"))
    return [event["entity"]["payload"]["tool"] for event in events]


async def test_two_conversations_that_edit_one_file_wait_for_each_other_and_lose_nothing() -> None:
    again = [use("read", path="a.txt"), edit("a.txt", "two", "TWO"), say("Done.")]
    story = {
        "hold": InOrder([use("shell", command=HOLD), say("Held.")]),
        "first": InOrder([use("read", path="a.txt"), edit("a.txt", "one", "ONE"), say("Done.")]),
        "second": InOrder([use("read", path="a.txt"), edit("a.txt", "two", "TWO"), *again]),
    }
    async with scene(ByConversation(story)) as (_, home), home.editor() as editor:
        gate = home.gate("gate")
        file = home.workspace / "a.txt"
        file.write_text("one\ntwo\n")
        holder, holding = await hold(editor, home.workspace)
        first, second = [await editor.create(home.workspace, mode="edits") for _ in range(2)]
        runs = [await editor.send(first, "first"), ""]
        await editor.wait_for(lambda: len(first.calls) == 2)
        runs[1] = await editor.send(second, "second")
        await editor.wait_for(lambda: len(second.calls) == 2)
        assert await locks(editor) == [(home.workspace.as_uri(), holder.id, 2)]
        assert (file.read_text(), started(first), started(second)) == ("one\ntwo\n", [], [])

        await home.open_gate(gate)
        for conversation, run_id in ((holder, holding), (first, runs[0]), (second, runs[1])):
            await editor.until_ended(conversation, run_id)
        assert file.read_text() == "ONE\nTWO\n"
        # What the second was allowed to do had changed meanwhile: it was told, and did it again.
        assert [call["status"] for call in second.calls] == ["completed", "failed", "completed", "completed"]
        assert second.result(second.calls[1]["id"])["output"].endswith("a.txt changed since it was read; read it again")
        assert await locks(editor) == []


async def test_two_files_never_wait_for_each_other() -> None:
    story = {
        "hold": InOrder([use("shell", command=HOLD), say("Held.")]),
        "outside": InOrder([use("write", path="free.txt", content="free"), say("Done.")]),
        "inside": InOrder([use("write", path="part/taken.txt", content="taken"), say("Done.")]),
    }
    async with scene(ByConversation(story)) as (_, home), home.editor() as editor:
        part = home.workspace / "part"
        part.mkdir()
        gate = home.gate("gate", part)
        holder, holding = await hold(editor, part)
        outside = await editor.create(home.workspace, mode="edits")
        inside = await editor.create(home.workspace, mode="edits")
        waiting = await editor.send(inside, "inside")
        await editor.wait_for(lambda: inside.calls)
        # Another file in the same workspace is written at once, though a call before it waits.
        await editor.until_ended(outside, await editor.send(outside, "outside"))
        assert (home.workspace / "free.txt").read_text() == "free"
        assert not (part / "taken.txt").exists()
        await home.open_gate(gate)
        await editor.until_ended(holder, holding)
        await editor.until_ended(inside, waiting)
        assert (part / "taken.txt").read_text() == "taken"


async def test_two_workspaces_never_wait_for_each_other() -> None:
    async with scene(InOrder([use("shell", command=HOLD)] * 2 + [say("Done.")] * 2)) as (_, home):
        other = home.folder("other")
        gates = [home.gate("gate"), home.gate("gate", other)]
        async with home.editor() as editor:
            held = [await hold(editor, folder) for folder in (home.workspace, other)]
            assert await locks(editor) == [
                (home.workspace.as_uri(), held[0][0].id, 0),
                (other.as_uri(), held[1][0].id, 0),
            ]
            for gate in reversed(gates):
                await home.open_gate(gate)
            for conversation, run_id in held:
                await editor.until_ended(conversation, run_id)


async def test_two_commands_in_one_workspace_go_one_after_the_other() -> None:
    story = {
        "hold": InOrder([use("shell", command=f"{HOLD}; echo first >> order"), say("Done.")]),
        "next": InOrder([use("shell", command="echo second >> order"), say("Done.")]),
    }
    async with scene(ByConversation(story)) as (_, home), home.editor() as editor:
        gate = home.gate("gate")
        holder, holding = await hold(editor, home.workspace)
        after = await editor.create(home.workspace)
        run_id = await editor.send(after, "next")
        await editor.decide(after, "allow")
        assert started(after) == []
        await home.open_gate(gate)
        await editor.until_ended(holder, holding)
        await editor.until_ended(after, run_id)
        assert lines(home.workspace / "order") == ["first", "second"]


async def test_a_window_that_waits_in_line_can_be_stopped_and_those_behind_it_go_on() -> None:
    story = {
        "hold": InOrder([use("shell", command=HOLD), say("Held.")]),
        "stopped": InOrder([use("write", path="a.txt", content="stopped")]),
        "behind": InOrder([use("write", path="b.txt", content="behind"), say("Done.")]),
    }
    async with scene(ByConversation(story)) as (_, home), home.editor() as editor:
        gate = home.gate("gate")
        holder, holding = await hold(editor, home.workspace)
        stopped = await editor.create(home.workspace, mode="edits")
        behind = await editor.create(home.workspace, mode="edits")
        run_id = await editor.send(stopped, "stopped")
        await editor.wait_for(lambda: stopped.calls)
        other = await editor.send(behind, "behind")
        await editor.wait_for(lambda: behind.calls)
        await editor.interrupt(run_id)
        await editor.until_ended(stopped, run_id, "interrupted")
        assert stopped.result(stopped.calls[0]["id"])["status"] == "not_run"
        await home.open_gate(gate)
        await editor.until_ended(holder, holding)
        await editor.until_ended(behind, other)
        assert sorted(path.name for path in home.workspace.iterdir()) == ["b.txt", "gate"]


async def test_a_person_takes_a_lock_over_who_waits_goes_on_and_who_held_it_is_told() -> None:
    story = {
        "hold": InOrder([use("shell", command=HOLD), say("Held.")]),
        "waits": InOrder([use("write", path="a.txt", content="a"), say("Done.")]),
    }
    async with scene(ByConversation(story)) as (_, home), home.editor(home.workspace) as editor:
        gate = home.gate("gate")
        key = home.workspace.as_uri()
        holder, holding = await hold(editor, home.workspace)
        waits = await editor.create(home.workspace, mode="edits")
        run_id = await editor.send(waits, "waits")
        await editor.wait_for(lambda: waits.calls)
        assert await locks(editor) == [(key, holder.id, 1)]

        def told() -> list[list[str]]:
            changes = [params["locks"] for method, params in editor.notices if method == "agent/lock/changed"]
            return [[lock["conversationId"] for lock in held] for held in changes]

        await editor.wait_for(lambda: [holder.id] in told())
        params = {"commandId": "take", "key": key}
        assert [await editor.request("agent/lock/release", params) for _ in range(2)] == [{}, {}]
        await editor.until_ended(waits, run_id)
        assert (home.workspace / "a.txt").read_text() == "a"
        await editor.wait_for(lambda: told()[-1] == [])

        await home.open_gate(gate)
        await editor.until_ended(holder, holding)
        said = holder.result(holder.calls[0]["id"])["output"]
        assert f"[the person took {key} over while this ran: look again before you rely on what it did]" in said
        with pytest.raises(Refused, match="Nothing holds"):
            await editor.request("agent/lock/release", {**params, "commandId": "again"})
        gone = await home.run("locks", "release", str(home.workspace))
        assert "Nothing holds" in gone.stderr
