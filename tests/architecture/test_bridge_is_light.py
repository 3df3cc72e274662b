"""The bridge starts in an instant because it loads the standard library and nothing else."""

import ast
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.architecture.source import ROOT, relative, tree


@pytest.mark.parametrize(
    ("path", "ours"),
    [
        ("agent_ls/paths.py", ()),
        ("agent_ls/core/text.py", ()),
        ("agent_ls/bridge/mirror.py", ("agent_ls.core.text",)),
        *(
            (relative(path), ("agent_ls.paths", "agent_ls.bridge"))
            for path in sorted((ROOT / "agent_ls" / "bridge").iterdir())
            if path.suffix == ".py" and path.name != "mirror.py"
        ),
    ],
)
def test_it_imports_only_the_standard_library_and_what_it_shares(path: str, ours: tuple[str, ...]) -> None:
    foreign = {
        module
        for module in _imports(tree(ROOT / path))
        if module.split(".")[0] not in sys.stdlib_module_names and not module.startswith(ours or "-")
    }
    assert foreign == set()


def test_it_loads_nothing_that_costs_its_budget() -> None:
    # The text mirror comes with the first document.
    ours = {"agent_ls.bridge.mirror", "agent_ls.core.text"}
    heavy = {"asyncio", "dataclasses", "inspect", "pathlib", "subprocess", "tempfile", "threading", "typing", "uuid"}
    code = "import sys, agent_ls.bridge.pump; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (heavy | ours) & set(done.stdout.split()) == set()


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
