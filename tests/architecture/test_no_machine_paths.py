"""Nothing in the repository depends on, or tells of, the machine it was written on."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import all_files, relative

EXAMPLE_PEOPLE = "me|you|user|person|dev|ada"
# Written in pieces, so that this file does not find itself.
FORBIDDEN = re.compile(
    r"(?<![\w.~})\]-])/(?:work|root)/[\w.]"
    rf"|(?<![\w.~}})\]-])/(?:home|Users)/(?!(?:{EXAMPLE_PEOPLE})\b)\w+/"
    r"|\bpypi\.(?:org|python)|\bpythonhosted\.|\bregistry\.(?:npmjs|yarnpkg)\.|\bfiles\.python"
    r"|/etc/(?:xdg/)?pip\b|/opt/(?:wheels|pypi)"
)


def test_no_file_names_a_path_of_a_machine_or_a_package_registry() -> None:
    found = [f"{relative(path)}:{line}" for path in all_files() for line in _lines_naming(_text(path))]
    assert found == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("see /" + "work/main", True),
        ("file:///" + "root/x", True),
        ("/" + "home/grace/x", True),
        ("https://" + "pypi" + ".org/simple", True),
        ("/home/me/project", False),
        ("$STATE/work/x", False),
        ("~/work/x", False),
        ("from PyPI", False),
    ],
)
def test_a_machine_path_is_told_from_an_example(text: str, named: bool) -> None:  # noqa: FBT001 - a column of the table
    assert bool(FORBIDDEN.search(text)) is named


def _lines_naming(text: str) -> Iterator[int]:
    return (number for number, line in enumerate(text.splitlines(), start=1) if FORBIDDEN.search(line))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""
