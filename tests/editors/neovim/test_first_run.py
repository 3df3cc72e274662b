"""Ask, read, edit, run: the first five minutes in a real Neovim, against a real daemon."""

import getpass

import pytest

from agent_ls.testing.editor import LIMIT_S
from agent_ls.testing.model_scenario import InOrder, Say, UseTool, reply, say, use
from tests.editors.neovim.nvim import neovim
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

TEXT = "# A greeting.\nprint('Hello, wrold!')\n"
READ = use("read", path="hello.py")
EDIT = use("edit", path="hello.py", edits=[{"old": "wrold", "new": "world"}])
COMMAND = use("shell", command="/bin/cat hello.py")
ME = getpass.getuser()


@pytest.mark.parametrize("kind", ["openai-compatible", "openai", "anthropic"])
async def test_from_a_question_to_a_changed_file_and_the_output_of_a_command(kind: str) -> None:
    answers = [READ, EDIT, COMMAND, say("Done: it greets the **world**.")]
    async with scene(InOrder(answers), kind=kind) as (_, home):
        file = home.workspace / "hello.py"
        file.write_text(TEXT)
        async with neovim(home, "hello.py") as nvim:
            await nvim.agent("ask Fix the greeting and show it")
            (edit,) = await nvim.until_asked()
            await nvim.command("normal! 2G")
            await nvim.lua(STOCK, f"Allow once #{edit}", int(LIMIT_S * 1000))
            (command,) = await nvim.until_asked(above=edit)
            await nvim.answer(f"approve {command}")
            await nvim.until_ended()
            assert await nvim.until_shows("Done: it greets the **world**.") == [
                "# Fix the greeting and show it",
                "",
                "▌ Fix the greeting and show it",
                "",
                "● read hello.py  · 2 lines",
                "│ # A greeting.",
                "│ print('Hello, wrold!')",
                f"● edit hello.py  +1 -1  · allowed by {ME} in neovim",
                "┆ @@ -1,2 +1,2 @@",
                "┆  # A greeting.",
                "┆ -print('Hello, wrold!')",
                "┆ +print('Hello, world!')",
                f"● $ /bin/cat hello.py  · 2 lines · allowed by {ME} in neovim",
                "│ # A greeting.",
                "│ print('Hello, world!')",
                "",
                "Done: it greets the **world**.",
            ]
            assert await nvim.cards() == []
            assert await nvim.lua("return require('agent_ls').status()") == "agent: idle"
            # The file was open: it was changed in its buffer, and saved there.
            assert (
                await nvim.lua("return vim.fn.getbufline('hello.py', 1, '$')")
                == TEXT.replace("wrold", "world").splitlines()
            )
            assert await nvim.lua("return vim.bo[vim.fn.bufnr('hello.py')].modified") is False
        assert file.read_text() == TEXT.replace("wrold", "world")


async def test_a_change_is_shown_on_its_first_line_and_the_answer_is_a_stock_code_action() -> None:
    async with scene(InOrder([READ, EDIT, say("Done.")])) as (_, home):
        (home.workspace / "hello.py").write_text(TEXT)
        async with neovim(home, "hello.py") as nvim:
            await nvim.agent("ask Fix it")
            (edit,) = await nvim.until_asked()
            await nvim.until("return require('agent_ls.approvals').find() ~= nil")
            assert await nvim.cards() == [
                [
                    "hello.py",
                    1,
                    "AgentLsCard",
                    [
                        f"╭ #{edit}  Edit hello.py",
                        "│ @@ -1,2 +1,2 @@",
                        "│  # A greeting.",
                        "│ -print('Hello, wrold!')",
                        "│ +print('Hello, world!')",
                        "│ Allow for this conversation: keeps the rule edit(hello.py)",
                        "│ Allow in this workspace: keeps the rule edit(hello.py)",
                        f"╰ :Agent approve [conversation|workspace] {edit} · :Agent edit {edit} "
                        f"· :Agent deny {edit} why",
                    ],
                ]
            ]
            await nvim.command("normal! 2G")
            await nvim.lua(STOCK, f"Allow once #{edit}", int(LIMIT_S * 1000))
            await nvim.until_ended()
            shown = await nvim.until_shows("Done.")
            assert f"● edit hello.py  +1 -1  · allowed by {ME} in neovim" in shown
            assert await nvim.cards() == []


async def test_denied_with_a_reason_nothing_runs_and_the_model_is_told_why() -> None:
    async with scene(InOrder([use("shell", command="echo x >> ran"), say("As you like.")])) as (server, home):
        async with neovim(home) as nvim:
            await nvim.agent("ask Run it")
            (number,) = await nvim.until_asked()
            await nvim.answer(f"deny {number} use the other file")
            await nvim.until_ended()
            shown = await nvim.until_shows("As you like.")
            assert [line for line in shown if "echo x" in line] == [
                f"⊘ $ echo x >> ran  · 1 line · denied by {ME} in neovim"
            ]
        assert lines(home.workspace / "ran") == []
        assert "use the other file" in server.requests[-1].results[-1][1]


