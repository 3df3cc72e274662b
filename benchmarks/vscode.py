"""`python -m benchmarks.vscode`: what the chat costs in a real VS Code: 2,000 items opened, a stream, scrolling.

Owns these numbers and their goals. Times are taken inside the page and from the kernel, never by the driver, whose own
way there is longer than most of them.
"""

from typing import Any, Final

import anyio
import psutil
from playwright.async_api import Frame, expect

from agent_ls.testing.model_scenario import Pause, Say, reply
from benchmarks.table import Group, Row, shown
from tests.editors.vscode.stage import SEEDED_TITLE, Stage, stage
from tests.editors.vscode.window import Window, window

SECONDS: Final = 12
WORDS_A_SECOND: Final = 40
PARAGRAPH: Final = "Some **words** of an answer, with `code` and a [link](src/a.py), as models write them, on and on. "

WATCH: Final = """
() => {
  window.longest = 0
  window.opened = 0
  new PerformanceObserver(list => list.getEntries().forEach(entry => {
    window.longest = Math.max(window.longest, entry.duration)
  })).observe({ type: 'longtask', buffered: false })
  const look = () => {
    const there = document.querySelector('.row[data-key^="c0ffee00"]')
    if (there) window.opened = performance.timeOrigin + performance.now()
    else requestAnimationFrame(look)
  }
  look()
}
"""
CLICKED: Final = (
    "addEventListener('click', () => { window.clicked = performance.timeOrigin + performance.now() }, true)"
)


async def page_of(seen: Window) -> Frame:
    held = await seen.page.frame_locator("iframe.webview").locator("iframe#active-frame").element_handle()
    frame = await held.content_frame()
    assert frame is not None
    return frame


async def opening(seen: Window, frame: Frame) -> list[Row]:
    await seen.page.evaluate(CLICKED)
    await seen.open_conversation(SEEDED_TITLE)
    await expect(frame.locator(".row").last).to_have_attribute("aria-setsize", "1968")
    took = await frame.evaluate("window.opened") - await seen.page.evaluate("window.clicked")
    longest = await frame.evaluate("window.longest")
    await frame.evaluate("window.longest = 0")
    for step in range(20):
        at = f"document.querySelector('.scroller').scrollTop = {step % 2} ? 1e9 : {step} * 3000"
        await frame.evaluate(f"new Promise(done => {{ {at}; requestAnimationFrame(() => setTimeout(done)) }})")
    scrolled = await frame.evaluate("window.longest")
    return [
        Row(name="a conversation of 2,000 items, clicked to drawn", unit="ms", ours=took, at_most=300),
        Row(name="longest task of the page meanwhile", unit="ms", ours=longest, at_most=50, note="0: none over 50"),
        Row(name="longest task while scrolling through it", unit="ms", ours=scrolled, at_most=50),
    ]  # fmt: skip


async def streaming(scenery: Stage, seen: Window, frame: Frame) -> list[Row]:
    words = (PARAGRAPH.split(" ") * 40)[: SECONDS * WORDS_A_SECOND]
    steps: list[Any] = []
    for place, word in enumerate(words):
        steps += [Say(f"{word} " if place % 60 else f"{word}\n\n"), Pause(1 / WORDS_A_SECOND)]
    scenery.answers("Stream for the record", reply(*steps))
    await seen.command("Agent: New Conversation")
    await expect(frame.locator(".empty")).to_be_visible()
    await frame.evaluate("window.longest = 0")
    await seen.ask("Stream for the record")
    await expect(frame.locator(".in-flight")).to_be_visible()
    host = psutil.Process(scenery.extension_host)
    before, begin = sum(host.cpu_times()[:2]), await frame.evaluate("performance.now()")
    await expect(frame.locator(".in-flight")).to_have_count(0, timeout=90_000)
    seconds = (await frame.evaluate("performance.now()") - begin) / 1000
    used = 100 * (sum(host.cpu_times()[:2]) - before) / seconds
    longest = await frame.evaluate("window.longest")
    return [
        Row(name=f"extension host while {WORDS_A_SECOND} words a second come", unit="%", ours=used, at_most=10),
        Row(name="longest task of the page meanwhile", unit="ms", ours=longest, at_most=50, note="0: none over 50"),
    ]


async def measured() -> list[Row]:
    async with stage() as scenery, window(scenery.browser, scenery.code, scenery.home.workspace) as seen:
        await seen.show_agent()
        await seen.chat().locator(".composer").wait_for()
        # The newest one, which is the one that was seeded, is shown at the start.
        await seen.fresh()
        frame = await page_of(seen)
        await frame.evaluate(WATCH)
        return [*await opening(seen, frame), *await streaming(scenery, seen, frame)]


if __name__ == "__main__":
    print(shown([Group("VS Code", anyio.run(measured))]))
