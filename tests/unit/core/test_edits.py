"""What an edit matches, what it refuses, and that no byte outside it moves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.core.edits import Applied, Edit, Problem, Trouble, apply
from agent_ls.core.textfile import NotText, TextFile, decode


def text_file(data: bytes) -> TextFile:
    file = decode(data)
    assert not isinstance(file, NotText)
    return file


def edited(data: bytes, *edits: Edit) -> bytes:
    applied = apply(text_file(data), edits)
    assert isinstance(applied, Applied), applied
    return applied.data


def refused(data: bytes, *edits: Edit) -> Problem:
    problem = apply(text_file(data), edits)
    assert isinstance(problem, Problem), problem
    return problem


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        (b"a\r\nb\r\nc", Edit("a\nb", "a\nx\nb"), b"a\r\nx\r\nb\r\nc"),
        (b"a\r\nb\r\nc", Edit("c", "d"), b"a\r\nb\r\nd"),
        (b"a\r\nb\nc\r\nd\n", Edit("a\nb\nc", "a\nB\nc"), b"a\r\nB\nc\r\nd\n"),
        (b"a\nb\r\nc\n", Edit("b\n", "b\nnew\n"), b"a\nb\r\nnew\r\nc\n"),
        (b"a\r\nb\nc\r\nd\n", Edit("c", "c\nx"), b"a\r\nb\nc\r\nx\r\nd\n"),
        (b"a\rb\rc", Edit("a\nb", "a\nx\nb"), b"a\rx\rb\rc"),
        (b"a\nb\n", Edit("a\r\nb", "a\r\nc"), b"a\nc\n"),
        (b"one", Edit("one", "one\n"), b"one\n"),
        (b"a\x0cb\xc2\x85c\xe2\x80\xa8d\r\n", Edit("c", "C"), b"a\x0cb\xc2\x85C\xe2\x80\xa8d\r\n"),
    ],
)
def test_lines_keep_their_endings_and_new_ones_take_those_around(before: bytes, edit: Edit, after: bytes) -> None:
    assert edited(before, edit) == after


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        (b"\xef\xbb\xbfclass A\r\n", Edit("class A", "class B"), b"\xef\xbb\xbfclass B\r\n"),
        (b"\xff\xfea\x00\r\x00\n\x00", Edit("a\n", "\U0001f600\n"), b"\xff\xfe=\xd8\x00\xde\r\x00\n\x00"),
        (b"\xfe\xff\x00a\x00b", Edit("b", "c"), b"\xfe\xff\x00a\x00c"),
        ("日本語\nname = 1\nソ表\n".encode("cp932"), Edit("name = 1", "name = 2"), None),
        (b"p\xe8re\nline\n", Edit("line", "LINE"), b"p\xe8re\nLINE\n"),
        (b"p\xe8re\nline\n", Edit("\xe8re\nline", "\xe8re\nother"), b"p\xe8re\nother\n"),
        (b"stray \xff\nline\n", Edit("line", "LINE"), b"stray \xff\nLINE\n"),
        (
            "äöü stray ".encode() + b"\xff\nline\n",
            Edit("line", "ß"),
            "äöü stray ".encode() + b"\xff\n" + "ß\n".encode(),
        ),
    ],
)
def test_every_encoding_keeps_its_other_bytes(before: bytes, edit: Edit, after: bytes | None) -> None:
    wanted = before.replace(edit.old.encode(), edit.new.encode()) if after is None else after
    assert edited(before, edit) == wanted


def test_a_sign_that_an_unknown_encoding_may_not_hold_is_refused() -> None:
    problem = refused("日本語\nline\n".encode("cp932"), Edit("line", "“line”"))
    assert problem.trouble is Trouble.ENCODING
    assert "not UTF-8" in problem.message


def test_an_edit_never_begins_inside_a_two_byte_character() -> None:
    # The second byte of 表 in Shift_JIS is a backslash.
    assert refused("表 = 1\n".encode("cp932"), Edit("\\", "/")).trouble is Trouble.ENCODING


@pytest.mark.parametrize(
    ("before", "edit", "trouble"),
    [
        (b"a\n", Edit("", "b"), Trouble.EMPTY_OLD),
        (b"a\n", Edit("a", "a"), Trouble.NO_CHANGE),
        (b"a\r\nb", Edit("a\r\nb", "a\nb"), Trouble.NO_CHANGE),
        (b"a\nb\n", Edit("c", "d"), Trouble.NOT_FOUND),
        ("cafe\u0301\n".encode(), Edit("caf\u00e9", "tea"), Trouble.ONLY_NORMALISED),
        (b"\tif x:\n\t\ty\n", Edit("    if x:\n        y", "z"), Trouble.ONLY_NORMALISED),
        (b"a  \nb\n", Edit("a\nb", "c"), Trouble.ONLY_NORMALISED),
        ("say “hi”\n".encode(), Edit('say "hi"', "no"), Trouble.ONLY_NORMALISED),
        (b"a\n", Edit("a", "\ud800"), Trouble.ENCODING),
        (b"a\n", Edit("\udcff", "b"), Trouble.ENCODING),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(before: bytes, edit: Edit, trouble: Trouble) -> None:
    assert refused(before, edit).trouble is trouble


def test_two_matches_are_named_by_line() -> None:
    problem = refused(b"x = 1\ny\n  x = 1\n", Edit("x = 1", "x = 2"))
    assert (problem.trouble, problem.lines) == (Trouble.AMBIGUOUS, (1, 3))
    assert "lines 1, 3" in problem.message


def test_a_match_that_overlaps_itself_is_not_unique() -> None:
    assert refused(b"aaa\n", Edit("aa", "b")).trouble is Trouble.AMBIGUOUS


def test_a_block_whose_middle_is_wrong_is_not_stretched_to_fit() -> None:
    body = "".join(f"line {n}\n" for n in range(190))
    problem = refused(f"def f():\n{body}    return 1\n".encode(), Edit("def f():\nwrong\n    return 1\n", "gone"))
    assert (problem.trouble, problem.lines) == (Trouble.NOT_FOUND, (1,))
    assert "its first line is on line 1" in problem.message


def test_replacing_all_does_not_look_into_what_it_put_there() -> None:
    assert edited(b"a b a\n", Edit("a", "aa", all=True)) == b"aa b aa\n"


@pytest.mark.parametrize("new", [r"\1", r"\g<0>", "$&", "$1", "%s", "{0}", "\\n"])
def test_nothing_in_the_new_text_is_expanded(new: str) -> None:
    assert edited(b"a.c(\nabc(\n", Edit("a.c(", new)) == f"{new}\nabc(\n".encode()


def test_edits_are_matched_in_the_file_as_it_is() -> None:
    assert edited(b"a\nb\n", Edit("a", "b"), Edit("b", "a")) == b"b\na\n"


def test_edits_that_overlap_are_refused_together() -> None:
    problem = refused(b"abc\n", Edit("ab", "x"), Edit("bc", "y"))
    assert (problem.trouble, problem.edit) == (Trouble.OVERLAP, 1)


def test_one_bad_edit_undoes_the_others_and_says_which() -> None:
    problem = refused(b"a\nb\n", Edit("a", "x"), Edit("gone", "y"))
    assert problem.edit == 1
    assert problem.message.startswith("edits[1]: ")
    assert problem.message.endswith("none of the 2 edits was made")


_ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp932"])
_LINE = st.text(st.sampled_from("ab \tä表“\u0301"), max_size=6)
_ENDING = st.sampled_from(["\n", "\r\n", "\n", "\r\n", ""])


@given(st.lists(st.tuples(_LINE, _ENDING), max_size=6), st.lists(st.tuples(_LINE, _ENDING), max_size=6), _ENCODINGS)
def test_bytes_outside_an_edit_never_change(
    before: list[tuple[str, str]], after: list[tuple[str, str]], encoding: str
) -> None:
    # The blanks keep a last Latin-1 letter from looking like half of a two-byte character.
    head, tail = ("".join(line + end for line, end in part) for part in ([*before, ("", " ")], [("", " "), *after]))
    bom_less = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le"}.get(encoding, encoding)
    data = (head + "MARK" + tail).encode(encoding, "ignore")
    tail_bytes = tail.encode(bom_less, "ignore")
    head_bytes = data[: len(data) - len(tail_bytes) - len("MARK".encode(bom_less))]
    result = edited(data, Edit("MARK", "one\ntwo"))
    assert result.startswith(head_bytes)
    assert result.endswith(tail_bytes)
    middle = result[len(head_bytes) : len(result) - len(tail_bytes)].decode(bom_less)
    assert middle.replace("\r", "").replace("\n", "") == "onetwo"


@given(st.binary(max_size=60))
def test_reading_bytes_as_text_loses_none(data: bytes) -> None:
    file = decode(data)
    assert isinstance(file, NotText) or file.bom + file.to_bytes(file.text) == data


@given(st.text(st.sampled_from("a\r\n"), max_size=20))
def test_the_way_back_from_flat_text_is_exact(text: str) -> None:
    flat = TextFile(text).flat
    rebuilt = "".join(flat.ending(place) if sign == "\n" else sign for place, sign in enumerate(flat.text))
    assert rebuilt == text
    assert flat.origin(len(flat.text)) == len(text)
