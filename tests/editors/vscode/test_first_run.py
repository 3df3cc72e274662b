"""Ask, read, edit, run: the first five minutes in a real VS Code, against a real daemon."""

import getpass
from pathlib import Path

import pytest
from playwright.async_api import expect

from agent_ls.testing.model_scenario import Say, Wait, reply, say, use
from tests.editors.vscode.stage import Stage
from tests.editors.vscode.window import Window

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]

TEXT = "# A greeting.\nprint('Hello, wrold!')\n"
ME = getpass.getuser()


def edit(name: str) -> object:
    return use("edit", path=name, edits=[{"old": "wrold", "new": "world"}])


async def test_from_a_question_to_a_changed_file_and_the_output_of_a_command(scenery: Stage, vscode: Window) -> None:
    file = scenery.file("first.py", TEXT)
    gate = scenery.server.gate("first")
    scenery.answers(
        "greeting of first.py",
        use("read", path="first.py"),
        edit("first.py"),
        use("shell", command="cp first.py copy.py"),
        reply(Say("Done: it greets "), Wait(gate), Say("the **world**.\n\n```python\nprint('x')\n```\n")),
    )
    chat = vscode.chat()
    editor = await vscode.file("first.py")
    await vscode.ask("Fix the greeting of first.py")
    await expect(vscode.status).to_contain_text("1 waiting")
    await vscode.answer_in_thread(editor, "Allow Once")
    await chat.locator(".card", has_text="Run a command").wait_for()
    await vscode.allow_in_chat("Run a command")
    await expect(chat.locator(".in-flight")).to_have_text("Done: it greets")
    gate.open()
    await expect(chat.locator(".said strong")).to_have_text("world")
    await expect(chat.locator(".said pre")).to_have_text("print('x')")
    assert file.read_text() == TEXT.replace("wrold", "world")
    assert await vscode.lines(editor) == ["# A greeting.", "print('Hello, world!')", ""]
    assert await chat.locator(".call summary").all_inner_texts() == [
        "read first.py",
        f"edit first.py\n+1 −1 · allowed by {ME} in vscode",
        f"$ cp first.py copy.py\nallowed by {ME} in vscode",
    ]
    await expect(vscode.status).to_have_text("agent")
    assert vscode.trouble == []


@pytest.mark.parametrize("way", ["tree", "key", "lens"])
async def test_an_approval_is_answered_in_the_tree_by_a_key_and_by_a_lens(
    scenery: Stage, vscode: Window, way: str
) -> None:
    name = f"{way}.py"
    file = scenery.file(name, TEXT)
    scenery.answers(f"Correct {name}", use("read", path=name), edit(name), say(f"It is done by {way}."))
    editor = await vscode.file(name)
    await vscode.ask(f"Correct {name}")
    row = vscode.tree("Approvals").first
    await expect(row).to_contain_text(f"Edit {name}")
    await expect(vscode.page.locator(".activitybar .badge-content", has_text="1")).to_be_visible()
    await vscode.read_it()
    match way:
        case "tree":
            await vscode.action(row, "Allow Once")
        case "key":
            await editor.locator(".view-line").first.click()
            await vscode.keys("Control+Alt+a", "a")
        case _:
            await editor.locator(".codelens-decoration a", has_text="Allow").click()
    await expect(vscode.chat().locator(".said")).to_have_text(f"It is done by {way}.")
    await expect(vscode.tree("Approvals")).to_have_count(0)
    await expect(editor.locator(".review-widget")).to_have_count(0)
    assert file.read_text() == TEXT.replace("wrold", "world")


async def test_denied_with_a_reason_nothing_changes_and_the_model_is_told_why(scenery: Stage, vscode: Window) -> None:
    file = scenery.file("deny.py", TEXT)
    scenery.answers("Break deny.py", use("read", path="deny.py"), edit("deny.py"), say("As you like."))
    editor = await vscode.file("deny.py")
    await vscode.ask("Break deny.py")
    await vscode.answer_in_thread(editor, "Deny", reason="use the other file")
    await expect(vscode.chat().locator(".said")).to_have_text("As you like.")
    await expect(vscode.chat().locator(".call", has_text="edit deny.py")).to_contain_text(f"denied by {ME} in vscode")
    assert file.read_text() == TEXT
    assert "use the other file" in scenery.server.requests[-1].results[-1][1]


