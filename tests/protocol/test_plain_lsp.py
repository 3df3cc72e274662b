"""Approvals in an editor that speaks plain LSP, through `agent-ls connect`: seen, understood, answered, taken back."""

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from agent_ls.core.uris import local_path
from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.plain_editor import plain_editor
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

TEXT = "one\ntwo\nthree 😋\nfour\n"
READ = use("read", path="a.txt")
EDIT = use("edit", path="a.txt", edits=[{"old": "three 😋", "new": "THREE"}])
COMMAND = use("shell", command="echo hi >> ran")


async def asked(asker: Editor, workspace: Path, count: int = 1) -> tuple[Mirror, str, list[dict[str, Any]]]:
    """A run that waits: somebody asked from a terminal. Its conversation, its id and what it waits for."""
    conversation = await asker.create(workspace)
    run_id = await asker.send(conversation, "Go.")
    return conversation, run_id, await asker.until_asked(conversation, count)


async def test_a_change_is_marked_on_its_first_line_allowed_by_code_action_and_taken_back() -> None:
    async with (
        scene(InOrder([READ, EDIT, say("Done.")])) as (_, home),
        home.editor(name="terminal") as asker,
        plain_editor(home, name="helix") as plain,
    ):
        path = home.workspace / "a.txt"
        path.write_text(TEXT)
        await plain.open(path)
        conversation, run_id, (request,) = await asked(asker, home.workspace)
        number, bound = request["number"], {"requestId": request["id"], "digest": request["digest"]}
        (mark,) = await plain.until_marked(path)
        assert mark == types.Diagnostic(
            range=types.Range(types.Position(2, 0), types.Position(2, 8)),
            severity=types.DiagnosticSeverity.Warning,
            source="agent-ls",
            code="approval",
            message=f"#{number} waits for your answer: Edit a.txt",
            data=bound,
        )
        actions = await plain.actions(path, 2)
        assert [action.title for action in actions] == [
            f"Allow once #{number}",
            f"Allow for this conversation #{number}",
            f"Allow in this workspace #{number}",
            f"Deny #{number}",
            f"Show #{number}",
        ]
        assert actions[0] == types.CodeAction(
            title=f"Allow once #{number}",
            kind="quickfix",
            diagnostics=(mark,),
            command=types.Command(
                title=f"Allow once #{number}",
                command="agent-ls.request.respond",
                arguments=({**bound, "decision": "allow", "scope": "once"},),
            ),
        )
        assert [action.is_preferred for action in actions if isinstance(action, types.CodeAction)] == [None] * 5
        # Anywhere else in the file the same is offered.
        assert await plain.actions(path, 0) == actions
        answered = await plain.choose(path, 2, f"Allow once #{number}")
        assert answered["status"] == "resolved"
        await plain.until_marked()
        assert await plain.actions(path, 2) == []
        await plain.link.wait_for(lambda: plain.buffers[path].edits)
        await asker.until_ended(conversation, run_id)
        assert conversation.requests[request["id"]]["decidedFrom"] == "helix"
        assert plain.buffers[path].text == TEXT.replace("three 😋", "THREE")


