"""Ids that follow from an input: a retry of the same input lands on the same row.

Owns the shape of every id but the ones that the host makes (boot, connection). Pure: a command id goes in, an id
comes out.
"""

from hashlib import sha256
from typing import Final


def conversation_id(command_id: str) -> str:
    return "c" + _digest(command_id, 16)


def conversation_of(entity: str) -> str:
    """The id of the conversation that a run, an item, a request belongs to: theirs begins with it."""
    return entity.partition(".")[0]


SUBAGENT: Final = "sub_"


def subagent_conversation(call: str) -> str:
    """The conversation to which a call hands its work. Told from others by its first letters: lists leave it out."""
    return SUBAGENT + _digest(call, 16)


def run_id(conversation: str, ordinal: int) -> str:
    return f"{conversation}.r{ordinal}"


def attempt_id(run: str, n: int) -> str:
    return f"{run}.a{n}"


def step_id(attempt: str, n: int, read_through: int) -> str:
    return f"{attempt}.s{n}.{read_through}"


def part_id(step: str, index: int) -> str:
    """Item of the `index`-th part (text, reasoning or call) of a model's reply."""
    return f"{step}.p{index}"


def user_item_id(run: str, n: int) -> str:
    return f"{run}.u{n}"


def note_id(run: str, name: str, n: int) -> str:
    """Item that the daemon itself adds to a run: an error, a notice, an interrupt."""
    return f"{run}.{name}{n}"


def question_id(item: str) -> str:
    """Item that shows what a call asks the person."""
    return f"{item}.ask"


def plan_id(item: str) -> str:
    """Item that shows the plan that a call proposes."""
    return f"{item}.plan"


def subagent_id(item: str) -> str:
    """Item that shows what became of the work that a call has handed over."""
    return f"{item}.sub"


def compacting_id(conversation: str, seq: int) -> str:
    """A wish to compact, noted with the event `seq`."""
    return f"{conversation}.k{seq}"


def request_id(item: str, n: int = 1) -> str:
    return f"{item}.q{n}"


def call_id(item: str) -> str:
    """Id under which a model is told of a call: ours, unique, legal on every wire (40 characters at most)."""
    return "call_" + _digest(item, 24)


def rule_id(place: str, verdict: str, pattern: str) -> str:
    """A kept rule; `place` is a conversation's id, or what the store calls the person or a workspace."""
    return f"{place}:{_digest(f'{verdict} {pattern}', 12)}"


def _digest(text: str, length: int) -> str:
    return sha256(text.encode()).hexdigest()[:length]
