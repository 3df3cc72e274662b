"""Every promise names tests that exist, and the page says what the lists say."""

import ast

from scripts.guarantees import PAGE, page
from tests.architecture.source import ROOT, tree
from tests.guarantees import GUARANTEES


def test_every_promise_is_pinned_by_tests_that_exist() -> None:
    missing = [proof for each in GUARANTEES for proof in each.proofs or ("",) if not _exists(proof)]
    assert missing == []


def test_the_page_says_what_the_lists_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python scripts/guarantees.py"


def _exists(proof: str) -> bool:
    file, _, name = proof.partition("::")
    path = ROOT / file
    if not path.is_file() or not name.startswith("test_"):
        return False
    functions = (each for each in ast.walk(tree(path)) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    return any(each.name == name for each in functions)
