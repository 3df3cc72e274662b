"""What the language servers of a real VS Code know, as the agent asks for it through the window."""

import pytest
from playwright.async_api import expect

from agent_ls.testing.model_scenario import say, use
from tests.editors.vscode.stage import Stage
from tests.editors.vscode.window import Window

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]


async def test_the_agent_reads_problems_symbols_and_references_of_the_window(scenery: Stage, vscode: Window) -> None:
    scenery.file("sums.ts", "export function totalOfAll() { return 1; }\nconst broken: string = totalOfAll();\n")
    editor = await vscode.file("sums.ts")
    await expect(editor.locator(".squiggly-error").first).to_be_attached(timeout=90_000)
    scenery.answers(
        "What does the editor know",
        use("diagnostics", path="sums.ts"),
        use("symbols", query="totalOfAll"),
        use("references", query="totalOfAll"),
        say("All of it."),
    )
    await vscode.ask("What does the editor know")
    await expect(vscode.chat().locator(".said")).to_have_text("All of it.")
    problems, symbols, references = [output for _, output in scenery.server.requests[-1].results]
    assert problems.splitlines()[0] == "sums.ts:2:7: error: Type 'number' is not assignable to type 'string'. [ts]"
    assert symbols == "sums.ts:1: function totalOfAll\n"
    assert references == "sums.ts:1\nsums.ts:2\n"