async def test_an_answer_in_the_first_moment_is_not_taken_and_an_unseen_card_is_shown_first() -> None:
    async with (
        scene(InOrder([use("shell", command="echo x >> ran"), say("Done.")])) as (_, home),
        home.editor(name="terminal") as asker,
    ):
        (home.workspace / "a.txt").write_text("a\n")
        async with neovim(home, "a.txt") as nvim:
            conversation = await asker.create(home.workspace)
            run_id = await asker.send(conversation, "Go.")
            (number,) = await nvim.until_asked()
            # As if it had come this very moment, and then as if it stood where nobody has looked.
            held = f"require('agent_ls.approvals').find({number})"
            await nvim.lua(f"{held}.since = vim.uv.now() vim.cmd('Agent approve {number}')")
            assert await nvim.notices() == [f"#{number} has only just come up; look at it, then say it again."]
            assert [request["number"] for request in await asker.pending()] == [number]
            await nvim.lua(
                f"{held}.since = nil local look = require('agent_ls.approvals').look "
                "require('agent_ls.approvals').look = function() end "
                f"vim.cmd('Agent approve {number}') require('agent_ls.approvals').look = look"
            )
            assert (await nvim.notices())[-1] == f"#{number} had not been on the screen; look at it, then say it again."
            assert await nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)") == [
                f"┃ #{number}  Run a command",
                "┃ $ echo x >> ran",
                f"┃ in {home.workspace}",
                f"┃ :Agent approve {number} · :Agent edit {number} · :Agent deny {number} why",
            ]
            await nvim.answer("approve")
            await asker.until_ended(conversation, run_id)
        assert lines(home.workspace / "ran") == ["x"]


async def test_a_card_shows_by_name_what_would_not_be_seen() -> None:
    trick = use("shell", command="echo \u202etxt\x1b[1A # \u3164")
    async with scene(InOrder([trick, say("Well.")])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Run it")
        (number,) = await nvim.until_asked()
        shown = await nvim.until_shows(f"waits for you: #{number}")
        at = shown.index(f"┃ #{number}  Run a command")
        assert (shown[at + 1], shown[at + 3]) == (
            "┃ $ echo ⟨U+202E⟩txt⟨U+001B⟩[1A # ⟨U+3164⟩",
            "┃ Holds characters that would not be seen; they are shown by name: ⟨U+202E⟩, ⟨U+001B⟩, ⟨U+3164⟩.",
        )


async def test_what_the_model_says_cannot_pass_for_a_card_or_for_the_person() -> None:
    answer = reply(Say("┃ #9  Run a command\n▌ yes, do it\n"), Say("● edit all\n- fine"))
    async with scene(InOrder([answer])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Hello")
        await nvim.until_ended()
        shown = await nvim.until_shows("- fine")
        assert shown[-4:] == [" ┃ #9  Run a command", " ▌ yes, do it", " ● edit all", "- fine"]


async def test_stop_ends_the_run_and_says_who_did_it() -> None:
    calls = reply(UseTool("shell", {"command": "/bin/echo one"}))
    async with scene(InOrder([calls])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Go")
        await nvim.until_asked()
        await nvim.agent("stop")
        await nvim.until_ended()
        await nvim.until_nothing_waits()
        await nvim.until_shows(f"▲ Stopped by {ME} in neovim.")
        await nvim.agent("stop")
        assert (await nvim.notices())[-1] == "Nothing is running here."


async def test_a_selection_goes_with_the_question() -> None:
    async with scene(InOrder([say("A greeting.")])) as (server, home):
        (home.workspace / "hello.py").write_text(TEXT)
        async with neovim(home, "hello.py") as nvim:
            await nvim.command("2,2Agent ask What is this?")
            await nvim.until_ended()
            shown = await nvim.until_shows("A greeting.")
            assert shown[2:4] == ["▌ What is this?", "▌ with hello.py:2"]
        assert "print('Hello, wrold!')" in str(server.requests[0].body)


STOCK = """
local title, limit = ...
local held = require('agent_ls.approvals').find()
vim.wait(limit, function() return vim.uv.now() - (held.since or vim.uv.now()) > 500 end, 10)
vim.lsp.buf.code_action({ apply = true, filter = function(action) return action.title == title end })
vim.wait(limit, function() return not require('agent_ls.approvals').find(held.request.number) end, 10)
"""
