"""Agents of the person's own, as their files say it."""

import pytest

from agent_ls.core.agents import LONGEST, Agent, parse

FILE = """\
---
name: reviewer
description: Reads a change
  and says what is wrong.
tools:
  - read
  - grep
model: "small-1"
color: blue
---

You review changes.
"""


def test_front_matter_and_words_make_an_agent() -> None:
    assert parse(FILE, "/a/x.md") == Agent(
        name="reviewer",
        description="Reads a change and says what is wrong.",
        body="You review changes.",
        path="/a/x.md",
        tools=("read", "grep"),
        model="small-1",
    )


@pytest.mark.parametrize("tools", ["read, grep", "[read, grep]", '["read", "grep"]', "read grep"])
def test_a_list_of_tools_may_be_written_in_any_usual_way(tools: str) -> None:
    found = parse(f"---\ndescription: x\ntools: {tools}\n---\n", "/a/local.md")
    assert isinstance(found, Agent)
    assert (found.name, found.tools, found.body) == ("local", ("read", "grep"), "")


def test_no_tools_named_are_none_taken_and_an_empty_list_takes_all() -> None:
    named = parse("---\ndescription: x\ntools: []\n---\n", "/a/x.md")
    none = parse("---\ndescription: x\n---\n", "/a/x.md")
    assert isinstance(named, Agent)
    assert isinstance(none, Agent)
    assert (named.tools, none.tools) == ((), None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no front matter", "it has to begin with `---`"),
        ("---\nname: x\n", "it has to begin with `---`"),
        ("---\nname: x\n---\nbody", "its `description` is missing"),
        ("---\nname: ../x\ndescription: x\n---\n", "its `name` has to be made of"),
        (f"---\ndescription: x\n---\n{'y' * (LONGEST + 1)}", "it is longer than"),
    ],
)
def test_what_is_no_agent_is_said(text: str, said: str) -> None:
    found = parse(text, "/a/x.md")
    assert isinstance(found, str)
    assert said in found
