"""The native views and the keys in a real VS Code: what is not open, not seen, held, and what went before."""

import pytest
from playwright.async_api import expect

from agent_ls.testing.model_scenario import say, use
from tests.editors.vscode.stage import Stage
from tests.editors.vscode.window import Window

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]


async def test_a_key_goes_to_a_card_of_a_file_that_is_not_open_and_the_next_key_allows_it(
    scenery: Stage, vscode: Window
) -> None:
    file = scenery.file("closed.py", "x = 1\n")
    edit = use("edit", path="closed.py", edits=[{"old": "x = 1", "new": "x = 2"}])
    scenery.answers("Change closed.py", use("read", path="closed.py"), edit, say("Opened and changed."))
    await vscode.ask("Change closed.py")
    await expect(vscode.status).to_contain_text("1 waiting")
    await vscode.keys("Control+Alt+a", "n")
    await expect(vscode.editor("closed.py").locator(".review-widget")).to_be_visible()
    await vscode.read_it()
    await vscode.keys("Control+Alt+a", "a")
    await expect(vscode.chat().locator(".said")).to_have_text("Opened and changed.")
    assert file.read_text() == "x = 2\n"


async def test_what_was_not_on_the_screen_is_shown_before_a_key_allows_it(scenery: Stage, vscode: Window) -> None:
    scenery.answers("Run unseen", use("shell", command="touch unseen"), say("Seen, then run."))
    await vscode.ask("Run unseen")
    await expect(vscode.status).to_contain_text("1 waiting")
    await vscode.command("View: Toggle Primary Side Bar Visibility")
    await expect(vscode.page.locator(".composite.title", has_text="Agent")).to_have_count(0)
    await vscode.read_it()
    await vscode.keys("Control+Alt+a", "a")
    shown = vscode.page.locator(".editor-instance .monaco-editor .view-line", has_text="touch unseen")
    await expect(shown).to_be_visible()
    await expect(vscode.status).to_contain_text("1 waiting")
    await vscode.keys("Control+Alt+a", "a")
    await expect(vscode.status).not_to_contain_text("waiting")
    await vscode.show_agent()
    await expect(vscode.chat().locator(".said")).to_have_text("Seen, then run.")
    assert (scenery.home.workspace / "unseen").exists()


async def test_what_a_run_holds_is_listed_as_long_as_it_does(scenery: Stage, vscode: Window) -> None:
    gate = scenery.home.gate("locks-gate")
    scenery.answers("Hold the folder", use("shell", command="cat locks-gate > held.txt"), say("Let go."))
    await vscode.open_view("Locks")
    await vscode.ask("Hold the folder")
    await vscode.allow_in_chat("Run a command")
    row = vscode.tree("Locks")
    await expect(row).to_contain_text("Hold the folder")
    await scenery.home.open_gate(gate)
    await expect(vscode.chat().locator(".said")).to_have_text("Let go.")
    await expect(row).to_have_count(0)
    await vscode.close_view("Locks")


async def test_a_conversation_is_opened_from_its_view_and_has_its_draft(scenery: Stage, vscode: Window) -> None:
    scenery.answers("First of two", say("One."))
    scenery.answers("Second of two", say("Two."))
    chat = vscode.chat()
    await vscode.open_view("Conversations")
    await vscode.ask("First of two")
    await expect(chat.locator(".said")).to_have_text("One.")
    await vscode.input.fill("half a thought")
    await vscode.command("Agent: New Conversation")
    await expect(vscode.input).to_have_value("")
    await vscode.ask("Second of two")
    await expect(chat.locator(".said")).to_have_text("Two.")
    rows = vscode.tree("Conversations")
    await expect(rows.first).to_contain_text("Second of two")
    await rows.filter(has_text="First of two").click()
    await expect(chat.locator(".said")).to_have_text("One.")
    await expect(vscode.input).to_have_value("half a thought")
    await vscode.input.fill("")
    await vscode.close_view("Conversations")


async def test_a_fork_is_gone_on_with_and_its_parent_is_told_what_came_of_it(scenery: Stage, vscode: Window) -> None:
    scenery.answers("Before the fork", say("Before."), say("After."))
    chat = vscode.chat()
    await vscode.open_view("Conversations")
    await vscode.ask("Before the fork")
    await expect(chat.locator(".said")).to_have_text("Before.")
    await vscode.command("Agent: Fork Conversation")
    rows = vscode.tree("Conversations")
    await expect(rows.filter(has_text="Before the fork (fork)")).to_contain_text("in the chat · fork of Before the")
    await expect(chat.locator(".said")).to_have_text("Before.")
    await vscode.ask("After the fork")
    await expect(chat.locator(".said").last).to_have_text("After.")
    await expect(vscode.status).not_to_contain_text("running")
    await vscode.command("Agent: Merge Back Into the Conversation It Came From")
    await rows.filter(has_not_text="fork of").filter(has_text="Before the fork").click()
    await expect(chat.locator(".call")).to_contain_text("Merged back from a fork")
    await vscode.close_view("Conversations")


async def test_the_walkthrough_opens_and_its_first_step_is_done_by_its_button(vscode: Window) -> None:
    await vscode.command("Agent: First Five Minutes")
    await expect(vscode.page.locator(".gettingStartedContainer")).to_contain_text("Answer an approval")
    installed = vscode.page.locator(".getting-started-step[data-step-id$='#install']")
    await installed.locator("a, .monaco-button", has_text="Show its status").first.click()
    await expect(vscode.page.locator(".tab", has_text="status.json")).to_be_visible()
    await vscode.command("Agent: First Five Minutes")
    await expect(installed).to_have_attribute("aria-checked", "true")
