"""What a requirement is: a sentence and the tests that show it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Requirement:
    """A proof is a file, or `file::test`."""

    sentence: str
    proofs: tuple[str, ...]
