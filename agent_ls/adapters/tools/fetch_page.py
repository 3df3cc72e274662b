"""A page as a model can read it: HTML as Markdown, other text as it is.

Owns what of a page is worth reading. Takes each byte once, whatever the page holds: nobody knows who wrote it. Does no
I/O; docs/decisions/0013 says why this is no library.
"""

import re
from html import unescape
from typing import Final

_TEXT: Final = frozenset(
    {
        "application/json",
        "application/ld+json",
        "application/xml",
        "application/javascript",
        "application/x-javascript",
        "application/x-yaml",
        "application/yaml",
        "application/toml",
        "application/x-sh",
        "image/svg+xml",
    }
)
_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_LONGEST_ATTRIBUTES: Final = 16 * 1024
_DEEPEST_LIST: Final = 8
_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}charset=[\"']?([A-Za-z0-9_-]{2,40})", re.IGNORECASE)
_NAME: Final = re.compile(r"/?([A-Za-z][A-Za-z0-9-]*)")
_ATTRIBUTE: Final = re.compile(r"(?<![A-Za-z-])([A-Za-z-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_BLANK: Final = re.compile(r"[ \t\n\r\f]+")

# Their content is no text, up to the end tag of the same name.
_SKIPPED: Final = frozenset({"script", "style", "template", "noscript", "svg", "math", "iframe", "textarea", "select"})
_APART: Final = frozenset(
    {
        *("p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "ul", "ol", "dl", "table"),
        *("form", "figure", "blockquote", "pre", "address", "details", "fieldset", "h1", "h2", "h3", "h4", "h5", "h6"),
    }
)
_LINES: Final = frozenset({"br", "tr", "li", "dt", "dd", "hr", "option", "summary", "figcaption", "caption"})
_HEADINGS: Final = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_MARKS: Final = {"b": "**", "strong": "**", "code": "`", "kbd": "`", "samp": "`"}


def readable(body: bytes, content_type: str, charset: str | None) -> str | None:
    """None for what is no text."""
    kind = content_type or ("text/html" if body.lstrip()[:1] == b"<" else "text/plain")
    if (
        kind not in _HTML
        and not kind.startswith("text/")
        and kind not in _TEXT
        and not kind.endswith(("+json", "+xml"))
    ):
        return None
    if b"\0" in body[:4096] and not (charset or "").lower().startswith("utf-16"):
        return None
    text = _decoded(body, charset if charset or kind not in _HTML else _named_in(body))
    return _Reader(text).markdown() if kind in _HTML else text.replace("\r\n", "\n")


def _named_in(body: bytes) -> str | None:
    found = _CHARSET.search(body[:4096])
    return found[1].decode() if found else None


def _decoded(body: bytes, charset: str | None) -> str:
    try:
        text = body.decode(charset or "utf-8", "replace")
    except LookupError:
        text = body.decode("utf-8", "replace")
    return text.removeprefix("\ufeff").replace("\0", "\ufffd")


class _Reader:
    """One pass over a page: tags move the state, text goes out."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next_end = -1
        self._out: list[str] = []
        self._lists: list[int | None] = []
        self._link: tuple[str, int] | None = None
        self._plain = 0  # within <pre>

    def markdown(self) -> str:
        at = 0
        while at < len(self._text):
            tag = self._text.find("<", at)
            if tag < 0:
                self._say(self._text[at:])
                break
            self._say(self._text[at:tag])
            at = self._tag(tag)
        joined = "".join(self._out)
        return re.sub(r"\n{3,}", "\n\n", re.sub(r"(?<![ \t])[ \t]++\n", "\n", joined)).strip() + "\n"

    def _tag(self, start: int) -> int:
        """Where it goes on behind what begins here."""
        if self._text.startswith("<!--", start):
            return self._behind("-->", start + 4)
        if self._text.startswith(("<!", "<?"), start):
            return self._behind(">", start + 2)
        named = _NAME.match(self._text, start + 1)
        end = self._end_of_tag(start)
        if named is None or end < 0:
            self._say("<")
            return start + 1
        name = named[1].lower()
        if self._text[start + 1] == "/":
            self._close(name)
            return end + 1
        if name in _SKIPPED:
            return self._behind(f"</{name}", end + 1)
        self._open(name, self._text[named.end() : end])
        return end + 1

    def _behind(self, mark: str, start: int) -> int:
        """Behind the next of these; all of the rest where there is none."""
        found = re.compile(re.escape(mark), re.IGNORECASE).search(self._text, start)
        if found is None:
            return len(self._text)
        return found.end() if mark.endswith(">") else self._behind(">", found.end())

    def _end_of_tag(self, start: int) -> int:
        """Looked for once, however many tags begin before it."""
        if self._next_end < start:
            found = self._text.find(">", start)
            self._next_end = found if found >= 0 else len(self._text)
        return self._next_end if self._next_end < len(self._text) else -1

    def _open(self, name: str, rest: str) -> None:
        if name in _APART:
            self._new_line(2 if not self._lists or name not in {"ul", "ol", "p", "div"} else 1)
        elif name in _LINES:
            self._new_line(1)
        match name:
            case "ul" | "ol":
                self._lists.append(0 if name == "ol" else None)
            case "li":
                self._out.append(self._bullet())
            case "pre":
                self._plain += 1
                self._out.append("```\n")
            case "hr":
                self._out.append("---\n")
            case "td" | "th":
                self._out.append(" | ")
            case "a":
                self._end_link()
                self._link = (_attributes(rest).get("href", ""), len(self._out))
            case "img" if alt := _attributes(rest).get("alt", "").strip():
                self._say(f"[image: {alt}]")
            case _ if name in _HEADINGS:
                self._out.append(_HEADINGS[name])
            case _ if name in _MARKS and not self._plain:
                self._out.append(_MARKS[name])
            case _:
                pass

    def _close(self, name: str) -> None:
        match name:
            case "ul" | "ol" if self._lists:
                self._lists.pop()
            case "pre" if self._plain:
                self._plain -= 1
                self._new_line(1)
                self._out.append("```\n")
            case "a":
                self._end_link()
            case _ if name in _MARKS and not self._plain:
                self._out.append(_MARKS[name])
            case _:
                pass
        if name in _APART:
            self._new_line(2 if not self._lists else 1)

    def _end_link(self) -> None:
        """Links hold no links: one that begins ends the one before."""
        if self._link is None:
            return
        (href, since), self._link = self._link, None
        label = "".join(self._out[since:])
        if label.strip() and href and not href.startswith(("#", "javascript:", "data:")):
            blank = label[len(label.rstrip()) :]
            self._out[since:] = [f"[{label.strip()}]({unescape(href)}){blank}"]

    def _bullet(self) -> str:
        depth = "  " * min(_DEEPEST_LIST, max(0, len(self._lists) - 1))
        if self._lists and (number := self._lists[-1]) is not None:
            self._lists[-1] = number + 1
            return f"{depth}{number + 1}. "
        return f"{depth}- "

    def _say(self, raw: str) -> None:
        if not raw:
            return
        text = unescape(raw)
        if not self._plain:
            text = _BLANK.sub(" ", text)
            if not self._out or self._out[-1].endswith(("\n", " ")):
                text = text.lstrip(" ")
        if text:
            self._out.append(text)

    def _new_line(self, count: int) -> None:
        while self._out and not self._out[-1].strip(" "):
            self._out.pop()
        if self._out:
            there = len(self._out[-1]) - len(self._out[-1].rstrip("\n"))
            self._out.append("\n" * max(0, count - there) or "")


def _attributes(text: str) -> dict[str, str]:
    return {
        found[1].lower(): found[2] or found[3] or found[4] or ""
        for found in _ATTRIBUTE.finditer(text[:_LONGEST_ATTRIBUTES])
    }
