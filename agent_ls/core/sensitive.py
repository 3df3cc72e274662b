"""Paths that are more than files: what nobody may write, and what a person should see first.

Owns names and places as data. Paths are absolute and real; case is folded only where the volume folds it.
"""

import re
from fnmatch import fnmatchcase
from typing import Final

from agent_ls.core.rules import Ground


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_NEVER_INSIDE: Final = {".git": "git's own files", ".agent-ls": "the settings of agent-ls"}
_SHELL_START: Final = _words(
    ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout "
    ".kshrc .cshrc .tcshrc .login .inputrc .pam_environment .xprofile .xinitrc .xsession .config/fish "
    ".config/environment.d"
)
_ASKED_READS: Final = _words(
    ".env .env.* .env-* .envrc *.env *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk *_rsa *_dsa *_ecdsa "
    "*_ed25519 id_rsa* id_dsa* id_ecdsa* id_ed25519* .netrc _netrc .npmrc .pypirc .pgpass .my.cnf .git-credentials "
    ".htpasswd .dockercfg credentials credentials.json secrets.* .secrets .vault-token"
)
_ASKED_FOLDERS: Final = (".ssh", ".gnupg", ".aws", ".kube", ".docker", ".password-store")
_ASKED_WRITES: Final = _words(".vscode .idea .envrc .mcp.json .githooks .husky .github/workflows .gitmodules")


def is_beneath(path: str, folder: str, *, fold: bool) -> bool:
    """The folder itself included."""
    if fold:
        path, folder = path.casefold(), folder.casefold()
    folder = folder.rstrip("/")
    return path == folder or path.startswith(folder + "/") or not folder


def never_written(path: str, place: Ground, protected: tuple[str, ...]) -> str | None:
    """What the path belongs to, if nobody may write it from a conversation."""
    if any(is_beneath(path, own, fold=place.fold) for own in protected):
        return "the daemon itself"
    for part in _parts(path, fold=place.fold):
        if part in _NEVER_INSIDE:
            return _NEVER_INSIDE[part]
    home = place.home.rstrip("/")
    if is_beneath(path, f"{home}/.ssh", fold=place.fold):
        return "your SSH keys"
    if any(is_beneath(path, f"{home}/{name}", fold=place.fold) for name in _SHELL_START):
        return "your shell's start-up files"
    return None


def guarded(place: Ground, protected: tuple[str, ...]) -> tuple[str, ...]:
    """Places that have a name, with which a file is told that is in them under another."""
    home, root = place.home.rstrip("/"), place.root.rstrip("/")
    inside = (*_NEVER_INSIDE, *_ASKED_FOLDERS, *_ASKED_WRITES, *(name for name in _ASKED_READS if "*" not in name))
    own = (*_ASKED_FOLDERS, *_SHELL_START, *(name for name in _ASKED_READS if "*" not in name))
    return (*protected, *(f"{root}/{name}" for name in inside), *(f"{home}/{name}" for name in own))


def secret_folders(place: Ground) -> tuple[str, ...]:
    """Folders in which every file is asked for."""
    bases = dict.fromkeys((place.root.rstrip("/"), place.home.rstrip("/")))
    return tuple(f"{base}/{name}" for base in bases for name in _ASKED_FOLDERS)


def asks_to_read(path: str, place: Ground) -> str | None:
    *folders, name = _parts(path, fold=place.fold)
    if any(fnmatchcase(name, pattern) for pattern in _ASKED_READS):
        return "files that may hold secrets"
    if any(folder in _ASKED_FOLDERS for folder in (*folders, name)):
        return "files that may hold secrets"
    return None


def secrets_regex(*, fold: bool) -> str:
    """What `asks_to_read` fits, as a regular expression for a whole path."""
    names = "|".join(re.escape(name).replace(r"\*", "[^/]*") for name in _ASKED_READS)
    folders = "|".join(re.escape(name) for name in _ASKED_FOLDERS)
    return f"(?{'is' if fold else 's'}:.*/(?:{names}|(?:{folders})(?:/.*)?))"


def asks_to_write(path: str, place: Ground) -> str | None:
    if asks_to_read(path, place):
        return "files that may hold secrets"
    whole = "/".join(("", *_parts(path, fold=place.fold), ""))
    if any(f"/{name}/" in whole for name in _ASKED_WRITES):
        return "files that make other programs run something"
    return None


def _parts(path: str, *, fold: bool) -> list[str]:
    return (path.casefold() if fold else path).strip("/").split("/")
