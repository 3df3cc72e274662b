"""What a server of tools writes is cut into lines however it comes, and never held without an end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.adapters.mcp import pipes
from agent_ls.adapters.mcp.pipes import Lines, TooLong


@given(st.lists(st.binary(max_size=8).map(lambda part: part.replace(b"\n", b"")), max_size=6), st.data())
def test_lines_are_the_same_however_their_bytes_come(lines: list[bytes], data: st.DataObject) -> None:
    sent = b"".join(line + b"\n" for line in lines) + b"rest"
    held, found, place = Lines(), list[bytes](), 0
    while place < len(sent):
        size = data.draw(st.integers(1, len(sent)))
        found += held.feed(sent[place : place + size])
        place += size
    assert found == lines


def test_a_line_without_an_end_is_refused_before_it_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipes, "LONGEST_LINE", 10)
    lines = Lines()
    assert list(lines.feed(b"0123456789")) == []
    assert list(lines.feed(b"\n0123456789")) == [b"0123456789"]
    with pytest.raises(TooLong):
        list(lines.feed(b"x"))
