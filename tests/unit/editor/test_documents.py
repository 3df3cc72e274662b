"""Overlays: one for each window and URI, whatever order and shape the messages come in."""

import logging
from pathlib import Path
from typing import Any

import pytest

from agent_ls.adapters.host import canonical
from agent_ls.core.text import UTF_8, UTF_16, UTF_32
from agent_ls.editor.documents import Documents, agreed_encoding
from tests.unit.editor.open_desk import LocalWindow

URI = "file:///w/a.py"
NOT_FILES = [
    "untitled:Untitled-1",
    "vscode-notebook-cell:/w/n.ipynb#W2s",
    "vscode-remote://ssh-remote%2Bh/w/x",
    "git:/w/x?{}",
    "file://server/share/x",
    "",
]


@pytest.fixture
def documents() -> Documents:
    return Documents(canonical.key_of)


def window(documents: Documents, client: str = "vim", encoding: str = UTF_16) -> LocalWindow:
    return LocalWindow(documents, client, encoding=encoding, saves=True, late=False)


def opened(text: str, uri: str = URI, version: int = 1) -> dict[str, Any]:
    return {"textDocument": {"uri": uri, "languageId": "x", "version": version, "text": text}}


def changed(version: int | None, text: str, column: int | None = 0, *, uri: str = URI) -> dict[str, Any]:
    """`text` typed on the first line; the whole text when there is no column."""
    at = {"line": 0, "character": column}
    change = {"text": text} if column is None else {"range": {"start": at, "end": at}, "text": text}
    return {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]}


def held(documents: Documents, of: LocalWindow, uri: str = URI) -> tuple[str, int | None, bool, bool] | None:
    """(text, version, dirty, lost)."""
    overlay = documents.of(of, uri)
    return None if overlay is None else (str(overlay.text), overlay.version, overlay.dirty, overlay.lost)


def test_each_window_has_its_own_text_and_a_dead_one_leaves_nothing(documents: Documents) -> None:
    one, two = window(documents), window(documents)
    documents.open(one, opened("a"))
    documents.open(two, opened("b", version=7))
    documents.change(two, changed(8, "2"))
    documents.change(one, changed(2, "1"))
    documents.close(one, {"textDocument": {"uri": URI}})
    documents.change(two, changed(9, "3"))
    assert (held(documents, one), held(documents, two)) == (None, ("32b", 9, True, False))
    documents.sent("c1", two)
    two.leave()
    assert (documents.everything(), documents.at(URI), documents.sender("c1")) == ((), [], None)


def test_a_change_before_the_opening_is_logged_and_a_fresh_opening_counts(
    documents: Documents, caplog: pytest.LogCaptureFixture
) -> None:
    one = window(documents)
    assert documents.change(one, changed(2, "x")) is None
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "didChange for a document that is not open" in caplog.text
    documents.open(one, opened("a"))
    assert held(documents, one) == ("a", 1, False, False)


@pytest.mark.parametrize("version", [3, 2], ids=["repeated", "gone back"])
def test_a_version_that_does_not_go_up_loses_the_text_until_it_comes_whole(
    documents: Documents, caplog: pytest.LogCaptureFixture, version: int
) -> None:
    one = window(documents)
    documents.open(one, opened("a", version=3))
    documents.change(one, changed(version, "x"))
    documents.change(one, changed(4, "y"))
    assert held(documents, one) == ("a", 3, True, True)
    assert "its whole text is awaited" in caplog.text
    documents.change(one, changed(5, "whole", column=None))
    documents.change(one, changed(6, "the "))
    assert held(documents, one) == ("the whole", 6, True, False)


def test_the_text_of_a_save_mends_a_copy_that_drifted(documents: Documents, caplog: pytest.LogCaptureFixture) -> None:
    one = window(documents)
    documents.open(one, opened("a", version=3))
    documents.change(one, changed(3, "x"))
    documents.save(one, {"textDocument": {"uri": URI}, "text": "as saved"})
    assert held(documents, one) == ("as saved", 3, False, False)
    assert "the text counts" in caplog.text


