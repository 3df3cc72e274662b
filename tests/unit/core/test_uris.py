"""Editors spell one file in many ways; it has one key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ls.core.uris import NotLocal, file_uri, is_within, key_without_disk, local_path, scheme_of


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b.py", "/a/b.py"),
        ("file://localhost/a/b.py", "/a/b.py"),
        ("FILE:///a", "/a"),
        ("file:/a", "/a"),
        ("file:///a%20b/%C3%A4", "/a b/ä"),
        ("file:///100%2525", "/100%25"),
        ("file:///C%3A/x", "c:/x"),
        ("file:///c:/x", "c:/x"),
        ("file:///bad%FF", "/bad\udcff"),
    ],
)
def test_a_file_uri_names_a_path(uri: str, path: str) -> None:
    assert local_path(uri) == path


@pytest.mark.parametrize(
    "uri",
    [
        "untitled:Untitled-1",
        "vscode-remote://ssh-remote+box/a/b.py",
        "vscode-notebook-cell:/a/b.ipynb#W0",
        "file://server/share/x",
        "file:///a%2Fb",
        "file:///a%00b",
        "https://example.com/x",
    ],
)
def test_what_is_no_local_file_says_so_and_is_keyed_whole(uri: str) -> None:
    found = local_path(uri)
    assert isinstance(found, NotLocal)
    assert uri in found.message
    assert key_without_disk(uri) == uri


@pytest.mark.parametrize("uri", ["untitled:U-1", "vscode-notebook-cell:/w/n.ipynb#W2s", "git:/w/x?{}", "file:/a"])
def test_what_editors_write_with_one_slash_or_none_is_a_uri(uri: str) -> None:
    assert scheme_of(uri) == uri.partition(":")[0]


@pytest.mark.parametrize("path", ["a:b", "notes: today.md", "/x/https:y", "C:\\x", "src/a.py", "a::b"])
def test_a_path_with_a_colon_is_a_path(path: str) -> None:
    assert scheme_of(path) is None


@pytest.mark.parametrize(
    "spelling",
    ["file:///a/./x/../b%20c", "file://localhost/a//b c", "file:///%61/b%20c", "file:/a/b%20c", "file:///../a/b%20c"],
)
def test_spellings_of_one_file_share_a_key(spelling: str) -> None:
    assert key_without_disk(spelling) == "file:///a/b%20c"


def test_drive_letters_fold() -> None:
    assert key_without_disk("file:///C%3A/Src/x") == key_without_disk("file:///c:/Src/x") == "file:///c:/Src/x"


def test_a_folder_covers_what_is_beneath_it_and_no_neighbour() -> None:
    folder = "file:///a/b"
    covered = [is_within(key, folder) for key in (folder, "file:///a/b/c", "file:///a/bc", "file:///a")]
    assert covered == [True, True, False, False]
    assert is_within("file:///x", "file:///")


_NAME = st.binary(min_size=1, max_size=8).filter(lambda name: b"/" not in name and b"\0" not in name)


@given(st.lists(_NAME, min_size=1, max_size=4))
def test_every_path_survives_its_uri(names: list[bytes]) -> None:
    path = (b"/" + b"/".join(names)).decode("utf-8", "surrogateescape")
    if not path.startswith("//"):
        found = local_path(file_uri(path))
        assert found == path or path[2:3] == ":"
