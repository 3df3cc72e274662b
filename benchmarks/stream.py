"""Messages without tools: how soon the model is asked, how soon a window sees the end, tokens on their way."""

from dataclasses import dataclass
from time import process_time

from benchmarks.model import TOKEN
from benchmarks.rig import Exchange, Rig, Window, ms
from benchmarks.table import Row

TOKENS = 2000


@dataclass(frozen=True)
class Streamed:
    exchange: Exchange
    cpu: float

    @property
    def per_second(self) -> float:
        return TOKENS / (self.exchange.text - self.exchange.asked[0])


def measure(rig: Rig) -> list[Row]:
    window = rig.window()
    window.open()
    rig.floor.fresh()
    short = _short(rig, window)
    window.open()
    rig.floor.fresh()
    ours, bare = _streams(rig, window)
    window.client.close()
    mine, floor = short
    micro = [1e6 * sorted(s.cpu for s in side)[len(side) // 2] / TOKENS for side in (ours, bare)]
    speed = [sorted(s.per_second for s in side)[len(side) // 2] for side in (ours, bare)]
    return [
        Row(name="warm message -> model request", unit="ms", ours=_to_model(mine), floor=_to_model(floor),
            ratio_at_most=4),
        Row(name="last model byte -> completed at the window", unit="ms", ours=_to_end(mine), floor=_to_end(floor),
            ratio_at_most=3),
        Row(name="message -> completed, one step", unit="ms", ours=_whole(mine), floor=_whole(floor), peer=52,
            note="Letta: to its first delta"),
        Row(name=f"tokens a second to a window, of {TOKENS:,}", unit="1/s", ours=speed[0], floor=speed[1],
            ratio_at_least=0.7),
        Row(name=f"CPU a token, of {TOKENS:,}", unit="us", ours=micro[0], floor=micro[1], ratio_at_most=2),
    ]  # fmt: skip


def _short(rig: Rig, window: Window) -> tuple[list[Exchange], list[Exchange]]:
    ours, bare = [], []
    for _ in range(3):
        window.run("say 40")
        rig.floored("say 40")
    for _ in rig.times(60):
        ours.append(window.run("say 40"))
        bare.append(rig.floored("say 40"))
    return ours, bare


def _streams(rig: Rig, window: Window) -> tuple[list[Streamed], list[Streamed]]:
    text, length = f"stream {TOKENS}", TOKENS * len(TOKEN)
    ours, bare = [], []
    for _ in rig.times(15):
        before = rig.daemon.cpu()
        done = window.run(text, shows=length)
        ours.append(Streamed(done, rig.daemon.cpu() - before))
        before = process_time()
        done = rig.floored(text)
        bare.append(Streamed(done, process_time() - before))
    return ours, bare


def _to_model(found: list[Exchange]) -> float:
    return ms([exchange.asked[0] - exchange.sent for exchange in found])


def _to_end(found: list[Exchange]) -> float:
    return ms([exchange.done - exchange.answered[-1] for exchange in found])


def _whole(found: list[Exchange]) -> float:
    return ms([exchange.done - exchange.sent for exchange in found])
