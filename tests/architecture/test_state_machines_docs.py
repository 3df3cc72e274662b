"""The pictures of the state machines are drawn from the tables that run."""

from scripts.diagrams import PAGE, page


def test_the_page_shows_the_tables_as_they_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python scripts/diagrams.py"
