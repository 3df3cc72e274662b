"""What a plain LSP editor has beside approvals: asking from a file, undoing, held files, progress, prompts."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from lsprotocol import types

from agent_ls.testing.buffers import Answer, Manner
from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.model_scenario import InOrder, Silence, reply, say, use
from agent_ls.wire.capabilities import CAPABILITIES
from agent_ls.wire.methods import METHODS, Direction
from tests.plain_editor import CAPABILITIES as PLAIN
from tests.plain_editor import PlainEditor, plain_editor
from tests.protocol.test_transcript_file import papers, until_holds
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

COMMAND = use("shell", command="echo hi >> ran")
EDIT = use("edit", path="a.txt", edits=[{"old": "two", "new": "TWO"}])
RULES = '[permissions]\nallow = ["edit(**)"]\n'
ASK = "Ask agent about this"


async def chosen(plain: PlainEditor, path: Path, title: str, **asked: Any) -> Any:
    """The person chooses what is offered at a place of any file."""
    found = [each for each in await plain.actions(path, 0, only=["agent", "quickfix"], **asked) if each.title == title]
    (action,) = found
    assert isinstance(action, types.CodeAction)
    return await plain.run(action)


def span(first: int, last: int, end: int = 0) -> dict[str, Any]:
    return {"start": {"line": first, "character": 0}, "end": {"line": last, "character": end}}


async def test_a_place_or_a_diagnostic_goes_to_the_prompt_of_its_workspace_which_is_shown() -> None:
    async with scene(InOrder([])) as (_, home), home.editor() as asker, plain_editor(home) as plain:
        path = home.workspace / "src dir" / "a.txt"
        path.parent.mkdir()
        path.write_text("one\ntwo\nthree\n")
        await plain.open(path)
        # There is no conversation yet: one is made, and nothing is sent.
        done = await chosen(plain, path, ASK, span=span(0, 2))
        assert [each.uri for each in plain.shown] == [done["uri"]]
        assert plain.shown[0].take_focus is False
        _, prompt = papers(home, done["conversationId"])
        assert prompt.read_text() == '@"src dir/a.txt":1-2\n'
        await plain.open(prompt)
        await plain.type(prompt, "Why?")
        remark = {"range": span(2, 2, 5), "message": "undefined\nname", "source": "lint", "severity": 1}
        here = [remark, {**remark, "source": "agent-ls"}]
        title = "Fix this diagnostic with agent: undefined⏎name"
        again = await chosen(plain, path, title, diagnostics=here)
        assert again["conversationId"] == done["conversationId"]
        written = '@"src dir/a.txt":1-2\nWhy?\nFix this in @"src dir/a.txt":3: undefined⏎name (lint)\n'
        assert plain.buffers[prompt].text == written
        # A bare cursor means the file. What is open is changed in its window, not on disk.
        await chosen(plain, path, ASK, span=span(1, 1))
        assert plain.buffers[prompt].text == f'{written}@"src dir/a.txt"\n'
        assert prompt.read_text() == '@"src dir/a.txt":1-2\n'
        listed = (await asker.request("agent/conversation/list", {}))["conversations"]
        assert [(each["id"], each["status"]) for each in listed] == [(done["conversationId"], "idle")]


async def test_without_a_document_to_show_a_line_says_where_and_a_window_with_its_own_ways_is_offered_nothing() -> None:
    ours = {"agentLs": {"client": "neovim", "features": ["ui.approval"]}}
    async with (
        scene(InOrder([])) as (_, home),
        plain_editor(home, capabilities={}) as old,
        plain_editor(home, initializationOptions=ours) as plugin,
    ):
        path = home.workspace / "a.txt"
        path.write_text("one\n")
        for window in (old, plugin):
            await window.open(path)
        (command,) = await old.actions(path, 0, only=["agent"])
        assert isinstance(command, types.Command)
        params = {"command": command.command, "arguments": list(command.arguments or ())}
        done = await old.link.request("workspace/executeCommand", params)
        (told,) = old.heard("window/showMessage")
        assert (done["shown"], told["message"].startswith("Write your message in /")) == (False, True)
        assert await plugin.actions(path, 0, only=[""]) == []
        with pytest.raises(Refused, match="has to name a file on this machine"):
            await old.link.request(
                "workspace/executeCommand", {"command": command.command, "arguments": [{"uri": "untitled:1"}]}
            )


async def test_a_hunk_of_the_agent_is_undone_where_it_stands_in_the_windows_own_spelling() -> None:
    async with (
        scene(InOrder([use("read", path="a.txt"), EDIT, say("Done.")]), config=RULES) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        path = home.workspace / "a.txt"
        path.write_text("one\ntwo\nthree\n")
        await plain.open(path)
        conversation = await asker.create(home.workspace)
        await asker.until_ended(conversation, await asker.send(conversation, "Loud."))
        await plain.link.wait_for(lambda: "TWO" in plain.buffers[path].text)
        undo = "Undo this hunk of the agent"
        assert [each.title for each in await plain.actions(path, 2, only=["agent"], span=span(2, 2))] == [ASK]
        (_, action) = await plain.actions(path, 1, only=["agent"], span=span(1, 1))
        assert (action.title, isinstance(action, types.CodeAction)) == (undo, True)
        await chosen(plain, path, undo, span=span(1, 1))
        assert plain.buffers[path].text == "one\ntwo\nthree\n"
        assert [each.title for each in await plain.actions(path, 1, only=["agent"], span=span(1, 1))] == [ASK]


async def test_a_file_is_marked_while_a_call_holds_it_in_every_window_that_has_it_open() -> None:
    able = {**PLAIN, "workspace": {**PLAIN["workspace"], "inlayHint": {"refreshSupport": True}}}
    async with (
        scene(InOrder([use("read", path="a.txt"), EDIT, say("Done.")]), config=RULES) as (_, home),
        home.editor() as asker,
        plain_editor(home, name="helix") as holds,
        plain_editor(home, name="kate", capabilities=able) as looks,
    ):
        path, beside = home.workspace / "a.txt", home.workspace / "b.txt"
        path.write_text("one\ntwo\nthree\n")
        beside.write_text("x\n")
        await looks.open(path)
        await looks.open(beside)
        looks.buffers.manner = Manner.SILENT
        await holds.open(path)
        holds.buffers.manner = Manner.SILENT
        conversation = await asker.create(home.workspace, title="Loud")
        await asker.send(conversation, "Go.")
        (mark,) = await looks.until_marked(path)
        assert (mark.message, mark.severity) == (
            "The agent is changing this just now: Loud",
            types.DiagnosticSeverity.Information,
        )
        await holds.until_marked(path)
        shape, whole = types.InlayHintResponse, span(0, 3)
        (hint,) = await looks.asked("textDocument/inlayHint", path, shape, range=whole)
        assert (hint.label, hint.position) == (f"⏳ {mark.message}", types.Position(0, 0))
        assert await looks.asked("textDocument/inlayHint", beside, shape, range=whole) == ()
        await looks.link.wait_for(lambda: "workspace/inlayHint/refresh" in looks.refreshed)
        await looks.until_marked()
        assert holds.refreshed == []


async def test_a_run_is_progress_that_says_what_it_waits_for_and_is_cancelled_by_its_button() -> None:
    able = {**PLAIN, "window": {**PLAIN["window"], "workDoneProgress": True}}
    able["workspace"] = {**PLAIN["workspace"], "codeLens": {"refreshSupport": True}}
    async with (
        scene(InOrder([COMMAND, COMMAND])) as (_, home),
        home.editor() as asker,
        plain_editor(home, name="kate", capabilities=able) as plain,
        plain_editor(home, name="old") as old,
    ):
        conversation = await asker.create(home.workspace, title="Loud")
        transcript, _ = papers(home, conversation.id)
        await until_holds(asker, transcript, "#")
        await plain.open(transcript)
        run_id = await asker.send(conversation, "Go.")
        (request,) = await asker.until_asked(conversation)

        def told(editor: PlainEditor) -> list[tuple[str, str | None]]:
            return [(each["value"]["kind"], each["value"].get("message")) for each in editor.heard("$/progress")]

        waits = f"waits for your answer: #{request['number']}"
        await plain.link.wait_for(lambda: told(plain)[-1:] in ([("report", waits)], [("begin", waits)]))
        begin = plain.heard("$/progress")[0]
        assert (begin["value"]["title"], begin["value"]["cancellable"]) == ("Agent: Loud", True)
        # Who comes later sees it too.
        async with plain_editor(home, name="late", capabilities=able) as late:
            await late.link.wait_for(lambda: told(late) == [("begin", waits)])
        await plain.link.notify("window/workDoneProgress/cancel", {"token": begin["token"]})
        await asker.until_ended(conversation, run_id, "interrupted")
        await plain.link.wait_for(lambda: told(plain)[-1] == ("end", "interrupted"))
        await plain.link.wait_for(lambda: "workspace/codeLens/refresh" in plain.refreshed)
        assert (told(old), old.refreshed, lines(home.workspace / "ran")) == ([], [], [])


async def test_a_compaction_without_a_run_is_progress_too_and_is_cancelled_by_its_button() -> None:
    able = {**PLAIN, "window": {**PLAIN["window"], "workDoneProgress": True}}
    script = InOrder([say("All work and no play. " * 200), reply(Silence())])
    async with (
        scene(script) as (_, home),
        home.editor() as asker,
        plain_editor(home, name="kate", capabilities=able) as plain,
    ):
        conversation = await asker.create(home.workspace, title="Loud")
        await asker.until_ended(conversation, await asker.send(conversation, "Go."))
        params = {"commandId": asker.command_id(), "conversationId": conversation.id}
        await asker.request("agent/conversation/compact", params)

        def told() -> list[tuple[str, str | None]]:
            return [(each["value"]["kind"], each["value"].get("message")) for each in plain.heard("$/progress")]

        await plain.link.wait_for(lambda: told()[-1:] == [("begin", "making room")])
        await plain.link.notify("window/workDoneProgress/cancel", {"token": plain.heard("$/progress")[-1]["token"]})
        await asker.wait_for(lambda: "compacting" not in conversation.conversation and conversation.of_kind("notice"))
        await plain.link.wait_for(lambda: told()[-1][0] == "end")


async def answered(asker: Editor, plain: PlainEditor, workspace: Path, prompt: Any) -> tuple[Any, str, Any]:
    """A run that asks for a command while the window answers questions so."""
    plain.prompt = prompt
    conversation = await asker.create(workspace)
    run_id = await asker.send(conversation, "Go.")
    (request,) = await asker.until_asked(conversation)
    await plain.link.wait_for(lambda: plain.prompted)
    return conversation, run_id, request


async def test_who_asked_for_prompts_by_message_answers_there_and_nothing_else_counts() -> None:
    ours = {"agentLs": {"prompts": "message"}}
    async with (
        scene(InOrder([COMMAND, say("Done.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home, name="null", initializationOptions=ours) as null,
        plain_editor(home, name="error", initializationOptions=ours) as error,
        plain_editor(home, name="other", initializationOptions=ours) as other,
        plain_editor(home, name="fast", initializationOptions=ours) as fast,
        plain_editor(home, name="slow", initializationOptions=ours) as slow,
    ):
        null.prompt = lambda asked: Answer({"result": None})
        error.prompt = lambda asked: Answer({"error": {"code": -32601, "message": "no"}})
        conversation, run_id, request = await answered(
            asker, other, home.workspace, lambda asked: Answer({"result": {"title": "Allow everything"}})
        )
        for window in (null, error):
            await window.link.wait_for(lambda window=window: window.prompted)
        number = request["number"]
        assert [each.title for each in other.prompted[0].actions or ()] == [f"Allow once #{number}", f"Deny #{number}"]
        assert (other.prompted[0].message, other.prompted[0].type) == (
            f"#{number} waits for your answer: $ echo hi >> ran",
            types.MessageType.Warning,
        )
        assert await asker.pending() == [request]
        # An answer that comes faster than anybody reads is none: it is asked again, and then left.
        allow = Answer({"result": {"title": f"Allow once #{number}"}})
        fast.prompt = lambda asked: allow
        await fast.link.wait_for(lambda: len(fast.prompted) == 5)
        assert await asker.pending() == [request]
        assert [len(each.prompted) for each in (null, error, other)] == [1, 1, 1]
        # What this window was asked it reads only now.
        asked_at = anyio.current_time()
        while anyio.current_time() < asked_at + 0.5:
            await asker.pending()
        slow.prompt = lambda asked: allow
        await slow.link.wait_for(lambda: slow.prompted)
        await asker.until_ended(conversation, run_id)
        assert conversation.requests[request["id"]]["decidedFrom"] == "slow"
        assert lines(home.workspace / "ran") == ["hi"]


async def test_a_prompt_by_message_is_taken_back_when_it_is_answered_elsewhere() -> None:
    ours = {"agentLs": {"prompts": "message"}}
    async with (
        scene(InOrder([COMMAND, say("Done.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home, initializationOptions=ours) as plain,
    ):
        conversation, run_id, request = await answered(asker, plain, home.workspace, lambda asked: Answer(None))
        await asker.respond(request, "deny")
        await plain.link.wait_for(lambda: plain.heard("$/cancelRequest"))
        await asker.until_ended(conversation, run_id)
        assert (len(plain.prompted), lines(home.workspace / "ran")) == (1, [])


def test_every_method_that_is_built_is_a_command() -> None:
    commands = set(CAPABILITIES["executeCommandProvider"]["commands"])
    methods = [each for each in METHODS.values() if each.direction is Direction.REQUEST and each.built]
    names = {"agent-ls." + each.name.removeprefix("agent/").replace("/", ".") for each in methods}
    assert commands - names == {
        f"agent-ls.{name}" for name in ("request.show", "request.choose", "prompt.send", "prompt.ask")
    }
    assert names - commands == set()
