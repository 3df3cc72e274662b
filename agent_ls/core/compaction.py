"""When a conversation is compacted, and where it is cut.

Owns the numbers, the cut (never between a call and its result, never before a call that is still open) and the facts of
a compaction. Does not own how large something is (sizes.py), what is put in again (carried.py), nor the summary.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

from agent_ls.core import compacting, context
from agent_ls.core.attempt import Attempt
from agent_ls.core.call import SETTLED
from agent_ls.core.draft import Decision, Draft
from agent_ls.core.items import Call, Compaction, Item, ItemKind, Notice, UserMessage
from agent_ls.core.projection import ConversationState

RESERVE: Final = 16_384
KEPT: Final = 20_000
OVERFLOWS: Final = 3
"""How often a request that the server calls too large is shortened."""

TRIES: Final = 2
SHORTEST: Final = 4
"""Messages; fewer are not worth a cut between them."""

NAME: Final = "compaction"
_STEPS: Final = range(30, 100, 10)

Items = Sequence[Item]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What the person has set. `threshold`: a share of the window; `model`: another one that writes the summary."""

    enabled: bool = True
    threshold: float | None = None
    keep_recent_tokens: int = KEPT
    mode: str = "sliding"
    model: str | None = None


@dataclass(frozen=True)
class Atom:
    """What stays together or goes together: a step with its results, or what the person said."""

    items: tuple[Item, ...]
    is_step: bool
    starts_run: bool

    @property
    def ord(self) -> int:
        return self.items[0].ord

    @property
    def open(self) -> bool:
        return any(isinstance(item.payload, Call) and item.payload.state not in SETTLED for item in self.items)


@dataclass(frozen=True)
class Cut:
    """`at`: how many atoms go; `mode`: how it was found; `kept_from`: the place from which items are still sent."""

    at: int
    mode: str
    kept_from: int


def reserve(window: int) -> int:
    return min(RESERVE, max(1, window // 5))


def limit(window: int, policy: Policy) -> int:
    """A request that is larger is not sent before the conversation is shortened."""
    return window - reserve(window) if policy.threshold is None else int(window * policy.threshold)


def target(window: int | None, policy: Policy) -> int:
    """How much of the end may stay as it was."""
    return policy.keep_recent_tokens if window is None else min(policy.keep_recent_tokens, window // 2)


def atoms(state: ConversationState) -> list[Atom]:
    """What the model is still sent as it was, oldest first."""
    found: list[Atom] = []
    for run_id in state.run_items:
        for item in state.items_of(run_id):
            if item.ord < state.kept_from or not _is_sent(item):
                continue
            last = found[-1] if found else None
            if last is not None and item.step_id is not None and last.items[0].step_id == item.step_id:
                found[-1] = replace(last, items=(*last.items, item))
            else:
                starts = item.id == state.runs[run_id].user_item_id
                found.append(Atom((item,), item.step_id is not None, starts_run=starts))
    return found


def cut(found: Sequence[Atom], sizes: Sequence[int], *, target: int, mode: str, end: int) -> Cut | None:
    """Where to cut, `end` being the place of what comes next; None where nothing can go.

    `sizes` are the tokens of each atom.
    """
    at = _sliding(found, sizes, target) if mode == "sliding" and len(found) >= SHORTEST else None
    if at is not None:
        return Cut(at, "sliding", found[at].ord)
    at = _first_open(found)
    if not any(atom.is_step for atom in found[:at]):
        return None
    return Cut(at, "all", found[at].ord if at < len(found) else end)


def legal(found: Sequence[Atom], at: int) -> bool:
    """Whether a model may be sent what comes from there on, and what went before has its results."""
    return 0 < at < len(found) and at <= _first_open(found) and _may_begin(found[at])


def since_step(state: ConversationState, run_id: str) -> list[Compaction]:
    """Compactions of the run since its newest step: what was tried already for the request that comes next."""
    found: list[Compaction] = []
    for item in reversed(state.items_of(run_id)):
        if item.step_id is not None:
            break
        if isinstance(item.payload, Compaction):
            found.append(item.payload)
    return found


def commit(
    state: ConversationState, made: Compaction, *, attempt: Attempt | None, wish_id: str | None, at: str
) -> Decision | None:
    """The conversation is compacted with this and not before. None if nobody wants it any more."""
    held, run_id = state.conversation.compacting, compacting.home(state)
    if run_id is None or (wish_id is not None and (held is None or held.id != wish_id)):
        return None
    if attempt is not None and not goes_on(state, attempt):
        return None
    draft = Draft(state, at)
    first = min((i for i in state.items.values() if i.ord >= made.kept_from), key=lambda i: i.ord, default=None)
    going = [i for i in state.items.values() if i.ord < made.kept_from and not isinstance(i.payload, Compaction)]
    whole = replace(made, first_kept=None if first is None else first.id, summarized=len(going))
    more = {} if attempt is None else {"attempt_id": attempt.id}
    draft.add_item(run_id, draft.fresh_note_id(run_id, NAME), ItemKind.COMPACTION, payload=whole, **more)
    if wish_id is not None:
        compacting.end(draft)
    return draft.done()


def goes_on(state: ConversationState, attempt: Attempt) -> bool:
    """Whether the attempt is still the one that asks next."""
    run = state.runs[attempt.run_id]
    return not run.ended and run.interrupt is None and run.active_attempt_id == attempt.id


def shown_as(state: ConversationState) -> str:
    """Id of the item that a compaction made now would be."""
    run_id = compacting.home(state) or ""
    return Draft(state, "").fresh_note_id(run_id, NAME)


def cannot_fit(*, needed: int, fixed: int, window: int, model: str) -> Notice:
    message = (
        f"The conversation cannot be made to fit into the window of {model}: it needs about {needed:,} tokens even when"
        f" it is compacted, {fixed:,} of them for instructions and tools, and the window has {window:,}."
    )
    hint = "Use a model with a larger window, or start a new conversation with less attached."
    return Notice(code="context_overflow", message=message, hint=hint)


def no_use(*, size: int, replaced: int, wanted: bool) -> Notice:
    """`size` of the summary, in tokens."""
    what = "was empty" if size == 0 else f"has about {size:,} tokens and would stand for {replaced:,}"
    message = f"Not compacted: the summary {what}, in {TRIES} tries."
    hint = "There may be too little to shorten yet." if wanted else "Use another model, or start a new conversation."
    return Notice(code="compaction_failed", message=message, hint=hint)


def _sliding(found: Sequence[Atom], sizes: Sequence[int], target: int) -> int | None:
    """From the front, in whole runs where that is enough: from 30 % on in steps of 10 %, until the rest is small."""
    whole = sum(sizes)
    gone = list(accumulate(sizes, initial=0))
    last = min(_first_open(found), len(found) - 1)
    places = [at for at in range(1, last + 1) if _may_begin(found[at])]
    for percent in _STEPS:
        there = [at for at in places if gone[at] * 100 >= whole * percent]
        near = [at for at in there if found[at].starts_run and gone[at] * 100 < whole * (percent + 10)]
        at = next(iter(near or there), None)
        if at is not None and whole - gone[at] <= target:
            return at
    return None


def _first_open(found: Sequence[Atom]) -> int:
    return next((place for place, atom in enumerate(found) if atom.open), len(found))


def _may_begin(atom: Atom) -> bool:
    return atom.is_step or atom.starts_run


def _is_sent(item: Item) -> bool:
    said = item.step_id is not None or isinstance(item.payload, UserMessage)
    return said or context.note_of(item) is not None
