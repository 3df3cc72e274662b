"""The whole chat in a real Neovim that has no plugin of ours: two Markdown files and stock keys."""

import pytest

from agent_ls.testing.model_scenario import InOrder, say, use
from tests.editors.bare_neovim.bare import bare_neovim
from tests.protocol.test_transcript_file import papers, until_holds
from tests.scene import scene

pytestmark = pytest.mark.anyio


async def test_a_prompt_is_written_sent_answered_and_an_edit_approved_with_stock_keys() -> None:
    edit = use("edit", path="a.txt", edits=[{"old": "three", "new": "THREE"}])
    scenario = InOrder([use("read", path="a.txt"), edit, say("It is loud now."), say("You are welcome.")])
    async with scene(scenario) as (_, home), home.editor(name="terminal") as asker:
        (home.workspace / "a.txt").write_text("one\ntwo\nthree\n")
        conversation = await asker.create(home.workspace)
        transcript, prompt = papers(home, conversation.id)
        await until_holds(asker, transcript, "#")
        async with bare_neovim(home, "a.txt") as nvim:
            for path in (transcript, prompt):
                await nvim.command(f"edit {path}")
                await nvim.attached()
            await nvim.call("nvim_input", "iMake three loud.<Esc>")
            await nvim.until("return vim.api.nvim_buf_get_lines(0, 0, -1, false)[1] == 'Make three loud.'")
            await nvim.act("Send")
            await nvim.shows(str(transcript), "> Make three loud.")
            await nvim.until("return vim.api.nvim_buf_get_lines(0, 0, -1, false)[1] == ''")
            await asker.until_asked(conversation)
            await nvim.command("buffer a.txt")
            await nvim.until("return #vim.diagnostic.get(0) > 0")
            await nvim.call("nvim_win_set_cursor", 0, [3, 0])
            await nvim.choose("Allow once #1")
            await nvim.until("return vim.api.nvim_buf_get_lines(0, 2, 3, false)[1] == 'THREE'")
            await nvim.shows(str(transcript), "It is loud now.")
            await nvim.shows(str(transcript), " in Neovim")
            # Further on in the same two files.
            await nvim.command(f"buffer {prompt}")
            await nvim.call("nvim_input", "iThanks.<Esc>")
            await nvim.until("return vim.api.nvim_buf_get_lines(0, 0, -1, false)[1] == 'Thanks.'")
            await nvim.act("Send")
            await nvim.shows(str(transcript), "You are welcome.")
            assert await nvim.lua("return #vim.api.nvim_list_wins()") == 1
            rows: list[str] = await nvim.lua(
                f"return vim.api.nvim_buf_get_lines(vim.fn.bufnr([[{transcript}]]), 0, -1, false)"
            )
        held = await until_holds(asker, transcript, "You are welcome.")
        assert held == "\n".join([*rows, ""])
        assert held.count("It is loud now.") == 1
