"""Kept rules whose file is not what it was: whatever it is now, no denial is lost and nobody waits for it."""

import os
from pathlib import Path

import pytest

from agent_ls.adapters.host.rule_files import RuleFiles
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.kept_rules import Kept
from agent_ls.core.rules import Rule, Ruling, Scope
from agent_ls.ports.rules import Said


@pytest.mark.parametrize(
    "content", ["[" * 100_000, "{", "5", '{"rules": 5}', '{"rules": [5]}'], ids=["deep", "cut", "number", "no", "of no"]
)
def test_a_file_that_makes_no_sense_denies_everything(tmp_path: Path, content: str) -> None:
    path = tmp_path / "user.json"
    path.write_text(content)
    said = f"{path} cannot be read, and it may hold denials."
    assert RuleFiles(str(tmp_path)).rules(None) == [Rule(Ruling.DENY, "*", Scope.USER, said)]


def test_a_pipe_in_its_place_keeps_nobody_waiting_and_denies_everything(tmp_path: Path) -> None:
    files = RuleFiles(str(tmp_path))
    os.mkfifo(tmp_path / "user.json")
    assert [rule.verdict for rule in files.rules(None)] == [Ruling.DENY]
    refused = files.add(None, Kept(effect=Ruling.ALLOW, pattern="shell(ls)", by="me"), Said("c1", "add"))
    assert isinstance(refused, Refusal)
    assert refused.code is Code.INVALID_PARAMS


@pytest.mark.parametrize(
    "entry", ['{"verdict": "deny", "pattern": "shell(("}', '{"verdict": "deny", "pattern": 5}', '{"verdict": "never"}']
)
def test_a_rule_that_cannot_be_read_any_more_lets_everything_be_asked_for(tmp_path: Path, entry: str) -> None:
    path = tmp_path / "user.json"
    path.write_text(f'{{"rules": [{entry}, {{"verdict": "allow", "pattern": "shell(ls)"}}]}}')
    lost, kept = RuleFiles(str(tmp_path)).rules(None)
    assert lost == Rule(Ruling.ASK, "*", Scope.USER, f"a rule in {path} that cannot be read")
    assert (kept.verdict, kept.pattern) == (Ruling.ALLOW, "shell(ls)")
