"""Every page of the docs is linked from another one, and every link between pages leads somewhere."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def links(page: Path) -> list[tuple[Path, str]]:
    """(file, anchor) of each link that stays in the repository."""
    found = [link.partition("#") for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    return [((page.parent / path).resolve() if path else page, anchor) for path, _, anchor in found]


def anchors(page: Path) -> set[str]:
    """As they are made of headings where the pages are read."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_each_page_of_the_docs_is_linked_from_another_one() -> None:
    linked = {file for page in PAGES for file, _ in links(page) if file != page}
    assert [page.name for page in PAGES[2:] if page not in linked] == []


def test_each_link_leads_somewhere() -> None:
    assert [
        f"{page.name}: {file.name}#{anchor}"
        for page in PAGES
        for file, anchor in links(page)
        if not file.exists() or (anchor and anchor not in anchors(file))
    ] == []
