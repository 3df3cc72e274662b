"""Secrets that are known by value, and the mark that stands for one wherever it would be written down.

Owns which variables hold a secret and how their values are found in text, also where it comes in pieces. What only
looks like a key is config.secret's: in a log nobody misses it, in a file of the person's it may be no key at all.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import AnyStr, Final, Generic

from agent_ls.core.items import ToolResult

MASK: Final = "•••"
SHORTEST: Final = 8
# Shorter ones that are nothing but letters may be words: a password `postgres` would hide half of a log.
SHORTEST_WORD: Final = 20

_NAME: Final = re.compile(
    r"(?:^|_)(?:(?:API|ACCESS|SECRET|PRIVATE|ENCRYPTION|SIGNING)?_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS"
    r"|CREDENTIALS?)$",
    re.IGNORECASE,
)
_HEADER: Final = re.compile(r"(?:proxy-)?authorization|(?:set-)?cookie|.*-auth", re.IGNORECASE)
_SCHEME: Final = re.compile(r"(?:bearer|basic|token|digest) +\S+$", re.IGNORECASE)
_LOGIN: Final = re.compile(r"://[^\s/@:]*:([^\s/@]+)@")


def holds_secret(name: str, value: str) -> bool:
    """By its name, or because somebody logs in with what it holds."""
    return bool(_NAME.search(name)) or bool(_LOGIN.search(value))


def secret_values(environ: Mapping[str, str], named: Collection[str] = ()) -> frozenset[str]:
    """What has to be masked of these variables: keys by their names, passwords out of addresses."""
    found: set[str] = set()
    for name, value in environ.items():
        if name in named or _NAME.search(name):
            found.add(value.strip())
        found.update(_LOGIN.findall(value))
    return frozenset(value for value in found if _is_looked_for(value))


def written_values(table: Mapping[str, str]) -> frozenset[str]:
    """The same of headers and variables as they stand in a configuration; of `Bearer …` what comes after the scheme."""
    named = {name for name in table if _HEADER.fullmatch(name)}
    values = {name.replace("-", "_"): value for name, value in table.items()}
    found = secret_values(values, {name.replace("-", "_") for name in named})
    return frozenset(value.rpartition(" ")[2] if _SCHEME.match(value) else value for value in found)


def _is_looked_for(value: str) -> bool:
    is_path = value.startswith(("/", "~", "./", "file:"))
    shortest = SHORTEST_WORD if value.isalpha() else SHORTEST
    return len(value) >= shortest and not is_path and "\n" not in value


@dataclass(frozen=True)
class Masking:
    """Longest first: one key may be the beginning of another."""

    values: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: Iterable[str]) -> "Masking":
        return cls(tuple(sorted(set(values), key=lambda value: (-len(value), value))))

    def text(self, text: str) -> str:
        for value in self.values:
            if value in text:
                text = text.replace(value, MASK)
        return text

    def result(self, result: ToolResult) -> ToolResult:
        masked = self.text(result.output)
        return result if masked == result.output else replace(result, output=masked)

    def of_text(self) -> "Stream[str]":
        return Stream(self.values, MASK)

    def of_bytes(self) -> "Stream[bytes]":
        return Stream(tuple(value.encode("utf-8", "surrogatepass") for value in self.values), MASK.encode())


class Stream(Generic[AnyStr]):
    """What comes in pieces. Keeps back what may be the beginning of a secret until it is one or is none."""

    def __init__(self, values: tuple[AnyStr, ...], mask: AnyStr) -> None:
        self._values: tuple[AnyStr, ...] = values
        self._mask: AnyStr = mask
        self._held: AnyStr = mask[:0]

    def feed(self, data: AnyStr) -> AnyStr:
        if not self._values:
            return data
        data = self._masked(self._held + data)
        held = self._beginning(data)
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def finish(self) -> AnyStr:
        rest, self._held = self._held, self._held[:0]
        return rest

    def _masked(self, data: AnyStr) -> AnyStr:
        for value in self._values:
            if value in data:
                data = data.replace(value, self._mask)
        return data

    def _beginning(self, data: AnyStr) -> int:
        """How much of the end may be the beginning of a secret."""
        longest = 0
        for value in self._values:
            for size in range(min(len(value) - 1, len(data)), longest, -1):
                if data.endswith(value[:size]):
                    longest = size
                    break
        return longest
