"""The transcript of a conversation as a Markdown file: it grows on disk, or through the windows that have it open."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_ls.testing.buffers import Manner
from agent_ls.testing.editor import LIMIT_S, Editor
from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.plain_editor import PlainEditor, plain_editor
from tests.scene import scene

pytestmark = pytest.mark.anyio

PATIENCE_S = 9.0
EDIT = use("edit", path="a.txt", edits=[{"old": "two", "new": "TWO"}])


async def until_holds(asker: Editor, path: Path, text: str) -> str:
    """Until the file holds the text; what it holds then. Nothing tells of a file: each look is one round trip."""
    try:
        with anyio.fail_after(LIMIT_S):
            while not path.exists() or text not in path.read_text():
                await asker.pending()
    except TimeoutError:
        held = path.read_text() if path.exists() else None
        raise AssertionError(f"{path.name} does not hold {text!r} but {held!r}") from None
    return path.read_text()


async def until_shows(plain: PlainEditor, path: Path, text: str) -> str:
    await plain.link.wait_for(lambda: text in plain.buffers[path].text)
    return plain.buffers[path].text


def papers(home: Home, conversation_id: str) -> tuple[Path, Path]:
    """(transcript, prompt)"""
    folder = home.state / "conversations"
    return folder / f"{conversation_id}.md", folder / f"{conversation_id}.prompt.md"


async def allowed(asker: Editor, conversation: Any, count: int = 1) -> None:
    (request,) = await asker.until_asked(conversation, count)
    await asker.respond(request, "allow")


async def test_it_grows_at_item_borders_for_this_person_only_and_goes_with_its_conversation() -> None:
    async with (
        scene(InOrder([use("read", path="a.txt"), EDIT, say("Done, see\n\n## Run 9"), say("Bye.")])) as (_, home),
        home.editor(name="terminal") as asker,
    ):
        (home.workspace / "a.txt").write_text("one\ntwo\n")
        conversation = await asker.create(home.workspace, title="Numbers")
        run_id = await asker.send(conversation, "Make it loud.\nPlease.")
        await allowed(asker, conversation)
        await asker.until_ended(conversation, run_id)
        transcript, prompt = papers(home, conversation.id)
        await until_holds(asker, transcript, "Run 9")
        await asker.until_ended(conversation, await asker.send(conversation, "And now?"))
        held = await until_holds(asker, transcript, "Bye.")
        uri = (home.workspace / "a.txt").as_uri()
        assert held.startswith(f"# Numbers\n\n{home.workspace.as_uri()} · scripted/scripted-1\n\n")
        assert "\n## Run 1 · Make it loud. Please.\n\n> Make it loud.\n> Please.\n" in held
        assert f"\n▸ **edit** [a.txt](<{uri}>) — ok, decided by " in held
        assert "-two\n+TWO\n" in held
        assert "\nDone, see\n\n\\## Run 9\n" in held
        assert held.endswith("\n## Run 2 · And now?\n\n> And now?\n\nBye.\n")
        modes = [path.stat().st_mode & 0o777 for path in (transcript.parent, transcript, prompt)]
        assert (modes, prompt.read_text()) == ([0o700, 0o600, 0o600], "")
        await asker.command("agent/conversation/delete", conversationId=conversation.id)
        with anyio.fail_after(LIMIT_S):
            while transcript.exists() or prompt.exists():
                await asker.pending()


async def test_an_open_one_grows_in_its_windows_and_the_disk_follows_when_the_last_is_closed() -> None:
    async with (
        scene(InOrder([say("First."), say("Second."), say("Third."), say("Fourth.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home, name="helix") as left,
        plain_editor(home, name="kate") as right,
    ):
        conversation = await asker.create(home.workspace)
        transcript, _ = papers(home, conversation.id)
        await asker.until_ended(conversation, await asker.send(conversation, "1"))
        before = await until_holds(asker, transcript, "First.")
        await left.open(transcript)
        await asker.until_ended(conversation, await asker.send(conversation, "2"))
        grown = await until_shows(left, transcript, "Second.")
        assert grown == f"{before}\n## Run 2 · 2\n\n> 2\n\nSecond.\n"
        # Beneath an open copy nothing is written. A window that opens the old file gets what it lacks.
        assert transcript.read_text() == before
        await right.open(transcript)
        assert await until_shows(right, transcript, "Second.") == grown
        # What is skipped and called applied is found missing, and added again.
        left.buffers.manner = Manner.LIES
        await asker.until_ended(conversation, await asker.send(conversation, "3"))
        after = await until_shows(right, transcript, "Third.")
        assert left.buffers[transcript].text == grown
        left.buffers.manner = Manner.RIGHT
        await asker.until_ended(conversation, await asker.send(conversation, "4"))
        assert await until_shows(left, transcript, "Fourth.") == await until_shows(right, transcript, "Fourth.")
        assert after in left.buffers[transcript].text
        # Every item once, and each edit only what it adds.
        assert all(len(edits) == 1 and "First." not in edits[0]["newText"] for edits in left.buffers[transcript].edits)
        shown = left.buffers[transcript].text
        await left.close(transcript)
        await right.close(transcript)
        assert await until_holds(asker, transcript, "Fourth.") == shown


async def test_a_window_that_does_not_answer_holds_up_the_transcript_of_no_other() -> None:
    """A suspended editor: it is asked, and never says that it has done it."""
    async with (
        scene(InOrder([say("One."), say("Two."), say("Three.")])) as (_, home),
        home.editor(name="terminal") as asker,
        plain_editor(home, name="emacs") as stuck,
        plain_editor(home, name="helix") as plain,
    ):
        conversation = await asker.create(home.workspace)
        transcript, _ = papers(home, conversation.id)
        await until_holds(asker, transcript, "#")
        for window in (stuck, plain):
            await window.open(transcript)
        stuck.buffers.manner = Manner.SILENT
        with anyio.fail_after(PATIENCE_S):  # the stuck one is given ten seconds for each edit
            for said in ("One.", "Two.", "Three."):
                await asker.until_ended(conversation, await asker.send(conversation, "Go."))
                await until_shows(plain, transcript, said)
        assert "One." not in stuck.buffers[transcript].text


async def test_after_a_crash_it_goes_on_where_it_stood_on_disk_and_in_a_window() -> None:
    async with (
        scene(InOrder([say("First."), say("Second."), say("Third.")])) as (_, home),
        plain_editor(home) as plain,
    ):
        async with home.editor() as asker:
            conversation = await asker.create(home.workspace)
            transcript, _ = papers(home, conversation.id)
            await asker.until_ended(conversation, await asker.send(conversation, "1"))
            await until_holds(asker, transcript, "First.")
            await plain.open(transcript)
            await asker.until_ended(conversation, await asker.send(conversation, "2"))
            await until_shows(plain, transcript, "Second.")
        await home.kill9()
        async with home.editor() as back:
            mirror = await back.attach(conversation.id)
            await back.until_ended(mirror, await back.send(mirror, "3"))
            shown = await until_shows(plain, transcript, "Third.")
            assert [shown.count(word) for word in ("First.", "Second.", "Third.", "## Run ")] == [1, 1, 1, 3]
            await plain.close(transcript)
            assert await until_holds(back, transcript, "Third.") == shown
