"""The text mirror against a model that does it the slow way, in all three encodings."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ls.core.text import ENCODINGS, UTF_8, UTF_16, UTF_32, BadChange, Text
from agent_ls.core.text_edits import apart, edits, holds

CODECS = {UTF_8: ("utf-8", 1), UTF_16: ("utf-16-le", 2), UTF_32: ("utf-32-le", 4)}
# Ends of lines, ends that are none (form feed, NEL, U+2028), and one to four bytes of utf-8.
SIGNS = ["a", "b", "\n", "\r", "\r\n", "\f", "\x85", "\u2028", "é", "€", "😋", "👩‍🚀", "x = 1"]

texts = st.lists(st.sampled_from(SIGNS), max_size=12).map("".join)
encodings = st.sampled_from(ENCODINGS)


def length(text: str, encoding: str) -> int:
    codec, size = CODECS[encoding]
    return len(text.encode(codec)) // size


class Slow:
    """The client: one string, positions found by walking over it."""

    def __init__(self, text: str, encoding: str) -> None:
        self.text, self.encoding = text, encoding

    def place(self, position: dict[str, int]) -> int:
        start, line = 0, 0
        while line < position["line"]:
            end = self.end_of_line(start)
            if end == len(self.text):
                return end
            start = end + (2 if self.text[end : end + 2] == "\r\n" else 1)
            line += 1
        at = start
        while at < self.end_of_line(start):
            if length(self.text[start : at + 1], self.encoding) > position["character"]:
                break
            at += 1
        return at

    def end_of_line(self, start: int) -> int:
        ends = [place for end in "\r\n" if (place := self.text.find(end, start)) != -1]
        return min(ends, default=len(self.text))

    def position(self, place: int) -> dict[str, int]:
        before = self.text[:place].replace("\r\n", "\n").replace("\r", "\n")
        column = before.rpartition("\n")[2]
        return {"line": before.count("\n"), "character": length(column, self.encoding)}

    def change(self, changes: list[dict[str, Any]]) -> None:
        for change in changes:
            if "range" not in change:
                self.text = change["text"]
                continue
            begin, end = sorted((self.place(change["range"]["start"]), self.place(change["range"]["end"])))
            self.text = self.text[:begin] + change["text"] + self.text[end:]


positions = st.fixed_dictionaries({"line": st.integers(0, 8), "character": st.integers(0, 12)})
changes = st.lists(
    st.one_of(
        st.fixed_dictionaries({"text": texts}),
        st.fixed_dictionaries({"range": st.fixed_dictionaries({"start": positions, "end": positions}), "text": texts}),
        st.fixed_dictionaries({"range": st.fixed_dictionaries({"start": positions, "end": positions}), "text": texts}),
    ),
    max_size=6,
)


@given(text=texts, encoding=encodings, rounds=st.lists(changes, max_size=4))
def test_every_change_leaves_the_text_that_the_client_has(
    text: str, encoding: str, rounds: list[list[dict[str, Any]]]
) -> None:
    mirror, client = Text(text, encoding), Slow(text, encoding)
    for made in rounds:
        mirror.change(made)
        client.change(made)
        assert (str(mirror), len(mirror.lines)) == (client.text, client.position(len(client.text))["line"] + 1)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_thousand_random_edits_do_not_drift(encoding: str) -> None:
    chance = random.Random(61)
    start = "".join(chance.choice(SIGNS) for _ in range(400))
    mirror, client = Text(start, encoding), Slow(start, encoding)
    for _ in range(1_000):
        begin = chance.randrange(len(client.text) + 1)
        end = min(len(client.text), begin + chance.randrange(4))
        # Nobody's cursor stands within the end of a line.
        spots = [p - 1 if client.text[p - 1 : p + 1] == "\r\n" else p for p in (begin, end)]
        text = "".join(chance.choice(SIGNS) for _ in range(chance.randrange(4)))
        span = {"start": client.position(spots[0]), "end": client.position(spots[1])}
        mirror.change([{"range": span, "text": text}])
        client.text = client.text[: spots[0]] + text + client.text[spots[1] :]
        assert str(mirror) == client.text


@settings(deadline=None)
@given(old=texts, new=texts, encoding=encodings)
def test_edits_sent_back_make_the_text_that_was_meant(old: str, new: str, encoding: str) -> None:
    client = Slow(old, encoding)
    made = edits(Text(old, encoding), new)
    places = [
        (client.place(edit["range"]["start"]), client.place(edit["range"]["end"]), edit["newText"]) for edit in made
    ]
    assert [place for edit in places for place in edit[:2]] == sorted(place for edit in places for place in edit[:2])
    for begin, end, text in reversed(places):
        client.text = client.text[:begin] + text + client.text[end:]
    assert client.text == new
    assert bool(made) == (old != new)


@given(one=texts, other=texts)
def test_what_two_texts_share_at_both_ends_is_found_and_does_not_overlap(one: str, other: str) -> None:
    start, end = apart(one, other)
    assert one[:start] == other[:start]
    assert one[len(one) - end :] == other[len(other) - end :]
    assert start + end <= min(len(one), len(other))
    if one != other:
        left, right = one[start : len(one) - end], other[start : len(other) - end]
        assert not left or not right or (left[0] != right[0] and left[-1] != right[-1])


@pytest.mark.parametrize(("encoding", "column"), [(UTF_8, 7), (UTF_16, 5), (UTF_32, 4)])
def test_a_column_after_an_emoji_counts_units_and_not_characters(encoding: str, column: int) -> None:
    text = Text('x="😋😋"', encoding)
    at = {"line": 0, "character": column}
    text.change([{"range": {"start": at, "end": at}, "text": "|"}])
    assert str(text) == 'x="😋|😋"'


def test_a_column_past_the_end_of_its_line_is_the_end_of_that_line() -> None:
    text = Text("😋\nab\r\nc", UTF_16)
    far = {"line": 1, "character": 99}
    text.change([{"range": {"start": far, "end": far}, "text": "!"}])
    assert str(text) == "😋\nab!\r\nc"


def test_the_end_of_a_last_line_without_newline_that_holds_an_emoji_is_replaced() -> None:
    text = Text("a\nb😋c", UTF_16)
    span = {"start": {"line": 1, "character": 1}, "end": {"line": 2, "character": 0}}
    text.change([{"range": span, "text": "é"}])
    assert str(text) == "a\nbé"


def test_a_pair_of_surrogates_that_comes_in_two_halves_is_one_character() -> None:
    text = Text("", UTF_16)
    for column, half in enumerate(("\ud83d", "\ude0b")):
        at = {"line": 0, "character": column}
        text.change([{"range": {"start": at, "end": at}, "text": half}])
    assert str(text) == "😋"


@pytest.mark.parametrize(
    "changes",
    [None, {}, [None], [{}], [{"text": 1}], [{"range": {}, "text": "x"}], [{"range": [], "text": "x"}]],
)
def test_a_malformed_change_is_refused_and_nothing_of_it_is_made(changes: Any) -> None:
    text = Text("a\n")
    good = [{"text": "b"}]
    with pytest.raises(BadChange):
        text.change(good + changes if isinstance(changes, list) else changes)
    assert str(text) == "a\n"


def test_one_changed_word_is_sent_as_that_word() -> None:
    text = Text("def f():\n    return 1\n", UTF_16)
    assert edits(text, "def f():\n    return 20\n") == [
        {
            "range": {"start": {"line": 1, "character": 11}, "end": {"line": 1, "character": 12}},
            "newText": "20",
        }
    ]


BEFORE, TARGET = "1\n2\n3\n4\n5\n6\n", "one\n2\n3\n4\n6\n"


@pytest.mark.parametrize(
    ("now", "made", "not_made"),
    [
        (TARGET, True, False),
        (BEFORE, False, True),
        ("one\n2\n3 typed\n4\n6\n", True, False),
        ("one\n2\nnew\nlines\n3\n4\n6\nmore\n", True, False),
        ("1\n2\n3 typed\n4\n5\n6\n", False, True),
        ("one typed\n2\n3\n4\n6\n", False, False),
        ("one\n2\n3\n4 typed\n6\n", False, False),
        ("one\n2\n3 typed\n4\n5\n6\n", False, False),
    ],
)
def test_typing_between_the_places_of_an_edit_leaves_no_doubt_whether_it_was_made(
    now: str, *, made: bool, not_made: bool
) -> None:
    assert (holds(BEFORE, TARGET, now), holds(TARGET, BEFORE, now)) == (made, not_made)


TEXTS = st.lists(st.sampled_from("abc"), max_size=8).map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(before=TEXTS, target=TEXTS, now=TEXTS)
def test_an_edit_never_seems_both_made_and_not_made(before: str, target: str, now: str) -> None:
    assert before == target or not (holds(before, target, now) and holds(target, before, now))


def test_two_places_far_apart_are_two_edits() -> None:
    lines = [f"line {n}\n" for n in range(100)]
    new = lines.copy()
    new[3], new[90] = "three\n", "ninety\n"
    assert [edit["range"]["start"]["line"] for edit in edits(Text("".join(lines)), "".join(new))] == [3, 90]


def test_ten_thousand_keys_cost_the_lines_they_touch_and_not_the_file() -> None:
    """Counted, not timed: what is made anew is a line, every other line is the very same object."""
    text = Text("".join(f"line {n} é😋\n" for n in range(5_000)))
    before = list(text.lines)
    at = {"line": 2_500, "character": 3}
    for _ in range(10_000):
        text.change([{"range": {"start": at, "end": at}, "text": "x"}])
    moved = [n for n, (old, new) in enumerate(zip(before, text.lines, strict=True)) if old is not new]
    assert (moved, len(text.lines[2_500])) == ([2_500], len(before[2_500]) + 10_000)
