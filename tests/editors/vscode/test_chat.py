"""The chat's page in a real VS Code: queue, steer, stop, questions, plans, what goes with a message."""

import getpass
import re

import pytest
from playwright.async_api import expect

from agent_ls.testing.model_scenario import Say, UseTool, Wait, reply, say, use
from tests.editors.vscode.stage import Stage
from tests.editors.vscode.window import Window

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]

ME = getpass.getuser()


async def test_messages_are_queued_edited_moved_and_removed_and_stop_holds_them(scenery: Stage, vscode: Window) -> None:
    gate = scenery.server.gate("queue")
    scenery.answers(
        "Begin the queue", reply(Say("Working"), Wait(gate), Say(".")), say("Second answer."), say("Third.")
    )
    chat = vscode.chat()
    queued = chat.locator(".queue .queued")
    await vscode.ask("Begin the queue")
    await expect(chat.locator(".in-flight")).to_have_text("Working")
    for text in ("one", "two", "three"):
        await vscode.input.fill(text)
        await vscode.input.press("Enter")
        await expect(queued.last).to_have_text(text)
    await chat.locator(".queue [aria-label='Move up: three']").click()
    await expect(queued).to_have_text(["one", "three", "two"])
    await chat.locator(".queue [aria-label='Edit: three']").click()
    await chat.locator(".queue input").fill("drei")
    await chat.locator(".queue input").press("Enter")
    await expect(queued).to_have_text(["one", "drei", "two"])
    await chat.locator(".queue [aria-label='Remove: two']").click()
    await expect(queued).to_have_text(["one", "drei"])
    await chat.locator(".composer [aria-label='Stop the run']").click()
    await expect(chat.locator(".interrupt, .notice", has_text=f"Stopped by {ME} in vscode.")).to_be_visible()
    await expect(chat.locator(".queue")).to_contain_text("2 messages wait, held")
    await expect(queued).to_have_text(["one", "drei"])
    await chat.locator(".queue button", has_text="Let them go").click()
    await expect(chat.locator(".said").last).to_have_text("Third.")
    await expect(chat.locator(".user")).to_have_text(["Begin the queue", "one", "drei"])


async def test_a_message_steers_the_run_and_so_does_a_queued_one(scenery: Stage, vscode: Window) -> None:
    gate = scenery.server.gate("steer")
    scenery.answers(
        "Begin to steer",
        reply(Say("Reading."), Wait(gate), UseTool("glob", {"pattern": "*.none"})),
        say("As you said."),
    )
    chat = vscode.chat()
    await vscode.ask("Begin to steer")
    await expect(chat.locator(".in-flight")).to_have_text("Reading.")
    await vscode.ask("only the short ones", "Steer")
    await vscode.ask("and the long ones", "Queue")
    await chat.locator(".queue [aria-label^='Steer with it now']").click()
    await expect(chat.locator(".queue .queued")).to_have_count(0)
    gate.open()
    await expect(chat.locator(".said").last).to_have_text("As you said.")
    texts = scenery.server.requests[-1].user_texts
    assert [text for text in texts if "ones" in text] != []
    assert "only the short ones" in str(texts)
    assert "and the long ones" in str(texts)


async def test_a_question_is_answered_in_the_chat(scenery: Stage, vscode: Window) -> None:
    style = {
        "id": "style",
        "header": "Style",
        "text": "Tabs or spaces?",
        "options": [{"id": "t", "label": "Tabs"}, {"id": "s", "label": "Spaces", "description": "four"}],
    }
    name = {"id": "name", "header": "Name", "text": "What is it called?", "options": [], "free": True}
    scenery.answers("Ask me something", use("ask", questions=[style, name]), say("Thank you."))
    chat = vscode.chat()
    await vscode.ask("Ask me something")
    await chat.locator(".card label", has_text="Spaces").click()
    answer = chat.locator(".card button", has_text="Answer").first
    await expect(answer).to_have_attribute("aria-disabled", "true")
    await chat.locator(".card fieldset", has_text="called").locator("input").fill("greeting")
    await vscode.read_it()
    await answer.click()
    await expect(chat.locator(".said")).to_have_text("Thank you.")
    await expect(chat.locator(".call", has_text="Tabs or spaces?")).to_contain_text("→ Spaces")
    await expect(chat.locator(".call", has_text="Tabs or spaces?")).to_contain_text("→ greeting")


async def test_a_plan_is_proposed_accepted_and_carried_out(scenery: Stage, vscode: Window) -> None:
    plan = "# Tidy up\n\n1. Read.\n2. Write."
    scenery.answers("Plan the tidying", use("plan", markdown=plan), say("Carried out."))
    chat = vscode.chat()
    await vscode.choose_mode("plan")
    await vscode.ask("Plan the tidying")
    card = chat.locator(".card", has_text="Plan: Tidy up")
    await expect(card.locator("li")).to_have_text(["Read.", "Write."])
    await vscode.read_it()
    await card.locator(".answers button").first.click()
    await expect(chat.locator(".said").last).to_have_text("Carried out.")
    await expect(chat.locator(".plan summary")).to_have_text("Plan, accepted")


