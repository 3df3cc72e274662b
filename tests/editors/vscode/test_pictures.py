"""What a person sees, as pictures: light, dark and high contrast. `AGENT_LS_PICTURES=docs/pictures` renews those of the
guide; otherwise they are looked at for what can be told without eyes.

What can: nothing is cut off, and every text stands out from what is behind it.
"""

import os
from pathlib import Path

import pytest
from playwright.async_api import expect

from agent_ls.testing.model_scenario import Say, Wait, reply, say, use
from tests.editors.vscode.stage import Stage
from tests.editors.vscode.testbed import EXTENSION, ROOT
from tests.editors.vscode.window import Window

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]

THEMES = {"light": "Light 2026", "dark": "Dark 2026", "contrast": "Dark High Contrast"}
GREETING = '''\
"""Greets whoever is there."""


def greet(name: str) -> str:
    return f"Hello, {name}"


if __name__ == "__main__":
    print(greet("wrold"))
'''
ANSWER = """\
`greet` gets its name from the command line now, and says **who** it greets.

1. `parse` reads the arguments.
2. Without a name it greets the world.

```python
print(greet(parse(sys.argv)))
```

Shall I add a test?
"""
STEPS = [
    {"text": "Read greeting.py", "status": "done"},
    {"text": "Correct the spelling", "status": "active"},
    {"text": "Show it", "status": "pending"},
]
FAINT = """
elements => {
  const numbers = text => (text.match(/[\\d.]+/g) ?? []).map(Number)
  const over = (top, below) =>
    top.length < 3 ? below : below.map((part, at) => top[at] * (top[3] ?? 1) + part * (1 - (top[3] ?? 1)))
  const linear = part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  const light = colour => {
    const [r, g, b] = colour.map(part => linear(part / 255))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const painted = name => {
    const probe = document.body.appendChild(document.createElement('i'))
    probe.style.color = `var(${name})`
    const colour = numbers(getComputedStyle(probe).color)
    probe.remove()
    return colour
  }
  const page = painted('--vscode-sideBar-background').slice(0, 3)
  const behind = element => {
    const layers = []
    for (let at = element; at; at = at.parentElement) layers.push(numbers(getComputedStyle(at).backgroundColor))
    return layers.reverse().reduce((below, layer) => over(layer, below), page)
  }
  return elements.filter(element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
    .filter(element => !element.closest('[disabled], [aria-disabled=true], .codicon'))
    .map(element => {
      const ground = behind(element)
      const [one, other] = [over(numbers(getComputedStyle(element).color), ground), ground].map(light)
      return [element.textContent.slice(0, 40), (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)]
    })
    .filter(([, contrast]) => contrast < 4)
}
"""


def place(name: str) -> Path:
    chosen = os.environ.get("AGENT_LS_PICTURES")
    folder = ROOT / chosen if chosen else EXTENSION / "build" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"vscode-{name}.png"


@pytest.mark.parametrize("theme", THEMES)
async def test_everything_can_be_read_in_every_theme(scenery: Stage, vscode: Window, theme: str) -> None:
    scenery.file("greeting.py", GREETING)
    gate = scenery.server.gate(f"picture {theme}")
    edit = use("edit", path="greeting.py", edits=[{"old": "wrold", "new": "world"}])
    word = f"Correct the greeting ({theme})" if theme != "light" else "Correct the greeting"
    scenery.answers(
        word,
        use("todo", steps=STEPS),
        use("read", path="greeting.py"),
        reply(Say("The greeting is misspelt in the last line."), *edit.steps),
        use("shell", command="python3 greeting.py > greeting.txt && cat greeting.txt"),
        reply(Say(ANSWER), Wait(gate)),
    )
    await vscode.theme(THEMES[theme])
    chat = vscode.chat()
    editor = await vscode.file("greeting.py")
    await vscode.ask(word)
    await expect(editor.locator(".review-widget")).to_be_visible()
    await vscode.read_it()
    await vscode.picture(place(f"approval-{theme}"))
    faint = await chat.locator(".chat *").evaluate_all(FAINT)
    await vscode.allow_in_chat("Edit greeting.py")
    await vscode.allow_in_chat("Run a command")
    await expect(chat.locator(".in-flight pre")).to_be_visible()
    await vscode.input.fill("and in French")
    await vscode.input.press("Enter")
    await expect(chat.locator(".queue .queued")).to_have_text("and in French")
    await vscode.picture(place(f"chat-{theme}"))
    faint += await chat.locator(".chat *").evaluate_all(FAINT)
    assert faint == []
    wide = await chat.locator(".chat").evaluate("chat => chat.scrollWidth - chat.clientWidth")
    assert wide == 0


async def test_a_review_and_a_question_for_the_guide(scenery: Stage, vscode: Window) -> None:
    await vscode.theme(THEMES["light"])
    scenery.file("greeting.py", GREETING)
    edits = [
        {"old": '"""Greets whoever is there."""\n', "new": '"""Greets whoever is there."""\n\nimport sys\n'},
        {"old": 'print(greet("wrold"))', "new": 'print(greet(sys.argv[1] if sys.argv[1:] else "world"))'},
    ]
    question = {
        "id": "test",
        "header": "Tests",
        "text": "Where shall the test go?",
        "options": [
            {"id": "beside", "label": "Beside it", "description": "test_greeting.py"},
            {"id": "tests", "label": "Into tests/"},
        ],
        "free": True,
    }
    scenery.answers(
        "Greet by name",
        use("read", path="greeting.py"),
        use("edit", path="greeting.py", edits=edits),
        use("ask", questions=[question]),
        say("I leave it as it is."),
    )
    await vscode.ask("Greet by name")
    await vscode.allow_in_chat("Edit greeting.py")
    await vscode.chat().locator(".card fieldset").wait_for()
    await vscode.keys("Control+Alt+a", "r")
    multi = vscode.page.locator(".monaco-component.multiDiffEditor")
    await expect(multi.locator(".codelens-decoration a", has_text="Undo").first).to_be_visible()
    await vscode.read_it()
    await vscode.picture(place("review"))
