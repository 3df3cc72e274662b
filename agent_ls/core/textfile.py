"""The text of a file such that every byte nobody edits comes back as it was.

Owns which encoding a file is taken to have, its BOM and its line endings. Does not own what an edit may do (edits.py).
Lines end at `\\n` and `\\r\\n` alone (at `\\r` in a file that has no `\\n`), never at form feed, NEL or U+2028.
"""

import codecs
import hashlib
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property

_BOMS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8 with BOM"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32 LE with BOM"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32 BE with BOM"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16 LE with BOM"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16 BE with BOM"),
)
_DOUBLE_BYTE = ("cp932", "gbk", "big5", "euc_kr")


@dataclass(frozen=True)
class NotText:
    """Why the bytes are not taken for text."""

    reason: str


@dataclass(frozen=True)
class Unencodable:
    """Why a text cannot be written into this file."""

    reason: str


@dataclass(frozen=True)
class TextFile:
    """`text` is without the BOM; bytes that are no UTF-8 among much that is stand in it as lone surrogates.

    `legacy` files are in an encoding that nobody told us: each byte is shown as the Latin-1 character it would be.
    """

    text: str
    codec: str = "utf-8"
    errors: str = "strict"
    bom: bytes = b""
    label: str | None = None
    legacy: bool = False

    @cached_property
    def flat(self) -> "Flat":
        return Flat.of(self.text)

    def holding(self, text: str) -> "TextFile":
        """The same file with another text."""
        return replace(self, text=text)

    def to_bytes(self, text: str) -> bytes:
        return text.encode(self.codec, self.errors)

    def check(self, new: str, known: str) -> Unencodable | None:
        """Whether `new` can be written; `known` is text that certainly stands in this file as it is."""
        if has_surrogates(new):
            return Unencodable("the new text holds half of a surrogate pair, which no file can hold")
        if not self.legacy:
            return None
        foreign = sorted({sign for sign in new if not sign.isascii()} - set(known))
        if not foreign:
            return None
        shown = " ".join(foreign[:5])
        return Unencodable(
            f"the file is not UTF-8 and its encoding is not known, so {shown} cannot be written into it; "
            "keep to ASCII and to what stands there, or convert the file first"
        )

    def splits_character(self, start: int) -> bool:
        """Whether a legacy file may have a two-byte character across this place of `text`."""
        if not self.legacy or not 0 < start < len(self.text) or self.text[start - 1].isascii():
            return False
        before = self.text[:start].encode(self.codec)
        return any(not _decodes(before, codec) for codec in self._double_byte)

    @cached_property
    def _double_byte(self) -> tuple[str, ...]:
        data = self.text.encode(self.codec)
        return tuple(codec for codec in _DOUBLE_BYTE if _decodes(data, codec))


@dataclass(frozen=True)
class Flat:
    """A text with every line ending as `\\n`, and the way back. `pairs`: where a `\\n` of it stands for `\\r\\n`."""

    text: str
    pairs: tuple[int, ...]
    only_cr: bool

    @classmethod
    def of(cls, text: str) -> "Flat":
        if "\r" not in text:
            return cls(text, (), only_cr=False)
        if "\n" not in text:
            return cls(text.replace("\r", "\n"), (), only_cr=True)
        pairs: list[int] = []
        place = 0
        pieces = text.split("\r\n")
        for piece in pieces[:-1]:
            place += len(piece)
            pairs.append(place)
            place += 1
        return cls("\n".join(pieces), tuple(pairs), only_cr=False)

    def origin(self, place: int) -> int:
        """The place in the text as it was."""
        return place + bisect_left(self.pairs, place)

    def ending(self, place: int) -> str:
        """How the line break at this place of the flat text is written in the file."""
        if self.only_cr:
            return "\r"
        index = bisect_left(self.pairs, place)
        return "\r\n" if index < len(self.pairs) and self.pairs[index] == place else "\n"

    @cached_property
    def breaks(self) -> int:
        return self.text.count("\n")

    @property
    def style(self) -> str | None:
        """The one ending of all lines; None when there is none or when they differ."""
        if not self.breaks:
            return None
        if self.only_cr:
            return "\r"
        return {0: "\n", self.breaks: "\r\n"}.get(len(self.pairs))

    @property
    def usual(self) -> str:
        """The ending that most lines have."""
        if self.only_cr:
            return "\r"
        return "\r\n" if 2 * len(self.pairs) > self.breaks else "\n"

    def flatten(self, asked: str) -> str:
        """A text that someone wrote, in this file's terms."""
        flat = asked.replace("\r\n", "\n")
        return flat.replace("\r", "\n") if self.only_cr else flat


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def decode(data: bytes) -> TextFile | NotText:
    """Never lossy: encoding the text gives `data` again."""
    for bom, codec, label in _BOMS:
        if data.startswith(bom):
            found = _with_bom(data, bom, codec, label=label)
            if found is not None:
                return found
    if b"\0" in data:
        return NotText("it holds NUL bytes, so it is binary")
    try:
        return TextFile(data.decode("utf-8"))
    except UnicodeDecodeError:
        return _without_declaration(data)


def has_surrogates(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def printable(text: str) -> str:
    """For a screen or a wire: what is no character becomes U+FFFD. Never for the disk."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def split_lines(flat: str) -> list[str]:
    """Lines with their `\\n`; the last one has none when the file does not end with one."""
    pieces = flat.split("\n")
    last = pieces.pop()
    lines = [piece + "\n" for piece in pieces]
    if last:
        lines.append(last)
    return lines


def _with_bom(data: bytes, bom: bytes, codec: str, *, label: str) -> TextFile | None:
    errors = "surrogateescape" if codec == "utf-8" else "surrogatepass"
    try:
        text = data[len(bom) :].decode(codec, errors)
    except UnicodeDecodeError:
        return None
    # A file that begins with FF FE 00 00 may be UTF-16 as well; NUL characters are in neither's text.
    if "\0" in text or bom + text.encode(codec, errors) != data:
        return None
    return TextFile(text, codec, errors, bom=bom, label=label)


def _without_declaration(data: bytes) -> TextFile:
    text = data.decode("utf-8", "surrogateescape")
    stray = sum("\udc80" <= sign <= "\udcff" for sign in text)
    wide = sum(not sign.isascii() for sign in text) - stray
    if wide > stray:
        return TextFile(text, errors="surrogateescape", label=f"UTF-8 with {stray} stray bytes (shown as \ufffd)")
    return TextFile(
        data.decode("latin-1"),
        "latin-1",
        label="not UTF-8, shown as Latin-1; other bytes stay as they are",
        legacy=True,
    )


def _decodes(data: bytes, codec: str) -> bool:
    try:
        data.decode(codec)
    except UnicodeDecodeError:
        return False
    return True
