"""docs/configuration.md names every key there is."""

import re
from pathlib import Path

from agent_ls.config.checks import checks_of
from agent_ls.config.options import TOP
from agent_ls.config.providers import IN_ENVIRONMENT, KINDS, LOCAL, ON_PATH, ProviderOptions
from agent_ls.config.settings import SECTIONS

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"


def test_every_key_is_documented() -> None:
    named = set(re.findall(r"`([^`\n]+)`", PAGE.read_text(encoding="utf-8")))
    sections = {f"{section}.{key}" for section, kind in SECTIONS.items() for key in checks_of(kind)}
    assert {*TOP, *sections, *checks_of(ProviderOptions)} - named == set()


def test_every_kind_and_everything_that_is_found_is_documented() -> None:
    text = PAGE.read_text(encoding="utf-8")
    found = [each.key_env or "" for each in IN_ENVIRONMENT] + [each.name for each in (*LOCAL, *ON_PATH)]
    assert [word for word in (*KINDS, *found) if word not in text] == []
