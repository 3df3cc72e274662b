"""The input line: text with a cursor, lines, words, what was cut, and the messages of before.

Owns what editing keys do. Pure: it neither reads keys nor draws; keys that mean something to the conversation (Enter
in a finished message, Ctrl-C) are left to whoever holds it.
"""

import re
from collections.abc import Sequence
from typing import Final

from agent_ls.cli.cells import untabbed, width
from agent_ls.cli.chat.keys import PASTE, TEXT, Key

_WORD: Final = re.compile(r"\w+")


class Editor:
    """`past` holds earlier messages, oldest first."""

    def __init__(self, past: Sequence[str] = ()) -> None:
        self.text = ""
        self.at = 0
        self._past = list(past)
        self._place = len(self._past)
        self._draft = ""
        self._cut = ""

    def key(self, key: Key) -> bool:
        """Whether the key was one of editing."""
        if key.name in {TEXT, PASTE}:
            self.insert(key.text)
            return True
        edit = _KEYS.get(key.name)
        if edit is None:
            return False
        edit(self)
        return True

    def insert(self, text: str) -> None:
        self.text = self.text[: self.at] + text + self.text[self.at :]
        self.at += len(text)

    def replace(self, start: int, text: str) -> None:
        """From `start` up to the cursor."""
        self.text = self.text[:start] + text + self.text[self.at :]
        self.at = start + len(text)

    def clear(self) -> None:
        self.text, self.at = "", 0
        self._place, self._draft = len(self._past), ""

    def goes_on(self) -> bool:
        """Enter after a backslash at the end: a new line in its place."""
        if not self.text.endswith("\\") or self.at != len(self.text):
            return False
        self.replace(self.at - 1, "\n")
        return True

    def take(self) -> str:
        """The finished message; the line is empty after it and the message is one of the past."""
        text = self.text
        if text.strip() and self._past[-1:] != [text]:
            self._past.append(text)
        self.clear()
        return text

    def newline(self) -> None:
        self.insert("\n")

    def backspace(self) -> None:
        self._remove(self._before(self.at), self.at)

    def delete(self) -> None:
        self._remove(self.at, self._after(self.at))

    def left(self) -> None:
        self.at = self._before(self.at)

    def right(self) -> None:
        self.at = self._after(self.at)

    def word_left(self) -> None:
        words = [found.start() for found in _WORD.finditer(self.text, 0, self.at)]
        self.at = words[-1] if words else 0

    def word_right(self) -> None:
        found = _WORD.search(self.text, self.at)
        self.at = found.end() if found else len(self.text)

    def home(self) -> None:
        self.at = self._line_start(self.at)

    def end(self) -> None:
        self.at = self._line_end(self.at)

    def cut_to_end(self) -> None:
        self._cut_between(self.at, self._line_end(self.at) if self._line_end(self.at) > self.at else self.at + 1)

    def cut_to_start(self) -> None:
        self._cut_between(self._line_start(self.at), self.at)

    def cut_word_before(self) -> None:
        start = self.at
        while start and self.text[start - 1].isspace():
            start -= 1
        while start and not self.text[start - 1].isspace():
            start -= 1
        self._cut_between(start, self.at)

    def cut_word_after(self) -> None:
        before = self.at
        self.word_right()
        self._cut_between(before, self.at)

    def paste_cut(self) -> None:
        self.insert(self._cut)

    def up(self) -> None:
        """The line above; from the first one, the message before."""
        start = self._line_start(self.at)
        if start:
            above = self._line_start(start - 1)
            self.at = min(above + self.at - start, start - 1)
        elif self._place:
            self._recall(self._place - 1)

    def down(self) -> None:
        end = self._line_end(self.at)
        if end < len(self.text):
            self.at = min(end + 1 + self.at - self._line_start(self.at), self._line_end(end + 1))
        elif self._place < len(self._past):
            self._recall(self._place + 1)

    def earlier(self) -> None:
        if self._place:
            self._recall(self._place - 1)

    def later(self) -> None:
        if self._place < len(self._past):
            self._recall(self._place + 1)

    def _recall(self, place: int) -> None:
        if self._place == len(self._past):
            self._draft = self.text
        self._place = place
        self.text = self._past[place] if place < len(self._past) else self._draft
        self.at = len(self.text)

    def _remove(self, start: int, end: int) -> None:
        self.text, self.at = self.text[:start] + self.text[end:], start

    def _cut_between(self, start: int, end: int) -> None:
        if self.text[start:end]:
            self._cut = self.text[start:end]
            self._remove(start, end)

    def _line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def _line_end(self, at: int) -> int:
        found = self.text.find("\n", at)
        return len(self.text) if found < 0 else found

    def _before(self, at: int) -> int:
        """Over one sign with all that is drawn on it."""
        at = max(0, at - 1)
        while at and self.text[at] != "\n" and width(self.text[at]) == 0:
            at -= 1
        return at

    def _after(self, at: int) -> int:
        at = min(len(self.text), at + 1)
        while at < len(self.text) and self.text[at] != "\n" and width(self.text[at]) == 0:
            at += 1
        return at


def rows(editor: Editor, columns: int) -> tuple[list[str], tuple[int, int]]:
    """The text in rows of `columns` cells, and (row, column) of the cursor in them."""
    made, used, cursor = [""], 0, (0, 0)
    for at, sign in enumerate(editor.text):
        if at == editor.at:
            cursor = (len(made) - 1, used)
        if sign == "\n":
            made.append("")
            used = 0
            continue
        shown = untabbed(sign)
        if used + width(shown) > columns:
            made.append("")
            used = 0
            if at == editor.at:
                cursor = (len(made) - 1, 0)
        made[-1] += shown
        used += width(shown)
    if editor.at == len(editor.text):
        if used >= columns:
            made.append("")
            used = 0
        cursor = (len(made) - 1, used)
    return made, cursor


_KEYS: Final = {
    "newline": Editor.newline,
    "backspace": Editor.backspace,
    "delete": Editor.delete,
    "left": Editor.left,
    "right": Editor.right,
    "up": Editor.up,
    "down": Editor.down,
    "home": Editor.home,
    "end": Editor.end,
    "word-left": Editor.word_left,
    "word-right": Editor.word_right,
    "word-delete": Editor.cut_word_after,
    "ctrl-a": Editor.home,
    "ctrl-e": Editor.end,
    "ctrl-b": Editor.left,
    "ctrl-f": Editor.right,
    "ctrl-k": Editor.cut_to_end,
    "ctrl-u": Editor.cut_to_start,
    "ctrl-w": Editor.cut_word_before,
    "ctrl-y": Editor.paste_cut,
    "ctrl-p": Editor.earlier,
    "ctrl-n": Editor.later,
}