async def test_files_commands_selections_and_problems_go_with_a_message(scenery: Stage, vscode: Window) -> None:
    scenery.file("attached.py", "ANSWER = 42\n")
    scenery.file("selected.py", "one = 1\ntwo = 2\n")
    scenery.answers("What is in", say("Numbers."))
    chat = vscode.chat()
    editor = await vscode.file("selected.py")
    await editor.locator(".view-line", has_text="two").click()
    await vscode.keys("Home", "Shift+End")
    await vscode.command("Agent: Ask About Selection")
    await expect(chat.locator(".chips li")).to_have_text("selected.py:2")
    await expect(vscode.input).to_be_focused()
    await vscode.page.keyboard.type("What is in @attach")
    await expect(chat.locator(".offers li[aria-selected='true']")).to_contain_text("attached.py")
    await vscode.keys("Enter")
    await expect(vscode.input).to_have_value("What is in @attached.py ")
    await vscode.keys("Enter")
    await expect(chat.locator(".said")).to_have_text("Numbers.")
    await expect(chat.locator(".user")).to_contain_text("with selected.py:2")
    asked = str(scenery.server.requests[-1].body)
    assert "ANSWER = 42" in asked
    assert "two = 2" in asked


async def test_slash_lists_commands_and_runs_one(scenery: Stage, vscode: Window) -> None:
    scenery.answers("Something to name", say("Named."))
    await vscode.ask("Something to name")
    await expect(vscode.chat().locator(".said")).to_have_text("Named.")
    await vscode.input.press_sequentially("/re")
    offers = vscode.chat().locator(".offers li")
    await expect(offers).to_contain_text(["/review", "/rename", "/restart"])
    await vscode.input.fill("/rename Another name")
    await vscode.input.press("Enter")
    await expect(vscode.chat().locator("header .title")).to_have_text("Another name")


async def test_steps_are_shown_while_a_run_goes_on(scenery: Stage, vscode: Window) -> None:
    gate = scenery.server.gate("steps")
    steps = [{"text": "Look", "status": "done"}, {"text": "Write", "status": "active"}]
    scenery.answers("In two steps", use("todo", steps=steps), reply(Say("Writing"), Wait(gate), Say(" done.")))
    await vscode.ask("In two steps")
    await expect(vscode.chat().locator(".steps summary")).to_have_text("1 of 2 steps: Write")
    gate.open()
    await expect(vscode.chat().locator(".said")).to_have_text("Writing done.")
    await expect(vscode.chat().locator(".steps")).to_have_count(0)


async def test_servers_of_tools_and_subagents_are_shown(scenery: Stage, vscode: Window) -> None:
    gate = scenery.server.gate("subagent")
    task = use("task", description="Look it up", prompt="Count the words.")
    scenery.answers("Add with notes", use("mcp__notes__add", a=2, b=3), task, say("Five words."))
    scenery.answers("Count the words.", reply(Wait(gate), Say("There are five.")))
    chat = vscode.chat()
    await vscode.ask("Add with notes")
    child = chat.locator(".call", has_text="subagent Look it up")
    await expect(child).to_be_visible()
    await expect(chat.locator("header .server")).to_have_text("notes")
    await expect(chat.locator("header .server")).to_have_attribute("title", re.compile("^MCP server notes: up, "))
    await expect(chat.locator(".call", has_text="notes: add")).to_be_visible()
    gate.open()
    await expect(chat.locator(".said")).to_have_text("Five words.")
    await child.locator("summary").click()
    await expect(child).to_contain_text("There are five.")
    await child.locator("button.link", has_text="Open").click()
    await expect(chat.locator(".user").first).to_contain_text("Count the words.")


async def test_what_is_no_file_goes_along_as_its_text(scenery: Stage, vscode: Window) -> None:
    scenery.answers("What stands there", say("A draft."))
    await vscode.command("File: New Untitled Text File")
    editor = vscode.page.locator(".editor-instance .monaco-editor[data-uri^='untitled:']")
    await editor.click()
    await vscode.page.keyboard.type("only a draft")
    await vscode.keys("Control+a")
    await vscode.command("Agent: Ask About Selection")
    await expect(vscode.input).to_be_focused()
    await vscode.page.keyboard.type("What stands there?")
    await vscode.keys("Enter")
    await expect(vscode.chat().locator(".said")).to_have_text("A draft.")
    assert "only a draft" in str(scenery.server.requests[-1].body)
    await editor.click()
    await vscode.keys("Control+a", "Delete")
