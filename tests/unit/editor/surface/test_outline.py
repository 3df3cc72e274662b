"""What is read back from a Markdown document: headings, calls, folds, links; and nothing out of a fenced block."""

from agent_ls.core.mentions import Mention, mentions, order_in
from agent_ls.editor.surface.outline import STEP, Link, Part, folds, linking, links, outline, outlining

TRANSCRIPT = """# Title

## Run 1 · Go

> Go
▸ **read** [a.py](<file:///w/a.py>) — ok
````
## Run 9
```
[x](<file:///w/x>)
````

Well.

▸ **shell** `ls`
## Run 2
"""


def test_a_transcript_has_runs_and_calls_and_a_block_ends_only_by_its_own_mark() -> None:
    lines = TRANSCRIPT.split("\n")
    read = Part("read a.py — ok", 7, 5, 10)
    shell = Part("shell ls", 7, 14, 14)
    first, second = Part("Run 1 · Go", 2, 2, 14, [read, shell]), Part("Run 2", 2, 15, 15)
    parts = outline(lines, runs=True)
    assert parts == [Part("Title", 1, 0, 15, [first, second])]
    assert list(folds(parts)) == [(0, 15), (2, 14), (5, 10)]
    assert links(lines) == [Link(5, 11, 35, "file:///w/a.py")]


def test_a_prompt_has_the_headings_that_it_has() -> None:
    assert outline(["## One", "text", "# Two"], runs=False) == [Part("One", 2, 0, 1), Part("Two", 1, 2, 2)]


def test_mentions_are_read_as_they_are_written() -> None:
    text = 'See @a.py:3-9, @"b c.py":4 and @d/e.py. Not me@home.org, `@x`, @ alone; @a.py:3-9 again.'
    found = [Mention("a.py", 3, 9), Mention("b c.py", 4), Mention("d/e.py")]
    assert mentions(text) == found
    assert [str(each) for each in found] == ["@a.py:3-9", '@"b c.py":4', "@d/e.py"]
    assert found[0].range == {"start": {"line": 2, "character": 0}, "end": {"line": 9, "character": 0}}
    assert (found[2].range, Mention("a", 9, 3).range) == (None, found[0].range)


def test_only_a_known_word_at_the_beginning_is_an_order() -> None:
    known = frozenset({"stop", "queue"})
    assert order_in("/queue  do this\nand that", known) == ("queue", "do this\nand that")
    assert order_in("/stop", known) == ("stop", "")
    for text in ("/usr/bin is full", "/unknown", "please /stop", "/stopped"):
        assert order_in(text, known) is None, text


def test_a_long_document_is_read_in_steps_and_comes_to_the_same() -> None:
    lines = TRANSCRIPT.replace("# Title\n", "").split("\n") * 100
    top: list[Part] = []
    there: list[Link] = []
    assert len(list(outlining(lines, top, runs=True))) == len(list(linking(lines, there))) == len(lines) // STEP
    assert (top, there) == (outline(lines, runs=True), links(lines))
    assert (len(top), len(there)) == (200, 100)
