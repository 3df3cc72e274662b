"""Files on disk: refused by type, replaced without losing a link, a right or somebody else's text."""

import os
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from agent_ls.adapters.host import swap
from agent_ls.adapters.host.atomic import Renames, beside_name
from agent_ls.adapters.host.canonical import canonical_uri
from agent_ls.adapters.host.files import DiskFiles
from agent_ls.core.textfile import sha256
from agent_ls.ports.files import ABSENT, Content, Place, Reason, Refused, Replaced

pytestmark = pytest.mark.anyio

OLD, NEW = b"old\n", b"new\n"


async def located(path: Path | str, root: Path) -> Place:
    place = await DiskFiles().locate(str(path), str(root))
    assert isinstance(place, Place), place
    return place


async def replaced(path: Path, expected: bytes | None = OLD, files: DiskFiles | None = None) -> Replaced | Refused:
    digest = ABSENT if expected is None else sha256(expected)
    return await (files or DiskFiles()).replace(os.path.realpath(path), NEW, expected=digest, token="t")


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


async def test_a_file_is_swapped_with_mode_and_nothing_left_beside_it(state_dir: Path) -> None:
    file = state_dir / "run.sh"
    file.write_bytes(OLD)
    file.chmod(0o755)
    before = file.stat().st_ino
    assert await replaced(file) == Replaced(digest=sha256(NEW))
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (NEW, 0o755)
    assert file.stat().st_ino != before
    assert names(state_dir) == ["run.sh"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
async def test_the_owner_stays(state_dir: Path) -> None:
    file = state_dir / "f"
    file.write_bytes(OLD)
    os.chown(file, 1234, 2345)
    file.chmod(0o4711)
    assert await replaced(file) == Replaced(digest=sha256(NEW))
    found = file.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 2345, 0o4711)


async def test_an_extended_attribute_stays(state_dir: Path) -> None:
    file = state_dir / "f"
    file.write_bytes(OLD)
    try:
        os.setxattr(file, "user.note", b"mine")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    assert await replaced(file) == Replaced(digest=sha256(NEW))
    assert os.getxattr(file, "user.note") == b"mine"


async def test_a_hard_link_is_kept_by_writing_in_place(state_dir: Path) -> None:
    file, other = state_dir / "a", state_dir / "b"
    file.write_bytes(b"old and longer\n")
    os.link(file, other)
    done = await replaced(file, b"old and longer\n")
    assert done == Replaced(digest=sha256(NEW), in_place="it has other hard links, which still share its content")
    assert (other.read_bytes(), other.stat().st_nlink) == (NEW, 2)


async def test_a_chain_of_links_is_followed_and_stays(state_dir: Path) -> None:
    (state_dir / "real").mkdir()
    (state_dir / "links").mkdir()
    target = state_dir / "real" / "run.sh"
    target.write_bytes(OLD)
    (state_dir / "way").symlink_to("links")
    (state_dir / "links" / "one").symlink_to("../real/run.sh")
    (state_dir / "links" / "two").symlink_to("one")
    place = await located(state_dir / "way" / "two", state_dir)
    real = os.path.realpath(state_dir)
    assert place == Place(
        path=f"{real}/real/run.sh", uri=f"file://{real}/real/run.sh", asked=f"{real}/links/two", exists=True
    )
    assert place.paths == (f"{real}/links/two", f"{real}/real/run.sh")
    await replaced(Path(place.path))
    assert target.read_bytes() == NEW
    assert os.readlink(state_dir / "links" / "two") == "one"
    assert os.readlink(state_dir / "links" / "one") == "../real/run.sh"


async def test_a_dangling_link_gets_its_target(state_dir: Path) -> None:
    (state_dir / "link").symlink_to("made/later.txt")
    place = await located("link", state_dir)
    assert not place.exists
    assert await replaced(Path(place.path), None) == Replaced(digest=sha256(NEW))
    assert (state_dir / "link").is_symlink()
    assert (state_dir / "made" / "later.txt").read_bytes() == NEW
    assert names(state_dir / "made") == ["later.txt"]


