"""The smaller words of `:Agent`, and what else a person does to a transcript."""

import pytest

from agent_ls.testing.model_scenario import Answer, Gate, InOrder, RequestView, Say, Wait, reply, say, use
from tests.editors.neovim.nvim import neovim
from tests.scene import EDIT, scene

pytestmark = pytest.mark.anyio

VERBS = [
    "answer",
    "approvals",
    "approve",
    "ask",
    "attach",
    "compact",
    "conversations",
    "deny",
    "edit",
    "fork",
    "hurry",
    "locks",
    "log",
    "merge",
    "mode",
    "model",
    "new",
    "next",
    "notices",
    "pending",
    "plan",
    "previous",
    "prompt",
    "queue",
    "rename",
    "resume",
    "retry",
    "review",
    "rules",
    "shells",
    "show",
    "status",
    "steer",
    "stop",
]
CLIENTS = "return #vim.lsp.get_clients({ name = 'agent_ls', _uninitialized = true })"


async def test_what_can_be_said_is_completed_and_what_cannot_is_one_sentence() -> None:
    async with scene(InOrder([use("shell", command="/bin/echo hi")])) as (_, home), neovim(home) as nvim:
        complete = "return vim.fn.getcompletion(..., 'cmdline')"
        assert await nvim.lua(complete, "Agent ") == VERBS
        assert await nvim.lua(complete, "Agent a") == ["answer", "approvals", "approve", "ask", "attach"]
        await nvim.agent("ask")
        await nvim.agent("dance")
        await nvim.agent("approve")
        await nvim.agent("approve 7")
        assert await nvim.notices() == [
            "Say what you want: `:Agent ask Why does this test fail?`.",
            "`:Agent dance` is unknown; try `:Agent ask …` or `:help agent-ls`.",
            "Nothing waits for you.",
            "No request #7 waits: it was answered, or its run has ended. `:Agent pending` lists what waits.",
        ]
        await nvim.agent("ask Go")
        (number,) = await nvim.until_asked()
        assert await nvim.lua(complete, "Agent deny ") == [str(number)]
        assert await nvim.lua(complete, "Agent approve ") == ["once", "conversation", "workspace", str(number)]


