"""The agent asks a question, and the person answers it with `:Agent answer`."""

from typing import Any

import pytest

from agent_ls.core.spoken_answers import answers_to
from agent_ls.testing.model_scenario import Gate, InOrder, Say, UseTool, Wait, reply, say
from tests.editors.neovim.nvim import neovim
from tests.scene import scene

pytestmark = pytest.mark.anyio

COLOURS = [{"id": "r", "label": "red"}, {"id": "b", "label": "blue", "description": "like the sky"}]
ASK = UseTool("ask", {"questions": [{"id": "colour", "text": "Which colour?", "options": COLOURS, "free": True}]})

PRESSED_2 = """
local function over() return #require('agent_ls.approvals').pending() == 0 end
if not over() then vim.api.nvim_feedkeys('2', 'xt', false) vim.wait(100, over, 10) end
return over()
"""

# Until it is taken: in the first moment after a card came it is not.
ANSWER = """
local function over() return #require('agent_ls.approvals').pending() == 0 end
if not over() then vim.cmd('Agent answer 2') vim.wait(100, over, 10) end
return over()
"""


async def test_a_question_stands_in_the_transcript_and_a_number_alone_picks_an_option() -> None:
    async with scene(InOrder([reply(ASK), say("As you wish.")])) as (server, home), neovim(home) as nvim:
        await nvim.agent("ask Paint it")
        (number,) = await nvim.until_asked()
        shown = await nvim.until_shows("like the sky")
        assert shown[shown.index(f"┃ #{number}  Question: Which colour?") :] == [
            f"┃ #{number}  Question: Which colour?",
            "┃ Which colour?",
            "┃   1. red",
            "┃   2. blue: like the sky",
            f"┃ :Agent answer {number} 1 · or in your own words · :Agent deny {number} why",
        ]
        assert await nvim.cards() == []
        await nvim.until(ANSWER)
        await nvim.until_ended()
        assert "┃" not in "".join(await nvim.until_shows("As you wish."))
        assert "blue" in server.requests[1].body["messages"][-1]["content"]


async def test_an_answer_without_words_opens_the_question_in_a_window_and_closing_it_answers_nothing() -> None:
    async with scene(InOrder([reply(ASK), say("As you wish.")])) as (server, home), neovim(home) as nvim:
        await nvim.agent("answer")
        assert await nvim.notices() == ["Nothing waits for you."]
        await nvim.agent("ask Paint it")
        await nvim.until_asked()
        await nvim.agent("answer")
        assert await nvim.lua("return vim.api.nvim_win_get_config(0).relative") == "editor"
        assert await nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)") == [
            "Which colour?",
            "  1. red",
            "  2. blue: like the sky",
        ]
        await nvim.call("nvim_input", "q")
        await nvim.until("return vim.api.nvim_win_get_config(0).relative == ''")
        assert len(await nvim.until_asked()) == 1
        await nvim.agent("answer")
        await nvim.until(PRESSED_2)
        await nvim.until_ended()
        assert "blue" in server.requests[1].body["messages"][-1]["content"]
        assert await nvim.lua("return vim.api.nvim_win_get_config(0).relative") == ""


async def test_an_answer_means_the_question_although_a_command_waits_too() -> None:
    calls = reply(UseTool("shell", {"command": "/bin/echo hi"}), ASK)
    async with scene(InOrder([calls])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Paint it")
        command, question = await nvim.until_asked(2)
        await nvim.agent(f"answer {command} yes")
        await nvim.agent(f"approve {question}")
        assert await nvim.notices() == [
            f"#{command} is not a question: `:Agent approve {command}`.",
            f"#{question} is a question: `:Agent answer {question} …`.",
        ]
        pending = (
            "return vim.tbl_map(function(one) return one.request.number end, require('agent_ls.approvals').pending())"
        )
        await nvim.until(
            "vim.cmd('Agent answer blue') return vim.wait(100, function() return "
            "#require('agent_ls.approvals').pending() == 1 end, 10)"
        )
        assert await nvim.lua(pending) == [command]


SEVERAL = UseTool(
    "ask",
    {
        "questions": [
            {"id": "colour", "text": "Which colour?", "options": COLOURS},
            {"id": "walls", "text": "Which walls?", "multi": True, "options": [{"id": w, "label": w} for w in "nesw"]},
            {"id": "name", "text": "Whose is it?", "free": True},
        ]
    },
)


async def test_several_questions_are_answered_in_their_window_one_after_the_other() -> None:
    async with scene(InOrder([reply(SEVERAL), say("As you wish.")])) as (server, home), neovim(home) as nvim:
        await nvim.agent("ask Paint it")
        (number,) = await nvim.until_asked()
        shown = await nvim.until_shows("3  Whose is it?")
        assert shown[-1] == f"┃ :Agent answer {number} 1=… 2=… · :Agent deny {number} why"
        await nvim.agent("answer")
        await nvim.call("nvim_input", "21")
        await nvim.call("nvim_input", "39<CR>")
        await nvim.until("return #_G.notices == 1")
        assert await nvim.notices() == ["Question 3 has no answer yet; nothing is sent."]
        assert await nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)") == [
            "  1  Which colour?",
            "     ○ 1. red",
            "     ● 2. blue: like the sky",
            "",
            "  2  Which walls?",
            "     ● 1. n",
            "     ○ 2. e",
            "     ● 3. s",
            "     ○ 4. w",
            "",
            "▸ 3  Whose is it?",
            "     in your own words: i",
        ]
        # Back to the second, where a number that was picked is taken back; then the words.
        await nvim.call("nvim_input", "<S-Tab>14<Tab>i")
        await nvim.until("return vim.api.nvim_get_mode().mode == 'c'")
        assert await nvim.lua("return vim.fn.getcmdline()") == f"Agent answer {number} 1=2 2=3,4 3="
        await nvim.until(LONG_ENOUGH)
        await nvim.call("nvim_input", "Ann & 1 more<CR>")
        await nvim.until_nothing_waits()
        await nvim.until_ended()
        said = server.requests[1].results[-1][1]
        assert all(word in said for word in ("blue", "s; w", "Ann & 1 more")), said
        assert await nvim.lua("return vim.api.nvim_win_get_config(0).relative") == ""


