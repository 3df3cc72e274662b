"""The two Markdown files in a person's hands: edited, deleted, with other line ends, open in two editors at once."""

from pathlib import Path

import pytest

from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import Gate, InOrder, Say, Wait, reply, say
from tests.plain_editor import PlainEditor, plain_editor
from tests.protocol.test_prompt_file import begun, said
from tests.protocol.test_transcript_file import papers, until_holds, until_shows
from tests.scene import scene

pytestmark = pytest.mark.anyio


async def sent(plain: PlainEditor, prompt: Path, asker: Editor, conversation: Mirror) -> None:
    done = await plain.choose(prompt, 0, "Send")
    assert (done["disposition"], done["cleared"]) == ("started", True)
    await asker.until_ended(conversation, done["runId"])


async def test_a_transcript_that_the_person_edits_while_an_answer_streams_keeps_their_words_and_grows() -> None:
    gates = [Gate(), Gate()]
    answers = [reply(Say("First "), Wait(gates[0]), Say("part.")), reply(Say("Second "), Wait(gates[1]), Say("part."))]
    async with (
        scene(InOrder(answers)) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        conversation, transcript, _ = await begun(home, asker, plain, "")
        await plain.open(transcript)
        await plain.type(transcript, "My note at the top.\n", 0)
        run_id = await asker.send(conversation, "Go.")
        await asker.wait_for(lambda: "First" in conversation.shown)
        await plain.type(transcript, "and my note at the end, half writ")
        gates[0].open()
        await asker.until_ended(conversation, run_id)
        shown = await until_shows(plain, transcript, "First part.")
        assert shown.startswith("My note at the top.\n# ")
        assert "and my note at the end, half writ\n" in shown
        # What a person takes out of it is not written again, and what comes does not wait for that.
        await plain.type(transcript, "", 0, over=len(plain.buffers[transcript].text))
        run_id = await asker.send(conversation, "More.")
        gates[1].open()
        await asker.until_ended(conversation, run_id)
        shown = await until_shows(plain, transcript, "Second part.")
        assert (shown.count("First part."), shown.count("Second part.")) == (0, 1)
        await plain.close(transcript)
        held = await until_holds(asker, transcript, "Second part.")
        assert (held.count("First part."), held.count("My note")) == (1, 0), "it was never saved"


async def test_a_prompt_file_that_is_deleted_under_the_editor_is_still_sent_from_there() -> None:
    async with (
        scene(InOrder([say("Hello!"), say("Again!")])) as (_, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        conversation, _, prompt = await begun(home, asker, plain, "Say hello.\n")
        prompt.unlink()
        await sent(plain, prompt, asker, conversation)
        assert plain.buffers[prompt].text == ""
        await plain.close(prompt)
        assert not prompt.exists(), "nobody but the person makes it again"
        # Neither open nor there: there is nothing to send, and that is said.
        with pytest.raises(Refused, match="prompt document is empty"):
            await plain.choose(prompt, 0, "Send")
        prompt.write_bytes(b"From a terminal.\r\n")
        await sent(plain, prompt, asker, conversation)
        assert (prompt.read_bytes(), [text for text, _ in said(conversation)]) == (
            b"",
            ["Say hello.", "From a terminal."],
        )


async def test_a_prompt_with_carriage_returns_is_sent_without_them_and_cleared() -> None:
    async with (
        scene(InOrder([say("Hello!"), say("Stopped."), say("Again!")])) as (server, home),
        home.editor() as asker,
        plain_editor(home) as plain,
    ):
        (home.workspace / "a.txt").write_text("one\n")
        conversation, _, prompt = await begun(home, asker, plain, "Say hello\r\nto @a.txt\r\n\r\nplease.\r\n")
        await sent(plain, prompt, asker, conversation)
        assert plain.buffers[prompt].text == ""
        ((text, context),) = said(conversation)
        assert (text, [each["uri"] for each in context]) == (
            "Say hello\nto @a.txt\n\nplease.",
            [(home.workspace / "a.txt").as_uri()],
        )
        await plain.type(prompt, "/title Ends with CR\r\n")
        await plain.choose(prompt, 0, "Send")
        await asker.wait_for(lambda: conversation.conversation["title"] == "Ends with CR")
        assert "\r" not in str(server.requests[-1].body)


async def test_two_editors_on_one_prompt_each_send_what_they_show_and_neither_loses_a_word() -> None:
    async with (
        scene(InOrder([say("One."), say("Two.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home, name="helix") as one,
        plain_editor(home, name="emacs") as two,
    ):
        conversation, _, prompt = await begun(home, asker, one, "Same.\n")
        await two.open(prompt, "Same.\n")
        await two.type(prompt, "And mine, half writ")
        await sent(one, prompt, asker, conversation)
        assert (one.buffers[prompt].text, two.buffers[prompt].text) == ("", "Same.\nAnd mine, half writ")
        await sent(two, prompt, asker, conversation)
        assert [text for text, _ in said(conversation)] == ["Same.", "Same.\nAnd mine, half writ"]
        assert (one.buffers[prompt].text, two.buffers[prompt].text) == ("", "")


async def test_a_prompt_that_shows_the_same_in_two_editors_is_sent_once() -> None:
    async with (
        scene(InOrder([say("One.")])) as (_, home),
        home.editor() as asker,
        plain_editor(home, name="helix") as one,
        plain_editor(home, name="emacs") as two,
    ):
        conversation, _, prompt = await begun(home, asker, one, "Same.\n")
        await two.open(prompt, "Same.\n")
        await sent(one, prompt, asker, conversation)
        await two.link.wait_for(lambda: two.buffers[prompt].text == "")
        with pytest.raises(Refused, match="prompt document is empty"):
            await two.choose(prompt, 0, "Send")
        assert [text for text, _ in said(conversation)] == ["Same."]


async def test_a_transcript_that_is_deleted_or_made_a_link_is_written_anew_and_never_through_the_link() -> None:
    async with scene(InOrder([say("One."), say("Two."), say("Three.")])) as (_, home), home.editor() as asker:
        conversation = await asker.create(home.workspace)
        transcript, _ = papers(home, conversation.id)
        await asker.until_ended(conversation, await asker.send(conversation, "Go."))
        await until_holds(asker, transcript, "One.")
        transcript.unlink()
        await asker.until_ended(conversation, await asker.send(conversation, "Go."))
        assert "Two." in await until_holds(asker, transcript, "Two.")
        elsewhere = home.workspace / "mine.txt"
        elsewhere.write_text("mine\n")
        transcript.unlink()
        transcript.symlink_to(elsewhere)
        await asker.until_ended(conversation, await asker.send(conversation, "Go."))
        assert elsewhere.read_text() == "mine\n"
