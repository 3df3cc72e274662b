"""The repository as the architecture tests read it: which files there are, and their syntax trees.

Owns what counts as ours. Does not judge anything.
"""

import ast
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON_ROOTS = ("agent_ls", "tests", "benchmarks")
NOT_OURS = frozenset({"node_modules", "__pycache__", "build", "dist", "out", "venv"})


def python_files(*roots: str) -> list[Path]:
    wanted = roots or PYTHON_ROOTS
    return sorted(path for path in all_files() if path.suffix == ".py" and relative(path).split("/")[0] in wanted)


@cache
def all_files() -> tuple[Path, ...]:
    return tuple(_walk())


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _walk() -> Iterator[Path]:
    for directory, names, files in os.walk(ROOT):
        names[:] = [name for name in names if name not in NOT_OURS and (name == ".ci" or not name.startswith("."))]
        # In a second working tree `.git` is a file that names the first one.
        yield from (Path(directory, name) for name in files if name != ".git")