def test_opening_and_closing_twice_are_logged_and_harm_nothing(
    documents: Documents, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = window(documents), window(documents)
    documents.open(two, opened("theirs"))
    documents.open(one, opened("a"))
    documents.open(one, opened("b", version=2))
    assert (held(documents, one), len(documents.at(URI))) == (("b", 2, False, False), 2)
    for _ in range(2):
        documents.close(one, {"textDocument": {"uri": URI}})
    assert len(caplog.records) == 2
    assert held(documents, two) == ("theirs", 1, False, False)


def test_dirty_is_changed_since_it_was_opened_or_saved(documents: Documents) -> None:
    one = window(documents)
    overlay = documents.open(one, opened("a"))
    assert overlay is not None
    seen = [overlay.dirty]
    documents.change(one, changed(2, "x"))
    seen.append(overlay.dirty)
    documents.save(one, {"textDocument": {"uri": URI}})
    seen.append(overlay.dirty)
    assert seen == [False, True, False]


@pytest.mark.parametrize("uri", NOT_FILES)
def test_what_is_no_local_file_is_kept_as_text_by_its_whole_uri(documents: Documents, uri: str) -> None:
    one = window(documents)
    overlay = documents.open(one, opened("a", uri))
    documents.change(one, changed(2, "x", uri=uri))
    assert overlay is not None
    assert (overlay.key, held(documents, one, uri)) == (uri, ("xa", 2, True, False))
    documents.save(one, {"textDocument": {"uri": uri}})
    documents.close(one, {"textDocument": {"uri": uri}})
    assert documents.everything() == ()


def test_spellings_of_one_file_share_the_key_that_locks_have(documents: Documents, state_dir: Path) -> None:
    real = state_dir / "a b.py"
    real.write_text("")
    (state_dir / "link").symlink_to(real)
    (state_dir / "x").mkdir()
    folder = state_dir.as_uri()
    spellings = [f"{folder}/a%20b.py", f"{folder}/x/../a%20b.py", f"{folder}/link", f"{folder}/a%20%62.py"]
    spellings.append(spellings[0].replace("file:///", "file://localhost/"))
    one = window(documents)
    keys = set()
    for uri in spellings:
        overlay = documents.open(one, opened("a", uri))
        assert overlay is not None
        keys.add(overlay.key)
    assert keys == {canonical.canonical_uri(str(real))}


@pytest.mark.parametrize(
    "params", [{}, {"textDocument": None}, {"textDocument": {"uri": 3}}, {"textDocument": {"uri": URI, "text": 1}}]
)
def test_nonsense_raises_nothing(documents: Documents, params: dict[str, Any]) -> None:
    one = window(documents)
    documents.open(one, opened("a"))
    for message in (documents.open, documents.change, documents.save, documents.close):
        message(one, params)
    assert len(documents.everything()) <= 1


@pytest.mark.parametrize(
    ("offered", "agreed"),
    [
        ([UTF_8, UTF_16, UTF_32], UTF_8),
        ([UTF_8, UTF_32, UTF_16], UTF_8),
        ([UTF_32, UTF_8, UTF_16], UTF_32),
        ([UTF_16], UTF_16),
        (["utf-7", UTF_32], UTF_32),
        ([], UTF_16),
        (None, UTF_16),
        ("utf-8", UTF_16),
    ],
)
def test_the_first_encoding_of_the_client_that_is_known_is_taken(offered: Any, agreed: str) -> None:
    assert agreed_encoding({"capabilities": {"general": {"positionEncodings": offered}}}) == agreed


def test_files_are_touched_by_changes_and_saves_and_not_by_a_window_that_goes(documents: Documents) -> None:
    touched: list[str] = []
    documents.touched = touched.append
    one, two = window(documents), window(documents)
    documents.open(one, opened("a"))
    documents.open(two, opened("a"))
    documents.change(one, changed(2, "1"))
    documents.save(one, {"textDocument": {"uri": URI}})
    documents.close(one, {"textDocument": {"uri": URI}})
    documents.change(two, changed(2, "2"))
    documents.leave(two)
    assert touched == [URI] * 3
