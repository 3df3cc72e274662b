"""A shell script read into simple commands, or the reason why nobody can vouch for that reading.

Owns which constructs are understood: node and token types are allow-listed, all else is doubt. Does not own what a
command may do (shell_programs.py, policy.py). Nothing is expanded: a word that the shell would change is doubt too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from agent_ls.core.shell_programs import SHELLS, base, hands_on

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

Argv = tuple[str, ...]

LONGEST: Final = 10_000
_DEEPEST_SCRIPT: Final = 3

# Only what stands between simple commands; what is inside one is read by `_words`.
_FRAME: Final = frozenset({"program", "list", "pipeline", "redirected_statement", "&&", "||", "|", ";"})
_HARMLESS_REDIRECT: Final = re.compile(rb"[12]?>&[12]|[12]?>>?[ \t]*/dev/null|&>>?[ \t]*/dev/null|0?<[ \t]*/dev/null")
_PLAIN_WORD: Final = re.compile(r"[\w./:,@%+=^-]+")
_PLAIN_STRING: Final = re.compile(r'"[^"$`\\!]*"')
_RAW_STRING: Final = re.compile(r"'[^']*'")
_UNPRINTED: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_BREAKS: Final = re.compile(r"[;&|\n(){}`]+|\$\(")

_WHY: Final = {
    "command_substitution": "puts another command's output into its words",
    "process_substitution": "puts another command's output into its words",
    "simple_expansion": "uses a variable",
    "expansion": "uses a variable",
    "arithmetic_expansion": "computes a word",
    "variable_assignment": "sets variables for the command",
    "variable_assignments": "sets variables for the command",
    "declaration_command": "sets variables",
    "unset_command": "sets variables",
    "function_definition": "defines a function",
    "subshell": "groups commands",
    "compound_statement": "groups commands",
    "negated_command": "turns an exit code around",
    "test_command": "evaluates an expression",
    "for_statement": "holds a loop",
    "c_style_for_statement": "holds a loop",
    "while_statement": "holds a loop",
    "if_statement": "holds a condition",
    "case_statement": "holds a condition",
    "heredoc_redirect": "feeds text to a command",
    "herestring_redirect": "feeds text to a command",
    "ansi_c_string": "uses odd quoting",
    "translated_string": "uses odd quoting",
    "string": "uses odd quoting",
    "comment": "holds a comment",
    "&": "leaves a command running in the background",
}


@dataclass(frozen=True)
class Vouched:
    """Every simple command that runs, word by word."""

    commands: tuple[Argv, ...]


@dataclass(frozen=True)
class Unvouched:
    """`reason` completes "The command …". `seen` are commands that were found all the same: good enough to refuse it,
    never to allow it."""

    reason: str
    seen: tuple[Argv, ...] = ()


class _Doubt(Exception):
    """Carries a reason out of the walk."""


def parse(script: str) -> Vouched | Unvouched:
    return _parse(script, _DEEPEST_SCRIPT)


@lru_cache(maxsize=512)
def _parse(script: str, depth: int) -> Vouched | Unvouched:
    if reason := _unreadable(script):
        return Unvouched(reason, _guess(script))
    source = script.encode()
    root = _parser().parse(source).root_node
    try:
        commands = _commands(root, source)
        for argv in commands:
            if reason := hands_on(argv):
                raise _Doubt(reason)
    except _Doubt as doubt:
        return Unvouched(str(doubt), (*_seen(root, depth), *_guess(script)))
    return Vouched(commands)


@cache
def _parser() -> "Parser":
    # Costs several milliseconds, and a daemon that runs no command never needs it.
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def _unreadable(script: str) -> str | None:
    if len(script) > LONGEST:
        return "is too long to be read"
    if not script.strip(" \t"):
        return "is empty"
    if "\n" in script:
        return "has several lines"
    if _UNPRINTED.search(script):
        return "holds control characters"
    if "`" in script:
        # Inside `${x:-…}` a backtick parses as a plain word, and runs.
        return "puts another command's output into its words"
    try:
        script.encode()
    except UnicodeEncodeError:
        return "holds broken characters"
    return None


def _commands(root: "Node", source: bytes) -> tuple[Argv, ...]:
    """Walks the frame from left to right. Bytes that no node accounts for are doubt: the parser skips what it takes
    for blank, and its blanks are not the shell's."""
    if root.has_error:
        raise _Doubt("cannot be read for sure")
    commands: list[Argv] = []
    end = 0
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type in {"program", "list", "pipeline", "redirected_statement"}:
            if not node.children:
                raise _Doubt("is empty")
            stack.extend(reversed(node.children))
            continue
        if source[end : node.start_byte].strip(b" \t"):
            raise _Doubt("cannot be read for sure")
        end = node.end_byte
        match node.type:
            case "command":
                commands.append(_argv(node, source))
            case "file_redirect":
                if not _HARMLESS_REDIRECT.fullmatch(source[node.start_byte : node.end_byte]):
                    raise _Doubt("reads or writes a file by redirection")
            case kind if kind not in _FRAME:
                raise _Doubt(_why(kind))
    if source[end:].strip(b" \t") or not commands:
        raise _Doubt("cannot be read for sure")
    return tuple(commands)


