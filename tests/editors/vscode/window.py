"""One window of VS Code, as a person uses it: its palette, its trees, its editors, the chat's page.

Owns where things are on the screen. Waits are playwright's: on what is to be seen, with a time limit.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
from playwright.async_api import Browser, Error, FrameLocator, Locator, Page, expect

from tests.editors.vscode.testbed import CodeServer

LIMIT_S: Final = 30
UNREAD_MS: Final = 500
expect.set_options(timeout=LIMIT_S * 1000)


class Window:
    def __init__(self, page: Page, server: CodeServer, folder: Path) -> None:
        self.page = page
        self.server = server
        self.url = f"{server.url}/?folder={folder}"
        self.trouble: list[str] = []

    async def open(self) -> None:
        await self.page.goto(self.url)
        await self.ready()

    async def reload(self) -> None:
        await self.page.reload()
        await self.ready()

    async def ready(self) -> None:
        """The workbench is there, and the extension has its link."""
        await self.page.locator(".monaco-workbench .part.statusbar").wait_for()
        await expect(self.status).to_contain_text("agent", timeout=60_000)
        await expect(self.status).not_to_contain_text("starting", timeout=60_000)

    async def fresh(self) -> None:
        """No editor, no conversation, the agent's container in the side bar."""
        await self.page.keyboard.press("Escape")
        await self.command("View: Close All Editors")
        await self.show_agent()
        await self.chat().locator("header .title").wait_for()
        await self.command("Agent: New Conversation")
        await expect(self.chat().locator(".empty")).to_be_visible()

    @property
    def status(self) -> Locator:
        return self.page.locator(".part.statusbar [id='agent-ls.agent-ls.agentLs.status']")

    async def theme(self, label: str) -> None:
        kind = "hc-black" if "Contrast" in label else "vs-dark" if "Dark" in label else "vs"
        await self.command("Preferences: Color Theme")
        await self.page.locator(".quick-input-widget .quick-input-box input").fill(label)
        await self.page.locator(".quick-input-widget .monaco-list-row", has_text=label).first.click()
        await self.page.locator(f".monaco-workbench.{kind}").first.wait_for()

    @property
    def said(self) -> Locator:
        """What the extension said in the status bar."""
        return self.page.locator(".part.statusbar")

    async def until(self, holds: Callable[[], bool]) -> None:
        """Of what happens outside of the window."""
        with anyio.fail_after(2 * LIMIT_S):
            while not holds():
                await self.page.wait_for_timeout(100)

    async def command(self, title: str) -> None:
        """By the palette."""
        box = self.page.locator(".quick-input-widget .quick-input-box input")
        row = self.page.locator(".quick-input-widget .monaco-list-row", has_text=title).first

        async def once() -> None:
            await self.page.keyboard.press("F1")
            await box.fill(f">{title}", timeout=3000)
            await row.click(timeout=5000)

        await _again(once, self.page)

    async def keys(self, *chords: str) -> None:
        for chord in chords:
            await self.page.keyboard.press(chord)

    async def show_agent(self) -> None:
        """The container in the side bar."""
        if not await self.page.locator(".composite.title", has_text="Agent").is_visible():
            await self.command("Agent: Show Chat")

    async def file(self, name: str) -> Locator:
        """Opens a file of the workspace; its editor."""
        await self.open_file(name)
        return self.editor(name)

    async def open_file(self, name: str) -> None:
        box = self.page.locator(".quick-input-widget .quick-input-box input")
        row = self.page.locator(".quick-input-widget .monaco-list-row", has_text=name).first

        async def once() -> None:
            await self.page.keyboard.press("Control+p")
            await box.fill(name, timeout=3000)
            await row.click(timeout=5000)

        await _again(once, self.page)

    def editor(self, name: str) -> Locator:
        return self.page.locator(f".editor-instance .monaco-editor[data-uri$='/{name}']")

    def chat(self) -> FrameLocator:
        """The chat's page; a notebook has one of its own."""
        ours = "iframe.webview[src*='extensionId=agent-ls.agent-ls']"
        return self.page.frame_locator(ours).frame_locator("iframe#active-frame")

    @property
    def input(self) -> Locator:
        return self.chat().locator(".composer textarea")

    async def ask(self, text: str, button: str = "Send") -> None:
        await self.input.fill(text)
        await self.chat().locator(".composer button", has_text=button).click()

    async def read_it(self) -> None:
        """Until what came up can have been read: before, no answer is taken."""
        await self.page.wait_for_timeout(UNREAD_MS)

    async def answer_in_thread(self, editor: Locator, button: str, reason: str = "") -> None:
        """In the comment on the changed lines."""
        thread = editor.locator(".review-widget")
        await thread.locator(".review-thread-reply-button").click()
        if reason:
            await thread.locator(".comment-form .monaco-editor").click()
            await self.page.keyboard.type(reason)
        await self.read_it()
        await thread.locator(".form-actions .monaco-button", has_text=button).first.click()

    async def allow_in_chat(self, title: str) -> None:
        card = self.chat().locator(".card", has_text=title)
        await card.locator(".answers button[aria-disabled='false']", has_text="Allow once").click()

    async def lines(self, editor: Locator) -> list[str]:
        """What is to be seen of a short text, top to bottom."""
        found = await editor.locator(".view-line").evaluate_all(
            "lines => lines.map(line => [parseFloat(line.style.top), line.textContent]).sort((a, b) => a[0] - b[0])"
        )
        return [text.replace("\xa0", " ") for _, text in found]

    async def code(self, editor: Locator) -> list[str]:
        """The same without lines that are empty."""
        return [line for line in await self.lines(editor) if line.strip()]

    async def choose_mode(self, mode: str) -> None:
        await self.input.fill("/mode")
        await self.input.press("Enter")
        await self.page.locator(".quick-input-widget .monaco-list-row", has_text=mode).first.click()
        await expect(self.chat().locator(".picker").first).to_have_text(mode)

    async def open_conversation(self, title: str) -> None:
        await self.command("Agent: Open Conversation")
        await self.page.locator(".quick-input-widget .quick-input-box input").fill(title)
        await self.page.locator(".quick-input-widget .monaco-list-row", has_text=title).first.click()
        await expect(self.chat().locator("header .title")).to_have_text(title)

    async def open_view(self, name: str) -> None:
        header = self.page.locator(f".pane-header[aria-label^='{name}']")
        if await header.get_attribute("aria-expanded") == "false":
            await header.click()

    async def close_view(self, name: str) -> None:
        header = self.page.locator(f".pane-header[aria-label^='{name}']")
        if await header.get_attribute("aria-expanded") == "true":
            await header.click()

    def tree(self, name: str) -> Locator:
        """The rows of one of the native views."""
        return self.page.locator(f".pane:has(.pane-header[aria-label^='{name}']) .monaco-list-row")

    async def action(self, row: Locator, label: str) -> None:
        """An inline button of a row; it is there once the row is under the pointer."""
        await row.hover()
        await row.locator(f".action-label[aria-label*='{label}']").click()

    async def picture(self, path: Path) -> None:
        await self.page.screenshot(path=path)


@asynccontextmanager
async def window(
    browser: Browser, server: CodeServer, folder: Path, *, size: tuple[int, int] = (1280, 800)
) -> AsyncIterator[Window]:
    context = await browser.new_context(viewport={"width": size[0], "height": size[1]})
    try:
        page = await context.new_page()
        page.set_default_timeout(LIMIT_S * 1000)
        found = Window(page, server, folder)
        page.on("pageerror", lambda error: found.trouble.append(str(error)))
        await found.open()
        yield found
    finally:
        with anyio.CancelScope(shield=True):
            await context.close()


async def _again(work: Callable[[], Awaitable[Any]], page: Page, times: int = 4) -> None:
    """The palette forgets what was typed while it was loading."""
    for left in range(times - 1, -1, -1):
        try:
            await work()
            return
        except Error:
            if left == 0:
                raise
            await page.keyboard.press("Escape")