async def test_a_new_file_has_the_mode_that_the_umask_leaves(state_dir: Path) -> None:
    await replaced(state_dir / "a" / "b" / "new", None)
    plain = state_dir / "plain"
    plain.touch()
    made = state_dir / "a" / "b" / "new"
    assert stat.S_IMODE(made.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


async def test_a_new_file_never_replaces_one_that_came_first(state_dir: Path) -> None:
    file = state_dir / "f"

    def first(folder: int, source: str, target: str) -> None:
        file.write_bytes(b"theirs")
        swap.rename_new(folder, source, target)

    done = await replaced(file, None, DiskFiles(Renames(rename_new=first)))
    assert isinstance(done, Refused)
    assert done.reason is Reason.STALE
    assert (file.read_bytes(), names(state_dir)) == (b"theirs", ["f"])


def _unsupported(folder: int, left: str, right: str) -> None:
    raise swap.Unsupported


async def test_without_renameat2_the_same_holds(state_dir: Path) -> None:
    plain = DiskFiles(Renames(exchange=_unsupported, rename_new=_unsupported))
    file = state_dir / "f"
    assert await replaced(file, None, plain) == Replaced(digest=sha256(NEW))
    stale = await replaced(file, OLD, plain)
    assert isinstance(stale, Refused)
    assert await replaced(file, NEW, plain) == Replaced(digest=sha256(NEW))
    existing = await replaced(file, None, plain)
    assert isinstance(existing, Refused)
    assert (file.read_bytes(), names(state_dir)) == (NEW, ["f"])


async def test_text_written_between_the_look_and_the_swap_is_put_back(state_dir: Path) -> None:
    file = state_dir / "f"
    file.write_bytes(OLD)
    calls: list[str] = []

    def interrupted(folder: int, left: str, right: str) -> None:
        if not calls:
            (state_dir / "theirs").write_bytes(b"theirs")
            os.replace(state_dir / "theirs", file)
        calls.append(right)
        swap.exchange(folder, left, right)

    done = await replaced(file, files=DiskFiles(Renames(exchange=interrupted)))
    assert isinstance(done, Refused)
    assert done.reason is Reason.STALE
    assert len(calls) == 2
    assert (file.read_bytes(), names(state_dir)) == (b"theirs", ["f"])


needs_leases = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says who writes to a file")


async def changed(how: str, file: Path, files: DiskFiles) -> Replaced | Refused:
    if how == "replaced":
        return await replaced(file, files=files)
    return await files.remove(os.path.realpath(file), expected=sha256(OLD), token="t")


@needs_leases
@pytest.mark.parametrize("how", ["replaced", "removed"])
async def test_what_a_program_writes_to_the_file_that_it_opened_before_the_swap_is_kept(
    how: str, state_dir: Path
) -> None:
    file = state_dir / "f"
    file.write_bytes(OLD)
    theirs = file.open("ab")

    def writes_and_closes() -> None:
        if not theirs.closed:
            theirs.write(b"theirs\n")
            theirs.close()

    with theirs:
        done = await changed(how, file, DiskFiles(Renames(pause=writes_and_closes)))
    assert isinstance(done, Refused)
    assert (done.reason, file.read_bytes(), names(state_dir)) == (Reason.STALE, OLD + b"theirs\n", ["f"])


@needs_leases
@pytest.mark.parametrize("how", ["replaced", "removed"])
async def test_a_file_that_a_program_keeps_open_for_writing_is_left_to_it(how: str, state_dir: Path) -> None:
    file = state_dir / "f"
    file.write_bytes(OLD)
    with file.open("ab") as theirs:
        done = await changed(how, file, DiskFiles(Renames(pause=lambda: None)))
        theirs.write(b"theirs\n")
    assert isinstance(done, Refused)
    assert "another program has" in done.message
    assert (done.reason, file.read_bytes(), names(state_dir)) == (Reason.STALE, OLD + b"theirs\n", ["f"])


@needs_leases
@pytest.mark.parametrize("how", ["replaced", "removed"])
async def test_a_program_that_opened_it_and_closes_it_unwritten_only_delays(how: str, state_dir: Path) -> None:
    file = state_dir / "f"
    file.write_bytes(OLD)
    with file.open("ab") as theirs, file.open("rb"):
        done = await changed(how, file, DiskFiles(Renames(pause=theirs.close)))
    assert isinstance(done, Replaced)


async def test_a_file_that_holds_something_else_is_left_alone(state_dir: Path) -> None:
    file = state_dir / "f"
    file.write_bytes(b"theirs")
    done = await replaced(file)
    assert isinstance(done, Refused)
    assert (done.reason, file.read_bytes(), names(state_dir)) == (Reason.STALE, b"theirs", ["f"])


async def test_a_link_planted_on_the_way_is_not_followed(state_dir: Path) -> None:
    (state_dir / "in").mkdir()
    (state_dir / "out").mkdir()
    (state_dir / "out" / "f").write_bytes(OLD)
    path = Path(os.path.realpath(state_dir)) / "in" / "f"
    path.parent.rmdir()
    path.parent.symlink_to("out")
    done = await DiskFiles().replace(str(path), NEW, expected=sha256(OLD), token="t")
    assert isinstance(done, Refused)
    assert done.reason is Reason.STALE
    assert (state_dir / "out" / "f").read_bytes() == OLD


async def test_folders_are_made_without_following_a_link_that_was_planted_meanwhile(state_dir: Path) -> None:
    (state_dir / "out").mkdir()
    root = Path(os.path.realpath(state_dir))
    assert isinstance(await replaced(root / "a" / "b" / "f", None), Replaced)
    assert (root / "a" / "b" / "f").read_bytes() == NEW
    (root / "in").symlink_to("out")
    done = await DiskFiles().replace(str(root / "in" / "new" / "f"), NEW, expected=ABSENT, token="t")
    assert isinstance(done, Refused)
    assert (done.reason, names(state_dir / "out")) == (Reason.STALE, [])


async def test_a_file_is_removed_if_it_holds_what_was_expected_and_nobodys_text_goes(state_dir: Path) -> None:
    file = Path(os.path.realpath(state_dir)) / "f"
    file.write_bytes(OLD)
    refused = await DiskFiles().remove(str(file), expected=sha256(NEW), token="t")
    assert isinstance(refused, Refused)
    assert (refused.reason, file.read_bytes()) == (Reason.STALE, OLD)

    def written_meanwhile(folder: int, source: str, target: str) -> None:
        if source == "f":
            file.write_bytes(b"mine\n")
        swap.rename_new(folder, source, target)

    late = DiskFiles(Renames(rename_new=written_meanwhile))
    kept = await late.remove(str(file), expected=sha256(OLD), token="t")
    assert isinstance(kept, Refused)
    assert (kept.reason, file.read_bytes(), names(state_dir)) == (Reason.STALE, b"mine\n", ["f"])
    assert await DiskFiles().remove(str(file), expected=sha256(b"mine\n"), token="t") == Replaced(digest=ABSENT)
    assert names(state_dir) == []


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 * 1024**3)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_pipe, Reason.NOT_A_FILE),
        (_socket, Reason.NOT_A_FILE),
        (_device, Reason.NOT_A_FILE),
        (Path.mkdir, Reason.NOT_A_FILE),
        (_sparse, Reason.TOO_LARGE),
    ],
)
async def test_what_could_hold_us_up_is_refused_at_once(
    state_dir: Path, make: Callable[[Path], None], reason: Reason
) -> None:
    make(state_dir / "p")
    with anyio.fail_after(2):
        place = await located("p", state_dir)
        done = await DiskFiles().read(place.path, 1024)
    assert isinstance(done, Refused)
    assert done.reason is reason


