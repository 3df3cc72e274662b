"""Review of what the agent changed, hunk by hunk in the quickfix list, and the other lists with keys of their own."""

import pytest

from agent_ls.testing.model_scenario import Gate, InOrder, Say, Wait, reply, say, use
from tests.editors.neovim.nvim import Nvim, neovim
from tests.scene import scene

pytestmark = pytest.mark.anyio

OLD = "".join(f"line {number}\n" for number in range(1, 21))
EDITS = [{"old": "line 2\n", "new": "line two\n"}, {"old": "line 18\n", "new": "line eighteen\n"}]
CHANGE = [use("read", path="a.txt"), use("edit", path="a.txt", edits=EDITS), say("Done.")]
LISTED = "return vim.tbl_map(function(one) return { one.lnum, one.text } end, vim.fn.getqflist())"
IN_QUICKFIX = "return vim.bo.buftype == 'quickfix'"
BUFFER = "return vim.fn.getbufline('a.txt', 1, '$')"


async def changed(nvim: Nvim) -> None:
    await nvim.agent("mode edits")
    await nvim.agent("ask Change it")
    await nvim.until_ended()
    await nvim.agent("review")
    await nvim.until(IN_QUICKFIX)


async def test_hunks_are_kept_and_undone_by_a_key_each_and_an_undo_is_one_step_in_the_buffer() -> None:
    async with scene(InOrder(CHANGE)) as (_, home):
        file = home.workspace / "a.txt"
        file.write_text(OLD)
        async with neovim(home, "a.txt") as nvim:
            await changed(nvim)
            assert await nvim.lua(LISTED) == [[2, "○ +1 -1 + line two"], [18, "○ +1 -1 + line eighteen"]]
            await nvim.call("nvim_input", "ggx")
            await nvim.until("return #vim.fn.getqflist() == 1")
            assert (await nvim.lua(BUFFER))[1] == "line 2"
            await nvim.call("nvim_input", "gga")
            await nvim.until("return #vim.fn.getqflist() == 0")
            assert await nvim.lua(BUFFER) == OLD.replace("line 18", "line eighteen").splitlines()
            assert file.read_text() == OLD.replace("line 18", "line eighteen")
            await nvim.lua("vim.fn.win_gotoid(vim.fn.bufwinid('a.txt')) vim.cmd('silent undo')")
            assert (await nvim.lua(BUFFER))[1] == "line two"
            await nvim.command("Agent review all")
            await nvim.until("return #vim.fn.getqflist() == 2")
            assert (await nvim.notices())[-1] == "Nothing is left to review."


async def test_a_hunk_is_seen_before_and_after_and_a_comment_on_it_goes_with_the_next_message() -> None:
    async with scene(InOrder([*CHANGE, say("I see.")])) as (server, home):
        (home.workspace / "a.txt").write_text(OLD)
        async with neovim(home, "a.txt") as nvim:
            await changed(nvim)
            await nvim.call("nvim_input", "ggd")
            await nvim.until("return vim.fn.tabpagenr('$') == 2")
            sides = "return vim.tbl_map(function(w) return { vim.wo[w].diff, vim.api.nvim_buf_get_lines("
            sides += "vim.api.nvim_win_get_buf(w), 0, -1, false) } end, vim.api.nvim_tabpage_list_wins(0))"
            assert await nvim.lua(sides) == [[True, ["line 2"]], [True, ["line two"]]]
            await nvim.call("nvim_input", "q")
            await nvim.until("return vim.fn.tabpagenr('$') == 1")
            await nvim.until(IN_QUICKFIX)
            await nvim.call("nvim_input", "ggc")
            await nvim.until("return vim.startswith(vim.api.nvim_buf_get_name(0), 'agent-ls://prompt')")
            await nvim.call("nvim_input", "iIn digits, please<C-s>")
            await nvim.until_ended(2)
            shown = await nvim.until_shows("I see.")
            at = shown.index("▌ In digits, please")
            assert shown[at + 1] == "▌ with a.txt:2"
        assert "line two" in str(server.requests[-1].body["messages"][-1])


async def test_the_keys_of_the_review_mean_nothing_in_another_quickfix_list() -> None:
    async with scene(InOrder(CHANGE)) as (_, home):
        (home.workspace / "a.txt").write_text(OLD)
        async with neovim(home, "a.txt") as nvim:
            await changed(nvim)
            await nvim.lua("vim.fn.setqflist({}, ' ', { items = { { text = 'mine' } }, title = 'mine' })")
            await nvim.call("nvim_input", "x")
            await nvim.call("nvim_input", "A")
            await nvim.until("return vim.fn.getqflist({ title = 0 }).title == 'mine'")
            assert (await nvim.lua(BUFFER))[1] == "line two"


async def test_a_lock_is_taken_over_from_its_list() -> None:
    gate = Gate()
    hold = use("shell", command="while [ ! -e go ]; do /bin/sleep 0.05; done")
    async with scene(InOrder([hold, reply(Say("Done."), Wait(gate))])) as (_, home):
        (home.workspace / "a.txt").write_text(OLD)
        async with neovim(home, "a.txt") as nvim:
            await nvim.agent("locks")
            await nvim.until("return _G.notices[1] == 'Nothing is held.'")
            await nvim.agent("ask Wait")
            (number,) = await nvim.until_asked()
            await nvim.answer(f"approve {number}")
            await nvim.until("return #(select(2, next(require('agent_ls.state').links)).locks or {}) == 1")
            await nvim.agent("locks")
            await nvim.until("return vim.api.nvim_buf_get_name(0) == 'agent-ls://locks'")
            await nvim.call("nvim_input", "t")
            await nvim.until("return _G.notices[#_G.notices] == 'It is yours; who held it is told.'")
            (home.workspace / "go").touch()
            gate.open()
            await nvim.until_ended()


async def test_rules_are_listed_with_their_origin_and_a_kept_one_is_removed_by_a_key() -> None:
    answers = [use("shell", command="/bin/mkdir x"), say("Done.")]
    async with scene(InOrder(answers)) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Go")
        (number,) = await nvim.until_asked()
        await nvim.answer(f"approve conversation {number}")
        await nvim.until_ended()
        await nvim.agent("rules")
        await nvim.until("return vim.api.nvim_buf_get_name(0) == 'agent-ls://rules'")
        await nvim.until("return vim.fn.search('/bin/mkdir x') > 0")
        await nvim.call("nvim_input", "x")
        await nvim.until("return (_G.notices[#_G.notices] or ''):find('Removed: allow shell', 1, true) ~= nil")
        await nvim.agent("rules")
        assert await nvim.lua("return vim.fn.search('/bin/mkdir x')") == 0
