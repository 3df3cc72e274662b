"""What the person's editor knows from its language servers, as the agent asks for it through a window."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_ls.testing.editor import Answer, Editor
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.scene import scene

pytestmark = pytest.mark.anyio

FEATURES = ["diagnostics", "lsp.proxy"]


def results(conversation: Mirror) -> list[tuple[str, str]]:
    calls = [item["payload"]["result"] for item in conversation.of_kind("tool_call")]
    return [(result["status"], result["output"]) for result in calls]


async def run(editor: Editor, workspace: Path) -> Mirror:
    conversation = await editor.create(workspace)
    run_id = await editor.send(conversation, "Go.")
    await editor.until_ended(conversation, run_id)
    return conversation


def remark(line: int, message: str, severity: int = 1, source: str = "checker") -> dict[str, Any]:
    start = {"line": line, "character": 4}
    return {"range": {"start": start, "end": start}, "message": message, "severity": severity, "source": source}


async def tell(editor: Editor, path: Path, *remarks: dict[str, Any], **more: Any) -> None:
    await editor.notify("agent/diagnostics", {"uri": path.as_uri(), "diagnostics": list(remarks), **more})


async def test_what_a_window_was_told_by_its_servers_is_read_by_file_and_as_a_whole() -> None:
    answers = [use("diagnostics"), use("diagnostics", path="b.py"), use("diagnostics", path="c.py"), say("Done.")]
    async with scene(InOrder(answers)) as (_, home), home.editor(home.workspace, features=FEATURES) as editor:
        one, two = home.workspace / "a.py", home.workspace / "b.py"
        for path in (one, two, home.workspace / "c.py"):
            path.write_text("x\n")
        await tell(editor, one, remark(0, "unknown name\x1b[2K"), remark(2, "unused", 2))
        await tell(editor, two, remark(1, "old"))
        await tell(editor, two, remark(1, "bad type"), remark(9, "what we said ourselves", source="agent-ls"))
        await tell(editor, home.root / "elsewhere.py", remark(1, "not of this workspace"))
        conversation = await run(editor, home.workspace)
        both, second, none = results(conversation)
        assert both[0] == "ok"
        lines = both[1].splitlines()
        assert [line.split(":")[0:3] for line in lines] == [["a.py", "1", "5"], ["a.py", "3", "5"], ["b.py", "2", "5"]]
        assert "\x1b" not in both[1]
        assert lines[1].endswith("warning: unused [checker]")
        assert second == ("ok", "b.py:2:5: error: bad type [checker]\n")
        assert none == ("ok", "The language servers report nothing.\n")


async def test_after_an_edit_the_answer_is_about_the_text_as_it_is_now() -> None:
    async with (
        scene(InOrder([use("diagnostics", path="a.py"), say("Done.")])) as (_, home),
        home.editor(home.workspace, features=FEATURES) as editor,
    ):
        path = home.workspace / "a.py"
        path.write_text("x\n")
        document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": "x\n"}
        await editor.notify("textDocument/didOpen", {"textDocument": document})
        await tell(editor, path, remark(0, "of before"), version=1)
        changed = {"uri": path.as_uri(), "version": 2}
        await editor.notify("textDocument/didChange", {"textDocument": changed, "contentChanges": [{"text": "y\n"}]})
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        await editor.wait_for(lambda: conversation.of_kind("tool_call"))
        await tell(editor, path, remark(0, "of now"), version=2)
        await editor.until_ended(conversation, run_id)
        assert results(conversation) == [("ok", "a.py:1:5: error: of now [checker]\n")]


async def test_symbols_and_references_are_asked_of_the_windows_own_servers() -> None:
    asked: list[dict[str, Any]] = []

    def place(uri: str, line: int) -> dict[str, Any]:
        return {"uri": uri, "range": {"start": {"line": line, "character": 4}, "end": {"line": line, "character": 8}}}

    answers = [use("symbols", query="load"), use("references", query="load"), say("Done.")]
    async with scene(InOrder(answers)) as (server, home), home.editor(home.workspace, features=FEATURES) as editor:
        file = (home.workspace / "a.py").as_uri()
        symbols = [
            {"name": "load", "kind": 12, "location": place(file, 3), "containerName": "store"},
            {"name": "loader", "kind": 5, "location": place(file, 9)},
            {"name": "load", "kind": 12, "location": place("untitled:Untitled-1", 0)},
        ]

        def answer(method: str, params: Any) -> Answer:
            assert method == "agent/lsp/request"
            asked.append(params)
            uses = [place(file, 3), place(file, 20), "nonsense"]
            return Answer({"result": symbols if params["method"] == "workspace/symbol" else uses})

        editor.answer = answer
        conversation = await run(editor, home.workspace)
        assert results(conversation) == [
            ("ok", "a.py:4: function load in store\na.py:10: class loader\n"),
            ("ok", "a.py:4\na.py:21\n"),
        ]
        assert [each["method"] for each in asked][:3] == ["workspace/symbol"] * 2 + ["textDocument/references"]
        assert asked[2]["params"]["position"] == {"line": 3, "character": 4}
        assert {"diagnostics", "symbols", "references"} <= set(server.requests[0].tools)


async def test_where_no_window_can_answer_the_tools_are_not_offered_and_say_why() -> None:
    answers = [use("diagnostics"), use("symbols", query="x"), say("Done.")]
    async with scene(InOrder(answers)) as (server, home), home.editor(home.workspace) as editor:
        conversation = await run(editor, home.workspace)
        assert [status for status, _ in results(conversation)] == ["error", "error"]
        assert "run a checker instead" in results(conversation)[0][1]
        assert "use grep instead" in results(conversation)[1][1]
        assert not {"diagnostics", "symbols", "references"} & set(server.requests[0].tools)


async def test_a_window_that_refuses_or_has_gone_is_an_error_with_its_reason() -> None:
    answers = [use("symbols", query="x"), use("symbols", query="x"), say("Done.")]
    async with scene(InOrder(answers)) as (_, home), home.editor() as watching:
        async with home.editor(home.workspace, features=FEATURES) as editor:
            refusal = Answer({"error": {"code": -32601, "message": "no such server"}})
            replies = iter([refusal, Answer(None, leaves=True)])
            editor.answer = lambda method, params: next(replies)
            conversation = await watching.create(home.workspace)
            run_id = await watching.send(conversation, "Go.")
            with pytest.raises(anyio.ClosedResourceError):
                await editor.wait_for(lambda: False)
        await watching.until_ended(conversation, run_id)
        refused, gone = results(conversation)
        assert (refused[0], gone[0]) == ("error", "error")
        assert "no such server" in refused[1]
        assert "The window is gone" in gone[1]