async def test_where_several_may_be_picked_enter_sends_them() -> None:
    one = UseTool("ask", {"questions": [SEVERAL.arguments["questions"][1]]})  # type: ignore[index]
    async with scene(InOrder([reply(one), say("As you wish.")])) as (server, home), neovim(home) as nvim:
        await nvim.agent("ask Paint it")
        (number,) = await nvim.until_asked()
        assert (await nvim.until_shows("4. w"))[-1] == f"┃ :Agent answer {number} 1,2 · :Agent deny {number} why"
        await nvim.agent("answer")
        await nvim.call("nvim_input", "24")
        await nvim.until("return vim.api.nvim_buf_get_lines(0, 4, 5, false)[1] == '     ● 4. w'")
        await nvim.until(PRESSED_ENTER)
        await nvim.until_ended()
        assert "e; w" in server.requests[1].results[-1][1]


async def test_answers_are_spelled_as_in_the_terminal() -> None:
    async with scene(InOrder([])) as (_, home), neovim(home) as nvim:
        for said, request, wire in SPELLED:
            found = await nvim.lua("return { require('agent_ls.spelled').answers(...) }", request, said)
            assert tuple([*found, None][:2]) == answers_to(request, said) == wire, said


STYLE = {"id": "style", "options": [{"id": "a", "label": "Tabs"}, {"id": "b", "label": "Spaces"}]}
FILES = {"id": "files", "multi": True, "options": [{"id": "x", "label": "X"}, {"id": "y", "label": "Y"}]}
FREE = {**FILES, "free": True}
AGAIN = {
    "options": [
        {"id": "tell", "label": "Tell it", "decision": "answer"},
        {"id": "rerun", "label": "Run it again", "decision": "answer"},
    ]
}
SPELLED: list[tuple[str, dict[str, Any], tuple[dict[str, Any], str | None]]] = [
    ("2", {"questions": [STYLE]}, ({"style": "b"}, None)),
    ("spaces", {"questions": [STYLE]}, ({"style": "b"}, None)),
    ("style=2", {"questions": [STYLE]}, ({"style": "b"}, None)),
    ("3", {"questions": [STYLE]}, ({"style": "3"}, None)),
    ("1=2 2=in words, a=b", {"questions": [STYLE, {"id": "name"}]}, ({"style": "b", "name": "in words, a=b"}, None)),
    ("name=x 1=1", {"questions": [STYLE, {"id": "name"}]}, ({"name": "x", "style": "a"}, None)),
    ("tabs", {"questions": [STYLE, {"id": "name"}]}, ({"style": "a"}, None)),
    ("1, y", {"questions": [FILES]}, ({"files": ["x", "y"]}, None)),
    ("1 2", {"questions": [FILES]}, ({"files": ["x", "y"]}, None)),
    ("1, or so", {"questions": [FREE]}, ({"files": ["1, or so"]}, None)),
    ("2", AGAIN, ({"answer": "rerun"}, "rerun")),
    ("run it again", AGAIN, ({"answer": "rerun"}, "rerun")),
    ("neither", AGAIN, ({"answer": "neither"}, None)),
]

# In the first moment after a card came an answer is not taken.
LONG_ENOUGH = "local since = require('agent_ls.approvals').find().since return since and vim.uv.now() - since > 500"

PRESSED_ENTER = """
local function over() return #require('agent_ls.approvals').pending() == 0 end
if not over() then vim.api.nvim_feedkeys(vim.keycode('<CR>'), 'xt', false) vim.wait(100, over, 10) end
return over()
"""


async def test_what_was_said_before_a_stop_stands_before_it() -> None:
    said = reply(Say("Once upon a time"), Wait(Gate()))
    async with scene(InOrder([said])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Tell me")
        await nvim.until_shows("Once upon a time")
        await nvim.agent("stop")
        await nvim.until_ended()
        shown = await nvim.until_shows("▲ Stopped by")
        assert shown.index("Once upon a time") == len(shown) - 3
        await nvim.command("bwipeout! agent-ls://*")
        await nvim.agent()
        assert await nvim.shown() == shown


async def test_a_buffer_without_a_file_is_sent_as_text_alone() -> None:
    async with scene(InOrder([say("Two lines.")])) as (server, home), neovim(home) as nvim:
        await nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'first', 'second' })")
        await nvim.command("1,2Agent ask What is this?")
        await nvim.until_ended()
        shown = await nvim.until_shows("Two lines.")
        assert shown[2:4] == ["▌ What is this?", "▌ with selection:1-2"]
        assert "second" in str(server.requests[0].body)


async def test_conversations_are_completed_with_their_titles() -> None:
    async with scene(InOrder([say("One.")])) as (_, home), neovim(home) as nvim:
        await nvim.agent("ask Count the stars")
        await nvim.until_ended()
        (found,) = await nvim.until(
            "local found = vim.fn.getcompletion('Agent attach ', 'cmdline') "
            "return found[1] and found[1]:find('stars') and found"
        )
        await nvim.agent(f"attach {found}")
        await nvim.until_shows("One.")
        assert await nvim.notices() == []
