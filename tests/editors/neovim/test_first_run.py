"""Ask, read, edit, run: the first five minutes in a real Neovim, against a real daemon."""

import pytest

from agent_ls.testing.model_scenario import InOrder, say, use
from tests.editors.neovim.nvim import neovim
from tests.scene import scene

pytestmark = pytest.mark.anyio


async def test_from_a_question_to_a_changed_file_and_the_output_of_a_command() -> None:
    answers = [
        use("read", path="hello.py"),
        use("edit", path="hello.py", edits=[{"old": "wrold", "new": "world"}]),
        use("shell", command="cat hello.py"),
        say("Done: it greets the **world**."),
    ]
    async with scene(InOrder(answers)) as (_, home):
        file = home.workspace / "hello.py"
        file.write_text("# A greeting.\nprint('Hello, wrold!')\n")
        async with neovim(home, "hello.py") as nvim:
            await nvim.agent("ask Fix the greeting and show it")
            (edit,) = await nvim.until_asked()
            shown = await nvim.until_shows(f"waits for you: #{edit}")
            assert f":Agent approve {edit} · :Agent approve conversation {edit} · :Agent deny {edit} why" in shown[-1]
            await nvim.answer(f"approve {edit}")
            (command,) = await nvim.until_asked()
            await nvim.answer(f"approve {command}")
            await nvim.until_ended()
            shown = await nvim.until_shows("Done: it greets the **world**.")
            print("\n".join(shown)); print(await nvim.cards(), await nvim.notices()); assert shown == []
        assert file.read_text() == "# A greeting.\nprint('Hello, world!')\n"
