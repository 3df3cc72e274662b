"""What a window costs: the first page of a long conversation, another conversation, a daemon that has nothing to do."""

from time import monotonic

from benchmarks.rig import Rig, Window, ms, pause
from benchmarks.seed import Seeded
from benchmarks.table import Row

LONG, SHORT, MESSAGES = "long", "short", "messages"
SIZES = {LONG: 20_000, SHORT: 200, MESSAGES: 11_800}
PAGE = 30
OTHERS = 10
MB = 1024 * 1024


def measure(rig: Rig, seeded: dict[str, Seeded]) -> list[Row]:
    window = rig.window()
    times: dict[str, list[float]] = {LONG: [], SHORT: []}
    bare: list[float] = []
    rig.floor.fresh()
    rig.floor.fill([{"role": "user", "content": "x" * 260}] * SIZES[LONG])
    for _ in rig.times(21):
        for known, found in times.items():
            found.append(_attach(window, known))
        begin = monotonic()
        rig.floor.last(PAGE)
        bare.append(monotonic() - begin)
    rig.floor.fresh()
    open_, first = _two_thousand(rig, window)
    window.client.close()
    messages = seeded[MESSAGES].messages
    return [
        Row(name=f"first page of {seeded[LONG].events:,} events", unit="ms", ours=ms(times[LONG]),
            floor=ms(times[SHORT]), ratio_at_most=1.5, at_most=100, note="floor: the same with 200 events"),
        Row(name=f"first page of 200 events ({PAGE} rows of SQLite)", unit="ms", ours=ms(times[SHORT]), floor=ms(bare)),
        Row(name=f"a conversation of {messages:,} messages, opened", unit="ms", ours=open_, peer=50),
        Row(name=f"a conversation of {messages:,} messages, first exchange", unit="ms", ours=first, peer=290),
    ]  # fmt: skip


def resting(rig: Rig) -> list[Row]:
    """A fresh daemon with one window: memory and processor while nothing happens, then another conversation."""
    rig.daemon.stop()
    window = rig.window()
    window.open()
    window.run("say 40")
    pause(1)
    idle_rss = rig.daemon.rss()
    seconds = 2.0 if rig.quick else 5.0
    before, begin = rig.daemon.cpu(), monotonic()
    pause(seconds)
    idle_cpu = 100 * (rig.daemon.cpu() - before) / (monotonic() - begin)
    opened: list[float] = []
    for _ in range(OTHERS):
        begin = monotonic()
        window.open()
        opened.append(monotonic() - begin)
        window.run("say 40")
    each = (rig.daemon.rss() - idle_rss) / OTHERS / MB
    window.client.close()
    return [
        Row(name="RSS idle, one window and one exchange", unit="MB", ours=idle_rss / MB, at_most=90, peer=250),
        Row(name="CPU idle", unit="%", ours=idle_cpu, at_most=0.2),
        Row(name="a second conversation, created and attached", unit="ms", ours=ms(opened), at_most=5),
        Row(name="a second conversation with one exchange", unit="MB", ours=each, at_most=1),
    ]


def after(rig: Rig) -> Row:
    """To be asked last, of the daemon that did all the work."""
    return Row(name="RSS after all of this", unit="MB", ours=rig.daemon.rss() / MB, peer=430)


def _attach(window: Window, known: str) -> float:
    window.conversation = known
    begin = monotonic()
    found = window.call("agent/conversation/attach", conversationId=known, backfill={"items": PAGE})
    took = monotonic() - begin
    assert len(found["items"]) == PAGE, len(found["items"])
    window.leave()
    return took


def _two_thousand(rig: Rig, window: Window) -> tuple[float, float]:
    """(opened, message to first text): the conversation is in nobody's memory yet."""
    opened = _attach(window, MESSAGES)
    window.open(MESSAGES)
    done = window.run("say 40")
    return 1000 * opened, 1000 * (done.text - done.sent)
