"""Each module says what it owns."""

import ast

from tests.architecture.source import python_files, relative, tree


def test_every_module_says_what_it_owns() -> None:
    silent = [
        relative(path) for path in python_files() if path.name != "__init__.py" and not ast.get_docstring(tree(path))
    ]
    assert silent == []


def test_every_package_file_is_empty() -> None:
    filled = [
        relative(path)
        for path in python_files()
        if path.name == "__init__.py" and path.read_text(encoding="utf-8").strip()
    ]
    assert filled == []


def test_no_module_is_named_after_nothing() -> None:
    shapeless = {"utils", "util", "helpers", "misc", "common"}
    assert [relative(path) for path in python_files() if shapeless & {path.stem, path.parent.name}] == []
