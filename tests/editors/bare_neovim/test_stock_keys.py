"""Approvals in a real Neovim that has no plugin of ours: marked, read, answered with stock keys, never in the way."""

import pytest

from agent_ls.testing.model_scenario import ByConversation, InOrder, say, use
from tests.editors.bare_neovim.bare import bare_neovim
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

TEXT = "one\ntwo\nthree\n"
KEYS = "Dear agent, 1\r2 y\rn q :wq 3 a ?\r"


async def test_a_change_of_the_open_file_is_allowed_by_stock_code_action_and_made_in_the_buffer() -> None:
    answers = [
        use("read", path="a.txt"),
        use("edit", path="a.txt", edits=[{"old": "three", "new": "THREE"}]),
        use("write", path="b.txt", content="made\n"),
        say("Done."),
    ]
    async with scene(InOrder(answers)) as (_, home), home.editor(name="terminal") as asker:
        (home.workspace / "a.txt").write_text(TEXT)
        async with bare_neovim(home, "a.txt") as nvim:
            conversation = await asker.create(home.workspace)
            run_id = await asker.send(conversation, "Go.")
            first, second = 1, 2
            expected = [["a.txt", 2, "agent-ls", f"#{first} waits for your answer: Edit a.txt"]]
            assert await nvim.until_marked() == expected
            await nvim.call("nvim_win_set_cursor", 0, [3, 0])
            shown = await nvim.hovered()
            assert ("-three\n+THREE" in shown, f"#{first}" in shown) == (True, True)
            await nvim.choose(f"Allow once #{first}")
            await nvim.until("return vim.api.nvim_buf_get_lines(0, 2, 3, false)[1] == 'THREE'")
            # The next one makes a file that is not open: it is marked there and where the person is.
            assert sorted(mark[0] for mark in await nvim.until_marked(2)) == ["a.txt", "b.txt"]
            await nvim.choose(f"Allow once #{second}")
            await asker.until_ended(conversation, run_id)
        assert (home.workspace / "b.txt").read_text() == "made\n"
        assert [request["decidedFrom"] for request in conversation.requests.values()] == ["Neovim", "Neovim"]


async def test_a_denied_command_does_not_run() -> None:
    async with (
        scene(InOrder([use("shell", command="echo x >> ran"), say("Well.")])) as (_, home),
        home.editor() as asker,
    ):
        (home.workspace / "a.txt").write_text(TEXT)
        async with bare_neovim(home, "a.txt") as nvim:
            conversation = await asker.create(home.workspace)
            run_id = await asker.send(conversation, "Go.")
            await nvim.until_marked()
            await nvim.choose("Deny #1")
            await asker.until_ended(conversation, run_id)
        assert (lines(home.workspace / "ran"), await asker.pending()) == ([], [])


async def test_who_types_while_three_approvals_come_loses_no_key_and_decides_nothing() -> None:
    names = ("first", "second", "third")
    scenarios = {name: InOrder([use("shell", command=f"echo {name} >> ran")]) for name in names}
    async with scene(ByConversation(scenarios)) as (_, home), home.editor() as asker:
        (home.workspace / "a.txt").write_text("above\nbelow\n")
        async with bare_neovim(home, "a.txt") as nvim:
            await nvim.call("nvim_input", "o")
            for count, name in enumerate(names, 1):
                conversation = await asker.create(home.workspace)
                await nvim.call("nvim_input", KEYS)
                await asker.send(conversation, name)
                await nvim.call("nvim_input", KEYS)
                await nvim.until(f"return #vim.diagnostic.get() == {count}")
                await nvim.call("nvim_input", KEYS)
            expected = ["above", *("".join([KEYS] * 9).split("\r")), "below"]
            await nvim.until(f"return vim.api.nvim_buf_line_count(0) == {len(expected)}")
            assert await nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)") == expected
            assert (await nvim.mode(), len(await asker.pending())) == ("i", 3)
            assert await nvim.lua("return { #vim.api.nvim_list_wins(), #_G.notices }") == [1, 0]
