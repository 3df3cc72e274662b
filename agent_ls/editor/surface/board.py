"""Where each pending request stands, window by window.

Owns the places of a card (file and line), since when it is there, and that it stays where it is while a person looks
at it; and which files of a window are held by a call just now. Does not own how it is drawn (diagnostics, hover) nor
how it is answered (code_actions, features).

A change of a file stands at its first changed line, in every window that sees its workspace. A command has no line of
its own: it stands in one window, the one that its message came from, else the one that was used last; there where the
person was last. So does a change of a file that this window has not open, or nobody would see it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any, Final, Protocol

from agent_ls.core.request import Request
from agent_ls.core.uris import is_within
from agent_ls.editor.documents import Documents, EditingWindow
from agent_ls.editor.surface.places import first_changed_line, moved

UNREAD_S: Final = 0.4
"""A card that is younger than this cannot have been read: an answer is a key that was meant for something else."""


class Viewer(EditingWindow, Protocol):
    """A window, as far as what is drawn in it needs to know it. `capabilities` are the client's; `prompts` is how it
    wants to be asked beside what is drawn."""

    capabilities: Mapping[str, Any]
    prompts: str

    def sees(self, workspace: str) -> bool: ...

    def notify(self, method: str, params: Mapping[str, Any]) -> None: ...


@dataclass(slots=True)
class Place:
    """`uri` as the window spells it; `line` follows what is typed above it. `own`: the request is about this line."""

    uri: str
    key: str
    line: int
    own: bool


@dataclass(slots=True)
class Card:
    """A request in one window; `since` when it has been there as it is now, in monotonic seconds."""

    request: Request
    workspace: str
    since: float
    places: list[Place] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Standing:
    """A request at one of its places in one window."""

    request: Request
    place: Place


@dataclass(eq=False, slots=True)
class Seat:
    """A window. `focus` is a document and a line of it; `told`: the window says itself where its focus is.

    `drawn` is for whoever draws: what stands where in the client, by URI. `held` are the files and folders that calls
    hold just now, by key, with a sentence on each.
    """

    window: Viewer
    cards: dict[str, Card] = field(default_factory=dict)
    focus: tuple[str, int] | None = None
    told: bool = False
    used: int = 0
    drawn: dict[str, Any] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)

    def standing(self) -> list[Standing]:
        """Everything, by number."""
        cards = sorted(self.cards.values(), key=lambda card: card.request.number)
        return [Standing(card.request, place) for card in cards for place in card.places]


class Board:
    def __init__(
        self, documents: Documents, monotonic: Callable[[], float], redraw: Callable[[Seat, Documents], None]
    ) -> None:
        self._documents = documents
        self._monotonic = monotonic
        self._redraw = redraw
        self._seats: dict[Viewer, Seat] = {}
        self._holders: dict[str, Seat] = {}
        self._uses = count(1)

    def show(self, window: Viewer, pending: Sequence[tuple[Request, str]]) -> None:
        """All that waits and concerns the window, each with its workspace."""
        seat = self._seats.setdefault(window, Seat(window))
        before, seat.cards = seat.cards, {}
        for request, workspace in pending:
            card = before.pop(request.id, None)
            if card is None or card.request.digest != request.digest:
                card = Card(request, workspace, self._monotonic())
            seat.cards[request.id] = card
        for request_id in before:
            self._holders.pop(request_id, None)
        self._settle(seat)

    def hold(self, window: Viewer, held: Mapping[str, str]) -> None:
        """What calls hold just now of what the window sees; all of it."""
        seat = self._seats.setdefault(window, Seat(window))
        seat.held = held
        self._redraw(seat, self._documents)

    def held(self, window: Viewer, key: str) -> list[str]:
        """What is to be said of a file that is held, itself or with its folder."""
        seat = self._seats.get(window)
        return [] if seat is None else [said for held, said in seat.held.items() if is_within(key, held)]

    def leave(self, window: Viewer) -> None:
        seat = self._seats.pop(window, None)
        if seat is not None:
            self._let_go(seat)

    def use(self, window: Viewer, uri: str, line: int, *, told: bool = False) -> None:
        """The person is there. Once a window says so itself, nothing is guessed any more."""
        seat = self._seats.get(window)
        if seat is None:
            return
        self._note(seat, uri, line, told=told)
        if seat.cards:
            self._settle(seat)

    def opening(self, window: Viewer, uri: str) -> None:
        """The person goes there; what stands there is known when `opened` follows."""
        seat = self._seats.get(window)
        if seat is not None:
            self._note(seat, uri, 0, told=False)

    def opened(self, window: Viewer, uri: str) -> None:
        """A change that waits in this file is now known by the window's own name of it, and is drawn again."""
        seat, overlay = self._seats.get(window), self._documents.of(window, uri)
        if seat is None or overlay is None:
            return
        for one in seat.standing():
            if one.place.own and one.place.key == overlay.key:
                one.place.uri = uri
        if uri in seat.drawn:
            seat.drawn[uri] = None
        self._settle(seat)

    def typed(self, window: Viewer, uri: str, changes: Any) -> None:
        seat = self._seats.get(window)
        if seat is None or not seat.cards:
            return
        for one in seat.standing():
            if one.place.uri == uri:
                one.place.line = moved(one.place.line, changes)

    def drawn(self, window: Viewer, uri: str) -> bool:
        """Whether anything of ours is shown there."""
        seat = self._seats.get(window)
        return seat is not None and uri in seat.drawn

    def draw_again(self, window: Viewer, uri: str) -> None:
        seat = self._seats.get(window)
        if seat is not None and uri in seat.drawn:
            seat.drawn[uri] = None
            self._redraw(seat, self._documents)

    def closed(self, window: Viewer, uri: str) -> None:
        """What had no line of its own there goes to where the person was before."""
        seat = self._seats.get(window)
        if seat is None:
            return
        if seat.focus is not None and seat.focus[0] == uri:
            mine = [overlay for overlay in self._documents.everything() if overlay.window is window]
            last = max(mine, key=lambda overlay: overlay.used, default=None)
            seat.focus = None if last is None else (last.uri, 0)
        for card in seat.cards.values():
            if any(place.uri == uri and not place.own for place in card.places):
                card.places = [place for place in card.places if place.own]
                self._holders.pop(card.request.id, None)
        for other in self._seats.values():
            self._settle(other)

    def at(self, window: Viewer, uri: str) -> list[Standing]:
        """What stands in a document of the window, by number."""
        seat = self._seats.get(window)
        if seat is None or not seat.cards:
            return []
        overlay = self._documents.of(window, uri)
        keys = {uri} if overlay is None else {uri, overlay.key}
        return [one for one in seat.standing() if one.place.uri == uri or one.place.key in keys]

    def has(self, window: Viewer, request_id: str) -> bool:
        """Whether its card stands in this window."""
        seat = self._seats.get(window)
        return seat is not None and request_id in seat.cards and bool(seat.cards[request_id].places)

    def unread(self, window: Viewer, request_id: str, *, given_at: float | None = None) -> bool:
        """Whether its card has come or changed too short a time ago in this window to have been read.

        `given_at`, a moment of the wall clock: the answer was given to a daemon before this one, which had shown it.
        """
        seat = self._seats.get(window)
        card = seat.cards.get(request_id) if seat is not None else None
        if card is None:
            return False
        if given_at is not None:
            return given_at - datetime.fromisoformat(card.request.created_at).timestamp() < UNREAD_S
        return self._monotonic() - card.since < UNREAD_S

    def _note(self, seat: Seat, uri: str, line: int, *, told: bool) -> None:
        seat.used = next(self._uses)
        # Not only what is known to be open: what a client asks about is open there, whatever a new daemon knows.
        if uri and (told or not seat.told):
            seat.told = seat.told or told
            seat.focus = uri, line

    def _settle(self, seat: Seat) -> None:
        """Every card of the window gets the places that it lacks; those that it has stay."""
        for card in seat.cards.values():
            lacking = list(self._lacking(seat, card))
            if lacking and not card.places:
                card.since = self._monotonic()
            card.places += lacking
        self._redraw(seat, self._documents)

    def _lacking(self, seat: Seat, card: Card) -> Iterable[Place]:
        shown = card.request.card or {}
        key = shown.get("uri")
        mine = None
        if shown.get("type") == "edit" and isinstance(key, str):
            mine = next((copy for copy in self._documents.at(key) if copy.window is seat.window), None)
            if not any(place.own for place in card.places):
                line = first_changed_line(str(shown.get("diff", "")))
                yield Place(key if mine is None else mine.uri, key, line, own=True)
        if mine is not None or seat.focus is None or any(not place.own for place in card.places):
            return
        if self._holder(card) is seat:
            uri, line = seat.focus
            overlay = self._documents.of(seat.window, uri)
            yield Place(uri, uri if overlay is None else overlay.key, line, own=False)

    def _holder(self, card: Card) -> Seat | None:
        """The one window of a card without a line of its own; it stays that as long as it can."""
        holder = self._holders.get(card.request.id)
        if holder is None:
            sender = self._documents.sender(card.request.root_id)
            fit = [seat for seat in self._seats.values() if seat.focus and seat.window.sees(card.workspace)]
            if fit:
                holder = max(fit, key=lambda seat: (seat.window is sender, seat.used))
                self._holders[card.request.id] = holder
        return holder

    def _let_go(self, seat: Seat) -> None:
        for request_id in [known for known, holder in self._holders.items() if holder is seat]:
            del self._holders[request_id]
        for other in self._seats.values():
            self._settle(other)
