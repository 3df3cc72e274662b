"""Documents that are no plain file of an editor, in a real VS Code: notebooks, several at once, such as have gone."""

import json

import pytest
from playwright.async_api import expect

from agent_ls.testing.model_scenario import say, use
from tests.editors.vscode.stage import Stage
from tests.editors.vscode.window import Window

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]


def notebook(source: str) -> str:
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": [source]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, indent=1) + "\n"


async def test_a_cell_of_a_notebook_goes_along_as_its_text_and_its_file_is_changed_after_a_card_in_the_chat(
    scenery: Stage, vscode: Window
) -> None:
    file = scenery.file("cells.ipynb", notebook("total = 41"))
    scenery.answers(
        "Correct the cell",
        use("read", path="cells.ipynb"),
        use("edit", path="cells.ipynb", edits=[{"old": "total = 41", "new": "total = 42"}]),
        say("Forty-two."),
    )
    await vscode.open_file("cells.ipynb")
    cell = vscode.page.locator(".notebookOverlay .cell.code .monaco-editor .view-line").first
    await expect(cell).to_contain_text("total")
    await cell.click()
    await vscode.keys("Control+a")
    await vscode.command("Agent: Ask About Selection")
    await expect(vscode.chat().locator(".chips li")).to_have_text("cells.ipynb:1")
    await vscode.page.keyboard.type("Correct the cell")
    await vscode.keys("Enter")
    await expect(vscode.tree("Approvals").first).to_contain_text("Edit cells.ipynb")
    await vscode.allow_in_chat("Edit cells.ipynb")
    await expect(vscode.chat().locator(".said")).to_have_text("Forty-two.")
    assert "total = 41" in str(scenery.server.requests[-1].user_texts)
    assert file.read_text() == notebook("total = 42")
    await expect(cell).to_contain_text("42")
    await expect(vscode.page.locator(".tab.dirty")).to_have_count(0)
    assert vscode.trouble == []


async def test_a_patch_over_several_files_has_its_card_at_each_of_them(scenery: Stage, vscode: Window) -> None:
    first, second = scenery.file("alpha.txt", "alpha\n"), scenery.file("beta.txt", "beta\n")
    patch = (
        "*** Begin Patch\n*** Update File: alpha.txt\n@@\n-alpha\n+ALPHA\n"
        "*** Update File: beta.txt\n@@\n-beta\n+BETA\n*** End Patch\n"
    )
    scenery.answers(
        "Shout in both",
        use("read", path="alpha.txt"),
        use("read", path="beta.txt"),
        use("apply_patch", patch=patch),
        say("Both shout."),
    )
    await vscode.ask("Shout in both")
    card = vscode.chat().locator(".card")
    await expect(card.locator(".diff .file")).to_have_text(["alpha.txt\n", "beta.txt\n"], use_inner_text=True)
    for name in ("alpha.txt", "beta.txt"):
        editor = await vscode.file(name)
        await expect(editor.locator(".review-widget")).to_contain_text("ALPHA")
        await expect(editor.locator(".codelens-decoration a", has_text="Allow")).to_be_visible()
    await vscode.answer_in_thread(vscode.editor("beta.txt"), "Allow Once")
    await expect(vscode.chat().locator(".said")).to_have_text("Both shout.")
    assert (first.read_text(), second.read_text()) == ("ALPHA\n", "BETA\n")


async def test_a_file_that_is_deleted_while_its_card_waits_takes_the_card_with_it(
    scenery: Stage, vscode: Window
) -> None:
    file = scenery.file("gone.py", "x = 1\n")
    edit = use("edit", path="gone.py", edits=[{"old": "x = 1", "new": "x = 2"}])
    scenery.answers("Change what goes", use("read", path="gone.py"), edit, say("It is gone."))
    editor = await vscode.file("gone.py")
    await vscode.ask("Change what goes")
    await expect(editor.locator(".review-widget")).to_be_visible()
    file.unlink()
    await expect(vscode.chat().locator(".said")).to_have_text("It is gone.")
    await expect(vscode.tree("Approvals")).to_have_count(0)
    await expect(editor.locator(".review-widget")).to_have_count(0)
    assert not file.exists()
