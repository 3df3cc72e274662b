"""Getting it to run: the ways of loading that the guide names, options, what is missing, and what a statusline sees."""

import os
from typing import Any

import pytest

from agent_ls.testing.model_scenario import Gate, Http, InOrder, Say, Wait, reply, say, use
from tests.editors.neovim.nvim import BIN, PLUGIN, neovim
from tests.scene import scene

pytestmark = pytest.mark.anyio

# Each as the guide has it; what a manager does before and after is written out.
BY_HAND = f"vim.opt.runtimepath:append('{PLUGIN}')"
LAZY = f"""
-- lazy.nvim: Neovim loads no plugin itself, the folder is put into the path, and its scripts are sourced at once.
vim.go.loadplugins = false
vim.opt.runtimepath:prepend('{PLUGIN}')
vim.cmd.source('{PLUGIN}/plugin/agent_ls.lua')
"""
PACK = f"""
-- Neovim 0.12: `vim.pack.add` clones into this place and calls `packadd`; here it is there already.
local site = vim.fn.stdpath('data') .. '/site/pack/core/opt'
vim.fn.mkdir(site, 'p')
vim.uv.fs_symlink('{PLUGIN.parents[1]}', site .. '/agent-ls')
vim.pack = {{ add = function(specs) vim.cmd.packadd({{ specs[1].name, bang = true }}) end }}
vim.pack.add({{ {{ src = 'file:///somewhere', name = 'agent-ls' }} }})
vim.opt.runtimepath:append(vim.fn.stdpath('data') .. '/site/pack/core/opt/agent-ls/editors/neovim')
vim.cmd.runtime('plugin/agent_ls.lua')
"""
MODULES = (
    "return vim.tbl_filter(function(one) return vim.startswith(one, 'agent_ls') end, vim.tbl_keys(package.loaded))"
)
REPORT = "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')"


@pytest.mark.parametrize("init", [BY_HAND, LAZY, PACK], ids=["by hand", "lazy.nvim", "vim.pack"])
async def test_loaded_as_the_guide_says_it_answers_and_before_that_hardly_anything_was_loaded(init: str) -> None:
    async with scene(InOrder([say("Hello!")])) as (_, home):
        data = home.root / "data"
        async with neovim(home, init=init, XDG_DATA_HOME=os.fspath(data)) as nvim:
            assert await nvim.lua(MODULES) == ["agent_ls.keys"]
            await nvim.agent("ask Say hello")
            await nvim.until_ended()
            await nvim.until_shows("Hello!")
            assert await nvim.notices() == []
            assert "rror" not in await nvim.lua("return vim.fn.execute('messages')")


async def test_the_help_is_found_once_its_tags_are_made() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        # Not in the copy that others work in.
        (home.root / "doc").mkdir()
        (home.root / "doc" / "agent_ls.txt").write_bytes((PLUGIN / "doc" / "agent_ls.txt").read_bytes())
        await nvim.lua("vim.opt.runtimepath:prepend(...) vim.cmd.helptags(... .. '/doc')", os.fspath(home.root))
        for tag in ("agent-ls", ":Agent", "agent-ls-keys", "agent-ls-options", "agent-ls-status"):
            await nvim.command(f"help {tag}")
            assert await nvim.lua("return vim.fs.basename(vim.api.nvim_buf_get_name(0))") == "agent_ls.txt"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("'agent-ls'", "agent-ls: the options have to be a table; see :help agent-ls-options."),
        ("false", "agent-ls: the options have to be a table; see :help agent-ls-options."),
        ("{ 'agent-ls' }", "agent-ls has no option `1`; see :help agent-ls-options."),
        ("{ colour = 'red' }", "agent-ls has no option `colour`; see :help agent-ls-options."),
        *(
            (
                f"{{ cmd = {cmd} }}",
                "agent-ls: the option `cmd` has to be a list of words such as { 'agent-ls', 'connect' }.",
            )
            for cmd in ("'agent-ls'", "{}", "{ 1 }", "{ '' }", "{ a = 'b' }", "true")
        ),
        ("{ root_markers = '.git' }", "agent-ls: the option `root_markers` has to be a list of file names."),
        ("{ folded = 'yes' }", "agent-ls: the option `folded` has to be true or false."),
        ("{ auto_start = 1 }", "agent-ls: the option `auto_start` has to be true or false."),
        ("{ beside_from = -1 }", "agent-ls: the option `beside_from` has to be a whole number of columns."),
        ("{ card_lines = 0 / 0 }", "agent-ls: the option `card_lines` has to be a whole number of lines, 2 or more."),
        (
            "{ card_lines = math.huge }",
            "agent-ls: the option `card_lines` has to be a whole number of lines, 2 or more.",
        ),
    ],
)
async def test_a_wrong_option_is_one_sentence_and_changes_nothing(options: str, said: str) -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        before = await nvim.lua("return require('agent_ls.config').options")
        await nvim.lua(f"require('agent_ls').setup({options})")
        assert await nvim.notices() == [said]
        assert await nvim.lua("return require('agent_ls.config').options") == before


