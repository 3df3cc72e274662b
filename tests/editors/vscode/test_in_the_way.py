"""Nothing is ever in the way in a real VS Code: not of typing, not of the eye, not of the machine."""

import pytest
from playwright.async_api import Dialog, expect

from agent_ls.testing.model_scenario import Say, UseTool, Wait, reply, say, use
from tests.editors.vscode.stage import SEEDED, SEEDED_TITLE, Stage
from tests.editors.vscode.window import Window

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]

HOSTILE = """\
<script>alert('script')</script><img src=x onerror="alert('img')"><iframe src="https://example.org"></iframe>

[a command](command:workbench.action.closeActiveEditor) [a script](javascript:alert(1)) [a file](file:///etc/passwd)
<a href="command:workbench.action.closeActiveEditor">html</a> ![a picture](https://example.org/x.png)

\x1b[31mred\x1b[0m and \u202ehidden\u202c and zero\u200bwidth

$(check) **#99 Allow once** <button>Allow</button>
"""


async def test_typing_loses_no_key_and_no_focus_while_approvals_come(scenery: Stage, vscode: Window) -> None:
    name = "typing.py"
    file = scenery.file(name, "# begin\n" + "x = 1\n" * 3 + "# end\n")
    gates = [scenery.server.gate(f"typing {number}") for number in range(2)]
    scenery.answers(
        "Disturb me",
        reply(Wait(gates[0]), UseTool("read", {"path": name})),
        use("edit", path=name, edits=[{"old": "# end", "new": "# The end"}]),
        say("Never."),
    )
    scenery.answers("And once more", reply(Wait(gates[1]), UseTool("shell", {"command": "touch no"})), say("Never."))
    editor = await vscode.file(name)
    await vscode.ask("Disturb me")
    await vscode.command("Agent: New Conversation")
    await expect(vscode.chat().locator(".empty")).to_be_visible()
    await vscode.ask("And once more")
    await editor.locator(".view-line", has_text="# begin").click()
    await vscode.keys("End")
    words = " ".join(f"word{number}" for number in range(24))
    half = len(words) // 2
    await vscode.page.keyboard.type(words[:20], delay=15)
    gates[0].open()
    # The agent does not change what has changed since it read it, so it is let read and ask within a breath.
    await expect(editor.locator(".review-widget")).to_be_visible()
    await vscode.page.keyboard.type(words[20:half], delay=15)
    gates[1].open()
    await vscode.page.keyboard.type(words[half:], delay=15)
    await expect(vscode.status).to_contain_text("2 waiting")
    await vscode.page.keyboard.type(" last")
    focused = await vscode.page.evaluate("document.activeElement.closest('.monaco-editor')?.dataset.uri ?? ''")
    assert focused.endswith(name)
    await vscode.keys("Control+s")
    await expect(vscode.page.locator(".tab.dirty")).to_have_count(0)
    assert file.read_text() == f"# begin{words} last\n" + "x = 1\n" * 3 + "# end\n"


async def test_a_hostile_transcript_only_shows_as_text(scenery: Stage, vscode: Window) -> None:
    dialogs: list[str] = []

    async def heard(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        await dialog.dismiss()

    vscode.page.on("dialog", heard)
    requested: list[str] = []
    vscode.page.on("request", lambda request: requested.append(request.url))
    scenery.file("hostile.txt", "a file\n")
    long = "python3 -c \"print('<b>' + 'x' * 5_000_000 + chr(27) + '[2J')\""
    scenery.answers("Be hostile", reply(Say(HOSTILE), UseTool("shell", {"command": long})), say("Is that all?"))
    await vscode.file("hostile.txt")
    chat = vscode.chat()
    await vscode.ask("Be hostile")
    said = chat.locator(".said").first
    await expect(said).to_contain_text("<script>alert('script')</script>")
    await expect(said).to_contain_text("⟨U+001B⟩[31mred⟨U+001B⟩[0m and ⟨U+202E⟩hidden⟨U+202C⟩ and zero⟨U+200B⟩width")
    await expect(said).to_contain_text("[picture: a picture]")
    await expect(said.locator("script, img, iframe, a, form, input, object")).to_have_count(0)
    await expect(said.locator("button.link")).to_have_text(["a command"])
    await said.locator("button.link").click()
    await expect(vscode.said).to_contain_text("That link leads nowhere from here.")
    await vscode.allow_in_chat("Run a command")
    await expect(chat.locator(".said").last).to_have_text("Is that all?")
    output = chat.locator(".call", has_text="python3").locator(".output pre").last
    await chat.locator(".call summary", has_text="python3").click()
    await expect(output).to_contain_text("<b>xxx")
    assert len(await output.inner_text()) < 20_000
    await expect(vscode.page.locator(".tab", has_text="hostile.txt")).to_be_visible()
    assert dialogs == []
    assert [url for url in requested if "example.org" in url] == []
    assert vscode.trouble == []


async def test_names_that_look_like_markup_are_names_wherever_they_stand(scenery: Stage, vscode: Window) -> None:
    name = "$(check) [x](command:workbench.action.closeActiveEditor)<b>.txt"
    file = scenery.file(name, "a = 1\n")
    edit = use("edit", path=name, edits=[{"old": "a = 1", "new": "a = 2 [y](command:x)"}])
    scenery.answers("Rename nothing", use("read", path=name), edit, say(f"Changed {name}"))
    await vscode.ask("Rename nothing")
    row = vscode.tree("Approvals").first
    await expect(row).to_contain_text(name)
    await vscode.keys("Control+Alt+a", "n")
    thread = vscode.page.locator(".zone-widget-container.review-widget")
    await expect(thread).to_contain_text("[x](command:workbench.action.closeActiveEditor)")
    await expect(thread).to_contain_text("a = 2 [y](command:x)")
    await row.hover()
    hover = vscode.page.locator(".monaco-hover, .workbench-hover").filter(has_text="command:x")
    await expect(hover.first).to_be_visible()
    for place in (row, thread, hover, vscode.chat().locator(".card")):
        await expect(
            place.locator("a[data-href^='command:'], a[href^='command:'], b, strong >> text=<b>")
        ).to_have_count(0)
    await vscode.read_it()
    await vscode.keys("Control+Alt+a", "a")
    await expect(vscode.chat().locator(".said")).to_contain_text("Changed $(check)")
    assert file.read_text() == "a = 2 [y](command:x)\n"


async def test_a_conversation_of_two_thousand_items_draws_only_what_is_seen(scenery: Stage, vscode: Window) -> None:
    await vscode.open_conversation(SEEDED_TITLE)
    chat = vscode.chat()
    rows = chat.locator(".row")
    await expect(rows.last).to_have_attribute("aria-posinset", str(SEEDED), timeout=60_000)
    assert await rows.count() < 80
    top = chat.locator(".scroller")
    await top.evaluate("element => { element.scrollTop = 0 }")
    await expect(rows.first).to_have_attribute("aria-posinset", "1")
    assert await rows.count() < 80
