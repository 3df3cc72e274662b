"""Nothing that the policy lets pass unasked runs another program, writes, or reads what is not to be read: by trial.

A short version of `make fuzz-shell`. What happened is what the kernel saw, not what our parser thinks.
"""

import sys
from collections.abc import Iterator

import pytest

from tests.security.fuzz_shell import batch
from tests.security.shell_ground import STRACE, Ground, ground

pytestmark = [
    pytest.mark.skipif(STRACE is None, reason="strace is not installed: apt-get install strace"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the oracle is strace"),
    pytest.mark.timeout(180),
]


@pytest.fixture(scope="module")
def place() -> Iterator[Ground]:
    with ground() as made:
        yield made


@pytest.mark.parametrize(
    ("script", "rule", "what"),
    [
        ("touch P", "shell(touch *)", "opened P to write"),
        ("rm b.txt", "shell(rm b.txt)", "did unlinkat to b.txt"),
        ("./evil", "shell(./evil)", "ran ./evil"),
        ("perl -e 1", "shell(make)", None),
        ("cat .env", "shell(cat .env)", "read {root}/.env"),
        ("find src -maxdepth 0 -exec ./evil ';'", "shell(find src -maxdepth 0 -exec ./evil ';')", "ran ./evil"),
        ("git log -1", "shell(git *)", None),
        ("cat a.py", "shell(make)", None),
    ],
)
def test_the_oracle_sees_what_a_command_does(place: Ground, script: str, rule: str, what: str | None) -> None:
    deed = place.deed(script, (rule,), hostile=False)
    assert (deed and deed.what) == (what and what.format(root=place.root))


def test_nothing_is_done_unasked(place: Ground) -> None:
    before = place.allowed
    batch(place, seed=20_240, examples=600)
    assert place.allowed - before > 20
