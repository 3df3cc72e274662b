"""Tests wait on events with a time limit; a sleep is either too short or too long."""

import ast
from collections.abc import Iterator

from tests.architecture.source import python_files, relative, tree

CLOCKS = ("time", "asyncio", "anyio", "trio")


def test_no_test_sleeps() -> None:
    sleeps = [f"{relative(path)}:{line}" for path in python_files("tests") for line in sleep_lines(tree(path))]
    assert sleeps == []


def test_nothing_sleeps_under_a_time_limit_that_is_no_limit() -> None:
    found = [f"{relative(path)}:{line}" for path in python_files() for line in disguised_lines(tree(path))]
    assert found == []


def test_a_wait_for_nothing_that_a_limit_ends_is_a_sleep() -> None:
    source = (
        "with anyio.move_on_after(1):\n"
        "    await anyio.sleep_forever()\n"
        "with fail_after(1):\n"
        "    await sleep_forever()\n"
        "with anyio.move_on_after(1):\n"
        "    await event.wait()\n"
        "with anyio.CancelScope():\n"
        "    await anyio.sleep_forever()\n"
    )
    assert list(disguised_lines(ast.parse(source))) == [1, 3]


def test_a_sleep_is_seen_however_it_is_imported() -> None:
    source = (
        "import time, anyio as a, asyncio\n"
        "from time import sleep as nap\n"
        "time.sleep(1)\n"
        "a.sleep(1)\n"
        "nap(1)\n"
        "asyncio.sleep(0)\n"
        "a.sleep_forever()\n"
        "clock.sleep(1)\n"
    )
    assert list(sleep_lines(ast.parse(source))) == [3, 4, 5, 6]


def sleep_lines(module: ast.Module) -> Iterator[int]:
    """Lines that sleep on a real clock; the clock port and `sleep_forever` (ended by a cancel) are fine."""
    modules, functions = _imported(module)
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and _sleeps(node.func, modules, functions):
            yield node.lineno


def disguised_lines(module: ast.Module) -> Iterator[int]:
    """Time limits around `sleep_forever` alone: a sleep that the ban on sleeping does not see."""
    for node in ast.walk(module):
        match node:
            case ast.With(
                items=[ast.withitem(context_expr=ast.Call(func=limit))],
                body=[ast.Expr(value=ast.Await(value=ast.Call(func=waited)))],
            ) if _last(limit) in {"move_on_after", "fail_after"} and _last(waited) == "sleep_forever":
                yield node.lineno


def _last(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _sleeps(called: ast.expr, modules: set[str], functions: set[str]) -> bool:
    match called:
        case ast.Name(id=name):
            return name in functions
        case ast.Attribute(value=ast.Name(id=name), attr="sleep" | "sleep_until"):
            return name in modules
        case _:
            return False


def _imported(module: ast.Module) -> tuple[set[str], set[str]]:
    modules: set[str] = set()
    functions: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            modules |= {name.asname or name.name for name in node.names if name.name in CLOCKS}
        elif isinstance(node, ast.ImportFrom) and node.module in CLOCKS:
            functions |= {name.asname or name.name for name in node.names if name.name in {"sleep", "sleep_until"}}
    return modules, functions
