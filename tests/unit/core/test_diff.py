"""A diff shows what an edit does, and its cost stays bounded."""

import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent_ls.core import diff
from agent_ls.core.edits import Applied, Edit, apply
from agent_ls.core.textfile import TextFile


def drawn(before: str, *edits: Edit) -> str:
    applied = apply(TextFile(before), edits)
    assert isinstance(applied, Applied)
    return diff.of_edit(before, applied.text, "f.txt", spans=applied.spans)


def test_an_edit_is_shown_with_three_lines_around_it() -> None:
    before = "".join(f"{n}\n" for n in range(1, 10))
    assert drawn(before, Edit("5\n", "five\n")) == (
        "--- a/f.txt\n+++ b/f.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )


def test_a_missing_final_newline_is_shown() -> None:
    assert drawn("a\nb", Edit("b", "c")).endswith(
        "-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )


def test_a_new_file_comes_from_nowhere() -> None:
    assert diff.of_rewrite("", "a\nb\n", "f", created=True) == "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n"


def test_places_far_apart_in_a_large_file_are_separate_hunks() -> None:
    before = "".join(f"line {n}\n" for n in range(100_000))
    shown = drawn(before, Edit("line 5\n", "x\n"), Edit("line 99990\n", "y\n"))
    rows = [line for line in shown.splitlines()[2:] if line[0] in "@-+"]
    assert rows == ["@@ -3,7 +3,7 @@", "-line 5", "+x", "@@ -99988,7 +99988,7 @@", "-line 99990", "+y"]


def test_a_rewrite_of_a_large_file_is_cut_and_says_so() -> None:
    before = "".join(f"a{n}\n" for n in range(100_000))
    shown = diff.of_rewrite(before, before.replace("a", "b"), "f")
    assert len(shown) < diff.LIMIT + 200
    assert shown.endswith("\\ The diff goes on; it is too long to show.\n")


_TEXT = st.text(st.sampled_from("ab\n"), max_size=40)


@given(_TEXT, _TEXT)
def test_applying_a_diff_by_hand_gives_the_new_text(before: str, after: str) -> None:
    assert _patched(before, diff.of_rewrite(before, after, "f")) == after


@given(_TEXT, st.sampled_from(["", "b", "\n", "x\ny"]))
def test_an_edits_diff_gives_the_same_as_the_edit(before: str, new: str) -> None:
    applied = apply(TextFile(before), [Edit("a", new, all=True)])
    if isinstance(applied, Applied):
        assert _patched(before, diff.of_edit(before, applied.text, "f", spans=applied.spans)) == applied.text


def test_git_takes_the_diff(tmp_path: Path) -> None:
    before = "".join(f"{n}\n" for n in range(40)) + "end"
    after = before.replace("7\n", "seven\n", 1).replace("end", "END\n")
    (tmp_path / "f").write_text(before)
    patch = diff.of_rewrite(before, after, "f").encode()
    subprocess.run(["git", "apply", "-"], input=patch, cwd=tmp_path, check=True, timeout=20)
    assert (tmp_path / "f").read_text() == after


def _patched(before: str, shown: str) -> str:
    """Reads the diff the slow and obvious way."""
    old = before.split("\n")
    lines = [line + "\n" for line in old[:-1]] + ([old[-1]] if old[-1] else [])
    out: list[str] = []
    at = 0
    body = shown.split("\n")[2:-1] if shown else []
    for index, row in enumerate(body):
        end = "" if index + 1 < len(body) and body[index + 1].startswith("\\") else "\n"
        if row.startswith("@@"):
            start, _, count = row.split()[1][1:].partition(",")
            first = int(start) - (0 if count == "0" else 1)
            out += lines[at:first]
            at = first
        elif row[:1] in {" ", "-"}:
            assert lines[at] == row[1:] + end
            out += [lines[at]] if row[0] == " " else []
            at += 1
        elif row.startswith("+"):
            out.append(row[1:] + end)
    return "".join(out + lines[at:])
