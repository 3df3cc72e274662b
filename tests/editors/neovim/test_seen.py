"""An answer counts for what was on the screen: a card below the edge, in a fold or in another tab page was not."""

import pytest

from agent_ls.testing.model_scenario import InOrder, UseTool, reply, say, use
from tests.editors.neovim.nvim import Nvim, neovim
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

LINKED = "local link = select(2, next(require('agent_ls.state').links)) return link and link.hello ~= nil"
SEEN = """
vim.cmd('redraw')
require('agent_ls.approvals').look()
return vim.tbl_map(function(held) return held.since ~= nil end, require('agent_ls.approvals').pending())
"""
READ = use("read", path="a.txt")
EDIT = use("edit", path="a.txt", edits=[{"old": "line 39\n", "new": "line thirty-nine\n"}])
TEXT = "".join(f"line {number}\n" for number in range(1, 101))


async def asked(nvim: Nvim) -> int:
    await nvim.until(LINKED)
    await nvim.lua("require('agent_ls').setup({ open_on_ask = false })")
    await nvim.agent("ask Change it")
    (number,) = await nvim.until_asked()
    await nvim.until("return next(require('agent_ls.state').drawn) ~= nil")
    return number


@pytest.mark.parametrize(
    ("away", "back"),
    [
        ("normal! 39Gzb", "normal! zz"),
        ("normal! 80Gzt", "normal! 39Gzz"),
        ("normal! gg", "normal! 39Gzz"),
        ("30,45fold | normal! 39Gzz", "normal! 39Gzozz"),
        ("tabnew", "tabprevious | normal! 39Gzz"),
        ("enew", "buffer a.txt | normal! 39Gzz"),
    ],
    ids=["cut by the edge", "above", "below", "in a fold", "in another tab page", "in no window"],
)
async def test_a_card_that_nobody_could_read_whole_was_not_seen_and_is_shown_first(away: str, back: str) -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home):
        file = home.workspace / "a.txt"
        file.write_text(TEXT)
        async with neovim(home, "a.txt") as nvim:
            await nvim.command(f"set hidden | {away}")
            number = await asked(nvim)
            assert await nvim.lua(SEEN) == [False]
            await nvim.agent(f"approve {number}")
            assert await nvim.notices() == [f"#{number} had not been on the screen; look at it, then say it again."]
            assert await nvim.lua("return vim.api.nvim_buf_get_name(0)") == f"agent-ls://request/{number}"
            assert file.read_text() == TEXT
            await nvim.command("close")
            await nvim.lua("require('agent_ls.approvals').find().since = nil")
            await nvim.command(back)
            assert await nvim.lua(SEEN) == [True]
            await nvim.answer(f"approve {number}")
            await nvim.until_ended()
            await nvim.until("return vim.fn.getbufline('a.txt', 39)[1] == 'line thirty-nine'")


async def test_a_long_card_in_the_transcript_was_seen_when_it_was_scrolled_through() -> None:
    long = use("shell", command="\n".join(f"echo {number}" for number in range(100)))
    async with scene(InOrder([long])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Run it")
        (number,) = await nvim.until_asked()
        await nvim.until_shows(f"┃ :Agent approve {number}")
        assert await nvim.lua(SEEN) == [False]
        await nvim.lua("vim.fn.win_gotoid(require('agent_ls.window').windows()[1])")
        await nvim.command("normal! gg")
        seen = [await nvim.lua(SEEN)]
        while await nvim.lua("return vim.fn.line('w$') < vim.fn.line('$')"):
            await nvim.command("normal! \x06")
            seen.append(await nvim.lua(SEEN))
        assert seen == [[False]] * (len(seen) - 1) + [[True]]


async def test_of_several_cards_beneath_one_line_none_is_meant_without_its_number_and_they_stand_in_order() -> None:
    calls = reply(*(UseTool("shell", {"command": f"echo {name} >> ran"}) for name in ("one", "two", "three", "four")))
    async with scene(InOrder([calls, say("Done.")])) as (_, home):
        (home.workspace / "a.txt").write_text("a\nb\n")
        async with neovim(home, "a.txt") as nvim:
            await nvim.until(LINKED)
            await nvim.lua("require('agent_ls').setup({ open_on_ask = false })")
            await nvim.agent("ask Run them")
            first, second, third, fourth = await nvim.until_asked(4)
            await nvim.until("return vim.tbl_count(require('agent_ls.state').drawn) == 4")
            heads = [card[3][0] for card in await nvim.cards()]
            assert heads == [f"╭ #{number}  Run a command" for number in (first, second, third, fourth)]
            await nvim.agent("approve")
            assert await nvim.notices() == ["4 wait for you; say which: `:Agent pending`."]
            await nvim.answer(f"deny {second}")
            await nvim.until("return vim.tbl_count(require('agent_ls.state').drawn) == 3")
            assert [card[3][0] for card in await nvim.cards()] == [heads[0], heads[2], heads[3]]
            assert lines(home.workspace / "ran") == []
