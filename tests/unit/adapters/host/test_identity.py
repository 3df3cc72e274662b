"""One file under several names counts as one (case B38)."""

import os
from pathlib import Path

import pytest

from agent_ls.adapters.host import identity
from agent_ls.adapters.host.canonical import canonical_uri, locate
from agent_ls.adapters.host.identity import as_spelled, folds, linked, twins
from agent_ls.ports.files import Place


@pytest.fixture
def root(state_dir: Path) -> Path:
    made = state_dir / "Work"
    (made / "Secret").mkdir(parents=True)
    (made / "Secret" / "Key.txt").write_text("k")
    (made / ".env").write_text("TOKEN=1")
    return made


def test_a_volume_folds_if_the_other_case_is_the_same_folder(root: Path) -> None:
    assert not folds(os.fspath(root))
    # As a volume that folds would answer.
    (root.parent / "wORK").symlink_to(root)
    identity._folds.cache_clear()
    assert folds(os.fspath(root))
    # What is still to be made will be what the folder around it is.
    assert folds(os.fspath(root / "gone" / "deeper"))


def test_a_path_counts_under_every_guarded_name_that_its_file_has(root: Path) -> None:
    os.link(root / ".env", root / "innocent")
    (root / "twin").symlink_to("Secret")
    known = (f"{root}/.env", f"{root}/Secret", f"{root}/gone")
    assert twins([f"{root}/innocent"], known) == (f"{root}/.env",)
    assert twins([f"{root}/twin/Key.txt"], known) == (f"{root}/Secret/Key.txt",)
    assert twins([f"{root}/twin/not/yet"], known) == (f"{root}/Secret/not/yet",)
    assert twins([f"{root}/.env", f"{root}/Secret/Key.txt", f"{root}/other", "/"], known) == ()


def test_where_the_volume_folds_two_spellings_are_one_path_and_one_lock_key(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spelled = f"{root}/Secret/Key.txt"
    assert as_spelled(f"{root}/SECRET/kEY.txt") == f"{root}/SECRET/kEY.txt"
    monkeypatch.setattr(identity, "folds", lambda folder: folder.startswith(os.fspath(root)))
    assert as_spelled(f"{root}/SECRET/kEY.txt") == spelled
    assert as_spelled(f"{root}/SECRET/new.txt") == f"{root}/Secret/new.txt"
    assert canonical_uri(f"{root}/secret/KEY.TXT") == canonical_uri(spelled) == Path(spelled).as_uri()
    found = locate("secret/key.txt", os.fspath(root))
    assert isinstance(found, Place)
    assert (found.path, found.uri) == (spelled, Path(spelled).as_uri())


def test_a_hard_link_into_a_guarded_folder_is_found_by_its_name_there_and_a_large_one_leaves_a_doubt(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "Secret" / "deep").mkdir()
    (root / "Secret" / "deep" / "other").write_text("o")
    os.link(root / "Secret" / "Key.txt", root / "innocent")
    os.link(root / "Secret" / "deep" / "other", root / "second")
    (root / "plain").write_text("p")
    (root / "link").symlink_to("innocent")
    folders = (f"{root}/gone", f"{root}/Secret")
    assert linked([f"{root}/innocent"], folders) == ((f"{root}/Secret/Key.txt",), None)
    assert linked([f"{root}/second", f"{root}/plain"], folders) == ((f"{root}/Secret/deep/other",), None)
    assert linked([f"{root}/plain", f"{root}/Secret", f"{root}/gone"], folders) == ((), None)
    monkeypatch.setattr(identity, "MOST_NAMES", 1)
    assert linked([f"{root}/innocent"], folders) == ((), f"{root}/Secret")
    assert linked([f"{root}/plain"], folders) == ((), None)
