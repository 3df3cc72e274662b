"""Changes of the agent reviewed in a real VS Code: kept and undone, hunk by hunk."""

import pytest
from playwright.async_api import expect

from agent_ls.testing.model_scenario import say, use
from tests.editors.vscode.stage import Stage
from tests.editors.vscode.window import Window

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]

LINES = [f"line {number}" for number in range(1, 31)]
EDITS = [{"old": "line 2\n", "new": "LINE 2\n"}, {"old": "line 28\n", "new": "LINE 28\n"}]


async def changed(scenery: Stage, vscode: Window, name: str) -> None:
    scenery.file(name, "\n".join(LINES) + "\n")
    scenery.answers(f"Shout in {name}", use("read", path=name), use("edit", path=name, edits=EDITS), say("Shouted."))
    await vscode.ask(f"Shout in {name}")
    await vscode.allow_in_chat(f"Edit {name}")
    await expect(vscode.chat().locator(".said")).to_have_text("Shouted.")


async def test_one_hunk_is_undone_and_the_other_is_kept(scenery: Stage, vscode: Window) -> None:
    await changed(scenery, vscode, "review.txt")
    file = scenery.home.workspace / "review.txt"
    editor = await vscode.file("review.txt")
    lenses = editor.locator(".codelens-decoration a")
    await lenses.filter(has_text="Undo").first.click()
    await expect(lenses.filter(has_text="Undo")).to_have_count(1)
    assert file.read_text().splitlines()[1] == "line 2"
    assert file.read_text().splitlines()[27] == "LINE 28"
    await lenses.filter(has_text="Keep").first.click()
    await expect(lenses).to_have_count(0)
    assert file.read_text().splitlines()[27] == "LINE 28"


async def test_keys_and_the_tree_undo_and_keep_too(scenery: Stage, vscode: Window) -> None:
    await changed(scenery, vscode, "keys.txt")
    file = scenery.home.workspace / "keys.txt"
    editor = await vscode.file("keys.txt")
    await expect(editor.locator(".codelens-decoration a").first).to_be_visible()
    await vscode.open_view("Changes")
    rows = vscode.tree("Changes")
    await expect(rows).to_contain_text(["keys.txt", "LINE 2", "LINE 28"])
    await vscode.action(rows.filter(has_text="LINE 28"), "Undo Change")
    await expect(rows).to_have_count(2)
    assert file.read_text().splitlines()[27] == "line 28"
    await editor.locator(".view-line", has_text="LINE 2").first.click()
    await vscode.keys("Control+Alt+a", "u")
    await expect(rows).to_have_count(0)
    assert file.read_text().splitlines() == LINES
    await vscode.close_view("Changes")


async def test_all_changes_stand_side_by_side(scenery: Stage, vscode: Window) -> None:
    await changed(scenery, vscode, "multi.txt")
    await vscode.keys("Control+Alt+a", "r")
    multi = vscode.page.locator(".monaco-component.multiDiffEditor")
    await expect(multi.locator(".title.modified", has_text="multi.txt")).to_be_visible()
    await expect(multi.locator(".editor.modified .view-line", has_text="LINE 28")).to_be_visible()
    await expect(multi.locator(".editor.original .view-line", has_text="line 28")).to_be_visible()
    await multi.locator(".codelens-decoration a", has_text="Undo").first.click()
    await expect(multi.locator(".codelens-decoration a", has_text="Undo")).to_have_count(1)
    assert (scenery.home.workspace / "multi.txt").read_text().splitlines()[1] == "line 2"


async def test_a_dirty_buffer_is_edited_through_the_editor_and_one_undo_takes_it_back(
    scenery: Stage, vscode: Window
) -> None:
    file = scenery.file("dirty.py", "a = 1\nb = 2\n")
    edit = use("edit", path="dirty.py", edits=[{"old": "a = 1", "new": "a = 10"}, {"old": "b = 2", "new": "b = 20"}])
    scenery.answers("Times ten", use("read", path="dirty.py"), edit, say("Multiplied."))
    editor = await vscode.file("dirty.py")
    await editor.locator(".view-line", has_text="b = 2").click()
    await vscode.keys("Control+End")
    await vscode.page.keyboard.type("c = 3")
    await vscode.ask("Times ten")
    await vscode.allow_in_chat("Edit dirty.py")
    await expect(vscode.chat().locator(".said")).to_have_text("Multiplied.")
    # The mark of a file that is held stands in the line, and goes a moment after the change.
    await expect(editor.locator(".view-line", has_text="The agent is changing this")).to_have_count(0)
    assert await vscode.code(editor) == ["a = 10", "b = 20", "c = 3"]
    assert file.read_text() == "a = 1\nb = 2\n"
    await editor.locator(".view-line", has_text="c = 3").click()
    await vscode.keys("Control+z")
    await expect(editor.locator(".view-line", has_text="a = 10")).to_have_count(0)
    assert await vscode.code(editor) == ["a = 1", "b = 2", "c = 3"]
    await vscode.command("File: Revert File")