async def test_setup_may_be_called_twice_and_late_the_last_call_counts_and_there_is_one_link() -> None:
    async with scene(InOrder([])) as (_, home):
        (home.workspace / "a.txt").write_text("one\n")
        async with neovim(home, "a.txt") as nvim:
            for _ in range(2):
                await nvim.lua(
                    "require('agent_ls').setup({ card_lines = 12 }) require('agent_ls').setup({ folded = false })"
                )
                await nvim.until("return next(require('agent_ls.state').links) ~= nil")
            options = await nvim.lua("return require('agent_ls.config').options")
            assert (options["card_lines"], options["folded"]) == (30, False)
            assert await nvim.lua("return #vim.lsp.get_clients({ name = 'agent_ls', _uninitialized = true })") == 1
            assert await nvim.notices() == []
            groups = "return #vim.api.nvim_get_autocmds({ group = 'agent_ls_live', event = 'FileChangedShell' })"
            assert await nvim.lua(groups) == 1


async def test_in_a_folder_that_was_deleted_files_open_and_a_question_is_one_sentence() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        gone = home.folder("gone")
        (home.root / "loose.txt").write_text("one\n")
        await nvim.command(f"cd {gone}")
        gone.rmdir()
        await nvim.command(f"edit {home.root}/loose.txt")
        await nvim.agent("ask Hello")
        assert await nvim.notices() == ["The folder you are in is gone; `:cd` to one that is there."]
        assert "rror" not in await nvim.lua("return vim.fn.execute('messages')")


NO_MODEL = """
provider = "nowhere"

[providers.nowhere]
kind = "openai-compatible"
base_url = "http://127.0.0.1:9/v1"
"""


@pytest.mark.parametrize("kind", ["no program", "no model", "all is well"])
async def test_the_health_check_says_what_is_missing_and_what_to_do(kind: str) -> None:
    async with scene(InOrder([])) as (_, home):
        (home.workspace / "a.txt").write_text("one\n")
        if kind == "no model":
            home.config.write_text("")
        program = "/nowhere/agent-ls" if kind == "no program" else os.fspath(BIN / "agent-ls")
        async with neovim(home, "a.txt", AGENT_LS_CMD=program) as nvim:
            await nvim.command("checkhealth agent_ls")
            report = await nvim.lua(REPORT)
            expected = {
                "no program": "agent-ls was not found. Run `make install` in its folder",
                "no model": "ERROR no model is ready",
                "all is well": "OK a model is ready: scripted, model scripted-1",
            }
            assert expected[kind] in report
            # A workspace that is only just joined is waited for.
            assert ("daemon pid" in report) is (kind != "no program")


