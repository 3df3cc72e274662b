"""Hunks of a change: found again whatever else changed in the file, and taken back to the byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.core.alignment import images
from agent_ls.core.hunks import Found, Hunk, Record, decode, encode, recorded, stand, undone

URI = "file:///w/a.py"
LINES = st.lists(st.sampled_from(["a\n", "b\r\n", "c\n", "\n", "é😋\n", "\x0c\u2028\n", "\r\n"]), max_size=12)
ENDS = st.sampled_from(["", "end", "\r"])


def text(lines: list[str], end: str = "") -> str:
    return "".join(lines) + end


def take_back(record: Record, now: str) -> str:
    standings = stand(record, now)
    for hunk, standing in reversed(list(zip(record.hunks, standings, strict=True))):
        assert standing.found is Found.OPEN, (hunk, standing)
        now = undone(now, hunk, standing)
    return now


@given(before=LINES, after=LINES, end=ENDS, new_end=ENDS)
def test_all_hunks_of_a_change_taken_back_give_the_text_before_it(
    before: list[str], after: list[str], end: str, new_end: str
) -> None:
    was, will = text(before, end), text(after, new_end)
    record = recorded(URI, was, will)
    assert take_back(record, will) == was


@given(before=LINES, after=LINES, head=LINES, tail=LINES)
def test_lines_that_come_before_or_after_change_nothing_about_it(
    before: list[str], after: list[str], head: list[str], tail: list[str]
) -> None:
    own = [[f"{n} {line}" for n, line in enumerate(lines)] for lines in (["first\n"], before, after, ["last\n"])]
    first, old, new, last = own
    was, will = text([*first, *old, *last]), text([*first, *new, *last])
    record = recorded(URI, was, will)
    around, beneath = text([f"head {line}" for line in head]), text([f"tail {line}" for line in tail])
    assert take_back(record, around + will + beneath) == around + was + beneath
    assert {standing.found for standing in stand(record, around + was + beneath)} <= {Found.UNDONE}


def test_a_hunk_survives_changes_elsewhere_and_goes_stale_with_its_own_lines() -> None:
    was = "one\ntwo\nthree\nfour\nfive\n"
    record = recorded(URI, was, was.replace("three", "THREE"))
    assert record.hunks == (Hunk(2, "three\n", "THREE\n"),)
    now = "zero\none\nTWO\nTHREE\nfour, typed on\nfive\nsix\n"
    (found,) = stand(record, now)
    assert (found.found, found.start, found.end) == (Found.OPEN, 3, 4)
    assert undone(now, record.hunks[0], found) == now.replace("THREE", "three")
    (typed,) = stand(record, now.replace("THREE", "THREE and more"))
    assert (typed.found, typed.start, typed.end) == (Found.STALE, 2, 5)
    (back,) = stand(record, now.replace("THREE", "three"))
    assert back.found is Found.UNDONE


@pytest.mark.parametrize(
    ("now", "found"),
    [
        ("one\nthree\n", Found.OPEN),
        ("zero\none\nthree\nfour\n", Found.OPEN),
        ("one\ntwo\nthree\n", Found.UNDONE),
        ("one\nsomething else\nthree\n", Found.STALE),
        ("ONE\nthree\n", Found.OPEN),
        ("one\nTHREE\n", Found.OPEN),
        ("ONE\nTHREE\n", Found.STALE),
    ],
)
def test_lines_that_were_taken_out_are_put_back_between_their_neighbours(now: str, found: Found) -> None:
    record = recorded(URI, "one\ntwo\nthree\n", "one\nthree\n")
    (standing,) = stand(record, now)
    assert standing.found is found
    if found is Found.OPEN:
        place = now.lower().index("three")
        assert undone(now, record.hunks[0], standing) == now[:place] + "two\n" + now[place:]


def test_a_new_file_an_empty_one_and_a_removed_one_have_a_hunk() -> None:
    new, empty = recorded(URI, None, "a\n"), recorded(URI, None, "")
    removed = recorded(URI, "a\n", None, raw=b"\xef\xbb\xbfa\n")
    assert [len(record.hunks) for record in (new, empty, removed)] == [1, 1, 1]
    found = [stand(record, now)[0].found for record in (new, empty, removed) for now in (None, "", "a\n", "b\n")]
    assert found == [
        *(Found.UNDONE, Found.UNDONE, Found.OPEN, Found.STALE),
        *(Found.UNDONE, Found.OPEN, Found.STALE, Found.STALE),
        *(Found.OPEN, Found.STALE, Found.UNDONE, Found.STALE),
    ]


@given(before=LINES, after=LINES, raw=st.binary())
def test_what_is_kept_of_a_change_is_read_back_as_it_was(before: list[str], after: list[str], raw: bytes) -> None:
    records = (
        recorded(URI, text(before) + "\udcff", text(after)),
        recorded("file:///w/%C3%A9", text(before), None, raw=raw),
        recorded(URI, None, text(after)),
    )
    assert decode(encode(records)) == records


@pytest.mark.parametrize("data", [b"", b"{}", encode(())[:-3], b"x\x9c"])
def test_what_is_no_record_of_a_change_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no record"):
        decode(data)


@given(old=LINES, new=LINES)
def test_lines_are_paired_in_order_and_once_each(old: list[str], new: list[str]) -> None:
    found = [(place, image) for place, image in enumerate(images(old, new)) if image is not None]
    assert all(old[place] == new[image] for place, image in found)
    assert [image for _, image in found] == sorted({image for _, image in found})


def test_a_large_text_changed_at_both_ends_keeps_its_middle() -> None:
    old = [f"line {n}\n" for n in range(20_000)]
    new = ["new\n", *old[:5], "changed\n", *old[6:19_990], "also\n", *old[19_991:-1]]
    found = images(old, new)
    assert [place for place, image in enumerate(found) if image is None] == [5, 19_990, 19_999]
