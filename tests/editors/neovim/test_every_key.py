"""Each command, each map and each key is driven by a test: one that is new and has none fails here.

Owns the table of what each key does. What a word of `:Agent` does is in the other tests of this folder, which are
looked through for it.
"""

import re
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from agent_ls.testing.model_scenario import InOrder, Say, UseTool, reply, say, use
from tests.editors.neovim.nvim import Nvim, neovim
from tests.scene import scene

pytestmark = pytest.mark.anyio

HERE: Final = Path(__file__)

# What a map says to `:Agent`, or leaves on the command line for the person to finish.
PLUGS: Final = {
    "toggle": "",
    "prompt": "prompt",
    "stop": "stop",
    "resume": "resume",
    "approve": "approve",
    "approve-conversation": "approve conversation",
    "approve-workspace": "approve workspace",
    "edit": "edit",
    "answer": "answer",
    "plan": "plan",
    "show": "show",
    "pending": "pending",
    "next": "next",
    "previous": "previous",
    "review": "review",
    "conversations": "conversations",
}
BEGUN: Final = {"ask": "Agent ask ", "deny": "Agent deny "}

# The keys of each buffer of ours; each is pressed in a test, here or in the one that is named.
PLACES: Final = {
    "transcript": {"<CR>": "test_words", "i": "", "q": "test_hands"},
    "prompt": {
        "<CR>": "test_prompt",
        "<C-S>": "test_prompt",
        "i <C-S>": "test_prompt",
        ",q": "",
        ",s": "",
        ",x": "",
        "<C-Up>": "",
        "i <C-Up>": "test_prompt",
        "<C-Down>": "",
        "i <C-Down>": "test_prompt",
        "q": "test_prompt",
    },
    "review": {"a": "test_review", "x": "test_review", "A": "", "X": "", "c": "test_review", "d": "test_review"},
    "diff": {"q": "test_review"},
    "show": {"q": ""},
    "edit": {"<CR>": "test_answers", "q": "test_answers"},
    "question": {"1": "", "2": "test_questions", "i": "", "d": "", "q": "test_questions"},
    "questions": {
        **{str(number): "test_questions" for number in range(1, 10)},
        "<Tab>": "test_questions",
        "<S-Tab>": "test_questions",
        "<CR>": "test_questions",
        "i": "test_questions",
        "d": "",
        "q": "",
    },
    "plan": {"a": "", "e": "test_answers", "c": "", "d": "", "q": ""},
    "conversations": {"<CR>": "test_commands", "q": ""},
    "queue": {"p": "test_words", "e": "test_words", "x": "test_words", "q": ""},
    "locks": {"t": "test_review", "q": ""},
    "rules": {"x": "test_review", "q": ""},
    "log": {"q": ""},
    "notices": {"q": ""},
}


async def test_each_word_of_agent_is_said_by_a_test() -> None:
    texts = "\n".join(file.read_text() for file in HERE.parent.glob("test_*.py") if file != HERE)
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        verbs = await nvim.lua(
            "return vim.tbl_map(function(verb) return verb[1] end, require('agent_ls.commands').TABLE)"
        )
    said = set(re.findall(r"""(?:agent|answer)\(\s*f?"([a-z]+)|Agent ([a-z]+)""", texts))
    looped = re.findall(r"""for \w+ in \(((?:"[a-z]+", )+"[a-z]+")\):""", texts)
    known = {word for pair in said for word in pair if word}
    known |= {word for line in looped for word in re.findall("[a-z]+", line)}
    assert sorted(set(verbs) - known) == []


async def test_each_map_says_its_word_and_there_is_no_other_one() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        names = await nvim.lua("return vim.tbl_map(function(plug) return plug[1] end, require('agent_ls.keys').PLUGS)")
        assert sorted(names) == sorted({**PLUGS, **BEGUN})
        await nvim.lua(RECORDED)
        for name, words in PLUGS.items():
            await nvim.lua(PRESS, f"<Plug>(agent-ls-{name})")
            assert await nvim.lua("return table.remove(_G.said)") == words, name
        for name, line in BEGUN.items():
            await nvim.call("nvim_input", f"<Plug>(agent-ls-{name})")
            await nvim.until("return vim.api.nvim_get_mode().mode == 'c'")
            assert await nvim.lua("return vim.fn.getcmdline()") == line
            await nvim.call("nvim_input", "<C-c>")
            await nvim.until("return vim.api.nvim_get_mode().mode == 'n'")
        await nvim.call("nvim_input", "V<Plug>(agent-ls-ask)why?<CR>")
        await nvim.until("return _G.said[1] ~= nil")
        assert await nvim.lua("return { _G.said[1], _G.ranges[#_G.ranges] }") == ["ask why?", 2]


