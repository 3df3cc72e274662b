"""What `/commands` list: conversations, models, the queue, the help; and an export as a file.

Owns how they read. Pure but for that file.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

from agent_ls.cli.chat.view import first_text
from agent_ls.cli.places import short_path, uri_path
from agent_ls.cli.terminal import Style
from agent_ls.core.display import one_line

Json = dict[str, Any]
_NAMES: Final = 26
_KEYS: Final = (
    ("Alt-Enter", "a new line; so does a backslash before Enter"),
    ("Tab", "completes /commands and @files, which go along"),
    ("Up  Down", "messages of before"),
    ("Ctrl-C", "stops the run; once more leaves, it goes on"),
)


class Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def usage(self) -> str: ...
    @property
    def summary(self) -> str: ...


def commands(known: Iterable[Named], style: Style) -> list[str]:
    return [_row(f"/{command.name} {command.usage}", command.summary, style) for command in known]


def keys(style: Style) -> list[str]:
    return [_row(key, told, style) for key, told in _KEYS]


def hang(columns: int) -> str:
    """Before the second row of a line that is too long: under what it says, where there is room for that."""
    return " " * (_NAMES + 2 if columns >= 2 * _NAMES else 4)


def conversations(found: Sequence[Json], here: str, style: Style) -> list[str]:
    lines = []
    for place, held in enumerate(found, 1):
        title = one_line(held["title"] or held.get("lastText") or "(untitled)", 60)
        waits = f", {held['pendingRequests']} waiting" if held.get("pendingRequests") else ""
        mark = "→" if held["id"] == here else " "
        about = style.dim(
            f"{held['status']}{waits}{lineage(held)} · {short_path(uri_path(held['workspace']))} · {held['id']}"
        )
        lines.append(f"{mark} {place:>2}  {title}  {about}")
    return lines


def lineage(held: Json) -> str:
    """Of a fork, what it goes on from."""
    began: Json = held.get("forkedFrom") or {}
    return f" · fork of {one_line(str(began.get('title') or began['conversationId']), 40)}" if began else ""


def models(found: Sequence[Json], conversation: Json, style: Style) -> list[str]:
    lines = []
    for model in found:
        ours = (model["id"], model["provider"]) == (conversation.get("model"), conversation.get("provider"))
        why = "" if model.get("available", True) else f"  {one_line(str(model.get('reason') or 'not available'))}"
        lines.append(f"{'→' if ours else ' '} {one_line(model['id'])}  {style.dim(one_line(model['provider']) + why)}")
    return lines


def queue(waiting: Sequence[Json], style: Style) -> list[str]:
    return [f"{style.dim(f'{place:>2}')}  {first_text(run)}" for place, run in enumerate(waiting, 1)]


def write_new(path: str, exported: Json) -> None:
    """Never over a file that is there."""
    text = exported.get("text")
    if text is None:
        with open(exported["path"], encoding="utf-8") as file:
            text = file.read()
        os.unlink(exported["path"])
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def _row(name: str, told: str, style: Style) -> str:
    return f"  {style.paint(name.strip().ljust(_NAMES), 'cyan')}{style.dim(told)}"