async def test_a_loop_of_links_is_said_to_be_one(state_dir: Path) -> None:
    (state_dir / "a").symlink_to("b")
    (state_dir / "b").symlink_to("a")
    done = await DiskFiles().locate("a", str(state_dir))
    assert isinstance(done, Refused)
    assert "loop" in done.message


async def test_a_name_with_its_accents_in_another_form_is_found(state_dir: Path) -> None:
    (state_dir / "cafe\u0301.txt").write_bytes(OLD)
    place = await located("caf\u00e9.txt", state_dir)
    assert place.exists
    assert place.path.endswith("cafe\u0301.txt")
    assert place.note is not None


async def test_spellings_of_one_file_have_one_key(state_dir: Path) -> None:
    real = os.path.realpath(state_dir)
    (state_dir / "sub").mkdir()
    (state_dir / "here").symlink_to("sub")
    (state_dir / "sub" / "f").touch()
    spellings = ["sub/f", "./here/../sub/f", "here/f", f"file://localhost{real}/here/f", f"{real}//sub/./f"]
    keys = [(await located(spelling, state_dir)).uri for spelling in spellings]
    assert keys == [f"file://{real}/sub/f"] * len(spellings)
    assert canonical_uri(f"{state_dir}/here/new") == f"file://{real}/sub/new"


async def test_what_is_no_local_file_is_said_so(state_dir: Path) -> None:
    done = await DiskFiles().locate("untitled:Untitled-1", str(state_dir))
    assert isinstance(done, Refused)
    assert (done.reason, "not a local file" in done.message) == (Reason.NOT_LOCAL, True)


@pytest.mark.parametrize(
    ("on_disk", "beside", "after_reclaim"),
    [
        (OLD, b"ne", OLD),
        (NEW, OLD, NEW),
        (NEW, b"theirs", b"theirs"),
        (b"theirs", OLD, b"theirs"),
        (NEW, None, NEW),
    ],
)
async def test_after_a_crash_nothing_is_left_beside_and_nobodys_text_is_lost(
    state_dir: Path, on_disk: bytes, beside: bytes | None, after_reclaim: bytes
) -> None:
    file = state_dir / "f"
    file.write_bytes(on_disk)
    if beside is not None:
        (state_dir / beside_name("t")).write_bytes(beside)
    path = os.path.realpath(file)
    found = await DiskFiles().reclaim(path, before=sha256(OLD), after=sha256(NEW), token="t")
    assert (found, file.read_bytes(), names(state_dir)) == (sha256(after_reclaim), after_reclaim, ["f"])


async def test_a_file_grown_past_the_limit_and_a_whole_one_are_told_apart(state_dir: Path) -> None:
    file = state_dir / "f"
    file.write_bytes(b"12345")
    path = os.path.realpath(file)
    assert await DiskFiles().read(path, 5) == Content(b"12345", sha256(b"12345"))
    over = await DiskFiles().read(path, 4)
    assert isinstance(over, Refused)
    assert over.reason is Reason.TOO_LARGE
