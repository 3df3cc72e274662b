"""The stage of the tests in VS Code: one daemon, one scripted model, one code-server and one browser for all of them.

Starting these takes longer than any test. Owns that a test has a conversation and files of its own, and that no request
of ours was one that a real server would refuse.
"""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil
from anyio import to_thread
from playwright.async_api import Browser, async_playwright

from agent_ls.testing.home import Home, home_of
from agent_ls.testing.model_scenario import EXHAUSTED, Answer, ByHistory, RequestView, Scenario
from agent_ls.testing.model_server import ModelServer, serve_model
from benchmarks.seed import seed
from tests.editors.vscode.testbed import CHROMIUM_FLAGS, CodeServer, chromium, code_server

EVENTS: Final = 11_800
SEEDED: Final = 1968
SEEDED_TITLE: Final = f"{EVENTS} events"

SERVERS: Final = f"""
[permissions]
allow = ["mcp__notes__*"]
[mcp.notes]
command = {json.dumps([sys.executable, "-m", "agent_ls.testing.mcp_server"])}
"""


@dataclass
class Play:
    """What the model says in the conversation whose first message holds a word."""

    scenarios: dict[str, Scenario] = field(default_factory=dict)

    def __call__(self, view: RequestView) -> Answer:
        for word, scenario in self.scenarios.items():
            if any(word in text for text in view.user_texts):
                return scenario(view)
        return EXHAUSTED


@dataclass
class Stage:
    server: ModelServer
    home: Home
    code: CodeServer
    browser: Browser
    play: Play

    def answers(self, word: str, *answers: Answer) -> None:
        """Asked again after a crash, the model says the same again."""
        self.play.scenarios[word] = ByHistory(answers)

    def file(self, name: str, text: str) -> Path:
        path = self.home.workspace / name
        path.write_text(text, encoding="utf-8")
        return path

    async def settle(self) -> None:
        """Ends what a test has left running or waiting, so that the next one counts its own."""
        async with self.home.editor(name="after a test") as editor:
            listed = await editor.request("agent/conversation/list", {"limit": 200})
            for conversation in listed["conversations"]:
                if conversation["status"] in {"running", "waiting"}:
                    found = await editor.attach(conversation["id"])
                    newest = max(found.items.values(), key=lambda item: int(item["ord"]))
                    await editor.interrupt(newest["runId"])

    @property
    def bridges(self) -> list[int]:
        """Processes `agent-ls connect` of the newest extension host."""
        with suppress(psutil.NoSuchProcess):
            children = psutil.Process(self.extension_host).children(recursive=True)
            return [child.pid for child in children if child.cmdline()[-1:] == ["connect"]]
        return []

    @property
    def extension_host(self) -> int:
        """The pid that the extension last told of itself."""
        logs = sorted(self.code.folder.glob("data/logs/**/agent-ls.log"), key=lambda path: path.stat().st_mtime)
        lines = [line for log in logs for line in log.read_text().splitlines() if "extension host " in line]
        return int(max(lines).rpartition(" ")[2])


@asynccontextmanager
async def stage(*, trusted: bool = True) -> AsyncIterator[Stage]:
    play = Play()
    async with serve_model(play) as server, home_of(server.base_url, config=SERVERS) as home:
        try:
            await to_thread.run_sync(_seed, home)
            async with code_server(home.root / "code", home.env, trusted=trusted) as code, async_playwright() as driver:
                browser = await driver.chromium.launch(executable_path=chromium(), args=list(CHROMIUM_FLAGS))
                try:
                    yield Stage(server, home, code, browser, play)
                finally:
                    await browser.close()
        except BaseException:
            print(home.log)
            raise
        assert server.refused == []


def _seed(home: Home) -> None:
    """A conversation of SEEDED items, which takes its daemon no time to tell of."""
    seed(home.state, home.workspace.as_uri(), {"c0ffee00-long": EVENTS})
