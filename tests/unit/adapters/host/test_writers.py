"""Who writes to a file: told by a lease, where leases can be trusted."""

import os
import sys
from pathlib import Path

import pytest

from agent_ls.adapters.host import writers

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has leases")


@pytest.fixture
def file(state_dir: Path) -> Path:
    path = state_dir / "f"
    path.write_bytes(b"text\n")
    return path


def mounted(file: Path, kind: str) -> str:
    number = file.stat().st_dev
    table = file.parent / "mountinfo"
    device = f"{os.major(number)}:{os.minor(number)}"
    table.write_text(f"1 0 0:1 / /proc rw - proc proc rw\n2 1 {device} / / rw shared:1 - {kind} disk rw\n")
    return str(table)


def present(file: Path) -> bool | None:
    handle = os.open(file, os.O_RDONLY)
    try:
        return writers.present(handle)
    finally:
        os.close(handle)


def test_who_only_reads_is_no_writer_and_who_writes_is_one_until_it_closes(file: Path) -> None:
    with file.open("rb"):
        assert present(file) is False
    with file.open("ab"):
        assert present(file) is True
    assert present(file) is False


@pytest.mark.parametrize(("kind", "told"), [("ext4", True), ("nfs4", None), ("fuse.sshfs", None)])
def test_on_a_network_file_system_a_lease_that_is_not_granted_says_nothing(
    kind: str, file: Path, monkeypatch: pytest.MonkeyPatch, *, told: bool | None
) -> None:
    monkeypatch.setattr(writers, "_MOUNTS", mounted(file, kind))
    with file.open("ab"):
        assert present(file) is told


def test_where_the_mounts_cannot_be_read_nobody_can_tell(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "_MOUNTS", str(file.parent / "nothing"))
    with file.open("ab"):
        assert present(file) is None
