"""A real Emacs without a plugin: the prompt is written and sent, an edit allowed, and others see who did."""

import pytest

from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import ByHistory, Gate, InOrder, Say, Wait, reply, say, use
from tests.editors.bare_neovim.bare import bare_neovim
from tests.editors.emacs.emacs import emacs, missing
from tests.protocol.test_transcript_file import papers, until_holds
from tests.scene import scene

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(bool(missing()), reason=missing()), pytest.mark.timeout(180)]

TEXT = "one\ntwo\nthree\n"
READ = use("read", path="a.txt")
EDIT = use("edit", path="a.txt", edits=[{"old": "three", "new": "THREE"}])


async def test_the_prompt_is_sent_by_code_action_and_the_answer_streams_in_and_its_edit_is_allowed_and_made() -> None:
    gate = Gate()
    answers = [reply(Say("I look "), Wait(gate), Say("at it."), *READ.steps), EDIT, say("Done: 😋.")]
    async with scene(ByHistory(answers)) as (_, home), home.editor(name="terminal") as asker:
        path = home.workspace / "a.txt"
        path.write_text(TEXT)
        conversation = await asker.create(home.workspace)
        transcript, prompt = papers(home, conversation.id)
        await until_holds(asker, transcript, "#")
        async with emacs(home, path, transcript, prompt) as editor:
            await editor.type(prompt, "Make it loud, 😋.\n")
            await editor.choose(prompt, "Send")
            await editor.until_shows(transcript, "Make it loud, 😋.")
            assert await editor.text(prompt) == ""
            gate.open()
            await editor.until_shows(transcript, "I look at it.")
            await editor.go(path, "three")
            await editor.until_marked(path, "#1 waits for your answer: Edit a.txt")
            await editor.choose(path, "Allow once #1")
            await editor.until_shows(path, "THREE")
            await editor.until_shows(transcript, "Done: 😋.")
            assert path.read_text() == TEXT, "what is open is changed there, and is the person's to save"
            await editor.save(path)
        assert path.read_text() == TEXT.replace("three", "THREE")
        await asker.wait_for(lambda: conversation.runs)
        (run_id,) = conversation.runs
        await asker.until_ended(conversation, run_id)
        assert _decided_from(conversation) == ["Emacs"]


async def test_what_is_allowed_in_emacs_is_shown_in_neovim_with_who_did_and_the_other_way_round() -> None:
    second = use("edit", path="a.txt", edits=[{"old": "one", "new": "ONE"}])
    async with scene(InOrder([READ, EDIT, second, say("Done.")])) as (_, home), home.editor(name="terminal") as asker:
        path = home.workspace / "a.txt"
        path.write_text(TEXT)
        conversation = await asker.create(home.workspace)
        transcript, _ = papers(home, conversation.id)
        await until_holds(asker, transcript, "#")
        async with emacs(home, path, transcript) as one, bare_neovim(home, str(transcript), "a.txt") as other:
            run_id = await asker.send(conversation, "Make it loud.")
            await other.until_marked()
            await one.go(path, "three")
            await one.until_marked(path, "#1 waits")
            await one.choose(path, "Allow once #1")
            await other.until(
                "return vim.api.nvim_exec2('messages', { output = true }).output:find('#1 was allowed in Emacs')"
            )
            await other.until("return vim.diagnostic.get(0)[1] and vim.diagnostic.get(0)[1].message:find('#2')")
            await other.call("nvim_win_set_cursor", 0, [1, 0])
            await other.choose("Allow once #2")
            await one.until(
                """(with-current-buffer "*Messages*" (string-search "#2 was allowed in Neovim" (buffer-string)))"""
            )
            await asker.until_ended(conversation, run_id)
            await one.until_shows(transcript, "Done.")
            assert [conversation.result(call["id"])["status"] for call in conversation.calls] == ["ok"] * 3
            assert "#1 was allowed" not in await one.messages(), "who answered knows that"
        assert _decided_from(conversation) == ["Emacs", "Neovim"]


def _decided_from(conversation: Mirror) -> list[str]:
    return [request["decidedFrom"] for request in conversation.requests.values()]
