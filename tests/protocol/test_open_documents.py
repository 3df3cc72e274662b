"""Open files, through the whole daemon: read as the person sees them, edited in the window that has them."""

import base64
from typing import Any

import anyio
import pytest

from agent_ls.core.text import ENCODINGS
from agent_ls.testing.buffers import Buffers, Manner
from agent_ls.testing.editor import Editor, LinkEnded
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.scene import scene

pytestmark = pytest.mark.anyio

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg=="
)
TEXT = "x = '😋'\nold = 1\n"
READ = use("read", path="a.py")
EDIT = use("edit", path="a.py", edits=[{"old": "😋'\nold = 1", "new": "😋😋'\nnew = 2"}])
EDITED = TEXT.replace("😋'\nold = 1", "😋😋'\nnew = 2")


def preferring(encoding: str) -> dict[str, Any]:
    return {"general": {"positionEncodings": ["utf-7", encoding, "utf-16"]}}


async def allow_all(editor: Editor, conversation: Mirror, run_id: str) -> None:
    """The person allows whatever is asked until the run has ended."""
    ends = {"completed", "failed", "interrupted"}
    while True:
        await editor.wait_for(lambda: conversation.pending or conversation.status(run_id) in ends)
        if not conversation.pending:
            break
        await editor.respond(conversation.pending[0], "allow")
    await editor.until_ended(conversation, run_id)


async def test_the_encoding_and_the_way_of_synchronisation_are_agreed_on() -> None:
    preferred = preferring("utf-32")
    async with scene(InOrder([])) as (_, home), home.editor() as plain, home.editor(capabilities=preferred) as other:
        answers = [plain.initialized["capabilities"], other.initialized["capabilities"]]
    assert [answer["positionEncoding"] for answer in answers] == ["utf-16", "utf-32"]
    assert {str(answer["textDocumentSync"]) for answer in answers} == {
        str({"openClose": True, "change": 2, "save": {"includeText": True}})
    }


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_a_dirty_buffer_is_read_and_edited_in_one_step_and_the_disk_is_untouched(encoding: str) -> None:
    answers = [READ, EDIT, use("shell", command="/bin/cat a.py"), say("Done.")]
    async with scene(InOrder(answers)) as (_, home):
        path = home.workspace / "a.py"
        path.write_text(TEXT)
        buffers = Buffers(encoding, late=True)
        async with home.editor(home.workspace, name="vim", capabilities=preferring(encoding)) as editor:
            editor.answer = buffers.answer
            await editor.notify("textDocument/didOpen", buffers.open(path))
            for text, place in (("# 😋 mine\n", 0), ("é", 4), ("# end", None)):
                await editor.notify("textDocument/didChange", buffers.type(path, text, place))
            mine = buffers[path].text
            conversation = await editor.create(home.workspace)
            await allow_all(editor, conversation, await editor.send(conversation, "Change it."))
        read, edited, shell = (conversation.result(call["id"]) for call in conversation.calls)
        assert read["output"] == f"[unsaved text of your editor (vim)]\n{mine}"
        assert (edited["status"], "unsaved changes in vim, so it is changed there" in edited["output"]) == ("ok", True)
        assert buffers[path].text == mine.replace("😋'\nold = 1", "😋😋'\nnew = 2")
        assert (len(buffers[path].edits), path.read_text()) == (1, TEXT)
        assert shell["output"] == f"{TEXT}[not saved in vim: a.py]"
        assert [method for method, _ in buffers.asked] == ["workspace/applyEdit"]


async def test_a_clean_buffer_is_edited_and_saved_through_the_window_that_can() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home):
        path = home.workspace / "a.py"
        path.write_text(TEXT)
        buffers = Buffers()
        async with home.editor(home.workspace, name="vim", features=["document.save"]) as editor:
            editor.answer = buffers.answer
            await editor.notify("textDocument/didOpen", buffers.open(path))
            conversation = await editor.create(home.workspace)
            await allow_all(editor, conversation, await editor.send(conversation, "Change it."))
        result = conversation.result(conversation.calls[1]["id"])
        assert (result["status"], result["output"].endswith("It is saved, through vim.")) == ("ok", True)
        assert (path.read_text(), buffers[path].text, len(buffers[path].edits)) == (EDITED, EDITED, 1)


