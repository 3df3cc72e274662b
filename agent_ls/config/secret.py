"""Keys: a type that does not show itself, what a key looks like in a text, and where one comes from.

Owns masking and the memory of fetched keys. Does not own running a key command (adapters.host.key_command) nor who
sends the key (adapters.models). A key is never stored, logged or put into an error.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final, NoReturn

from agent_ls.ports.provider import Cause, Failure

MASK: Final = "•••"
SHORTEST_VALUE = 6
"""A variable's value shorter than this is not looked for: it would hide ordinary words."""

LOOKS_LIKE_A_KEY: Final = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{8,}"
    r"|\bAIza[A-Za-z0-9_-]{20,}"
    r"|\b(?:gsk|hf|gh[opusr]|github_pat|glpat|xox[abprs]|xai)[_-][A-Za-z0-9_-]{12,}"
    r"|\bAKIA[A-Z0-9]{12,}"
    r"|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?"
)
AFTER_A_NAME: Final = re.compile(
    r"(?i)(\bauthorization[\"']?\s*[=:]\s*[\"']?(?:(?:bearer|basic)\s+)?"
    r"|\bbearer\s+"
    r"|\b(?:[\w-]*api[_-]?key|access[_-]?token|token|password|passwd|secret)[\"']?\s*[=:]\s*[\"']?)"
    r"[^\s\"',;&}]{4,}"
)
IN_A_URL: Final = re.compile(r"(://)[^\s/@:]*:[^\s/@]+@")


class Secret:
    """A key. Only `reveal` gives it, so every place that uses one can be found."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> NoReturn:
        raise TypeError("A secret is not written anywhere.")


@dataclass(frozen=True)
class EnvironmentKey:
    name: str


@dataclass(frozen=True)
class CommandKey:
    argv: tuple[str, ...]


@dataclass(frozen=True)
class KeyringKey:
    entry: str


KeySource = EnvironmentKey | CommandKey | KeyringKey
RunCommand = Callable[[tuple[str, ...]], str | Failure]


class Keys:
    """Fetches keys and remembers what a command printed. Blocking (a command may take seconds): call it in a thread."""

    def __init__(self, environ: Mapping[str, str], run: RunCommand) -> None:
        self._environ = environ
        self._run = run
        self._printed: dict[tuple[str, ...], Secret] = {}
        self._lock = Lock()

    def get(self, source: KeySource | None) -> Secret | Failure | None:
        """None: this provider needs no key."""
        match source:
            case None:
                return None
            case EnvironmentKey(name=name):
                return _checked(self._environ.get(name, ""), f"The environment variable {name}")
            case CommandKey(argv=argv):
                return self._from_command(argv)
            case KeyringKey():
                return Failure(Cause.UNAUTHORIZED, KEYRING_MISSING)

    def forget(self, source: KeySource | None) -> None:
        """After the server refused the key: the command may print a fresh one."""
        if isinstance(source, CommandKey):
            with self._lock:
                self._printed.pop(source.argv, None)

    def _from_command(self, argv: tuple[str, ...]) -> Secret | Failure:
        with self._lock:
            if argv in self._printed:
                return self._printed[argv]
            printed = self._run(argv)
            if isinstance(printed, Failure):
                return printed
            first_line = printed.strip().partition("\n")[0]
            key = _checked(first_line, "What api_key_command printed")
            if isinstance(key, Secret):
                self._printed[argv] = key
            return key


KEYRING_MISSING = "Keys in the keyring cannot be read yet; use `api_key_env` or `api_key_command`."


def mask(text: str, values: Iterable[str] = ()) -> str:
    """The text with everything hidden that looks like a key, or is one of these values."""
    for value in values:
        if len(value) >= SHORTEST_VALUE:
            text = text.replace(value, MASK)
    text = LOOKS_LIKE_A_KEY.sub(MASK, text)
    text = AFTER_A_NAME.sub(rf"\g<1>{MASK}", text)
    return IN_A_URL.sub(rf"\g<1>{MASK}@", text)


def without_login(url: str) -> str:
    """An address without who logs in there and how, also where a password was not written as it should be."""
    scheme, mark, rest = url.partition("://")
    return f"{scheme}{mark}{rest.partition('?')[0].rpartition('@')[2]}"


def _checked(value: str, where: str) -> Secret | Failure:
    value = value.strip()
    if not value:
        return Failure(Cause.UNAUTHORIZED, f"{where} is empty or not set, so there is no key.")
    if not (value.isascii() and value.isprintable()) or " " in value:
        return Failure(Cause.UNAUTHORIZED, f"{where} holds signs that no key has; look for a stray line or quote.")
    return Secret(value)
