"""`.agent-ls/config.toml` of a workspace: what came with the repository may narrow, never widen.

Owns which keys it may hold and reading it without leaving the workspace. Does not own applying the rules (policy).
A file that is there but cannot be read has a `problem`: it may hold denials, so nothing runs in this workspace.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agent_ls.config import checks
from agent_ls.config.checks import Wrong
from agent_ls.config.document import Broken, read_document
from agent_ls.config.names import nearest
from agent_ls.config.rules import read_rules, rule_warnings
from agent_ls.core.rules import Rule, Ruling, Scope

FOLDER: Final = ".agent-ls"
FILE: Final = "config.toml"
NARROWING: Final = ("ask", "deny")


@dataclass(frozen=True, kw_only=True)
class WorkspaceOptions:
    rules: tuple[Rule, ...] = ()
    warnings: tuple[str, ...] = ()
    problem: str | None = None


def load_workspace(root: Path) -> WorkspaceOptions:
    """Links are not followed, neither the folder nor the file."""
    shown = f"{FOLDER}/{FILE}"
    folder = root / FOLDER
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        directory = os.open(folder, flags)
    except FileNotFoundError:
        return WorkspaceOptions()
    except OSError as error:
        what = "a link" if folder.is_symlink() else error.strerror
        return _unreadable(f"{FOLDER} in {root} cannot be opened ({what}).")
    try:
        document = read_document(FILE, directory=directory, follow=False)
    finally:
        os.close(directory)
    match document:
        case None:
            return WorkspaceOptions()
        case Broken(sentence=sentence):
            return _unreadable(f"In {root}: {sentence.replace(FILE, shown, 1)}")
        case _:
            return _narrowing(document, str(folder / FILE))


def _narrowing(document: Mapping[str, Any], path: str) -> WorkspaceOptions:
    permissions = document.get("permissions", {})
    refused = [key for key in document if key != "permissions"]
    if not isinstance(permissions, dict):
        return _unreadable(f"{path}: `permissions` should be a table.")
    warnings = [_only_narrowing(path, key) for key in refused]
    taken: list[Rule] = []
    for key, value in permissions.items():
        if key not in NARROWING:
            if nearest(key, ("allow", *NARROWING)) in NARROWING:
                return _unreadable(f"{path}: unknown key `permissions.{key}`. Known here: ask, deny.")
            warnings.append(_only_narrowing(path, f"permissions.{key}"))
            continue
        checked = checks.rules(value)
        if isinstance(checked, Wrong):
            return _unreadable(f"{path}: `permissions.{key}` should be {checked.expected}.")
        rules = read_rules(checked, Ruling(key), Scope.WORKSPACE, origin=path)
        if isinstance(rules, str):
            return _unreadable(f"{path}: `permissions.{key}`: {rules}")
        taken += rules
        warnings += rule_warnings(rules, f"{path}: `permissions.{key}`")
    return WorkspaceOptions(rules=tuple(taken), warnings=tuple(warnings))


def _only_narrowing(path: str, key: str) -> str:
    shown = key if key.isprintable() else ascii(key)
    return f"{path}: `{shown}` is ignored: a workspace can only add `permissions.ask` and `permissions.deny`."


def _unreadable(sentence: str) -> WorkspaceOptions:
    return WorkspaceOptions(
        problem=f"{sentence} It may hold denials, so nothing runs in this workspace until it is corrected."
    )