async def test_what_waits_is_listed_without_taking_the_focus() -> None:
    async with scene(InOrder([use("read", path="a.txt"), EDIT])) as (_, home):
        (home.workspace / "a.txt").write_text("one\ntwo\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.agent("ask Go")
            (number,) = await nvim.until_asked()
            before = await nvim.lua("return vim.api.nvim_get_current_win()")
            await nvim.agent("pending")
            assert await nvim.lua("return vim.api.nvim_get_current_win()") == before
            (listed,) = await nvim.lua("return vim.fn.getqflist()")
            assert (listed["lnum"], listed["text"]) == (2, f"#{number}  Edit a.txt")
            await nvim.lua("vim.fn.setqflist({}, 'r')")
            await nvim.agent("approvals")
            assert await nvim.lua("return vim.fn.getqflist()") == [listed]
            for word in ("next", "previous"):
                await nvim.command("normal! gg")
                await nvim.agent(word)
                assert await nvim.lua("return { vim.fn.bufname(), vim.fn.line('.') }") == ["a.txt", 2]
            await nvim.agent("status")
            (said,) = await nvim.notices()
            assert said.startswith("agent: waits for you · 1 to answer (agent-ls ")


async def test_a_new_conversation_leaves_the_old_one_to_go_back_to() -> None:
    async with scene(InOrder([say("One."), say("Two.")])) as (server, home), neovim(home) as nvim:
        await nvim.agent("ask First")
        await nvim.until_ended()
        await nvim.until_shows("One.")
        first = await nvim.lua(CURRENT)
        await nvim.agent("new Second")
        await nvim.until_ended(2)
        assert await nvim.lua(CURRENT) != first
        assert server.requests[1].user_texts == ("Second",)
        await nvim.agent(f"attach {first}")
        assert await nvim.lua(CURRENT) == first


async def test_the_list_of_conversations_goes_to_the_one_under_the_cursor() -> None:
    async with scene(InOrder([say("One."), say("Two.")])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask First")
        await nvim.until_ended()
        first = await nvim.lua(CURRENT)
        await nvim.agent("new Second")
        await nvim.until_ended(2)
        second = await nvim.lua(CURRENT)
        await nvim.agent("conversations")
        await nvim.until("return vim.api.nvim_buf_get_name(0) == 'agent-ls://conversations'")
        listed = await nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
        assert listed == [f"› Second  · idle · {second}", f"  First  · idle · {first}"]
        await nvim.call("nvim_input", "j<CR>")
        await nvim.until(f"{CURRENT} == '{first}'")
        assert await nvim.lua("return vim.fn.bufexists('agent-ls://conversations')") == 0


async def test_a_fork_is_gone_on_with_and_its_parent_is_told_what_came_of_it() -> None:
    async with scene(InOrder([say("One."), say("Two.")])) as (server, home), neovim(home) as nvim:
        await nvim.agent("ask First")
        await nvim.until_ended()
        parent = await nvim.lua(CURRENT)
        await nvim.agent("fork Another way")
        await nvim.until(f"{CURRENT} ~= '{parent}'")
        fork = await nvim.lua(CURRENT)
        shown = TRANSCRIPT.format(fork)
        begins = ["# Another way", "", "Forked from “First”, up to run 1", "", "▌ First", "", "One."]
        await nvim.until(f"return table.concat({shown}, '|') == {'|'.join(begins)!r}")
        await nvim.agent("ask Second")
        await nvim.until(f"return vim.tbl_contains({shown}, 'Two.')")
        await nvim.until_ended(2)
        assert server.requests[1].user_texts == ("First", "Second")
        await nvim.agent("merge")
        await nvim.until("return #_G.notices == 1")
        assert await nvim.notices() == ["What came of it goes with the next message there."]
        await nvim.agent("conversations")
        await nvim.until("return vim.api.nvim_buf_get_name(0) == 'agent-ls://conversations'")
        listed = await nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
        assert f"› Another way  · idle · fork of First · {fork}" in listed
        await nvim.agent(f"attach {parent}")
        told = "What came of the fork “Another way” of this conversation:"
        await nvim.until(f"return table.concat({TRANSCRIPT.format(parent)}):find({told!r}, 1, true)")


async def test_a_number_that_waits_no_more_is_told_how_it_was_decided() -> None:
    async with scene(InOrder([use("shell", command="/bin/echo hi"), say("Done.")])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Go")
        (number,) = await nvim.until_asked()
        async with home.editor(home.workspace, name="emacs") as other:
            (asked,) = await other.pending()
            await other.respond(asked, "deny")
        await nvim.until_ended()
        await nvim.agent(f"approve {number}")
        await nvim.agent("approve 99")
        await nvim.until("return #_G.notices == 2")
        decided, unknown = await nvim.notices()
        assert (decided.startswith(f"#{number} was denied by "), decided.endswith(" in emacs.")) == (True, True)
        assert unknown == "There is no request #99: it was never asked, or its conversation was deleted."


async def test_a_card_does_not_move_the_text_and_a_narrow_terminal_leaves_the_transcript_readable() -> None:
    async with scene(InOrder([use("read", path="a.txt"), EDIT])) as (_, home):
        (home.workspace / "a.txt").write_text("one\ntwo\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.lua("vim.o.columns, vim.wo.signcolumn = 160, 'auto'")
            before = await nvim.lua(TEXTOFF)
            await nvim.agent("ask Go")
            await nvim.until_asked()
            await nvim.until("return require('agent_ls.approvals').find() ~= nil")
            assert (await nvim.cards())[0][0] == "a.txt"
            assert await nvim.lua(TEXTOFF) == before
            await nvim.lua("vim.o.columns = 100 vim.cmd('doautocmd VimResized')")
            widths = await nvim.lua("return vim.tbl_map(vim.api.nvim_win_get_width, vim.api.nvim_list_wins())")
            assert min(widths) >= 27, widths
            beside = "return vim.api.nvim_win_get_width(require('agent_ls.window').windows()[1])"
            assert await nvim.lua(beside) >= 40
            await nvim.lua("vim.o.columns = 60 vim.cmd('doautocmd VimResized')")
            assert await nvim.lua(beside) == 30


async def test_a_transcript_that_is_loaded_again_or_wiped_out_comes_back_whole() -> None:
    async with scene(InOrder([say("One.")])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask First")
        await nvim.until_ended()
        before = await nvim.until_shows("One.")
        await nvim.lua("vim.api.nvim_set_current_win(require('agent_ls.window').windows()[1]) vim.cmd('edit')")
        assert await nvim.shown() == before
        await nvim.command("bwipeout!")
        assert await nvim.shown() == []
        await nvim.agent()
        assert await nvim.shown() == before


async def test_enabled_as_a_server_too_there_is_one_client_and_the_files_are_its_own() -> None:
    async with scene(InOrder([])) as (_, home):
        for name in ("a.txt", "b.txt"):
            (home.workspace / name).write_text("one\n")
        async with neovim(home) as nvim:
            await nvim.lua("vim.lsp.enable('agent_ls')")
            await nvim.command("edit a.txt")
            await nvim.command("edit b.txt")
            await nvim.until("return next(require('agent_ls.state').links) ~= nil")
            await nvim.until("return #vim.lsp.get_clients({ bufnr = vim.fn.bufnr('a.txt') }) == 1")
            await nvim.until("return #vim.lsp.get_clients({ bufnr = vim.fn.bufnr('b.txt') }) == 1")
            assert await nvim.lua(CLIENTS) == 1


async def test_a_server_that_cannot_start_is_one_sentence() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        await nvim.lua("vim.env.AGENT_LS_CMD = '/bin/false'")
        await nvim.agent("ask Hello")
        await nvim.until("return #_G.notices > 0")
        said = [line for line in await nvim.notices() if "agent-ls" in line]
        assert said == ["agent-ls could not start. `agent-ls doctor` in a terminal shows why."]


async def test_the_health_check_names_the_program_the_daemon_and_the_model() -> None:
    async with scene(InOrder([say("One.")])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask First")
        await nvim.until_ended()
        await nvim.command("checkhealth agent_ls")
        report = "\n".join(await nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"))
        assert "OK Neovim 0.11 or newer" in report
        assert f"daemon pid {home.pid}" in report
        assert "OK a model is ready: " in report
        assert "ERROR" not in report


async def test_a_conversation_is_compacted_and_what_is_being_made_room_for_can_be_stopped() -> None:
    gate = Gate()
    told = "about to be taken out to make room"
    summaries = iter([reply(Wait(gate), Say("never heard")), say("Short.")])

    def scenario(request: RequestView) -> Answer:
        return next(summaries) if told in request.last_user_text else say("All work and no play. " * 200)

    async with scene(scenario) as (_, home), neovim(home) as nvim:
        for runs in (1, 2):
            await nvim.agent(f"ask Go {runs}")
            await nvim.until_ended(runs)
        await nvim.agent("compact Keep the play.")
        await gate.reached()
        await nvim.until_shows("Making room…")
        await nvim.agent("stop")
        shown = await nvim.until_shows("Compaction was stopped by")
        assert not any("Making room…" in line for line in shown)
        await nvim.agent("compact")
        await nvim.until_shows("Compacted: a summary stands for 2 items.")


TEXTOFF = "return vim.fn.getwininfo(vim.fn.bufwinid('a.txt'))[1].textoff"
TRANSCRIPT = "vim.fn.getbufline('agent-ls://conversation/{}', 1, '$')"
CURRENT = "return require('agent_ls.state').current[require('agent_ls.client').here()]"
