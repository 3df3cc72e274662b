"""Commands that only look: which paths they look at, read off their words.

Owns how the words of a command are told apart by the table (harmless_table.py). Does not own whether these paths may be
looked at (policy.py) nor where they lead (the tool, that can ask the disk).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from agent_ls.core.harmless_table import FIND_TESTS, PROGRAMS, Program, Sight
from agent_ls.core.shell_command import Argv, Unvouched, parse

MOST_MOVES: Final = 2


@dataclass(frozen=True)
class Look:
    """`path` as it stands in the command, relative to where that runs."""

    path: str
    sight: Sight


@dataclass(frozen=True)
class Seen:
    """The same once the disk was asked: an absolute real path. `folder`: it is one."""

    path: str
    sight: Sight
    folder: bool = False


@dataclass(frozen=True)
class Plain:
    """A command of the table. `moves`: the folder that it changes to, for the commands after it."""

    looks: tuple[Look, ...]
    moves: str | None = None


def survey(script: str) -> tuple[Plain | None, ...]:
    """For each simple command of the script; None for one that is not in the table. Empty: nobody can vouch for it."""
    words = parse(script)
    if isinstance(words, Unvouched):
        return ()
    read = tuple(plain(argv) for argv in words.commands)
    # Each change of folder doubles the places that a path may be meant from.
    moves = sum(1 for one in read if one is not None and one.moves is not None)
    return read if moves <= MOST_MOVES else tuple(None for _ in read)


def plain(argv: Argv) -> Plain | None:
    """What a command looks at; None if it is not known to be harmless as it stands."""
    name, words = argv[0], argv[1:]
    match name:
        case "cd":
            return _moved(words)
        case "date":
            return Plain(()) if all(_DATE.fullmatch(word) for word in words) else None
        case "find":
            return _found(words)
        case "printf":
            return Plain(()) if words and not words[0].startswith("-") else None
        case "type":
            return None if any(word.startswith("-") for word in words) else Plain(())
        case "echo" | "true" | "false":
            return Plain(())
        case _ if name in PROGRAMS:
            return _read(words, PROGRAMS[name])
        case _:
            return None


# An operand without `+` sets the clock.
_DATE: Final = re.compile(r"\+.*|-u|--utc|-R|-I|-I(?:date|hours|minutes|seconds)|--iso-8601(?:=[a-z]+)?", re.DOTALL)


def _moved(words: Argv) -> Plain | None:
    if len(words) != 1 or words[0].startswith("-") or not words[0]:
        return None
    return Plain((Look(words[0], Sight.NAME),), moves=words[0])


def _found(words: Argv) -> Plain | None:
    """Starting points, then the expression."""
    starts: list[str] = []
    rest = iter(words)
    for word in rest:
        if word.startswith("-") or word in FIND_TESTS:
            if not _only_tests(chain([word], rest)):
                return None
            break
        starts.append(word)
    return Plain(tuple(Look(start, Sight.NAMES) for start in starts or ["."]))


def _only_tests(words: Iterator[str]) -> bool:
    for word in words:
        arity = FIND_TESTS.get(word)
        if arity is None or (arity and next(words, None) is None):
            return False
    return True


@dataclass
class _Words:
    """What was told apart so far."""

    used: set[str] = field(default_factory=set)
    files: list[str] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)


def _read(words: Argv, program: Program) -> Plain | None:
    told = _Words()
    rest = iter(words)
    for word in rest:
        if program.last and (told.operands or word == "--"):
            return None
        if word == "--":
            told.operands += rest
        elif word == "-" or not word.startswith("-"):
            told.operands.append(word)
        elif not (_long if word.startswith("--") else _short)(word, rest, program, told=told):
            return None
    operands = told.operands
    if program.most is not None and len(operands) > program.most:
        return None
    paths = operands if told.used & program.instead else operands[program.leading :]
    if program.sight is Sight.NOTHING:
        return Plain(())
    sight = Sight.NAMES if told.used & program.beneath else program.sight
    if not paths and program.here:
        paths = ["."]
    looks = [Look(path, sight) for path in paths if path != "-"]
    held = Sight.NAME if program.sight is Sight.NAME else Sight.CONTENT
    return Plain((*looks, *(Look(path, held) for path in told.files if path != "-")))


def _long(word: str, rest: Iterator[str], program: Program, *, told: _Words) -> bool:
    name, attached, value = word.partition("=")
    told.used.add(name)
    if attached and f"{name}=" in program.flags:
        return True
    if not attached and (name in program.flags or f"{name}=" in program.flags):
        return True
    if name not in program.words and name not in program.files:
        return False
    return _value(name, value if attached else next(rest, None), program, told=told)


def _short(word: str, rest: Iterator[str], program: Program, *, told: _Words) -> bool:
    if word[1:].isdecimal() and word.isascii() and "-#" in program.flags:
        return True
    for place, letter in enumerate(word[1:], 1):
        name = f"-{letter}"
        told.used.add(name)
        if name in program.flags:
            continue
        if name not in program.words and name not in program.files:
            return False
        return _value(name, word[place + 1 :] or next(rest, None), program, told=told)
    return True


def _value(name: str, value: str | None, program: Program, *, told: _Words) -> bool:
    if value is None:
        return False
    if name in program.files:
        told.files.append(value)
    return True
