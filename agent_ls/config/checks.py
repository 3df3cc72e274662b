"""What a value of a configuration file may be. Each check gives the value as it is used, or says what was expected.

Owns the forms of single values. Does not own which key has which check (settings), nor what happens to a wrong one
(options). A wrong value is never repeated: it may be a key in the wrong place.
"""

import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit

from agent_ls.config.secret import mask
from agent_ls.core.addresses import plain_host


@dataclass(frozen=True)
class Wrong:
    """Not usable; `expected` completes "… should be"."""

    expected: str


Check = Callable[[Any], Any]

LARGEST = 10_000_000
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
HOST = re.compile(r"[A-Za-z0-9_.:-]+(?:/[0-9]{1,3})?")
HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def setting(check: Check, default: Any = None) -> Any:
    """A dataclass field that can be set in config.toml under its own name."""
    return field(default=default, metadata={"check": check})


def checks_of(section: type) -> dict[str, Check]:
    """Of each field that can be set."""
    return {each.name: each.metadata["check"] for each in fields(section)}


def text(value: Any) -> Any:
    stripped = value.strip() if isinstance(value, str) else ""
    return stripped if stripped and stripped.isprintable() else Wrong("a text that is not empty")


def name(value: Any) -> Any:
    fits = isinstance(value, str) and NAME.fullmatch(value)
    return value if fits else Wrong("a name of letters, digits, `_`, `.` and `-`")


def flag(value: Any) -> Any:
    return value if isinstance(value, bool) else Wrong("true or false")


def seconds(value: Any) -> Any:
    return float(value) if _is_number(value) and 0 < value <= LARGEST else Wrong("a number of seconds above 0")


def minutes(value: Any) -> Any:
    return float(value) if _is_number(value) and 0 < value <= LARGEST else Wrong("a number of minutes above 0")


def days(value: Any) -> Any:
    return float(value) if _is_number(value) and 1 <= value <= LARGEST else Wrong("a number of days, 1 or more")


def share(value: Any) -> Any:
    return float(value) if _is_number(value) and 0 < value <= 1 else Wrong("a share of the window between 0 and 1")


def count(value: Any) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LARGEST
    return value if whole else Wrong("a whole number from 1")


def amount(value: Any) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST
    return value if whole else Wrong("a whole number from 0")


def dollars(value: Any) -> Any:
    return float(value) if _is_number(value) and 0 < value <= LARGEST else Wrong("an amount in US dollars above 0")


def one_of(*choices: str) -> Check:
    listed = " or ".join([", ".join(f'"{choice}"' for choice in choices[:-1]), f'"{choices[-1]}"'])

    def check(value: Any) -> Any:
        return value if isinstance(value, str) and value in choices else Wrong(listed)

    return check


def url(value: Any) -> Any:
    """An HTTP address without a trailing slash. A password in it is refused: addresses are shown."""
    wrong = Wrong('an address such as "https://host/v1", without a password in it')
    if not isinstance(value, str) or not value.isprintable() or " " in value:
        return wrong
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        return wrong
    plain = not (parts.username or parts.password or parts.query or parts.fragment)
    return value.rstrip("/") if usable and plain else wrong


def ledger_url(value: Any) -> Any:
    fits = isinstance(value, str) and (value == "sqlite" or value.startswith(("postgresql://", "postgres://")))
    return value if fits else Wrong('"sqlite" or an address that begins with "postgresql://"')


def variable(value: Any) -> Any:
    """The name of an environment variable. Keys pasted here by mistake are told from names where that can be seen."""
    fits = isinstance(value, str) and VARIABLE.fullmatch(value) and mask(value) == value
    return value if fits else Wrong("the name of an environment variable, not the key itself")


def command(value: Any) -> Any:
    """A program and its arguments; a single text is for the shell."""
    if isinstance(value, str) and value.strip() and "\0" not in value:
        return ("/bin/sh", "-c", value)
    return argv(value) if isinstance(value, list) else Wrong("a shell command, or a list: a program and its arguments")


def argv(value: Any) -> Any:
    fits = isinstance(value, list) and value and all(isinstance(part, str) and "\0" not in part for part in value)
    return tuple(value) if fits and value[0] else Wrong("a list of texts: a program and its arguments")


def headers(value: Any) -> Any:
    fits = isinstance(value, dict) and all(
        HEADER.fullmatch(key) and isinstance(entry, str) and entry.isascii() and entry.isprintable()
        for key, entry in value.items()
    )
    return dict(value) if fits else Wrong("a table of header names and printable texts")


def environment(value: Any) -> Any:
    fits = isinstance(value, dict) and all(
        VARIABLE.fullmatch(key) and isinstance(entry, str) and "\0" not in entry for key, entry in value.items()
    )
    return dict(value) if fits else Wrong("a table of variable names and texts")


def hosts(value: Any) -> Any:
    """Names in the spelling in which they are compared, or networks."""
    fits = isinstance(value, list) and all(isinstance(each, str) and HOST.fullmatch(each) for each in value)
    wrong = Wrong('a list of hosts and networks such as "localhost" or "10.0.0.0/8"')
    return tuple(plain_host(each) for each in value) if fits else wrong


def folders(value: Any) -> Any:
    """Absolute, or beneath the home folder."""
    wrong = Wrong('a list of folders such as "/srv/cache" or "~/.cache"')
    if not isinstance(value, list) or not all(isinstance(each, str) and each.isprintable() for each in value):
        return wrong
    found = tuple(os.path.expanduser(each) for each in value)
    return found if all(each.startswith("/") for each in found) else wrong


def rules(value: Any) -> Any:
    """Texts only; whether each is a rule is for `config.rules` to say."""
    fits = isinstance(value, list) and all(isinstance(rule, str) for rule in value)
    return tuple(value) if fits else Wrong('a list of rules such as "shell(git status)", "edit(src/**)" or "fetch"')


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
