"""One edit through one window: sent, and believed only when the window's text shows it.

Owns `workspace/applyEdit` and `agent/document/save` and what counts as proof. `applied: true` proves nothing: Neovim
says so of an edit that it skipped. Does not own which window nor what happens to the disk.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import anyio

from agent_ls.core.text_edits import apart, appended, edits, holds
from agent_ls.editor.book import Answered, Outcome, Unanswered
from agent_ls.editor.documents import Overlay


@dataclass(frozen=True, kw_only=True)
class Patience:
    """Seconds: for the answer to an edit, for the didChange that proves it, for a save."""

    edit_s: float = 10.0
    verify_s: float = 5.0
    save_s: float = 10.0


@dataclass(frozen=True)
class Made:
    """The window's text shows the edit. Not `exact`: the person has typed elsewhere in it since."""

    exact: bool


@dataclass(frozen=True)
class NotMade:
    """The window's text shows that the edit was not made. `stale`: skipped or refused, as editors do to an edit of an
    older version; else the window could not even be asked."""

    why: str
    stale: bool


@dataclass(frozen=True)
class Uncertain:
    why: str


Put = Made | NotMade | Uncertain
Shown = Literal["exact", "beside", "nothing", "other"]


async def put(overlay: Overlay, target: str, patience: Patience) -> Put:
    """The window's copy becomes `target`, if it is still what we know of it when the edit arrives there."""
    before = str(overlay.text)
    made = edits(overlay.text, target)
    if not made:
        return Made(exact=True)
    change = {"textDocument": {"uri": overlay.uri, "version": overlay.version}, "edits": made}
    params = {"label": "Edit by the agent", "edit": {"documentChanges": [change]}}
    outcome = await overlay.window.request("workspace/applyEdit", params, patience.edit_s)
    shown = await _until(overlay, lambda: _shown(overlay, before, target), _worth(outcome, patience))
    if shown in {"exact", "beside"}:
        return Made(exact=shown == "exact")
    return _missed(overlay, outcome, shown)


async def append(overlay: Overlay, more: str, patience: Patience) -> Put:
    """`more` at the end of the window's copy: costs what is added, however long the copy is."""
    lines, before = more.count("\n") + 2, len(overlay.text.lines)
    document = {"uri": overlay.uri, "version": overlay.version}
    change = {"textDocument": document, "edits": [appended(overlay.text, more)]}

    def shown() -> Shown:
        tail = "".join(overlay.text.lines[-lines:]).replace("\r\n", "\n").rstrip("\n")
        longer = len(overlay.text.lines) > before
        return "exact" if longer and ("\n" + tail).endswith("\n" + more.strip("\n")) else "nothing"

    params = {"label": "The agent's transcript", "edit": {"documentChanges": [change]}}
    outcome = await overlay.window.request("workspace/applyEdit", params, patience.edit_s)
    if await _until(overlay, shown, _worth(outcome, patience)) == "exact":
        return Made(exact=True)
    return _missed(overlay, outcome, "nothing")


async def cut(overlay: Overlay, said: str, rest: str, *, patience: Patience) -> bool:
    """The window's copy becomes `rest`, and `said` is nowhere in it any more. An editor may keep an empty line."""
    change = {"textDocument": {"uri": overlay.uri, "version": overlay.version}, "edits": edits(overlay.text, rest)}

    def shown() -> Shown:
        return "other" if said in str(overlay.text) else "exact"

    params = {"label": "The prompt is sent", "edit": {"documentChanges": [change]}}
    outcome = await overlay.window.request("workspace/applyEdit", params, patience.edit_s)
    return await _until(overlay, shown, _worth(outcome, patience)) == "exact" and not overlay.lost


async def save(overlay: Overlay, patience: Patience) -> str | None:
    """Why it was not saved, as far as the window says; None when it says that it was. The disk proves it."""
    outcome = await overlay.window.request("agent/document/save", {"uri": overlay.uri}, patience.save_s)
    if isinstance(outcome, Unanswered):
        return outcome.sentence
    refused = isinstance(outcome.result, dict) and outcome.result.get("saved") is False
    return "It would not save." if refused else None


def _worth(outcome: Outcome, patience: Patience) -> float:
    """How long a didChange may still be on its way: a refusal is none that something follows."""
    if isinstance(outcome, Unanswered):
        return 0
    refused = isinstance(outcome.result, dict) and outcome.result.get("applied") is False
    return 0 if refused else patience.verify_s


async def _until(overlay: Overlay, look: Callable[[], Shown], seconds: float) -> Shown:
    """What the text shows once it shows the edit, or when the time is up."""
    with anyio.move_on_after(seconds):
        while look() not in {"exact", "beside"} and not overlay.closed:
            await overlay.changed.wait()
    return look()


def _shown(overlay: Overlay, before: str, target: str) -> Shown:
    now = str(overlay.text)
    if now == target:
        return "exact"
    if now == before:
        return "nothing"
    start, end = apart(before, target)
    if _clear(target, now, (start, len(target) - end)):
        return "beside"
    if _clear(before, now, (start, len(before) - end)):
        return "nothing"
    # An edit of several places, and typing between them.
    if holds(before, target, now):
        return "beside"
    return "nothing" if holds(target, before, now) else "other"


def _clear(text: str, now: str, place: tuple[int, int]) -> bool:
    """Whether what differs between two texts lies wholly before or wholly after a place of the first one."""
    start, end = apart(text, now)
    return start > place[1] or len(text) - end < place[0]


def _missed(overlay: Overlay, outcome: Outcome, shown: Shown) -> NotMade | Uncertain:
    client = overlay.window.client
    if overlay.closed or (isinstance(outcome, Unanswered) and outcome.reason == "closed"):
        return Uncertain(f"{client} closed the file or went away while the change was made there")
    if shown == "other" or overlay.lost:
        return Uncertain(f"the text in {client} changed at the same place while the change was made there")
    if isinstance(outcome, Unanswered) and outcome.reason == "timeout":
        return Uncertain(f"{client} did not answer in time and may still make the change")
    return NotMade(f"{client} did not make the change ({_said(outcome)})", stale=isinstance(outcome, Answered))


def _said(outcome: Outcome) -> str:
    if isinstance(outcome, Unanswered):
        return outcome.sentence[:200]
    result = outcome.result if isinstance(outcome.result, dict) else {}
    if result.get("applied") is True:
        return "it said that it had, and its text shows nothing of it"
    return str(result.get("failureReason") or "it gave no reason")[:200]