@pytest.mark.parametrize(
    ("manner", "said"),
    [(Manner.LIES, "its text shows nothing of it"), (Manner.STALE, "its text shows"), (Manner.ERROR, "read-only")],
)
async def test_an_edit_that_the_window_did_not_make_is_an_error_and_nothing_is_written(
    manner: Manner, said: str
) -> None:
    async with scene(InOrder([READ, EDIT, say("I see.")])) as (_, home):
        path = home.workspace / "a.py"
        path.write_text(TEXT)
        buffers = Buffers()
        buffers.manner = manner
        async with home.editor(home.workspace, name="vim", features=["document.save"]) as editor:
            editor.answer = buffers.answer
            await editor.notify("textDocument/didOpen", buffers.open(path))
            conversation = await editor.create(home.workspace)
            await allow_all(editor, conversation, await editor.send(conversation, "Change it."))
        result = conversation.result(conversation.calls[1]["id"])
        assert (result["status"], said in result["output"], path.read_text()) == ("error", True, TEXT)
        assert [method for method, _ in buffers.asked] == ["workspace/applyEdit"]


async def test_a_window_that_dies_over_an_edit_leaves_an_unknown_outcome_and_the_disk_as_it_was() -> None:
    async with scene(InOrder([READ, EDIT, say("I see.")])) as (_, home):
        path = home.workspace / "a.py"
        path.write_text(TEXT)
        buffers = Buffers()
        buffers.manner = Manner.LEAVES
        async with home.editor(home.workspace, name="terminal") as watcher:
            conversation = await watcher.create(home.workspace)
            async with home.editor(home.workspace, name="vim") as editor:
                editor.answer = buffers.answer
                await editor.notify("textDocument/didOpen", buffers.open(path))
                await editor.pending()
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_until_dead, editor)
                    await allow_all(watcher, conversation, await watcher.send(conversation, "Change it."))
        result = conversation.result(conversation.calls[1]["id"])
        assert (result["status"], path.read_text()) == ("unknown", TEXT)
        assert "nothing was written to disk beside it" in result["output"]


@pytest.mark.parametrize(
    "uri",
    [
        "untitled:Untitled-1",
        "vscode-notebook-cell:/w/n.ipynb#W2s",
        "vscode-remote://ssh-remote%2Bh/w/x",
        "git:/w/x?{}",
        "file://server/share/x",
        "",
    ],
)
async def test_a_document_that_is_no_local_file_crashes_nothing_and_file_tools_say_so(uri: str) -> None:
    async with scene(InOrder([use("read", path=uri), say("I see.")])) as (_, home):
        async with home.bridged(name="vim") as editor:
            document = {"uri": uri, "languageId": "x", "version": 1, "text": "a\n"}
            await editor.notify("textDocument/didOpen", {"textDocument": document})
            change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "b\n"}]}
            await editor.notify("textDocument/didChange", change)
            place = {"line": 0, "character": 0}
            about = {"textDocument": {"uri": uri}, "range": {"start": place, "end": place}, "context": {}}
            assert await editor.request("textDocument/codeAction", about) == []
            conversation = await editor.create(home.workspace)
            await allow_all(editor, conversation, await editor.send(conversation, "Read it."))
            for method in ("textDocument/didSave", "textDocument/didClose", "textDocument/didClose"):
                await editor.notify(method, {"textDocument": {"uri": uri}})
            assert (await editor.request("agent/status", {}))["connections"]["count"] == 1
        (call,) = conversation.calls
        said = conversation.result(call["id"])["output"]
        assert ("not a local file" in said) == bool(uri), said


async def _until_dead(editor: Editor) -> None:
    try:
        await editor.until_gone()
    except (anyio.ClosedResourceError, LinkEnded):
        return


