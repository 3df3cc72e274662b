"""Writes docs/guarantees.md from the lists in tests/guarantees.py: `python scripts/guarantees.py`.

Owns the page's words around the lists. Nobody edits the page by hand.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.guarantees import GUARANTEES, NOT_PROMISED

PAGE = Path(__file__).parents[1] / "docs" / "guarantees.md"

_HEAD = """\
# What holds whatever dies

Made by `scripts/guarantees.py` from `tests/guarantees.py`; do not edit. Each promise names the tests that pin it, and
those tests exist: `tests/architecture/test_guarantees.py`. They hold for SQLite and PostgreSQL alike.

- `tests/crash/test_matrix.py` kills a daemon at each named point of a run (`agent_ls/testing/crash_points.py`), with a
  window open and with none, on SQLite and on PostgreSQL.
- `make torture ROUNDS=1000` kills it at random times under busy windows. It prints a seed; `SEED=` says the same words
  again, though not at the same times. `POSTGRES=1` keeps the ledger on a server.
- `make simulate SEEDS=100000` plays histories of several daemons in virtual time; a seed replays exactly.

| promise | pinned by |
|---|---|
"""

_NOT = "\n## What is not promised\n\n"


def page() -> str:
    rows = [
        f"| {each.promise} | {'<br>'.join(f'`{proof}`' for proof in each.proofs)} |\n" for each in GUARANTEES
    ]  # fmt: skip
    return "".join([_HEAD, *rows, _NOT, *(f"- {each}\n" for each in NOT_PROMISED)])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
