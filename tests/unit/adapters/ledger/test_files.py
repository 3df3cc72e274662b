"""The files around a SQLite ledger."""

from pathlib import Path

import pytest

from agent_ls.adapters.ledger.files import Reserve, file_system_of, refuse_network
from agent_ls.core.errors import Code
from agent_ls.ports.ledger import LedgerError

MOUNTS = """\
21 1 0:20 / / rw,relatime shared:1 - ext4 /dev/vda rw
22 21 0:21 / /net rw - nfs4 server:/x rw
23 21 0:22 / /net/local rw - tmpfs tmpfs rw
24 21 0:23 / /my\\040disk rw - fuse.sshfs me@there: rw
"""


@pytest.fixture
def mounts(state_dir: Path) -> Path:
    file = state_dir / "mountinfo"
    file.write_text(MOUNTS)
    return file


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("/var/x/ledger.db", "ext4"),
        ("/net/ledger.db", "nfs4"),
        ("/net/local/deep/ledger.db", "tmpfs"),
        ("/network/ledger.db", "ext4"),
        ("/my disk/ledger.db", "fuse.sshfs"),
    ],
)
def test_the_innermost_mount_tells_the_file_system(mounts: Path, place: str, kind: str) -> None:
    assert file_system_of(Path(place), mounts) == kind


def test_a_network_file_system_is_refused_with_the_way_out(mounts: Path) -> None:
    refuse_network(Path("/net/local/ledger.db"), mounts)
    refuse_network(Path("/net/ledger.db"), mounts.with_name("missing"))
    with pytest.raises(LedgerError) as refused:
        refuse_network(Path("/net/ledger.db"), mounts)
    assert refused.value.refusal.code is Code.LEDGER_UNAVAILABLE
    assert "AGENT_LS_STATE_DIR" in refused.value.refusal.hint


def test_the_reserve_holds_real_space_and_gives_it_up(state_dir: Path) -> None:
    reserve = Reserve(state_dir / "reserve", 5000)
    assert reserve.take()
    assert (state_dir / "reserve").stat().st_blocks * 512 >= 5000
    reserve.release()
    reserve.release()
    assert not reserve.held


def test_a_reserve_that_does_not_fit_leaves_nothing_behind(state_dir: Path) -> None:
    reserve = Reserve(state_dir / "no such folder" / "reserve")
    assert not reserve.take()
    assert not reserve.held
