"""Patches in the form that models are trained on: read strictly, laid on literally, at one place alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.core.edits import Applied, Problem, Trouble
from agent_ls.core.patch import Deed, Malformed, lay_on, parse
from agent_ls.core.textfile import NotText, decode

TEXT = b"class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n"


def laid(data: bytes, *lines: str) -> bytes | Problem:
    found = parse("\n".join(["*** Begin Patch", "*** Update File: f", *lines, "*** End Patch"]))
    assert not isinstance(found, Malformed), found
    file = decode(data)
    assert not isinstance(file, NotText)
    applied = lay_on(file, found[0].pieces)
    return applied.data if isinstance(applied, Applied) else applied


def test_every_part_of_a_patch_is_read() -> None:
    found = parse(
        "*** Begin Patch\n*** Add File: a b.txt\n+one\n+\n*** Delete File: old.txt\n*** Update File: x.py\n"
        "*** Move to: y.py\n@@ class B:\n@@ def f(self):\n-        return 1\n+        return 2\n@@\n+end\n"
        "*** End of File\n*** End Patch\n"
    )
    assert not isinstance(found, Malformed)
    added, deleted, updated = found
    assert (added.deed, added.path, added.text) == (Deed.ADD, "a b.txt", "one\n\n")
    assert (deleted.deed, deleted.path) == (Deed.DELETE, "old.txt")
    assert (updated.path, updated.moved_to, len(updated.pieces), updated.pieces[1].last) == ("x.py", "y.py", 2, True)
    assert updated.pieces[0].heads == ["class B:", "def f(self):"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", "holds no file"),
        ("+one", "stands before the first file"),
        ("*** Add File: a\none", "line 3 of the patch has to begin with +"),
        ("*** Add File: \n+a", "names no file"),
        ("*** Update File: a\n*x", "has to begin with a blank, - or +"),
        ("*** Update File: a\n context", "nothing is changed in a"),
        ("*** Delete File: a\n-one", "stands under a file that is deleted"),
        ("*** Update File: a\n*** End of File", "nothing was changed"),
    ],
)
def test_what_is_no_patch_is_said_by_line(body: str, said: str) -> None:
    found = parse(f"*** Begin Patch\n{body}\n*** End Patch" if body else "*** Begin Patch\n*** End Patch")
    assert isinstance(found, Malformed)
    assert said in found.message
    assert isinstance(parse(body), Malformed)


@pytest.mark.parametrize(
    ("data", "lines", "after"),
    [
        (TEXT, ["@@ class B:", "     def f(self):", "-        return 1", "+        return 2"], TEXT[:-2] + b"2\n"),
        (b"a\r\nb\nc\r\n", [" a", "-b", "+B", "+B2", " c"], b"a\r\nB\nB2\nc\r\n"),
        (b"a\nb\nc", ["-c", "+C"], b"a\nb\nC"),
        (b"a\nb\nc", ["-c"], b"a\nb"),
        (b"a\nb\nc", ["+d"], b"a\nb\nc\nd"),
        (b"a\nb\n", ["+c"], b"a\nb\nc\n"),
        (b"", ["+c"], b"c\n"),
        (b"a\n", ["-a"], b""),
        (b"a\nb\na\n", ["-a", "+A", "*** End of File"], b"a\nb\nA\n"),
        (b"a\nx\nb\ny\n", ["-a", "+A", " x", "-b", "+B"], b"A\nx\nB\ny\n"),
        (b"one\ntwo\n", ["@@ one", "+between"], b"one\nbetween\ntwo\n"),
        (b"a\nb\nc\nd\n", ["@@", "-a", "+A", "@@", "-d", "+D"], b"A\nb\nc\nD\n"),
        (b"a\n\nb\n", [" a", "", "-b", "+B"], b"a\n\nB\n"),
        (b"\xef\xbb\xbfa\r\n", ["-a", "+b"], b"\xef\xbb\xbfb\r\n"),
    ],
)
def test_a_piece_changes_its_own_lines_and_no_other_byte(data: bytes, lines: list[str], after: bytes) -> None:
    assert laid(data, *lines) == after


@pytest.mark.parametrize(
    ("lines", "trouble"),
    [
        (["-        return 1", "+        return 2"], Trouble.AMBIGUOUS),
        (["-        return 3", "+x"], Trouble.NOT_FOUND),
        (["-  return 1", "+x"], Trouble.ONLY_NORMALISED),
        (["@@ class C:", "-        return 1", "+x"], Trouble.NOT_FOUND),
        (["@@", "-class B:", "+b", "@@", "-class A:", "+a"], Trouble.NOT_FOUND),
        (["-class A:", "+class A:"], Trouble.NO_CHANGE),
        (["-class A:", "+\ud800"], Trouble.ENCODING),
    ],
)
def test_a_place_that_is_not_certain_is_refused_by_name(lines: list[str], trouble: Trouble) -> None:
    done = laid(TEXT, *lines)
    assert isinstance(done, Problem)
    assert done.trouble is trouble


@given(
    lines=st.lists(st.text(st.characters(blacklist_characters="\r\n\0", blacklist_categories=("Cs",))), min_size=1),
    place=st.integers(min_value=0),
    new=st.lists(st.sampled_from(["x", "", "é😋"]), max_size=3),
    ends=st.booleans(),
)
def test_bytes_outside_a_piece_never_change(lines: list[str], place: int, new: list[str], *, ends: bool) -> None:
    unique = [f"{number} {line}" for number, line in enumerate(lines)]
    at = place % len(unique)
    data = "\n".join(unique) + ("\n" if ends else "")
    after = unique[:at] + new + unique[at + 1 :]
    wanted = "\n".join(after) + ("\n" if ends and after else "")
    assert laid(data.encode(), f"-{unique[at]}", *(f"+{line}" for line in new)) == wanted.encode()
