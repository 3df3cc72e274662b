"""Whatever the person is in the middle of goes on: nothing moves under their hands, and no window opens below a key."""

import pytest

from agent_ls.testing.model_scenario import ByConversation, Gate, InOrder, Say, Wait, reply, say, use
from tests.editors.neovim.nvim import neovim
from tests.scene import scene

pytestmark = pytest.mark.anyio

LINKED = "local link = select(2, next(require('agent_ls.state').links)) return link and link.hello ~= nil"
COMMAND = use("shell", command="echo x >> ran")
FIRST_LINE = "return vim.fn.getbufline('a.txt', 1)[1]"
MARKS = """
local space = vim.api.nvim_get_namespaces().agent_ls_requests
return space and #vim.api.nvim_buf_get_extmarks(vim.fn.bufnr('a.txt'), space, 0, -1, {}) or 0
"""


@pytest.mark.parametrize(
    ("begins", "ends", "line"),
    [
        ("d", "w", "two three"),
        ("2d", "w", "three"),
        ("wR", "TWO<Esc>", "one TWO three"),
        ("gh", "X<Esc>", "Xne two three"),
        ("gH", "X<Esc>", "X"),
        (":s/two", "/2/<CR>", "one 2 three"),
        ("/thr", "<CR>x", "one two hree"),
        ("A<C-o>", "0X<Esc>", "Xone two three"),
        ("qqA", "!<Esc>q", "one two three!"),
    ],
)
async def test_a_card_waits_until_the_hands_are_free(begins: str, ends: str, line: str) -> None:
    async with scene(InOrder([COMMAND])) as (_, home), home.editor(name="terminal") as asker:
        (home.workspace / "a.txt").write_text("one two three\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.until(LINKED)
            await nvim.call("nvim_input", begins)
            await asker.send(await asker.create(home.workspace), "Go")
            await nvim.until_asked()
            assert await nvim.lua(MARKS) == 0
            await nvim.call("nvim_input", ends)
            await nvim.until(f"return ((function() {MARKS} end)()) == 1")
            assert (await nvim.lua(FIRST_LINE), await nvim.mode(), await nvim.notices()) == (line, "n", [])
            assert await nvim.lua("return vim.fn.getreg('q')") == ("A!\x1b" if begins == "qqA" else "")
            assert len(await asker.pending()) == 1


async def test_a_macro_that_is_recorded_while_all_kinds_of_things_come_holds_the_keys_and_nothing_else() -> None:
    half, rest = Gate(), Gate()
    answer = reply(Say("one\n"), Wait(half), Say("two\n"), Wait(rest), Say("three\n"))
    async with scene(InOrder([answer])) as (_, home):
        (home.workspace / "a.txt").write_text("first\nsecond\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.agent("ask Count")
            await nvim.until_shows("one")
            await nvim.call("nvim_input", "qaI- <Esc>")
            half.open()
            await nvim.until_shows("two")
            await nvim.call("nvim_input", "jq@a")
            rest.open()
            await nvim.until_ended()
            assert await nvim.lua("return { vim.fn.getreg('a'), vim.fn.getbufline('a.txt', 1, '$') }") == [
                "I- \x1bj",
                ["- first", "- second"],
            ]


async def test_a_motion_and_a_search_in_the_transcript_mean_the_line_one_was_on_while_text_comes() -> None:
    gates = [Gate(), Gate(), Gate()]
    answer = reply(
        Say("alpha\nbeta"), Wait(gates[0]), Say("\ngamma"), Wait(gates[1]), Say("\ndelta"), Wait(gates[2]), Say("\nend")
    )
    async with scene(InOrder([answer])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Count")
        await nvim.until_shows("beta")
        await nvim.lua("vim.fn.win_gotoid(require('agent_ls.window').windows()[1]) vim.cmd('normal! G')")
        await nvim.call("nvim_input", "y")
        gates[0].open()
        await nvim.until_shows("gamma")
        await nvim.call("nvim_input", "k")
        await nvim.until("return vim.fn.getreg('0') == 'alpha\\nbeta\\n'")
        await nvim.call("nvim_input", "G?a$")
        gates[1].open()
        await nvim.until_shows("delta")
        await nvim.call("nvim_input", "<CR>")
        await nvim.until("return vim.api.nvim_get_current_line() == 'beta'")
        gates[2].open()
        await nvim.until_ended()
        assert await nvim.lua("return vim.api.nvim_get_current_line()") == "beta"


@pytest.mark.parametrize("line", ["conversations", "rules", "log", "review", "edit"])
async def test_what_comes_late_opens_without_the_cursor_where_the_person_types_by_then(line: str) -> None:
    scenarios = {
        "Change it": InOrder(
            [
                use("read", path="a.txt"),
                use("edit", path="a.txt", edits=[{"old": "first", "new": "1"}]),
                use("shell", command="/bin/mkdir x"),
                COMMAND,
            ]
        )
    }
    async with scene(ByConversation(scenarios)) as (_, home):
        (home.workspace / "a.txt").write_text("first\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.agent("mode edits")
            await nvim.agent("ask Change it")
            (number,) = await nvim.until_asked()
            await nvim.answer(f"approve conversation {number}")
            await nvim.until_asked(above=number)
            before = await nvim.lua("return { vim.api.nvim_get_current_win(), #vim.api.nvim_list_wins() }")
            await nvim.call("nvim_input", "oa long ")
            await nvim.until("return vim.api.nvim_get_mode().mode == 'i'")
            await nvim.agent(line)
            await nvim.until(f"return #vim.api.nvim_list_wins() > {before[1]}")
            await nvim.call("nvim_input", "line<Esc>")
            await nvim.until("return vim.fn.getbufline('a.txt', 2)[1] == 'a long line'")
            await nvim.until("return vim.api.nvim_get_mode().mode == 'n'")
            assert await nvim.lua("return vim.api.nvim_get_current_win()") == before[0]


async def test_q_in_the_only_window_gives_it_back_to_the_file() -> None:
    async with scene(InOrder([say("One."), say("Two.")])) as (_, home):
        (home.workspace / "a.txt").write_text("first\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.agent("ask First")
            await nvim.until_ended()
            for only in ("lua vim.fn.win_gotoid(require('agent_ls.window').windows()[1])", "Agent prompt"):
                await nvim.command(only)
                await nvim.command("only")
                await nvim.call("nvim_input", "q")
                await nvim.until("return vim.fn.bufname() == 'a.txt'")
                await nvim.agent()
            await nvim.command("only | bwipeout! a.txt")
            await nvim.agent()
            await nvim.lua("vim.fn.win_gotoid(require('agent_ls.window').windows()[1]) vim.cmd.only()")
            await nvim.agent()
            assert await nvim.lua("return { vim.fn.bufname(), #vim.api.nvim_list_wins() }") == ["", 1]
            assert await nvim.lua("return vim.fn.execute('messages')") == ""


async def test_what_comes_while_the_command_line_window_is_open_is_no_error() -> None:
    gate = Gate()
    async with scene(InOrder([reply(Wait(gate), Say("Done."))])) as (_, home):
        (home.workspace / "a.txt").write_text("first\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.until(LINKED)
            await nvim.lua(
                "vim.cmd('Agent ask Go') vim.cmd('Agent rules') vim.cmd('Agent log') vim.api.nvim_input('q:')"
            )
            await nvim.until("return vim.fn.getcmdwintype() == ':'")
            gate.open()
            await nvim.until_ended()
            await nvim.call("nvim_input", "<C-c><C-c>")
            await nvim.until("return vim.fn.getcmdwintype() == ''")
            assert "rror" not in await nvim.lua("return vim.fn.execute('messages')")


async def test_a_transcript_that_somebody_has_written_into_is_right_again_with_the_next_word() -> None:
    gate = Gate()
    async with scene(InOrder([reply(Say("one\ntwo"), Wait(gate), Say(" three"))])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Count")
        await nvim.until_shows("two")
        await nvim.lua(
            "local buf = vim.api.nvim_win_get_buf(require('agent_ls.window').windows()[1]) "
            "vim.bo[buf].modifiable = true vim.api.nvim_buf_set_lines(buf, -3, -1, false, { '', '' })"
        )
        gate.open()
        await nvim.until_ended()
        assert await nvim.until_shows("two three") == ["# Count", "", "▌ Count", "", "one", "two three"]
        assert "rror" not in await nvim.lua("return vim.fn.execute('messages')")
