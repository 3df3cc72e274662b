"""An answer as it streams onto a terminal: broken between words at its edge, what is code left as it is.

Owns where a line is broken and which word is held back until it is whole. Pure; writes nothing.
"""

import re
from typing import Final

from agent_ls.cli.cells import width

_FENCE: Final = ("```", "~~~")
_MARK: Final = re.compile(r" *(?:[-*+] |\d{1,3}[.)] |> )?")


class Flow:
    """`feed` gives what may be written by now; the end of a line is the end of its last word."""

    def __init__(self) -> None:
        self._line = ""  # as it came, without the word that is not whole yet
        self._word = ""
        self._blanks = ""
        self._used = 0
        self._is_code = False

    def feed(self, text: str, columns: int) -> str:
        out: list[str] = []
        for sign in text:
            if sign == "\n":
                out += [self._put(columns), "\n"]
                self._end_line()
            elif sign in {" ", "\t"}:
                out.append(self._put(columns))
                self._blanks += sign
                self._line += sign
            elif width(sign) == 2:
                # Scripts without blanks may be broken anywhere.
                out.append(self._put(columns))
                self._word = sign
                out.append(self._put(columns))
            else:
                self._word += sign
        return "".join(out)

    def _put(self, columns: int) -> str:
        if not self._word:
            return ""
        word, blanks, size = self._word, self._blanks, width(self._word)
        self._line += word
        self._word = self._blanks = ""
        if self._used and not self._is_code and self._used + width(blanks) + size > columns:
            hang = " " * len(_MARK.match(self._line)[0])  # type: ignore[index]
            self._used = len(hang) + size
            return f"\n{hang}{word}"
        self._used += width(blanks) + size
        return blanks + word

    def _end_line(self) -> None:
        if self._line.lstrip().startswith(_FENCE):
            self._is_code = not self._is_code
        self._line = self._blanks = ""
        self._used = 0
