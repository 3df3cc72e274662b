"""Draws the state machines of the core as they are: `python scripts/diagrams.py` writes docs/state-machines.md.

Owns the picture. What may follow what is the TRANSITIONS table of each module; nobody edits the page by hand.
"""

import sys
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent_ls.core import attempt, call, request, run

PAGE = Path(__file__).parents[1] / "docs" / "state-machines.md"

_HEAD = """\
# State machines

Made by `scripts/diagrams.py` from the `TRANSITIONS` tables; do not edit. An arrow is a fact, committed with the whole
entity after it. A fact without an arrow is a bug of ours and raises `IllegalTransition`.
"""

_MACHINES: tuple[tuple[str, str, Any], ...] = (
    ("Run", "One counted exchange: a message of the person until the agent is done.", run),
    ("Attempt", "One try at a run on one backing.", attempt),
    ("Call", "A tool call, from proposed to exactly one truthful result.", call),
    ("Request", "One question to the person, from asked to settled.", request),
)


def page() -> str:
    return "\n".join([_HEAD, *(_section(name, words, module) for name, words, module in _MACHINES)])


def _section(name: str, words: str, module: Any) -> str:
    source = module.__name__.replace(".", "/")
    drawn = "\n".join(f"  {line}" for line in (*_arrows(module.TRANSITIONS), *_ends(module)))
    return f"## {name}\n\n{words} `{source}.py`\n\n```mermaid\nstateDiagram-v2\n{drawn}\n```\n"


def _arrows(table: Mapping[tuple[Any, StrEnum], StrEnum]) -> Iterator[str]:
    if all(status is not None for status, _ in table):
        yield f"[*] --> {next(iter(table))[0]}"
    facts: dict[tuple[str, str], list[str]] = {}
    for (status, fact), after in table.items():
        facts.setdefault(("[*]" if status is None else str(status), str(after)), []).append(str(fact))
    for (start, end), names in facts.items():
        yield f"{start} --> {end}: {', '.join(names)}"


def _ends(module: Any) -> Iterator[str]:
    """States that may be the last: those the module calls ended or settled, else those that nothing leaves."""
    left = {status for status, _ in module.TRANSITIONS}
    last = getattr(module, "ENDED", None) or getattr(module, "SETTLED", None)
    for state in dict.fromkeys(module.TRANSITIONS.values()):
        if state in last if last else state not in left:
            yield f"{state} --> [*]"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
