"""Files and functions stay small enough to be read in one go."""

import ast
from statistics import median

from tests.architecture.source import python_files, relative, tree

LONGEST_FILE = 400
MEDIAN_FILE = 200
LONGEST_FUNCTION = 50


def test_every_file_is_shorter_than_400_lines() -> None:
    lengths = {relative(path): _lines(path.read_text(encoding="utf-8")) for path in python_files()}
    assert {path: lines for path, lines in lengths.items() if lines >= LONGEST_FILE} == {}


def test_half_of_the_files_are_shorter_than_200_lines() -> None:
    lengths = [_lines(path.read_text(encoding="utf-8")) for path in python_files()]
    assert median(lines for lines in lengths if lines) < MEDIAN_FILE


def test_every_function_is_shorter_than_50_lines() -> None:
    long = {
        f"{relative(path)}:{function.lineno} {function.name}": length
        for path in python_files()
        for function in ast.walk(tree(path))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        if (length := _length(function)) >= LONGEST_FUNCTION
    }
    assert long == {}


def _lines(text: str) -> int:
    return len(text.splitlines())


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1