async def test_a_key_that_is_refused_is_told_with_what_to_do() -> None:
    refused = Http(status=401, body={"error": {"message": "Incorrect API key provided"}})
    async with scene(InOrder([refused, say("Here.")])) as (server, home), neovim(home) as nvim:
        await nvim.agent("ask Hello")
        await nvim.until_ended()
        shown = await nvim.until_shows("▲ Correct it, run `agent-ls restart`, and send the message again.")
        assert "Set the key of provider 'scripted' in config.toml" in shown[-2]
        await nvim.agent("retry")
        await nvim.until_ended(2)
        await nvim.until_shows("Here.")
        assert len(server.requests) == 2


async def test_a_model_that_is_asked_again_is_counted_down_and_can_be_hurried() -> None:
    busy = Http(status=429, body={"error": {"message": "Slow down"}}, headers={"Retry-After": "50"})
    async with scene(InOrder([busy, say("Here.")])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Hello")
        await nvim.until_shows("Asking again after 50 s (1 of 3).")
        said = await nvim.until("return require('agent_ls').status():match('^agent: asks again in %d+ s$')")
        assert "asks again in" in await nvim.lua(WINBAR)
        # The clock goes on by itself.
        await nvim.until(f"return require('agent_ls').status() ~= '{said}'")
        assert await nvim.lua("return require('agent_ls').status():match('^agent: asks again in %d+ s$') ~= nil")
        await nvim.agent("hurry")
        await nvim.until_ended()
        await nvim.until_shows("Here.")
        assert await nvim.lua("return require('agent_ls').status()") == "agent: idle"
        await nvim.until("return require('agent_ls.state').counting == false")


async def test_what_a_statusline_and_user_autocommands_are_told() -> None:
    gate = Gate()
    answers = [reply(Say("Wor"), Wait(gate), Say("king")), use("shell", command="echo x >> ran"), say("Done.")]
    async with scene(InOrder(answers)) as (_, home), neovim(home) as nvim:
        status = "return require('agent_ls').status()"
        assert await nvim.lua(status) == ""
        await nvim.agent("ask Work")
        await nvim.until_shows("Wor")
        assert await nvim.lua(status) == "agent: running"
        gate.open()
        await nvim.until_ended()
        assert await nvim.until(f"return ((function() {status} end)()) == 'agent: idle'")
        await nvim.agent("ask Run it")
        (number,) = await nvim.until_asked()
        assert await nvim.until(f"return ((function() {status} end)()) == 'agent: waits for you · 1 to answer'")
        await nvim.answer(f"deny {number}")
        await nvim.until_ended(2)
        fired: list[tuple[str, dict[str, Any]]] = await nvim.lua("return _G.fired")
        by_name = {name: [data for told, data in fired if told == name] for name, _ in fired}
        conversation = by_name["AgentLsAttached"][0]["conversation"]
        assert by_name["AgentLsAttached"] == [{"conversation": conversation}]
        assert by_name["AgentLsRequest"] == [
            {"number": number, "title": "$ echo x >> ran", "conversation": conversation}
        ]
        assert by_name["AgentLsEnded"] == [
            {"run": f"{conversation}.r1", "status": "completed"},
            {"run": f"{conversation}.r2", "status": "completed"},
        ]
        said = {data["status"] for data in by_name["AgentLsChanged"]}
        assert {"agent: running", "agent: waits for you · 1 to answer", "agent: idle"} <= said


async def test_a_plugin_that_has_replaced_notify_and_fails_is_its_own_error_and_stops_nothing() -> None:
    async with scene(InOrder([say("Hello!")])) as (_, home), neovim(home) as nvim:
        await nvim.lua("vim.notify = function() error('broken') end")
        await nvim.lua("pcall(vim.cmd, 'Agent mode edits')")
        await nvim.agent("ask Hello")
        await nvim.until_ended()
        await nvim.until_shows("Hello!")


WINBAR = """
local window = require('agent_ls.window').windows()[1]
return vim.api.nvim_eval_statusline(vim.wo[window].winbar, { winid = window, use_winbar = true }).str
"""
