"""The prompt document of a conversation: what a person writes there is the next message, and nobody else's."""

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from agent_ls.testing.buffers import Manner
from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import ByConversation, InOrder, UseTool, reply, say, use
from tests.plain_editor import PlainEditor, plain_editor
from tests.protocol.test_transcript_file import papers, until_holds, until_shows
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

COMMAND = use("shell", command="echo hi >> ran")


async def begun(home: Home, asker: Editor, plain: PlainEditor, text: str) -> tuple[Mirror, Path, Path]:
    """A conversation whose prompt is open in the window and holds the text, unsaved."""
    conversation = await asker.create(home.workspace)
    transcript, prompt = papers(home, conversation.id)
    await until_holds(asker, transcript, "#")
    await plain.open(prompt)
    await plain.type(prompt, text)
    return conversation, transcript, prompt


def said(conversation: Mirror) -> list[tuple[str, Any]]:
    """(text, context) of each message of the person."""
    found = [item["payload"] for item in conversation.items.values() if item["kind"] == "user_message"]
    return [(each["content"][0]["text"], each.get("context")) for each in found]


async def test_what_is_written_is_sent_by_code_action_cleared_through_the_window_and_answered() -> None:
    async with (
        scene(InOrder([say("Hello!"), say("Again!")])) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        conversation, transcript, prompt = await begun(home, asker, plain, "Say 😋.\n")
        await plain.open(transcript)
        assert await plain.offered(prompt) == ["Send"]
        done = await plain.choose(prompt, 0, "Send")
        assert (done["disposition"], done["cleared"], plain.buffers[prompt].text) == ("started", True, "")
        await asker.until_ended(conversation, done["runId"])
        assert (await until_shows(plain, transcript, "Hello!")).endswith("\n> Say 😋.\n\nHello!\n")
        assert (said(conversation), prompt.read_text()) == ([("Say 😋.", [])], "")
        with pytest.raises(Refused, match="prompt document is empty"):
            await plain.choose(prompt, 0, "Send")
        # Given once more with the id that was taken already, as after the death of a daemon, it sends nothing again.
        await plain.type(prompt, "More.")
        send = await plain.action(prompt, 0, "Send")
        done = await plain.run(send, commandId="mine")
        await asker.until_ended(conversation, done["runId"])
        assert await plain.run(send, commandId="mine") == {"cleared": True}
        assert [text for text, _ in said(conversation)] == ["Say 😋.", "More."]


async def test_what_is_typed_while_it_is_sent_stays_and_a_half_written_prompt_is_never_touched() -> None:
    async with (
        scene(InOrder([say("One."), say("Two.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home, name="helix") as plain,
        plain_editor(home, name="kate") as other,
    ):
        conversation, _, prompt = await begun(home, asker, plain, "First.\n")
        await other.open(prompt)
        await other.type(prompt, "half writ")
        # Typed into before the edit that clears it comes, which is then skipped and called applied.
        plain.buffers.manner = Manner.STALE
        done = await plain.choose(prompt, 0, "Send")
        assert (done["cleared"], plain.buffers[prompt].text) == (False, "typed First.\n")
        (told,) = plain.heard("window/showMessage")
        assert told["message"].startswith("It is sent. Its text could not be taken out")
        await asker.until_ended(conversation, done["runId"])
        plain.buffers.manner = Manner.TYPES_ELSEWHERE
        done = await plain.choose(prompt, 0, "Send")
        assert (done["cleared"], plain.buffers[prompt].text) == (True, "typed\n")
        await asker.until_ended(conversation, done["runId"])
        assert [text for text, _ in said(conversation)] == ["First.", "typed First."]
        assert (other.buffers[prompt].text, prompt.read_text()) == ("half writ", "")


async def test_what_runs_is_steered_queued_stopped_and_answered_from_the_documents() -> None:
    async with (
        scene(InOrder([COMMAND, say("Well."), say("Last.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        conversation, transcript, prompt = await begun(home, asker, plain, "Go.")
        await plain.open(transcript)
        await plain.choose(prompt, 0, "Send")
        (request,) = await asker.until_asked(conversation)
        number = request["number"]
        offered = [f"Allow once #{number}", f"Deny #{number}", f"Show #{number}", "Send", "Queue", "Steer", "Stop"]
        assert (await plain.offered(prompt), await plain.offered(transcript)) == (offered, offered)
        lenses = await plain.asked("textDocument/codeLens", transcript, types.CodeLensResponse)
        last = plain.buffers[transcript].text.count("\n") - 1
        assert [(lens.range.start.line, lens.command.title) for lens in lenses] == [(last, each) for each in offered]
        await plain.type(prompt, "And then this.")
        assert (await plain.choose(prompt, 0, "Queue"))["disposition"] == "queued"
        await plain.type(prompt, f"/deny #{number} not now")
        assert (await plain.choose(prompt, 0, "Send"))["status"] == "resolved"
        await asker.wait_for(lambda: len([r for r in conversation.runs.values() if r["status"] == "completed"]) == 2)
        held = await until_shows(plain, transcript, "Last.")
        assert "— denied, decided by " in held
        assert "not now" in held
        assert (lines(home.workspace / "ran"), plain.buffers[prompt].text) == ([], "")


async def test_stop_is_an_action_and_a_word_and_says_so_where_nothing_runs() -> None:
    async with (
        scene(InOrder([COMMAND, COMMAND])) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        conversation, transcript, prompt = await begun(home, asker, plain, "Go.")
        done = await plain.choose(prompt, 0, "Send")
        await asker.until_asked(conversation)
        await plain.choose(prompt, 0, "Stop")
        await asker.until_ended(conversation, done["runId"], "interrupted")
        await plain.type(prompt, "Again.")
        done = await plain.choose(prompt, 0, "Send")
        await asker.until_asked(conversation)
        await plain.type(prompt, "/stop\n")
        await plain.choose(prompt, 0, "Send")
        await asker.until_ended(conversation, done["runId"], "interrupted")
        await until_holds(asker, transcript, "**Stopped**")
        await plain.type(prompt, "/stop\n")
        with pytest.raises(Refused, match="Nothing runs here"):
            await plain.choose(prompt, 0, "Send")
        assert plain.buffers[prompt].text == "/stop\n"


async def test_files_that_it_names_go_with_it_as_the_window_has_them() -> None:
    async with (
        scene(InOrder([say("Seen.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        path = home.workspace / "a b.txt"
        path.write_text("one\ntwo\nthree\n")
        (home.workspace / "src").mkdir()
        (home.workspace / "src" / "c.py").write_text("c = 1\n")
        await plain.open(path)
        await plain.type(path, "unsaved ", at=4)
        conversation, _, prompt = await begun(home, asker, plain, 'Look at @"a b.txt":2-3, @src/c.py, and @nobody.\n')
        links = await plain.asked("textDocument/documentLink", prompt, types.DocumentLinkResponse)
        assert [link.target for link in links] == [
            f"{path.as_uri()}#L2",
            (home.workspace / "src" / "c.py").as_uri(),
        ]
        done = await plain.choose(prompt, 0, "Send")
        await asker.until_ended(conversation, done["runId"])
        ((_, context),) = said(conversation)
        assert [(each["type"], each["uri"]) for each in context] == [
            ("selection", path.as_uri()),
            ("file", (home.workspace / "src" / "c.py").as_uri()),
        ]
        assert "unsaved two\nthree\n" in context[0]["text"]


async def test_completion_knows_files_words_and_what_waits() -> None:
    async with (
        scene(InOrder([COMMAND, say("Well.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        (home.workspace / "src").mkdir()
        (home.workspace / "src" / "c.py").write_text("c = 1\n")
        (home.workspace / "some.txt").write_text("x\n")
        await plain.open(home.workspace / "some.txt")
        conversation, _, prompt = await begun(home, asker, plain, "Go.")
        await plain.choose(prompt, 0, "Send")
        (request,) = await asker.until_asked(conversation)

        async def completed(text: str) -> list[str]:
            """Labels for what stands before the cursor at the end of the text."""
            await plain.type(prompt, text, 0, over=len(plain.buffers[prompt].text))
            end = {"line": text.count("\n"), "character": len(text.rpartition("\n")[2])}
            shape = types.CompletionResponse
            answer = await plain.asked("textDocument/completion", prompt, shape, position=end)
            return [] if answer is None else [item.label for item in answer.items]

        assert await completed("Look at @s") == ["@some.txt", "@src/"]
        assert await completed("Look at @src/") == ["@src/c.py"]
        assert await completed("@../") == []
        assert await completed("/") == ["/queue ", "/steer ", "/stop ", "/title ", "/deny ", "/answer "]
        assert await completed("a\n/") == []
        assert await completed("/deny #") == [f"#{request['number']}"]
        assert await completed("mail a@b") == []
        assert (
            await plain.asked(
                "textDocument/completion",
                home.workspace / "some.txt",
                types.CompletionResponse,
                position={"line": 0, "character": 0},
            )
            is None
        )


async def test_a_transcript_has_an_outline_folds_and_links() -> None:
    async with (
        scene(InOrder([use("read", path="a.txt"), say("```\n## Run 7"), say("Bye.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        (home.workspace / "a.txt").write_text("## Run 8\n")
        conversation, transcript, _ = await begun(home, asker, plain, "Go.")
        for text in ("Go.", "On."):
            await asker.until_ended(conversation, await asker.send(conversation, text))
        await until_holds(asker, transcript, "Bye.")
        await plain.open(transcript)
        rows = plain.buffers[transcript].text.split("\n")
        first, call, second = (rows.index(row) for row in rows if row.startswith(("## Run 1", "▸", "## Run 2")))
        shape = types.DocumentSymbolResponse
        (title,) = await plain.asked("textDocument/documentSymbol", transcript, shape)
        assert [(part.name, part.range.start.line) for part in title.children] == [
            ("Run 1 · Go.", first),
            ("Run 2 · On.", second),
        ]
        assert [part.name for part in title.children[0].children] == ["read a.txt — ok, decided by rule"]
        folds = await plain.asked("textDocument/foldingRange", transcript, types.FoldingRangeResponse)
        assert {fold.start_line for fold in folds} == {0, first, call, second}
        (link,) = await plain.asked("textDocument/documentLink", transcript, types.DocumentLinkResponse)
        assert (link.range.start.line, link.target) == (call, (home.workspace / "a.txt").as_uri())
        elsewhere = home.workspace / "a.txt"
        await plain.open(elsewhere)
        assert list(await plain.asked("textDocument/documentSymbol", elsewhere, shape)) == []


async def test_what_a_subagent_asks_is_answered_at_the_documents_of_its_parent() -> None:
    delegated = reply(UseTool("task", {"description": "Count", "prompt": "Count the files."}))
    scenarios = ByConversation({"Count": InOrder([COMMAND, say("Seven.")]), "Go": InOrder([delegated, say("Done.")])})
    async with scene(scenarios) as (_, home), home.editor() as asker, plain_editor(home) as plain:
        conversation, transcript, prompt = await begun(home, asker, plain, "Go.")
        done = await plain.choose(prompt, 0, "Send")
        (request,) = await asker.wait_for(lambda: asker.changed["requests"])
        number = request["number"]
        assert (await plain.offered(prompt))[:2] == [f"Allow once #{number}", f"Deny #{number}"]
        await plain.choose(prompt, 0, f"Allow once #{number}")
        await asker.until_ended(conversation, done["runId"])
        await until_holds(asker, transcript, "Done.")
        assert lines(home.workspace / "ran") == ["hi"]
