"""Requirements and tests name each other: none without proof, no acceptance test that proves nothing."""

import ast

from tests.architecture.source import ROOT, python_files, relative, tree
from tests.requirements import REQUIREMENTS

PROOFS = {proof for requirement in REQUIREMENTS.values() for proof in requirement.proofs}


def test_every_requirement_is_shown_by_tests_that_exist() -> None:
    unproved = [key for key, requirement in REQUIREMENTS.items() if not requirement.proofs]
    missing = [proof for proof in PROOFS if proof.partition("::")[0] == proof and not (ROOT / proof).is_file()]
    missing += [proof for proof in PROOFS if "::" in proof and proof not in _tests(proof.partition("::")[0])]
    assert (unproved, missing) == ([], [])


def test_every_acceptance_test_shows_a_requirement() -> None:
    stray = [
        test
        for path in python_files("tests")
        if "tests.scene" in _imports(tree(path))
        for test in _tests(relative(path))
        if test not in PROOFS and relative(path) not in PROOFS
    ]
    assert stray == []


def _tests(file: str) -> set[str]:
    path = ROOT / file
    if not path.is_file():
        return set()
    functions = (node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {f"{file}::{function.name}" for function in functions if function.name.startswith("test_")}


def _imports(module: ast.Module) -> set[str]:
    return {node.module for node in ast.walk(module) if isinstance(node, ast.ImportFrom) and node.module}