async def test_a_command_is_marked_where_the_person_was_and_denied() -> None:
    async with (
        scene(InOrder([COMMAND, say("Well.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        first, second = home.workspace / "a.txt", home.workspace / "b.txt"
        for path in (first, second):
            path.write_text(TEXT)
            await plain.open(path)
        await plain.hover(first, 1)
        conversation, run_id, (request,) = await asked(asker, home.workspace)
        (mark,) = await plain.until_marked(first)
        assert (mark.range.start.line, mark.message) == (
            1,
            f"#{request['number']} waits for your answer: $ echo hi >> ran",
        )
        # It stays where it is read while the person goes on.
        await plain.hover(second, 0)
        await plain.type(first, "zero\n", 0)
        assert await plain.hover(first, 1) is None
        shown = await plain.hover(first, 2)
        assert shown == (
            f"**#{request['number']}** Run a command\n\n"
            "```sh\necho hi >> ran\n```\n\n"
            f"In `{home.workspace}`\n\n"
            "Asked in the conversation `Go.` by `scripted-1` (`scripted`).\n\n"
            f"Answer by code action where it is marked, or in a terminal: `agent-ls approve {request['number']}` or "
            f'`agent-ls deny {request["number"]} "why"`\n'
        )
        assert await plain.actions(second, 0) == []
        await plain.choose(first, 2, f"Deny #{request['number']}")
        await plain.until_marked()
        await asker.until_ended(conversation, run_id)
        (call,) = conversation.calls
        assert conversation.result(call["id"])["status"] == "denied"
        assert lines(home.workspace / "ran") == []


async def test_an_answer_to_something_else_or_before_it_could_be_read_decides_nothing() -> None:
    async with (
        scene(InOrder([COMMAND, say("Done.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        path = home.workspace / "a.txt"
        path.write_text(TEXT)
        await plain.open(path)
        conversation, run_id, (request,) = await asked(asker, home.workspace)
        await plain.until_marked(path)
        allow = await plain.action(path, 0, f"Allow once #{request['number']}")
        with pytest.raises(Refused) as early:
            await plain.run(allow)
        assert (early.value.code, early.value.data["retryable"], early.value.hint != "") == ("too_soon", True, True)
        assert await asker.pending() == [request]
        while early.value.code == "too_soon":
            with pytest.raises(Refused) as early:
                await plain.run(allow, digest="0")
        assert (early.value.code, early.value.rpc) == ("digest_mismatch", -32000)
        assert await asker.pending() == [request]
        await plain.run(allow)
        await plain.until_marked()
        await asker.until_ended(conversation, run_id)
        assert lines(home.workspace / "ran") == ["hi"]


async def test_a_change_is_marked_in_both_windows_and_the_second_answer_learns_who_was_first() -> None:
    async with (
        scene(InOrder([READ, EDIT, say("Done.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home, name="helix") as left,
        plain_editor(home, name="kate") as right,
    ):
        path = home.workspace / "a.txt"
        path.write_text(TEXT)
        await left.open(path)
        await right.open(path)
        conversation, run_id, (request,) = await asked(asker, home.workspace)
        await left.until_marked(path)
        await right.until_marked(path)
        late = await right.action(path, 2, f"Allow once #{request['number']}")
        await left.choose(path, 2, f"Deny #{request['number']}")
        await right.until_marked()
        with pytest.raises(Refused) as refused:
            await right.run(late)
        assert refused.value.code == "already_decided"
        assert "denied by " in refused.value.message
        assert refused.value.message.endswith(" in helix.")
        await asker.until_ended(conversation, run_id)
        assert path.read_text() == TEXT


async def test_a_command_stands_in_one_window_and_goes_to_the_next_when_that_one_is_left() -> None:
    async with (
        scene(InOrder([COMMAND, say("Done.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home, name="kate") as stays,
    ):
        path = home.workspace / "a.txt"
        path.write_text(TEXT)
        await stays.open(path)
        await stays.hover(path, 3)
        async with plain_editor(home, name="helix") as goes:
            await goes.open(path)
            await goes.hover(path, 1)
            conversation, run_id, (request,) = await asked(asker, home.workspace)
            await goes.until_marked(path)
            await stays.link.wait_for(lambda: stays.link.changed["pending"] == 1)
            assert (stays.diagnostics, await stays.actions(path, 3)) == ({}, [])
        (mark,) = await stays.until_marked(path)
        assert mark.range.start.line == 3
        await stays.choose(path, 3, f"Allow once #{request['number']}")
        await asker.until_ended(conversation, run_id)


async def test_a_change_of_a_file_that_is_not_open_is_also_marked_where_the_person_is() -> None:
    async with (
        scene(InOrder([use("write", path="new.txt", content="x\n"), say("Done.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        path, made = home.workspace / "a.txt", home.workspace / "new.txt"
        path.write_text(TEXT)
        await plain.open(path)
        conversation, run_id, (request,) = await asked(asker, home.workspace)
        await plain.until_marked(path, made)
        shown = await plain.hover(path, 0)
        assert shown is not None
        assert "```diff\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n```" in shown
        assert "“Allow for this conversation” keeps the rule `edit(new.txt)`" in shown
        await plain.choose(path, 0, f"Allow once #{request['number']}")
        await plain.until_marked()
        await asker.until_ended(conversation, run_id)
        assert made.read_text() == "x\n"


async def test_what_waits_is_marked_in_a_window_that_comes_late_and_again_for_a_new_daemon() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home):
        path = home.workspace / "a.txt"
        path.write_text(TEXT)
        async with home.editor() as asker:
            conversation, _, (request,) = await asked(asker, home.workspace)
        async with plain_editor(home) as plain:
            await plain.until_marked(path)
            before = len(plain.heard("textDocument/publishDiagnostics"))
            await home.kill9()
            await plain.link.wait_for(lambda: len(plain.heard("textDocument/publishDiagnostics")) > before)
            await plain.until_marked(path)
            await plain.choose(path, 2, f"Allow once #{request['number']}")
            await plain.until_marked()
        async with home.editor() as back:
            mirror = await back.attach(conversation.id)
            await back.until_ended(mirror, request["runId"])
        assert path.read_text() == TEXT.replace("three 😋", "THREE")


async def test_a_mark_is_said_again_where_it_went_once_somebody_has_typed_in_its_file() -> None:
    """A multiplexer between editor and bridge has dropped it with the text before."""
    async with (
        scene(InOrder([READ, EDIT, say("Well.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        path, other = home.workspace / "a.txt", home.workspace / "b.txt"
        path.write_text(TEXT)
        other.write_text(TEXT)
        for each in (other, path):
            await plain.open(each)
        await asked(asker, home.workspace)
        (mark,) = await plain.until_marked(path)
        told = len(plain.heard("textDocument/publishDiagnostics"))
        await plain.type(other, "typed\n", 0)
        await plain.type(path, "typed\n", 0)
        await plain.link.wait_for(lambda: len(plain.heard("textDocument/publishDiagnostics")) > told)
        (again,) = await plain.until_marked(path)
        assert (again.message, again.range.start.line) == (mark.message, mark.range.start.line + 1)
        uris = [params["uri"] for params in plain.heard("textDocument/publishDiagnostics")[told:]]
        assert uris == [path.as_uri()], "nothing stands in the other one"


async def test_a_window_with_cards_of_its_own_gets_no_diagnostics_and_its_stock_code_actions_work() -> None:
    ours = {"agentLs": {"client": "neovim", "features": ["ui.approval"]}}
    async with (
        scene(InOrder([COMMAND, say("Done.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home, initializationOptions=ours) as plugin,
        plain_editor(home, capabilities={}) as blind,
    ):
        path = home.workspace / "a.txt"
        path.write_text(TEXT)
        for window in (blind, plugin):
            await window.open(path)
            await window.hover(path, 0)
        conversation, run_id, (request,) = await asked(asker, home.workspace)
        for window in (plugin, blind):
            await window.link.wait_for(lambda window=window: window.link.changed["pending"] == 1)
        await plugin.choose(path, 0, f"Allow once #{request['number']}")
        await asker.until_ended(conversation, run_id)
        assert [w.heard("textDocument/publishDiagnostics") for w in (plugin, blind)] == [[], []]
        assert conversation.requests[request["id"]]["decidedFrom"] == "neovim"


async def test_show_opens_the_whole_request_beside_the_work_only_when_asked_to() -> None:
    hidden = "echo safe\u202e; # `\u200b`"
    async with (
        scene(InOrder([use("shell", command=hidden), say("Well.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
        plain_editor(home, name="old", capabilities={"textDocument": {"publishDiagnostics": {}}}) as old,
    ):
        path = home.workspace / "a.txt"
        path.write_text(TEXT)
        await plain.open(path)
        conversation, run_id, (request,) = await asked(asker, home.workspace)
        number = request["number"]
        (mark,) = await plain.until_marked(path)
        assert mark.message == f"#{number} waits for your answer: $ echo safe⟨U+202E⟩; # `⟨U+200B⟩`"
        titles = [action.title for action in await plain.actions(path, 0)]
        assert titles == [f"Allow once #{number}", f"Deny #{number}", f"Show #{number}"]
        assert plain.shown == []
        answer = await plain.run(await plain.action(path, 0, f"Show #{number}"))
        assert plain.shown == [types.ShowDocumentParams(uri=answer["uri"], external=False, take_focus=False)]
        card = Path(str(local_path(answer["uri"])))
        assert (card.parent, card.stat().st_mode & 0o777) == (home.state / "cards", 0o400)
        assert card.read_text() == await plain.hover(path, 0)
        assert "```sh\necho safe⟨U+202E⟩; # `⟨U+200B⟩`\n```" in card.read_text()
        assert "**Holds characters that would not be seen" in card.read_text()
        # Where no document can be shown, a line says where it is. Old clients take commands alone.
        await old.open(path)
        params = {"command": "agent-ls.request.show", "arguments": [{"requestId": request["id"]}]}
        assert (await old.link.request("workspace/executeCommand", params))["shown"] is False
        (told,) = old.heard("window/showMessage")
        assert told["message"].startswith(f"#{number} Run a command: ")
        assert (plain.heard("window/showMessage"), old.shown) == ([], [])
        await asker.respond(request, "deny")
        await asker.until_ended(conversation, run_id)


async def test_what_clients_ask_beside_the_point_is_answered_as_the_protocol_says() -> None:
    async with (
        scene(InOrder([READ, EDIT, say("Done.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
        plain_editor(home, capabilities={"textDocument": {"publishDiagnostics": {}}}) as old,
    ):
        path = home.workspace / "a.txt"
        path.write_text(TEXT)
        _, _, (request,) = await asked(asker, home.workspace)
        await plain.until_marked(path)
        await old.until_marked(path)
        assert await plain.actions(path, 2, only=["refactor"]) == []
        assert len(await plain.actions(path, 2, only=["quickfix"])) == 5
        (first, *_) = await old.actions(path, 2)
        assert isinstance(first, types.Command)
        literal = {"title": "Any", "kind": "quickfix", "data": {"from": 1, "files": {"a.py": 1}}}
        assert await plain.link.request("codeAction/resolve", literal) == literal
        for uri in ("untitled:Untitled-1", "vscode-remote://ssh/w/x", "file://server/share/x", "git:/w/x?{}", ""):
            document = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
            assert await plain.link.request("textDocument/hover", document) is None
        for method, params in (
            ("textDocument/hover", {}),
            ("textDocument/hover", {"textDocument": {"uri": path.as_uri()}, "position": {"line": "x"}}),
            ("textDocument/codeAction", {"textDocument": {"uri": path.as_uri()}}),
            ("textDocument/codeAction", {"textDocument": {"uri": path.as_uri()}, "range": {"start": -1}}),
        ):
            with pytest.raises(Refused) as refused:
                await plain.link.request(method, params)
            assert refused.value.rpc == -32602
        with pytest.raises(Refused) as unknown:
            await plain.link.request("textDocument/definition", {})
        assert unknown.value.rpc == -32601
        assert (plain.heard("window/showMessage"), await asker.pending()) == ([], [request])


async def test_what_can_be_asked_for_is_announced() -> None:
    async with scene(InOrder([])) as (_, home), home.bridged() as editor:
        announced = editor.initialized["capabilities"]
    assert announced["codeActionProvider"] == {"codeActionKinds": ["quickfix", "agent"]}
    assert announced["hoverProvider"] is True
    assert {"agent-ls.request.respond", "agent-ls.request.show"} <= set(announced["executeCommandProvider"]["commands"])


async def test_a_window_that_says_where_its_focus_is_is_shown_commands_there() -> None:
    async with (
        scene(InOrder([COMMAND])) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        first, second = home.workspace / "a.txt", home.workspace / "b.txt"
        for path in (first, second):
            path.write_text(TEXT)
            await plain.open(path)
        place = {"line": 2, "character": 1}
        focus = {"focused": True, "uri": first.as_uri(), "range": {"start": place, "end": place}}
        await plain.link.notify("agent/window/focus", focus)
        await plain.hover(second, 0)
        await asked(asker, home.workspace)
        (mark,) = await plain.until_marked(first)
        assert mark.range == types.Range(types.Position(2, 0), types.Position(2, 8))
