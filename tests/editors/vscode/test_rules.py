"""How far an answer reaches, in a real VS Code: the rule that it would keep is shown first."""

import pytest
from playwright.async_api import expect

from agent_ls.testing.model_scenario import say, use
from tests.editors.vscode.stage import Stage
from tests.editors.vscode.window import Window

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]


async def test_what_begins_like_a_command_is_allowed_for_a_conversation_once_its_rule_was_shown(
    scenery: Stage, vscode: Window
) -> None:
    scenery.answers(
        "Check twice", use("shell", command="ruff check a.py"), use("shell", command="ruff check b.py"), say("Checked.")
    )
    await vscode.ask("Check twice")
    card = vscode.chat().locator(".card")
    await expect(card).to_contain_text("shell(ruff check *)")
    await vscode.read_it()
    await vscode.keys("Control+Alt+a", "w")
    rows = vscode.page.locator(".quick-input-widget .monaco-list-row")
    # The focus was in the chat: a key of a chord is no letter of a message.
    await expect(vscode.input).to_have_value("")
    wider = rows.filter(has_text="Allow ruff check * for this conversation")
    await expect(wider).to_contain_text("Keeps the rule shell(ruff check *)")
    await wider.click()
    await expect(vscode.chat().locator(".said")).to_have_text("Checked.")
    await vscode.command("Agent: Show Rules")
    kept = vscode.page.locator(".editor-instance .view-line", has_text="ruff check *")
    await expect(kept).to_be_visible()
    await vscode.command("Agent: Revoke Rule")
    await rows.filter(has_text="shell(ruff check *)").click()
    await expect(vscode.page.locator(".quick-input-widget")).to_be_hidden()
    await vscode.command("Agent: Show Rules")
    await expect(kept).to_have_count(0)


async def test_a_card_says_where_the_words_of_a_command_lead(scenery: Stage, vscode: Window) -> None:
    real = scenery.file("really.txt", "x\n")
    (scenery.home.workspace / "harmless").symlink_to(real)
    scenery.answers("Follow the link", use("shell", command="cp harmless copied", background=False), say("No."))
    await vscode.ask("Follow the link")
    card = vscode.chat().locator(".card")
    await expect(card.locator(".warn")).to_have_text(f"harmless is {real}")
    row = vscode.tree("Approvals").first
    await expect(row).to_be_visible()
    await vscode.keys("Control+Alt+a", "n")
    await expect(vscode.tree("Approvals").filter(has_text="harmless is")).to_be_visible()


async def test_settings_of_a_workspace_do_not_say_how_much_is_done_unasked(scenery: Stage, vscode: Window) -> None:
    scenery.answers("Stay as you are", say("As before."))
    settings = scenery.home.workspace / ".vscode" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text('{"agentLs.mode": "edits", "agentLs.model": "another", "agentLs.statusBar": false}')
    try:
        await expect(vscode.status).to_have_count(0)
        await vscode.ask("Stay as you are")
        await expect(vscode.chat().locator(".said")).to_have_text("As before.")
        await expect(vscode.chat().locator(".picker").first).to_have_text("ask")
        await expect(vscode.chat().locator(".picker").last).not_to_contain_text("another")
    finally:
        settings.unlink()
    await expect(vscode.status).to_have_count(1)
