"""Bytes of a terminal as keys: text, named keys, pasted text.

Owns the escape sequences that terminals send. Pure: bytes go in, keys come out; what a key does is not decided here.
"""

import codecs
import re
from dataclasses import dataclass
from typing import Final

TEXT: Final = "text"
PASTE: Final = "paste"

_PASTE_BEGIN: Final = "\x1b[200~"
_PASTE_END: Final = "\x1b[201~"
_SEQUENCE: Final = re.compile(r"\x1b(?:\[([0-9;:<=>?]*)([ -/]*)([@-~])|O([0-~])|\](?:[^\x07\x1b]*)(?:\x07|\x1b\\))")
_UNFINISHED: Final = re.compile(r"\x1b(?:\[[0-9;:<=>?]*[ -/]*|O|\][^\x07\x1b]*\x1b?)?")
_CONTROLS: Final = {
    "\r": "enter",
    "\n": "newline",
    "\t": "tab",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x1b": "escape",
}
_LETTERS: Final = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "M": "enter",
    "Z": "shift-tab",
}
_NUMBERS: Final = {
    "1": "home",
    "3": "delete",
    "4": "end",
    "5": "page-up",
    "6": "page-down",
    "7": "home",
    "8": "end",
}
_ALT: Final = {
    "\r": "newline",
    "\n": "newline",
    "\x7f": "ctrl-w",
    "b": "word-left",
    "f": "word-right",
    "d": "word-delete",
}


@dataclass(frozen=True)
class Key:
    """`text` is what was typed or pasted; other keys have a name only (`enter`, `ctrl-c`, `left`)."""

    name: str
    text: str = ""


class Decoder:
    """Keys as they come, whatever the pieces in which their bytes arrive."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._pasted: list[str] | None = None

    @property
    def unfinished(self) -> bool:
        """Whether a beginning is kept that may be a key of its own: `flush` when nothing follows it soon."""
        return bool(self._rest) and self._pasted is None

    def feed(self, data: bytes) -> list[Key]:
        """Text that came in one piece is one key: a person's single keystroke is a single sign."""
        self._rest += self._decode.decode(data)
        keys: list[Key] = []
        while self._rest:
            key = self._paste() if self._pasted is not None else self._next()
            if key is None:
                break
            if key.name == TEXT and keys and keys[-1].name == TEXT:
                key = Key(TEXT, keys.pop().text + key.text)
            if key.name:
                keys.append(key)
        return keys

    def flush(self) -> list[Key]:
        """What was kept is all there is: a lone escape is the key Escape, other beginnings mean nothing."""
        if not self.unfinished:
            return []
        rest, self._rest = self._rest, ""
        return [Key("escape")] if rest == "\x1b" else []

    def _next(self) -> Key | None:
        text = self._rest
        if text[0] == "\x1b":
            return self._escape()
        end = next((at for at, sign in enumerate(text) if sign < " " or sign == "\x7f"), len(text))
        if end:
            return self._take(end, Key(TEXT, text[:end]))
        sign = text[0]
        return self._take(1, Key(_CONTROLS.get(sign) or f"ctrl-{chr(ord(sign) + 96)}"))

    def _escape(self) -> Key | None:
        text = self._rest
        if text.startswith(_PASTE_BEGIN):
            self._pasted = []
            return self._take(len(_PASTE_BEGIN), Key(""))
        if found := _SEQUENCE.match(text):
            return self._take(found.end(), Key(_named(found)))
        if _UNFINISHED.fullmatch(text):
            return None
        if text[1] == "\x1b":
            return self._take(1, Key("escape"))
        return self._take(2, Key(_ALT.get(text[1], "")))

    def _paste(self) -> Key | None:
        pasted = self._pasted or []
        body, end, rest = self._rest.partition(_PASTE_END)
        if not end:
            # The end may have come in part only.
            keep = next((n for n in range(len(_PASTE_END) - 1, 0, -1) if body.endswith(_PASTE_END[:n])), 0)
            pasted.append(body[: len(body) - keep])
            self._pasted, self._rest = pasted, body[len(body) - keep :]
            return None
        self._pasted, self._rest = None, rest
        text = "".join([*pasted, body]).replace("\r\n", "\n").replace("\r", "\n")
        return Key(PASTE, "".join(sign for sign in text if sign >= " " or sign in "\n\t"))

    def _take(self, count: int, key: Key) -> Key:
        self._rest = self._rest[count:]
        return key


def _named(found: re.Match[str]) -> str:
    """Modifiers: 3 is Alt, 5 is Control; shift or alt with Enter makes a new line where a terminal tells them apart."""
    numbers, letter = (found[1] or "").split(";"), found[3] or found[4] or ""
    modified = len(numbers) > 1 and numbers[1][:1] in {"3", "5", "7"}
    if letter == "u" and numbers[0] == "13":
        return "newline" if len(numbers) > 1 else "enter"
    if letter == "~" and numbers[0] == "27":
        return "newline" if numbers[2:] == ["13"] else ""
    name = _NUMBERS.get(numbers[0], "") if letter == "~" else _LETTERS.get(letter, "")
    if modified and name in {"left", "right"}:
        return f"word-{name}"
    return "word-delete" if modified and name == "delete" else name