def _argv(command: "Node", source: bytes) -> Argv:
    words: list[str] = []
    end = command.start_byte
    for child in command.children:
        if source[end : child.start_byte].strip(b" \t"):
            raise _Doubt("cannot be read for sure")
        # Two nodes without a blank between them are one word to the shell.
        if words and child.start_byte == end:
            raise _Doubt("cannot be read for sure")
        end = child.end_byte
        if (child.type == "command_name") != (not words):
            raise _Doubt(_why(child.type))
        words.append(_word(child, source))
    if not words or not words[0]:
        raise _Doubt("names no program")
    return tuple(words)


def _word(node: "Node", source: bytes) -> str:
    """The word as the program gets it, for words that the shell does not change."""
    text = source[node.start_byte : node.end_byte].decode()
    match node.type:
        case "command_name" if len(node.children) == 1:
            return _word(node.children[0], source)
        case "word" | "number" if _PLAIN_WORD.fullmatch(text):
            return text
        case "word" | "number":
            raise _Doubt("uses odd quoting" if "\\" in text else "has words that the shell expands")
        case "raw_string" if _RAW_STRING.fullmatch(text):
            return text[1:-1]
        case "string" if _PLAIN_STRING.fullmatch(text):
            return text[1:-1]
        case "concatenation":
            # One level only: its parts are words and strings, so no deep tree can be built from it.
            parts = [_word(part, source) for part in node.children if part.type != "concatenation"]
            if sum(part.end_byte - part.start_byte for part in node.children) != len(text.encode()):
                raise _Doubt("cannot be read for sure")
            if len(parts) != len(node.children):
                raise _Doubt("uses odd quoting")
            return "".join(parts)
        case "string" if "$" in text:
            raise _Doubt("uses a variable")
        case kind:
            raise _Doubt(_why(kind))


def _why(kind: str) -> str:
    return _WHY.get(kind, "is more than a list of simple commands")


def _seen(root: "Node", depth: int) -> Iterator[Argv]:
    """Every command anywhere in the tree, its words with their quotes taken off, and scripts given to a shell."""
    stack = [root]
    while stack:
        node = stack.pop()
        stack.extend(reversed(node.children))
        if node.type != "command" or node.text is None:
            continue
        argv = tuple(
            _bare(child.text.decode(errors="replace"))
            for child in node.children
            if child.text is not None and not child.type.startswith(("variable_assignment", "file_redirect"))
        )
        if argv:
            yield argv
            yield from _inner(argv, depth)


def _inner(argv: Argv, depth: int) -> Iterator[Argv]:
    if depth == 0 or not any(base(word) in SHELLS or word == "eval" for word in argv[:-1]):
        return
    for script in argv[1:]:
        if " " in script or script == argv[-1]:
            inner = _parse(script, depth - 1)
            yield from inner.commands if isinstance(inner, Vouched) else inner.seen


def _guess(script: str) -> tuple[Argv, ...]:
    """Commands by eye, for scripts that cannot be read: split where a command can begin."""
    pieces = (piece.split() for piece in _BREAKS.split(script[:LONGEST]))
    return tuple(tuple(_bare(word) for word in words) for words in pieces if words)


def _bare(word: str) -> str:
    return re.sub(r"['\"\\]", "", word)
