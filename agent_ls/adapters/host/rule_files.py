"""Kept rules on disk: a small JSON file for the person and one for each workspace, in the state directory.

Owns these files, each replaced as a whole and too small to need a thread, and the answers to commands that come twice.
They are read at each look, so what another process has changed in them holds at once. Does not own what a rule means
(core.rules).
"""

import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from threading import Lock
from typing import Any, Final

from agent_ls.core import kept_rules
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.kept_rules import Kept, place_of, rule_of
from agent_ls.core.rules import Rule, Ruling, Scope
from agent_ls.ports.rules import Said

PERSON: Final = "user"
MOST_ANSWERS: Final = 100
_LARGEST: Final = 4 * 1024 * 1024


@dataclass(frozen=True)
class _File:
    """What a file holds. `answers` by command id: `[what was asked, what was answered]`."""

    workspace: str | None = None
    entries: tuple[Mapping[str, Any], ...] = ()
    answers: Mapping[str, Sequence[Any]] = field(default_factory=dict)


class RuleFiles:
    """In a private folder, which is made when the first rule is kept."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._turn = Lock()

    def rules(self, root: str | None) -> Sequence[Rule]:
        place, scope = _name(root), _scope(root)
        path = self._path(place)
        held = _read(path)
        if isinstance(held, str):
            return [Rule(Ruling.DENY, "*", scope, held)]
        # A denial that cannot be read any more must not be lost.
        lost = Rule(Ruling.ASK, "*", scope, f"a rule in {path} that cannot be read")
        return [rule_of(entry, scope, place=place, origin=path) or lost for entry in held.entries]

    def add(self, root: str | None, kept: Kept, said: Said) -> dict[str, Any] | Refusal:
        place, scope = _name(root), _scope(root)
        fitting = kept_rules.checked(kept, scope)
        if isinstance(fitting, Refusal):
            return fitting
        told = kept_rules.told(fitting, scope, place=place, origin=self._path(place))

        def change(held: _File) -> _File | Refusal:
            entries = kept_rules.added(held.entries, fitting)
            return entries if isinstance(entries, Refusal) else replace(held, workspace=root, entries=entries)

        return self._change(place, change, said, told=told)

    def remove(self, rule_id: str, said: Said) -> dict[str, Any] | Refusal:
        place = place_of(rule_id)
        if not _PLACE.fullmatch(place):
            return kept_rules.unknown(rule_id)

        def change(held: _File) -> _File | Refusal:
            entries = kept_rules.removed(held.entries, rule_id)
            return entries if isinstance(entries, Refusal) else replace(held, entries=entries)

        return self._change(place, change, said, told={})

    def _change(self, place: str, change: Any, said: Said, *, told: dict[str, Any]) -> dict[str, Any] | Refusal:
        path = self._path(place)
        with self._turn:
            held = _read(path)
            if isinstance(held, str):
                return Refusal(Code.INVALID_PARAMS, held, "Correct or remove that file.")
            known = held.answers.get(said.id)
            if known is not None:
                return dict(known[1]) if known[0] == said.what else _used()
            changed = change(held)
            if isinstance(changed, Refusal):
                return changed
            answers = dict([*held.answers.items(), (said.id, [said.what, told])][-MOST_ANSWERS:])
            try:
                self._write(path, replace(changed, answers=answers))
            except OSError as error:
                return Refusal(Code.DISK_FULL, f"The rule could not be written to {path}: {error.strerror}.")
        return told

    def _write(self, path: str, held: _File) -> None:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        beside = f"{path}.new"
        content = {"workspace": held.workspace, "rules": held.entries, "answers": held.answers}
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
        os.replace(beside, path)

    def _path(self, place: str) -> str:
        return os.path.join(self._folder, f"{place}.json")


_LOCAL: Final = "workspace-"
_PLACE: Final = re.compile(rf"{PERSON}|{_LOCAL}[0-9a-f]{{16}}")


def _name(root: str | None) -> str:
    if root is None:
        return PERSON
    return _LOCAL + sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]


def _scope(root: str | None) -> Scope:
    return Scope.USER if root is None else Scope.LOCAL


def _read(path: str) -> _File | str:
    """A sentence where it cannot be read."""
    unreadable = f"{path} cannot be read, and it may hold denials."
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), encoding="utf-8") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return unreadable  # a pipe would keep everybody waiting
            content = json.loads(file.read(_LARGEST))
        entries = tuple(dict(entry) for entry in content["rules"])
        answers = {str(name): [str(what), dict(told)] for name, (what, told) in content.get("answers", {}).items()}
        return _File(content.get("workspace"), entries, answers)
    except FileNotFoundError:
        return _File()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return unreadable


def _used() -> Refusal:
    return Refusal(Code.COMMAND_CONFLICT, "This commandId was already used for something else.")
