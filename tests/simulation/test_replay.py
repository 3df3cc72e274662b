"""What the command line of the simulation says: a history line by line, the same in any process."""

import os
import subprocess
import sys

import pytest


def told(*arguments: str, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agent_ls.testing.simulate", *arguments],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


@pytest.mark.parametrize("seed", ["41", "629"])
def test_a_history_is_told_byte_for_byte_the_same_in_another_process(seed: str) -> None:
    first, other = told("--seed", seed, hash_seed="1"), told("--seed", seed, hash_seed="2")
    assert (first.returncode, first.stdout) == (0, other.stdout)
    assert " begins in slot0" in first.stdout


def test_many_are_spread_over_processes_and_counted() -> None:
    many = told("--seeds", "40", "--processes", "2")
    assert (many.returncode, many.stdout.partition(" histories")[0]) == (0, "40")
