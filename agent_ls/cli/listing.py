"""What a verb says once the daemon has answered: JSON for a script, else a table or a sentence.

Owns that choice and the question which one of a list is meant. Does not own how an entry reads.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from agent_ls.cli.terminal import complain, put, put_json, style_of, table

Json = dict[str, Any]


def put_list(
    options: argparse.Namespace,
    name: str,
    held: Sequence[Json],
    *,
    head: list[str],
    row: Callable[[Json], list[str]],
    none: str,
) -> int:
    """A row for each, under `head`; `none` where there are none. `name` is what JSON calls them."""
    if options.json:
        put_json({name: held})
    elif not held:
        put(none)
    else:
        put("\n".join(table([row(one) for one in held], style_of(sys.stdout), head=head)))
    return 0


def put_done(options: argparse.Namespace, data: Json, said: str) -> int:
    if options.json:
        put_json(data)
    else:
        put(said)
    return 0


def which_one(verb: str, how: str) -> int:
    complain("Which one?", f"agent-ls {verb} {how}; `agent-ls {verb}` lists them.")
    return 1