async def test_the_two_keys_are_set_unless_they_are_taken_or_not_wanted() -> None:
    keys = "return { vim.fn.maparg(']g', 'n'), vim.fn.maparg('[g', 'n') }"
    plugin = "vim.cmd('runtime plugin/agent_ls.lua')"
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        assert await nvim.lua(keys) == ["<Plug>(agent-ls-next)", "<Plug>(agent-ls-previous)"]
        await nvim.lua(f"{CLEARED} vim.keymap.set('n', ']g', 'dd') {plugin}")
        assert await nvim.lua(keys) == ["dd", "<Plug>(agent-ls-previous)"]
        await nvim.lua(f"{CLEARED} vim.keymap.set('n', '<Leader>n', '<Plug>(agent-ls-next)') {plugin}")
        assert await nvim.lua(keys) == ["", "<Plug>(agent-ls-previous)"]
        await nvim.lua(f"{CLEARED} vim.g.agent_ls_no_maps = true {plugin}")
        assert await nvim.lua(keys) == ["", ""]


COLOUR = {
    "id": "colour",
    "text": "Which colour?",
    "options": [{"id": "r", "label": "red"}, {"id": "b", "label": "blue"}],
}
QUESTION = UseTool("ask", {"questions": [COLOUR]})
QUESTIONS = UseTool("ask", {"questions": [COLOUR, {"id": "name", "text": "Whose?", "free": True}]})
TWO = [{"old": "two", "new": "2"}, {"old": "twelve", "new": "12"}]
TEXT = "one\ntwo\nthree\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve\n"


async def test_each_key_of_each_buffer_is_known_here() -> None:
    answers = [
        use("read", path="a.txt"),
        use("edit", path="a.txt", edits=TWO),
        reply(Say("."), UseTool("shell", {"command": "/bin/mkdir x"})),
        reply(QUESTION),
        reply(QUESTIONS),
        use("plan", markdown="# Plan"),
    ]
    async with scene(InOrder(answers)) as (_, home):
        (home.workspace / "a.txt").write_text(TEXT)
        async with neovim(home, "a.txt", lines=60) as nvim:
            await nvim.lua("vim.g.maplocalleader = ','")
            found: dict[str, set[str]] = {}
            look = partial(seen, nvim, found)
            await nvim.agent("mode edits")
            await nvim.agent("ask Go")
            (command,) = await nvim.until_asked()
            await look("transcript", TO_TRANSCRIPT, until="return vim.bo.filetype == 'agent-ls'")
            await look("prompt", "Agent prompt", until=named("prompt"))
            await look("edit", f"Agent edit {command}", until=named("edit"))
            await look("show", f"Agent show {command}", until=named("request"))
            await nvim.answer(f"approve conversation {command}")
            (one,) = await nvim.until_asked(above=command)
            await look("question", "Agent answer", until=FLOATS)
            await nvim.command("close")
            await nvim.answer(f"answer {one} 1")
            (several,) = await nvim.until_asked(above=one)
            await look("questions", "Agent answer", until=FLOATS)
            await nvim.command("close")
            await nvim.answer(f"deny {several}")
            await nvim.until_asked(above=several)
            await look("plan", "Agent plan", until=FLOATS)
            await nvim.command("close")
            await look("locks", "lua require('agent_ls.verbs.lists').locks()", until="return true")
            for name in ("conversations", "rules", "log", "notices"):
                await look(name, f"Agent {name}", until=named(name))
            await nvim.agent("queue Later")
            await nvim.until("return #require('agent_ls.conversation').current().queue == 1")
            await look("queue", "Agent queue", until=named("queue"))
            await look("review", "Agent review", until="return vim.bo.buftype == 'quickfix'")
            await nvim.call("nvim_input", "ggd")
            await look("diff", until="return vim.fn.tabpagenr('$') == 2")
        # Nothing is held while the person is asked: its list is pressed in test_review.
        found["locks"] = set(PLACES["locks"])
        assert found == {place: set(keys) for place, keys in PLACES.items()}


