"""Text in cells, Markdown, completion, mentioned files and the history: the small parts of the chat."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ls.cli.cells import PAINT, clip, width, wrap
from agent_ls.cli.chat import complete, history, listings
from agent_ls.cli.chat.commands import COMMANDS
from agent_ls.cli.chat.content import blocks
from agent_ls.cli.chat.markdown import Markdown
from agent_ls.cli.places import path_uri
from agent_ls.cli.terminal import PLAIN, Style

WORDS = {"/mode": ("ask", "auto"), "/model": (), "/new": ()}
painted = st.lists(st.sampled_from(["a", "bc", " ", "語", "é", "\x1b[1m", "\x1b[31m", "\x1b[0m"]), max_size=40).map(
    "".join
)


def test_each_line_of_the_help_fits_in_80_columns() -> None:
    lines = [*listings.commands(COMMANDS.values(), PLAIN), *listings.keys(PLAIN)]
    assert [line for line in lines if width(line) > 79] == []


@settings(deadline=None)
@given(painted, st.integers(8, 30))
def test_wrapped_rows_fit_and_lose_nothing_but_blanks(text: str, columns: int) -> None:
    rows = wrap(text, columns)
    assert all(width(row) <= columns for row in rows)
    assert plain("".join(rows)).replace(" ", "") == plain(text).replace(" ", "")


@settings(deadline=None)
@given(painted, st.integers(1, 30))
def test_clipped_text_fits_and_ends_its_colours(text: str, columns: int) -> None:
    cut = clip(text, columns)
    assert width(cut) <= columns
    assert cut == text or not PAINT.search(text) or cut.endswith("\x1b[0m")


def test_colours_go_on_in_the_next_row() -> None:
    assert wrap("\x1b[1mone two three\x1b[0m four", 10, "  ") == [
        "\x1b[1mone two\x1b[0m", "  \x1b[1mthree\x1b[0m", "  four",
    ]  # fmt: skip


def test_markdown_is_painted_and_code_is_left_as_it_is() -> None:
    answer = Markdown(Style(colours=True))
    lines = ["# Head", "A **bold** `code`", "- item", "```py", "**x** = `y`", "```", "snake_case_name 2 * 3 * 4"]
    shown = [row for line in lines for row in answer.line(line, 79)]
    assert shown == [
        "\x1b[1;35mHead\x1b[0m",
        "A \x1b[1mbold\x1b[0m \x1b[36mcode\x1b[0m",
        "\x1b[35m•\x1b[0m item",
        "\x1b[2m│ py\x1b[0m",
        "\x1b[2m│ \x1b[0m\x1b[36m**x** = `y`\x1b[0m",
        "snake_case_name 2 * 3 * 4",
    ]


TABLE = ["| name | what it does |", "|---|:--|", "| `a\\|b` | adds one to the other and says so |", "| c | |"]


def laid_out(lines: list[str], columns: int) -> list[str]:
    answer = Markdown(PLAIN)
    return [row for line in lines for row in answer.line(line, columns)] + answer.end(columns)


def test_a_table_is_aligned_and_its_cells_wrap() -> None:
    assert laid_out([*TABLE, "", "After."], 30) == [
        "name   what it does",
        "─────  ───────────────────────",
        "`a|b`  adds one to the other",
        "       and says so",
        "c",
        "",
        "After.",
    ]


def test_what_only_looks_like_a_table_or_does_not_fit_stays_as_it_is() -> None:
    for lines in (["| a | b |", "no table"], ["|a|b|", "|-|"], [f"|{'wordword|' * 9}", f"|{'-|' * 9}"]):
        assert laid_out(lines, 85) == lines


def test_a_table_is_seen_while_it_comes() -> None:
    answer = Markdown(PLAIN)
    assert [row for line in TABLE[:2] for row in answer.line(line, 60)] == []
    shown = ["name  what it does", "────  ────────────", "| c"]
    assert (answer.preview("| c", 60), answer.preview("| c", 60)) == (shown, shown)


def test_markdown_without_colours_keeps_its_signs() -> None:
    answer = Markdown(PLAIN)
    assert [answer.line(line, 79) for line in ("# Head", "**bold**")] == [["# Head"], ["**bold**"]]


@pytest.mark.parametrize(
    ("line", "start", "text", "choices"),
    [
        ("/ne", 0, "/new ", ()),
        ("/mo", 0, "/mode", ("/mode", "/model")),
        ("/mode a", 6, "a", ("ask", "auto")),
        ("look at @ma", 9, "main.py ", ()),
        ("@", 1, "", ("main.py", "src/")),
        ("@src/", 1, "src/deep.py ", ()),
        ("@deep", 1, "src/deep.py ", ()),
    ],
)
def test_tab_completes(tmp_path: Path, line: str, start: int, text: str, choices: tuple[str, ...]) -> None:
    (tmp_path / "src").mkdir()
    for name in ("main.py", ".hidden", "src/deep.py"):
        (tmp_path / name).write_text("")
    done = complete.complete(line, WORDS, lambda begin: complete.files(begin, str(tmp_path)))
    assert done == complete.Completed(start, text, choices)


@pytest.mark.parametrize("line", ["/zzz", "plain", "mail@example.org", "@nowhere", "/mode\n"])
def test_tab_leaves_alone_what_it_does_not_know(tmp_path: Path, line: str) -> None:
    assert complete.complete(line, WORDS, lambda begin: complete.files(begin, str(tmp_path))) is None


def test_mentioned_files_go_along(tmp_path: Path) -> None:
    inside, outside = tmp_path / "w", tmp_path / "out.txt"
    inside.mkdir()
    (inside / "a.py").write_text("a")
    (inside / "p.png").write_bytes(b"png")
    (inside / "link.py").symlink_to(outside)
    outside.write_text("out")
    text = f'see @a.py, "@a.py" @p.png @none @{outside} @link.py me@a.py'
    content, trouble = blocks(text, str(inside))
    assert (content, trouble) == (
        [
            {"type": "text", "text": text},
            {"type": "file", "uri": path_uri(str(inside / "a.py"))},
            {"type": "image", "mimeType": "image/png", "data": "cG5n"},
            {"type": "text", "text": f"{outside}:\n\nout"},
            {"type": "text", "text": f"{inside / 'link.py'}:\n\nout"},
        ],
        [],
    )


def test_what_cannot_be_attached_is_said(tmp_path: Path) -> None:
    inside = tmp_path / "w"
    inside.mkdir()
    (tmp_path / "raw").write_bytes(b"\xff\xfe")
    content, trouble = blocks("@../raw", str(inside))
    assert (len(content), trouble) == (1, ["@../raw is not attached: it is not text."])


def test_the_history_is_private_and_keeps_lines(private: Path) -> None:
    for text in ("one", "two\nlines", "   "):
        history.add(text)
    path = Path(os.environ["AGENT_LS_STATE_DIR"]) / "chat-history"
    assert (history.load(), stat.S_IMODE(path.stat().st_mode)) == (["one", "two\nlines"], 0o600)


def test_a_broken_history_is_no_trouble(private: Path) -> None:
    path = Path(os.environ["AGENT_LS_STATE_DIR"]) / "chat-history"
    path.write_text('"kept"\n{nonsense\n42\n')
    assert history.load() == ["kept"]


def plain(text: str) -> str:
    return PAINT.sub("", text)
