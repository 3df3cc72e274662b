"""`python -m tests.security.fuzz_shell --minutes 10`: the fuzzer of the shell policy for as long as you like.

Owns the clock and the report. What is tried is shell_pieces.py, what counts as a deed shell_ground.py.
"""

import argparse
import sys
from itertools import count
from time import monotonic

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.strategies import booleans

from tests.security.shell_ground import STRACE, Ground, ground
from tests.security.shell_pieces import rule_sets, scripts

BATCH = 1000


def batch(place: Ground, seed: int, examples: int) -> None:
    """Fails with the smallest script that did something unasked."""

    @seeded(seed)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(script=scripts, rules=rule_sets, hostile=booleans())
    def nothing_unasked(script: str, rules: tuple[str, ...], *, hostile: bool) -> None:
        deed = place.deed(script, rules, hostile=hostile)
        assert deed is None, str(deed)

    nothing_unasked()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if STRACE is None:
        print("strace is missing: apt-get install strace", file=sys.stderr)
        return 1
    end, found = monotonic() + 60 * options.minutes, 0
    with ground() as place:
        for number in count():
            try:
                batch(place, options.seed + number, BATCH)
            except (AssertionError, ExceptionGroup) as error:
                # A group is a deed that was not done again: it counts all the same.
                found += 1
                print(error, flush=True)
            print(f"seed {options.seed + number}: {place.allowed} allowed scripts run, {found} found", flush=True)
            if monotonic() > end:
                return 1 if found else 0
    raise AssertionError("counting ends nowhere")


if __name__ == "__main__":
    sys.exit(main())