def _named(path: Any, **more: Any) -> dict[str, Any]:
    return {"type": "file", "uri": path.as_uri(), **more}


async def _told(editor: Editor, conversation: Mirror, server: Any, **sent: Any) -> str:
    """What the model is sent of a message."""
    answer = await editor.command("agent/message/send", conversationId=conversation.id, **sent)
    await editor.until_ended(conversation, answer["runId"])
    said: str = server.requests[-1].last_user_text
    return said


async def test_files_that_a_message_names_are_kept_with_it_as_they_are_when_it_is_sent() -> None:
    async with scene(InOrder([say("I see."), say("Still.")])) as (server, home):
        root, buffers = home.workspace, Buffers()
        for name, text in (("a.py", TEXT), ("saved.txt", "on disk\n"), (".env", "KEY=1\n")):
            (root / name).write_text(text)
        outside = root.parent / "outside.txt"
        outside.write_text("elsewhere\n")
        (root / "raw").write_bytes(b"\x00\x01\x02")
        names = [root / "a.py", root / "saved.txt", root / ".env", outside, root / "raw", root / "gone"]
        async with home.editor(root, name="vim") as editor:
            editor.answer = buffers.answer
            await editor.notify("textDocument/didOpen", buffers.open(root / "a.py"))
            await editor.notify("textDocument/didChange", buffers.type(root / "a.py", "mine = 3\n"))
            conversation = await editor.create(root)
            content = [{"type": "text", "text": "Look."}, *(_named(path) for path in names)]
            told = await _told(editor, conversation, server, content=content)
            (root / "saved.txt").write_text("changed\n")
            await editor.until_ended(conversation, await editor.send(conversation, "And?"))
        assert told == "\n\n".join(
            [
                "Look.",
                f"[file {names[0].as_uri()}]\n[unsaved text of your editor (vim)]\n{TEXT}mine = 3",
                f"[file {names[1].as_uri()}]\non disk",
                f"[file {names[2].as_uri()}]\nKEY=1",
                f"[file {outside.as_uri()}]\nelsewhere",
                f"[file {names[4].as_uri()}]\n(not attached: it holds NUL bytes, so it is binary)",
                f"[file {names[5].as_uri()}]\n(not attached: {names[5]} does not exist)",
            ]
        )
        first = next(m["content"] for m in server.requests[-1].body["messages"] if m["role"] == "user")
        assert "on disk" in str(first)
        (said, *_) = (item["payload"] for item in conversation.items.values() if item["kind"] == "user_message")
        assert said["content"] == content


async def test_a_selection_without_its_text_is_what_the_window_shows_there() -> None:
    async with scene(InOrder([say("I see.")])) as (server, home):
        path, buffers = home.workspace / "a.py", Buffers()
        path.write_text(TEXT)
        span = {"start": {"line": 0, "character": 4}, "end": {"line": 1, "character": 3}}
        async with home.editor(home.workspace, name="vim") as editor:
            await editor.notify("textDocument/didOpen", buffers.open(path))
            conversation = await editor.create(home.workspace)
            content = [{"type": "text", "text": "This?"}, _named(path, range=span)]
            context = [{"type": "selection", "uri": path.as_uri(), "range": span}]
            told = await _told(editor, conversation, server, content=content, context=context)
        assert told == f"This?\n\n[selection {path.as_uri()} from line 1]\n'😋'\nold"


async def test_an_image_that_a_message_names_is_shown_to_the_model() -> None:
    async with scene(InOrder([say("Small.")])) as (server, home):
        path = home.workspace / "dot.png"
        path.write_bytes(PIXEL)
        async with home.editor(home.workspace) as editor:
            conversation = await editor.create(home.workspace)
            content = [{"type": "text", "text": "This?"}, _named(path)]
            await _told(editor, conversation, server, content=content)
        parts = server.requests[-1].body["messages"][-1]["content"]
        assert [part["type"] for part in parts] == ["text", "image_url", "text"]
