"""Steps with tools: a read, a command, ten of each; and whether exchange 200 costs more than exchange 5."""

import sqlite3
from statistics import median

from benchmarks.rig import Exchange, Rig, ms
from benchmarks.table import Row

STEPS = 10
PARTS = 5


def measure(rig: Rig) -> list[Row]:
    window = rig.window()
    ours: dict[str, list[Exchange]] = {}
    floors: dict[str, list[Exchange]] = {}
    for text, repeat in ((f"read {STEPS}", 15), (f"shell {STEPS}", 11), (f"reads {STEPS}", 15)):
        for _ in rig.times(repeat):
            # Of short histories: what a long one adds is growth's.
            window.open()
            rig.floor.fresh()
            window.run("say 10")
            rig.floored("say 10")
            ours.setdefault(text, []).append(window.run(text))
            floors.setdefault(text, []).append(rig.floored(text))
            window.leave()
    window.client.close()

    def rounds(name: str, text: str, goal: float) -> Row:
        mine, bare = ours[text], floors[text]
        note = f"of it between answer and request {_gap(mine):.1f}, floor {_gap(bare):.1f}"
        return Row(
            name=name, unit="ms", ours=_round(mine), floor=_round(bare), ratio_at_most=goal, note=note,
        )  # fmt: skip

    def whole(name: str, text: str, peer: float) -> Row:
        return Row(name=name, unit="ms", ours=_whole(ours[text]), floor=_whole(floors[text]), peer=peer)

    return [
        rounds("read-tool round", f"read {STEPS}", 2.5),
        rounds("shell round", f"shell {STEPS}", 2),
        whole(f"{STEPS} sequential shell calls, message to completed", f"shell {STEPS}", 560),
        whole(f"{STEPS} reads in one step, message to completed", f"reads {STEPS}", 190),
    ]


def growth(rig: Rig) -> list[Row]:
    """One conversation of 200 exchanges on either side, alternating."""
    window = rig.window()
    window.open()
    rig.floor.fresh()
    last = 80 if rig.quick else 200
    before = _ledger_bytes(rig)
    mine: list[float] = []
    bare: list[float] = []
    for _ in range(last):
        done = window.run("say 400")
        mine.append(done.done - done.sent)
        floor = rig.floored("say 400")
        bare.append(floor.done - floor.sent)
    exchange = (_ledger_bytes(rig) - before) / last / 1024
    window.client.close()
    early, late = slice(1, 1 + 2 * PARTS), slice(-2 * PARTS, None)
    grown, floor_grown = (median(times[late]) / median(times[early]) for times in (mine, bare))
    ends = [ms(times[part]) for times in (mine, bare) for part in (early, late)]
    note = "ours {:.1f} -> {:.1f} ms, floor {:.1f} -> {:.1f} ms".format(*ends)
    return [
        # As the floor does, with room for noise: anything quadratic is far above.
        Row(name=f"exchange {last} as a multiple of exchange 5", unit="x", ours=grown, floor=floor_grown,
            ratio_at_most=1.3, note=note),
        Row(name="disk an exchange (400 characters answered)", unit="KB", ours=exchange, at_most=8),
    ]  # fmt: skip


def _round(found: list[Exchange]) -> float:
    return ms([seconds for exchange in found for seconds in exchange.rounds])


def _gap(found: list[Exchange]) -> float:
    return ms([seconds for exchange in found for seconds in exchange.gaps])


def _whole(found: list[Exchange]) -> float:
    return ms([exchange.done - exchange.sent for exchange in found])


def _ledger_bytes(rig: Rig) -> int:
    """Of the database, what is still in its write-ahead log included, free pages not."""
    db = sqlite3.connect(f"file:{rig.daemon.state / 'ledger.db'}?mode=ro", uri=True)
    try:
        pages, free, size = (
            int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size
    finally:
        db.close()
