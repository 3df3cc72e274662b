"""Many windows: which of them shows what waits, who else is there, and who was first to answer."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_ls.testing.buffers import Answer
from agent_ls.testing.editor import Editor, LinkEnded
from agent_ls.testing.model_scenario import InOrder, UseTool, reply, say, use
from tests.plain_editor import plain_editor
from tests.scene import scene

pytestmark = pytest.mark.anyio

COMMAND = use("shell", command="echo x >> ran")


async def focus(editor: Editor, *, focused: bool = True) -> None:
    await editor.notify("agent/window/focus", {"focused": focused})
    await editor.pending()  # it was heard


def numbers(editor: Editor) -> tuple[int, list[int]]:
    """(how many wait anywhere, those that this window shows)."""
    return editor.changed["pending"], [request["number"] for request in editor.changed["requests"]]


async def asked_by(editor: Editor, workspace: Path) -> Any:
    """A conversation that waits for an answer, which this window does not follow."""
    conversation = await editor.create(workspace)
    run_id = await editor.send(conversation, "Go.")
    (request,) = await editor.until_asked(conversation)
    await editor.request("agent/conversation/detach", {"conversationId": conversation.id})
    return conversation.id, run_id, request


async def test_what_waits_is_shown_where_the_person_was_last_and_counted_elsewhere() -> None:
    async with scene(InOrder([COMMAND])) as (_, home), AsyncExitStack() as all_:
        other = home.folder("other")
        one, two, away = [
            await all_.enter_async_context(home.editor(folder, name=name, features=["ui.approval"]))
            for name, folder in (("one", home.workspace), ("two", home.workspace), ("away", other))
        ]
        await focus(one)
        await focus(away)
        await asked_by(two, home.workspace)
        for editor, shown in ((one, [1]), (two, [])):
            await editor.wait_for(lambda: numbers(editor) == (1, shown))  # noqa: B023
        await focus(two)
        for editor, shown in ((one, []), (two, [1])):
            await editor.wait_for(lambda: numbers(editor) == (1, shown))  # noqa: B023
        # Who loses the focus to a program that is no window of ours still is where the person was last.
        await focus(two, focused=False)
        await two.pending()
        assert (numbers(one), numbers(two)) == ((1, []), (1, [1]))
        assert numbers(away) == (0, []), "nothing of another workspace"


async def test_who_follows_the_conversation_is_shown_what_it_asks_wherever_the_person_is() -> None:
    async with (
        scene(InOrder([COMMAND])) as (_, home),
        home.editor(home.workspace, name="one", features=["ui.approval"]) as one,
        home.editor(home.workspace, name="two", features=["ui.approval"]) as two,
    ):
        await focus(two)
        known, _, request = await asked_by(one, home.workspace)
        await one.wait_for(lambda: numbers(one) == (1, []))
        await one.attach(known)
        await one.wait_for(lambda: numbers(one) == (1, [1]))
        await one.request("agent/conversation/detach", {"conversationId": known})
        await one.wait_for(lambda: numbers(one) == (1, []))
        await two.wait_for(lambda: two.changed["requests"] == [request])


async def test_a_window_that_leaves_leaves_what_it_showed_to_the_others() -> None:
    async with scene(InOrder([COMMAND])) as (_, home), home.editor(home.workspace, name="stays") as stays:
        async with home.editor(home.workspace, name="leaves") as leaves:
            await focus(leaves)
            await asked_by(leaves, home.workspace)
            await stays.wait_for(lambda: numbers(stays) == (1, []))
        await stays.wait_for(lambda: numbers(stays) == (1, [1]))


async def test_a_window_that_reloads_and_one_that_comes_late_are_shown_what_waits_from_state() -> None:
    async with scene(InOrder([COMMAND, say("Done.")])) as (_, home):
        async with home.bridged(home.workspace, name="one") as first:
            await focus(first)
            known, run_id, request = await asked_by(first, home.workspace)
        async with (
            home.bridged(home.workspace, name="one") as again,
            home.bridged(home.workspace, name="late") as late,
        ):
            for editor in (again, late):
                await editor.wait_for(lambda: editor.changed["requests"] == [request])  # noqa: B023
                assert await editor.pending() == [request]
            mirror = await late.attach(known)
            assert mirror.pending == [request]
            await late.respond(request, "deny")
            await late.until_ended(mirror, run_id)
            await again.wait_for(lambda: numbers(again) == (0, []))


async def test_a_window_that_was_asked_and_goes_without_a_word_holds_nothing_back() -> None:
    both = reply(UseTool("read", {"path": "a.txt"}), UseTool("shell", {"command": "echo x >> ran"}))
    async with scene(InOrder([both])) as (_, home), home.editor(home.workspace, name="stays") as stays:
        (home.workspace / "a.txt").write_text("one\n")
        conversation = await stays.create(home.workspace)
        asked = Answer({"result": None}, leaves=True)
        async with home.bridged(home.workspace, name="vim", prompts="message") as leaves:
            leaves.answer = lambda method, params: asked
            run_id = await stays.send(conversation, "Go.")
            with pytest.raises((LinkEnded, anyio.ClosedResourceError)):
                await leaves.until_gone()
        (request,) = await stays.until_asked(conversation)
        await stays.wait_for(lambda: conversation.result(conversation.calls[0]["id"]))
        assert conversation.result(conversation.calls[0]["id"])["output"] == "one\n"
        assert await stays.pending() == [request]
        await stays.interrupt(run_id)
        await stays.until_ended(conversation, run_id, "interrupted")
        assert not (home.workspace / "ran").exists()


async def test_whoever_did_not_answer_is_told_who_did() -> None:
    async with (
        scene(InOrder([COMMAND, say("Done.")])) as (_, home),
        home.editor(home.workspace, name="VS Code", features=["ui.approval"]) as rich,
        plain_editor(home, name="Emacs") as emacs,
        plain_editor(home, name="Neovim") as neovim,
    ):
        path = home.workspace / "a.txt"
        path.write_text("one\n")
        await neovim.open(path)
        await neovim.link.pending()
        await emacs.open(path)
        await emacs.type(path, "typed")
        await emacs.link.pending()
        known, run_id, _ = await asked_by(rich, home.workspace)
        conversation = await rich.attach(known)
        await emacs.until_marked(path)
        await emacs.choose(path, 0, "Allow once #1")
        await rich.until_ended(conversation, run_id)
        (answered,) = (params["requests"] for method, params in rich.notices if method == "agent/request/answered")
        assert [(a["number"], a["decision"], a["decidedFrom"]) for a in answered] == [(1, "allow", "Emacs")]
        assert emacs.heard("window/showMessage") == emacs.heard("agent/request/answered") == []


async def test_a_plain_window_in_which_a_card_stood_says_in_one_short_line_who_answered() -> None:
    answers = [use("read", path="a.txt"), use("edit", path="a.txt", edits=[{"old": "one", "new": "1"}]), say("Done.")]
    async with (
        scene(InOrder(answers)) as (_, home),
        home.editor(home.workspace, name="terminal") as asker,
        plain_editor(home, name="Emacs") as emacs,
        plain_editor(home, name="Neovim") as neovim,
    ):
        path = home.workspace / "a.txt"
        path.write_text("one\n")
        for window in (neovim, emacs):
            await window.open(path)
        conversation = await asker.create(home.workspace)
        run_id = await asker.send(conversation, "Go.")
        for window in (emacs, neovim):
            await window.until_marked(path)
        await emacs.choose(path, 0, "Allow once #1")
        await neovim.link.wait_for(lambda: neovim.heard("window/showMessage"))
        assert neovim.heard("window/showMessage") == [{"type": 3, "message": "#1 was allowed in Emacs."}]
        await emacs.until_marked()
        assert emacs.heard("window/showMessage") == []
        assert run_id in conversation.runs


async def test_a_window_of_several_folders_sees_each_and_a_conversation_keeps_the_one_it_was_begun_in() -> None:
    """Each root holds a file of that name: which one is meant depends neither on the focus nor on the others."""
    read = [use("read", path="src/x.py"), use("write", path="src/x.py", content="new\n"), say("Done.")]
    async with scene(InOrder([*read, COMMAND, say("Done.")])) as (_, home):
        one, two = home.folder("A"), home.folder("B")
        for root in (one, two):
            (root / "src").mkdir()
            (root / "src" / "x.py").write_text(f"in {root.name}\n")
        async with home.bridged(one, two, name="vim", features=["ui.approval"]) as editor:
            conversation = await editor.create(two)
            await editor.notify("agent/window/focus", {"focused": True, "uri": (one / "src" / "x.py").as_uri()})
            run_id = await editor.send(conversation, "Go.")
            (request,) = await editor.until_asked(conversation)
            event = {"removed": [{"uri": two.as_uri(), "name": "B"}], "added": []}
            await editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})
            await editor.respond(request, "allow")
            await editor.until_ended(conversation, run_id)
            assert conversation.result(conversation.calls[0]["id"])["output"] == "in B\n"
            assert [(root / "src" / "x.py").read_text() for root in (one, two)] == ["in A\n", "new\n"]

            # A folder that came later is seen like the first.
            third = home.folder("C")
            event = {"removed": [], "added": [{"uri": third.as_uri(), "name": "C"}]}
            await editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})
            await asked_by(editor, third)
            await editor.wait_for(lambda: numbers(editor) == (1, [2]))


async def test_windows_of_one_conversation_know_of_each_other() -> None:
    async with (
        scene(InOrder([])) as (_, home),
        home.editor(home.workspace, name="one", windowId="w1") as one,
    ):
        conversation = await one.create(home.workspace)
        async with home.bridged(home.workspace, name="two") as two:
            await focus(two)
            await two.attach(conversation.id)
            assert await _clients(one) == [("one", "w1", False), ("two", None, True)]
            assert await _clients(two) == [("one", "w1", False), ("two", None, True)]
            await focus(two, focused=False)
            await one.wait_for(lambda: _seen(one)[-1][1][2] is False)
            await two.request("agent/conversation/detach", {"conversationId": conversation.id})
            await one.wait_for(lambda: _seen(one)[-1] == [("one", "w1", False)])
            await two.attach(conversation.id)
            await one.wait_for(lambda: len(_seen(one)[-1]) == 2)
        await one.wait_for(lambda: _seen(one)[-1] == [("one", "w1", False)])


async def _clients(editor: Editor) -> list[tuple[Any, ...]]:
    await editor.wait_for(lambda: _seen(editor))
    return _seen(editor)[-1]


def _seen(editor: Editor) -> list[list[tuple[Any, ...]]]:
    told = [params["windows"] for method, params in editor.notices if method == "agent/conversation/windows"]
    return [[(w["client"], w.get("windowId"), w["focused"]) for w in windows] for windows in told]
