"""One conversation in two windows: answered in one, retracted in the other with who did it."""

import getpass

import pytest
from playwright.async_api import expect

from agent_ls.testing.model_scenario import Say, Wait, reply, say, use
from tests.editors.neovim.nvim import neovim
from tests.editors.vscode.stage import Stage
from tests.editors.vscode.window import Window, window

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]

ME = getpass.getuser()


async def test_two_windows_of_vs_code_show_one_conversation(scenery: Stage, vscode: Window) -> None:
    gate = scenery.server.gate("two windows")
    scenery.answers(
        "Seen by two windows",
        use("shell", command="echo two >> two.txt"),
        reply(Say("Seen "), Wait(gate), Say("by both.")),
    )
    await vscode.ask("Seen by two windows")
    await vscode.chat().locator(".card").wait_for()
    async with window(scenery.browser, scenery.code, scenery.home.workspace) as other:
        await other.show_agent()
        await expect(other.chat().locator("header .title")).to_have_text("Seen by two windows")
        await other.allow_in_chat("Run a command")
        await expect(vscode.chat().locator(".call")).to_contain_text(f"allowed by {ME} in vscode")
        await expect(vscode.said).to_contain_text(f"allowed by {ME} in vscode")
        for one in (vscode, other):
            await expect(one.status).to_contain_text("running")
            await expect(one.chat().locator(".in-flight")).to_have_text("Seen")
        gate.open()
        for one in (vscode, other):
            await expect(one.chat().locator(".said")).to_have_text("Seen by both.")
    assert (scenery.home.workspace / "two.txt").read_text() == "two\n"


async def test_what_is_half_written_is_in_the_input_of_the_next_window(scenery: Stage, vscode: Window) -> None:
    scenery.answers("Half written", say("Well."))
    await vscode.ask("Half written")
    await expect(vscode.chat().locator(".said")).to_have_text("Well.")
    async with window(scenery.browser, scenery.code, scenery.home.workspace) as other:
        await other.show_agent()
        # A second window remembers what the second window showed last.
        await other.open_conversation("Half written")
        await vscode.chat().locator("textarea").fill("Half a thou")
        await expect(other.chat().locator("textarea")).to_have_value("Half a thou")
        await vscode.chat().locator("textarea").fill("")
        await expect(other.chat().locator("textarea")).to_have_value("")


async def test_what_neovim_allows_is_retracted_in_vs_code_and_the_other_way_round(
    scenery: Stage, vscode: Window
) -> None:
    file = scenery.file("both.py", "x = 1\n")
    scenery.answers(
        "Seen by Neovim",
        use("read", path="both.py"),
        use("edit", path="both.py", edits=[{"old": "x = 1", "new": "x = 2"}]),
        use("shell", command="echo nvim >> nvim.txt"),
        say("Both have answered."),
    )
    editor = await vscode.file("both.py")
    await vscode.ask("Seen by Neovim")
    await expect(editor.locator(".review-widget")).to_be_visible()
    async with neovim(scenery.home) as nvim:
        await nvim.agent("attach")
        (edit,) = await nvim.until_asked()
        await expect(vscode.chat().locator("header")).to_contain_text("also in neovim")
        await nvim.answer(f"approve {edit}")
        await expect(editor.locator(".review-widget")).to_have_count(0)
        await expect(vscode.said).to_contain_text(f"#{edit} allowed by {ME} in neovim")
        await expect(vscode.chat().locator(".call", has_text="edit both.py")).to_contain_text(
            f"allowed by {ME} in neovim"
        )
        (command,) = await nvim.until_asked(above=edit)
        await vscode.allow_in_chat("Run a command")
        await nvim.until_nothing_waits()
        await nvim.until_shows("Both have answered.", f"allowed by {ME} in vscode")
        assert command > edit
    await expect(vscode.chat().locator("header")).not_to_contain_text("also in")
    assert file.read_text() == "x = 2\n"