async def test_denied_by_a_key_a_reason_is_asked_for_and_escape_decides_nothing(scenery: Stage, vscode: Window) -> None:
    scenery.answers("Denied by key", use("shell", command="touch by-key"), say("Then not."))
    box = vscode.page.locator(".quick-input-widget .quick-input-box input")
    await vscode.ask("Denied by key")
    await expect(vscode.status).to_contain_text("1 waiting")
    await vscode.read_it()
    await vscode.keys("Control+Alt+a", "d")
    await expect(vscode.page.locator(".quick-input-title")).to_contain_text("$ touch by-key")
    await vscode.keys("Escape")
    await expect(box).not_to_be_visible()
    await expect(vscode.status).to_contain_text("1 waiting")
    await vscode.keys("Control+Alt+a", "d")
    await box.fill("not today")
    await vscode.keys("Enter")
    await expect(vscode.chat().locator(".said")).to_have_text("Then not.")
    assert "not today" in scenery.server.requests[-1].results[-1][1]
    assert not (scenery.home.workspace / "by-key").exists()


async def test_a_command_is_edited_before_it_is_allowed_and_the_model_is_told(scenery: Stage, vscode: Window) -> None:
    scenery.answers("Edit my command", use("shell", command="echo a > edited.txt"), say("As you changed it."))
    await vscode.ask("Edit my command")
    await vscode.chat().locator(".card button[aria-disabled='false']", has_text="Edit…").click()
    editor = vscode.editor("command.sh")
    await editor.locator(".view-line", has_text="echo a").click()
    await vscode.keys("Control+a")
    await vscode.page.keyboard.type("echo mine > edited.txt")
    await vscode.page.locator(".editor-actions .action-label[aria-label^='Allow as Edited']").click()
    await expect(vscode.chat().locator(".said")).to_have_text("As you changed it.")
    assert (scenery.home.workspace / "edited.txt").read_text() == "mine\n"
    assert "echo mine" in scenery.server.requests[-1].results[-1][1]
    await expect(vscode.page.locator(".tab", has_text="command.sh")).to_have_count(0)


async def test_what_is_edited_before_it_is_allowed_is_what_is_written(scenery: Stage, vscode: Window) -> None:
    file = scenery.file("edited.py", TEXT)
    scenery.answers(
        "Greet in edited.py", use("read", path="edited.py"), edit("edited.py"), say("Edited, then allowed.")
    )
    await vscode.ask("Greet in edited.py")
    row = vscode.tree("Approvals").first
    await expect(row).to_contain_text("Edit edited.py")
    await vscode.action(row, "Edit, Then Allow")
    proposed = vscode.page.locator(".monaco-diff-editor .editor.modified")
    await proposed.locator(".view-line", has_text="world").click()
    await vscode.keys("End")
    await vscode.page.keyboard.type("  # as I like it")
    await vscode.read_it()
    await vscode.keys("Control+Alt+a", "a")
    await expect(vscode.chat().locator(".said")).to_have_text("Edited, then allowed.")
    assert file.read_text() == "# A greeting.\nprint('Hello, world!')  # as I like it\n"
    await expect(vscode.page.locator(".tab", has_text="edit, then allow")).to_have_count(0)


async def test_an_answer_in_the_first_moment_is_not_taken(scenery: Stage, vscode: Window) -> None:
    scenery.answers("Run at once", use("shell", command="touch at-once"), say("Denied it is."))
    await vscode.ask("Run at once")
    button = vscode.chat().locator(".card .answers button", has_text="Allow once")
    # As fast as a machine can: within the moment in which nobody has read it.
    await button.click(force=True)
    await expect(button).to_be_visible()
    assert not (scenery.home.workspace / "at-once").exists()
    await expect(vscode.status).to_contain_text("1 waiting")
    await vscode.read_it()
    await vscode.chat().locator(".card .answers button", has_text="Deny…").click()
    await vscode.chat().locator(".card input.reason").fill("too fast")
    await vscode.chat().locator(".card input.reason").press("Enter")
    await expect(vscode.chat().locator(".said")).to_have_text("Denied it is.")


def test_the_unit_tests_of_the_extension_pass() -> None:
    import subprocess

    root = Path(__file__).parents[3]
    command = ["sh", "scripts/check_vscode.sh", "test"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
