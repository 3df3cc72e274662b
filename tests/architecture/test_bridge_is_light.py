"""The bridge starts in an instant because it loads the standard library and nothing else."""

import ast
import sys
from collections.abc import Iterator

import pytest

from tests.architecture.source import ROOT, tree

ALLOWED_OF_OURS = {"bridge": {"agent_ls.paths"}, "paths": set[str]()}


@pytest.mark.parametrize("name", sorted(ALLOWED_OF_OURS))
def test_it_imports_only_the_standard_library_and_paths(name: str) -> None:
    path = ROOT / "agent_ls" / f"{name}.py"
    if not path.exists():
        pytest.skip(f"{name}.py is not written yet")
    foreign = {
        module for module in _imports(tree(path)) if module.split(".")[0] not in sys.stdlib_module_names
    }
    assert foreign <= ALLOWED_OF_OURS[name]


def _imports(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module, "relative imports are banned"
            # `from agent_ls import paths` names a module, `from agent_ls.paths import x` what is in one.
            if node.module == "agent_ls":
                yield from (f"agent_ls.{name.name}" for name in node.names)
            else:
                yield node.module
