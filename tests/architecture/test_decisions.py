"""Each page of `docs/decisions` has a number of its own and says it in its title; a link to one finds it."""

import re
from collections import Counter
from pathlib import Path
from typing import Final

from tests.architecture.source import ROOT, relative

DECISIONS: Final = ROOT / "docs" / "decisions"
LINK: Final = re.compile(r"\]\((?:[\w./-]*/)?decisions/([\w.-]+)\)")


def test_no_two_decisions_have_the_same_number() -> None:
    numbers = Counter(path.name[:4] for path in _pages())
    assert [number for number, pages in numbers.items() if pages > 1] == []


def test_a_decision_says_its_number_in_its_title() -> None:
    titles = {path.name: path.read_text(encoding="utf-8").splitlines()[0] for path in _pages()}
    assert {name: title for name, title in titles.items() if not title.startswith(f"# {name[:4]}: ")} == {}


def test_a_link_to_a_decision_finds_it() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    lost = [
        f"{relative(page)}: {name}"
        for page in pages
        for name in LINK.findall(page.read_text(encoding="utf-8"))
        if not (DECISIONS / name).exists()
    ]
    assert lost == []


def _pages() -> list[Path]:
    """Every decision; 0000 is the form they are written on."""
    return [path for path in sorted(DECISIONS.glob("*.md")) if not path.name.startswith("0000")]
