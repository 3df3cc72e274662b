"""What a person types to allow something, as the daemon takes it: for how long, and a plan as they changed it.

Owns the spellings of the command line. Whether it is an answer is for the daemon to say.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from agent_ls.cli.client import ClientError

Json = dict[str, Any]


def allowance(named: str) -> Json:
    """For how long it is allowed. `prefix` is the wider of the two rules that a card may offer for a conversation."""
    if named == "prefix":
        return {"scope": "conversation", "optionId": "allow_conversation_prefix"}
    return {"scope": named}


def plan_answer(options: argparse.Namespace) -> Json:
    """How a plan is accepted: which mode follows, and the plan itself where the person has changed it."""
    how: Json = {"optionId": "accept_edits" if options.mode == "edits" else "accept"}
    if options.plan is None:
        return how
    try:
        text = sys.stdin.read() if options.plan == "-" else Path(options.plan).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        said = f"The plan {options.plan} cannot be read ({error})."
        raise ClientError("not_found", said, "Name a text file, or `-` for standard input.") from error
    return {**how, "input": {"markdown": text}}
