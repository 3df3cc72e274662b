"""Where the history of a fork lies: in which other conversations, up to which place, as of which of their events.

Owns how what is found there becomes the fork's, the same for every engine. Does not own how it is found, nor what comes
along (core.lineage).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agent_ls.core import lineage
from agent_ls.core.events import AnyEntity, EventKind
from agent_ls.core.items import Item
from agent_ls.core.lineage import Base
from agent_ls.core.run import Run
from agent_ls.ports.ledger import Page, cursor_at


@dataclass(frozen=True)
class Strand:
    """The items of `source` up to the place `through`, as they were after its event `seq`."""

    source: str
    seq: int
    through: int

    def end(self, before: int) -> int:
        """The place before which a page of it ends."""
        return min(before, self.through + 1)


def strands(base: Base, seq: int, beneath: Iterable[Strand]) -> list[Strand]:
    """Nearest first. `seq`: where the base stands now; `beneath` are its own, whose events it has not."""
    older = [replace(strand, through=min(strand.through, base.through)) for strand in beneath]
    return [Strand(base.conversation_id, seq, base.through), *older]


def whole(
    own: Iterable[AnyEntity], layers: Iterable[tuple[Strand, Iterable[AnyEntity]]], conversation_id: str
) -> list[AnyEntity]:
    """Everything that a fork has: what is its own counts more than what it has from others."""
    found = {entity.id: entity for entity in own}
    given = lineage.inherited(((strand.through, entities) for strand, entities in layers), conversation_id)
    return [*found.values(), *(entity for entity in given if entity.id not in found)]


def page(items: Sequence[Item], layers: Iterable[Iterable[Item]], conversation_id: str, *, limit: int) -> Page:
    """From its own items and those of each strand, nearest first: of each the newest that may be on the page."""
    found = {item.ord: item for item in items}
    for layer in layers:
        for item in layer:
            if item.ord not in found:
                mine = lineage.as_own(item, conversation_id)
                assert isinstance(mine, Item)
                found[item.ord] = mine
    places = sorted(found)
    shown = [found[ord_] for ord_ in places[-limit:]]
    return Page(shown, cursor_at(shown[0].ord) if len(places) > len(shown) else None)


def companions(found: AnyEntity) -> tuple[str, ...] | None:
    """Which others tell whether a fork has it, and how it ended there; None where that takes everything."""
    match found:
        case Item():
            return ()
        case Run():
            return tuple(known for known in (found.user_item_id, found.active_attempt_id) if known is not None)
        case _:
            return None


def elsewhere(entity_id: str, strand: Strand) -> str:
    """The id under which its source has it."""
    _, dot, rest = entity_id.partition(".")
    return f"{strand.source}{dot}{rest}"


@dataclass(frozen=True)
class Row:
    """A row of a source as a strand sees it; `key` names its event."""

    key: int
    kind: str
    ord: int
    run_id: str | None


def needed(rows: Iterable[Row], strand: Strand, *, is_fork: bool) -> set[int]:
    """What forks with this strand cannot do without. The title and the settings of a source are none of it.

    `is_fork`: the source has items from elsewhere, so that its runs cannot be told by its own.
    """
    known = [row for row in rows if row.kind != EventKind.CONVERSATION]
    items = [row for row in known if row.kind == EventKind.ITEM and row.ord <= strand.through]
    runs = {row.run_id for row in items}
    others = [row for row in known if row.kind != EventKind.ITEM and (is_fork or row.run_id in runs)]
    return {row.key for row in (*items, *others)}