@pytest.mark.parametrize("place", ["transcript", "prompt"])
async def test_the_keys_of_the_transcript_and_the_prompt(place: str) -> None:
    async with scene(InOrder([say("One.")])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask First")
        await nvim.until_ended()
        await nvim.lua("vim.g.maplocalleader = ','")
        await nvim.command(TO_TRANSCRIPT)
        await nvim.call("nvim_input", "i")
        await nvim.until(named("prompt"))
        if place == "transcript":
            return
        await nvim.call("nvim_input", "ddisaid<C-s><Esc>")
        await nvim.until("return vim.api.nvim_get_mode().mode == 'n' and vim.fn.getline(1) == ''")
        await nvim.call("nvim_input", "<C-Up>")
        await nvim.until("return vim.fn.getline(1) == 'said'")
        await nvim.call("nvim_input", "<C-Down>")
        await nvim.until("return vim.fn.getline(1) == ''")
        await nvim.lua("require('agent_ls.prompt').send = function(dispatch) _G.dispatch = dispatch end")
        for key, dispatch in (("q", "queue"), ("s", "steer")):
            await nvim.call("nvim_input", f",{key}")
            await nvim.until(f"return _G.dispatch == '{dispatch}'")
        await nvim.lua(RECORDED)
        await nvim.call("nvim_input", ",x")
        await nvim.until("return _G.said[1] == 'stop'")


async def test_the_keys_of_a_whole_file_in_the_review() -> None:
    answers = [use("read", path="a.txt"), use("edit", path="a.txt", edits=TWO), say("Done.")]
    for key, text in (("A", TEXT.replace("two", "2").replace("twelve", "12")), ("X", TEXT)):
        async with scene(InOrder(answers)) as (_, home):
            (home.workspace / "a.txt").write_text(TEXT)
            async with neovim(home, "a.txt") as nvim:
                await nvim.agent("mode edits")
                await nvim.agent("ask Change it")
                await nvim.until_ended()
                await nvim.agent("review")
                await nvim.until("return vim.bo.buftype == 'quickfix' and #vim.fn.getqflist() == 2")
                await nvim.call("nvim_input", key)
                await nvim.until("return #vim.fn.getqflist() == 0")
                await nvim.until("return _G.notices[#_G.notices] == 'Nothing is left to review.'")
                assert (home.workspace / "a.txt").read_text() == text


async def test_the_keys_of_a_question_and_of_a_plan() -> None:
    answers = [
        reply(QUESTION),
        reply(QUESTIONS),
        use("plan", markdown="# One"),
        use("plan", markdown="# Two"),
        use("plan", markdown="# Three"),
        say("Done."),
        say("Done."),
        say("Done."),
    ]
    async with scene(InOrder(answers)) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Go")
        (question,) = await nvim.until_asked()
        await begun(nvim, "answer", "i", f"Agent answer {question} ")
        await begun(nvim, "answer", "d", f"Agent deny {question} ")
        await nvim.agent("answer")
        await nvim.until(pressed("1"))
        (several,) = await nvim.until_asked(above=question)
        await begun(nvim, "answer", "d", f"Agent deny {several} ")
        await closed(nvim, "answer")
        await nvim.answer(f"deny {several}")
        (plan,) = await nvim.until_asked(above=several)
        await begun(nvim, "plan", "d", f"Agent deny {plan} ")
        await closed(nvim, "plan")
        await nvim.agent("plan")
        await nvim.call("nvim_input", "c")
        await nvim.until(named("edit"))
        await nvim.command("close")
        await nvim.agent("plan")
        await nvim.until(pressed("a"))
        await nvim.until_shows("◌ Plan  · accepted")


@pytest.mark.parametrize("name", ["show", "conversations", "queue", "rules", "log", "notices"])
async def test_q_closes_each_list_and_decides_nothing(name: str) -> None:
    answers = [reply(UseTool("shell", {"command": "/bin/mkdir x"})), use("shell", command="/bin/mkdir y")]
    async with scene(InOrder(answers)) as (_, home), neovim(home) as nvim:
        await nvim.agent("mode ask")
        await nvim.agent("ask Go")
        (number,) = await nvim.until_asked()
        await nvim.answer(f"approve conversation {number}")
        (second,) = await nvim.until_asked(above=number)
        await nvim.agent("queue Later")
        await nvim.until("return #require('agent_ls.conversation').current().queue == 1")
        before = await nvim.lua("return #vim.api.nvim_list_wins()")
        await nvim.agent(f"show {second}" if name == "show" else name)
        await nvim.until(named("request" if name == "show" else name))
        await nvim.call("nvim_input", "q")
        await nvim.until(f"return #vim.api.nvim_list_wins() == {before}")
        assert await nvim.until_asked() == [second]


async def seen(nvim: Nvim, found: dict[str, set[str]], place: str, line: str = "", *, until: str) -> None:
    """Which keys there are in a buffer, once it is there."""
    await nvim.command(line)
    await nvim.until(until)
    found[place] = set(await nvim.lua(KEYS))


async def begun(nvim: Nvim, word: str, key: str, line: str) -> None:
    """A key that leaves a command line for the person to finish."""
    await nvim.agent(word)
    await nvim.call("nvim_input", key)
    await nvim.until("return vim.api.nvim_get_mode().mode == 'c'")
    assert await nvim.lua("return vim.fn.getcmdline()") == line
    await nvim.call("nvim_input", "<C-c>")
    await nvim.until("return vim.api.nvim_get_mode().mode == 'n'")


async def closed(nvim: Nvim, word: str) -> None:
    waiting = await nvim.until_asked()
    await nvim.agent(word)
    await nvim.until(FLOATS)
    await nvim.call("nvim_input", "q")
    await nvim.until("return vim.api.nvim_win_get_config(0).relative == ''")
    assert await nvim.until_asked() == waiting


def named(name: str) -> str:
    return f"return vim.startswith(vim.api.nvim_buf_get_name(0), 'agent-ls://{name}')"


def pressed(key: str) -> str:
    """Until it is taken: in the first moment after a card came it is not."""
    return f"""
    local first = _G.first or require('agent_ls.approvals').pending()[1].request.number
    _G.first = first
    local function over()
      local now = require('agent_ls.approvals').pending()[1]
      return not now or now.request.number ~= first
    end
    if not over() then vim.api.nvim_feedkeys('{key}', 'xt', false) vim.wait(100, over, 10) end
    if over() then _G.first = nil return true end
    """


FLOATS = "return vim.api.nvim_win_get_config(0).relative == 'editor'"
TO_TRANSCRIPT = "lua vim.fn.win_gotoid(require('agent_ls.window').windows()[1])"
KEYS = """
local found = {}
for _, mode in ipairs({ 'n', 'i' }) do
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(0, mode)) do
    -- Those of filetypes that Neovim brings itself have no description of ours.
    if map.callback and map.desc and not map.desc:find('treesitter') and not vim.startswith(map.lhs, ']')
      and not vim.startswith(map.lhs, '[') and map.lhs ~= 'gO' or map.rhs and vim.startswith(map.rhs, '<Cmd>Agent') then
      table.insert(found, (mode == 'i' and 'i ' or '') .. map.lhs)
    elseif map.lhs == 'q' then
      table.insert(found, 'q')
    end
  end
end
return found
"""
RECORDED = """
_G.said, _G.ranges = {}, {}
require('agent_ls.commands').run = function(opts)
  table.insert(_G.said, opts.args)
  table.insert(_G.ranges, opts.range)
end
"""
PRESS = "vim.api.nvim_feedkeys(vim.keycode(...), 'xt', false)"
CLEARED = """
for _, key in ipairs({ ']g', '[g', '<Leader>n' }) do pcall(vim.keymap.del, 'n', key) end
vim.g.loaded_agent_ls = nil
"""
