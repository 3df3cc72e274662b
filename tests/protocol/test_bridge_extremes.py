"""The bridge between ends that do not read, do not speak or go away in the middle: it ends with its editor (B65)."""

import fcntl
import os
import select
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_ls import paths
from agent_ls.bridge.frames import frame
from tests.protocol.bridge_editor import Editor, initialized
from tests.protocol.fake_daemon import FakeDaemon

SOON_S = 3  # a second, on a machine that is busy
MUCH = "x" * 20_000_000


def test_it_ends_when_stdin_ends_though_nobody_reads_what_it_writes(daemon: FakeDaemon, editor: Editor) -> None:
    link = daemon.accept()
    initialized(editor, link)
    for _ in range(8):
        link.send(method="big", params={"text": "x" * 100_000})
    editor.hang_up()
    assert editor.code(within=SOON_S) == 1


@pytest.mark.parametrize("way", ["stdin", "process"])
def test_it_ends_with_its_editor_though_the_daemon_reads_nothing(daemon: FakeDaemon, editor: Editor, way: str) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as other:
        daemon_link = daemon.accept()
        initialized(editor, daemon_link, process_id=other.pid)
        daemon_link.read_no_more()
        written = _fill(editor)
        assert written < len(MUCH), "it stops reading where nobody reads it"
        if way == "stdin":
            editor.process.stdin.raw.close()  # type: ignore[union-attr]
            other.kill()
        else:
            os.kill(other.pid, signal.SIGKILL)
        assert editor.code(within=SOON_S) == 1


def test_it_ends_with_its_editor_though_the_daemon_takes_long_to_start(
    env: dict[str, str], state_dir: Path, open_editor: Callable[[], Editor]
) -> None:
    # Whoever holds this lock says that they are starting one.
    with open(paths.spawn_lock_path(env), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        editor = open_editor()
        editor.send(id=1, method="initialize", params={})
        editor.hang_up()
        assert editor.code(within=SOON_S) == 1


def test_who_has_closed_stdin_before_there_was_a_daemon_is_answered_if_one_comes_at_once(
    env: dict[str, str], state_dir: Path, runtime_dir: Path, open_editor: Callable[[], Editor]
) -> None:
    with open(paths.spawn_lock_path(env), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        editor = open_editor()
        editor.send(id=1, method="m")
        editor.hang_up()
        with FakeDaemon(runtime_dir) as daemon:
            link = daemon.accept()
            assert link.next()["id"] == 1
            link.send(id=1, result=2)
            assert editor.next() == {"jsonrpc": "2.0", "id": 1, "result": 2}


def test_half_a_message_at_the_end_of_stdin_reaches_nobody(daemon: FakeDaemon, editor: Editor) -> None:
    link = daemon.accept()
    initialized(editor, link)
    editor.send(id=2, method="m")
    editor.write(b'Content-Length: 100\r\n\r\n{"jsonrpc":"2.0"')
    editor.hang_up()
    assert link.next() == {"jsonrpc": "2.0", "id": 2, "method": "m"}
    assert editor.code(within=SOON_S) == 1
    assert link.raw() is None


@pytest.mark.parametrize("sent", [b"a" * 100_000, b"A: " + b"b" * 100_000, b"A: b\r\n" * 20_000])
def test_a_header_without_end_is_not_kept_and_ends_the_link(daemon: FakeDaemon, editor: Editor, sent: bytes) -> None:
    daemon.accept()
    try:
        for _ in range(1_000):  # a hundred megabytes, if anybody took them
            editor.write(sent)
    except (BrokenPipeError, ValueError):
        pass
    said = editor.next()["error"]
    assert (said["code"], "the header does not end" in said["message"]) == (-32700, True)
    assert editor.code(within=SOON_S) == 1


def test_a_closed_stderr_harms_nothing(daemon: FakeDaemon, open_editor: Callable[[], Editor]) -> None:
    editor = open_editor()
    editor.process.stderr.close()  # type: ignore[union-attr]
    link = daemon.accept()
    initialized(editor, link)
    editor.write(b"no header\n")
    assert editor.next()["error"]["code"] == -32700
    assert editor.code(within=SOON_S) == 1


def test_a_daemon_that_answers_late_is_waited_for_and_its_answers_are_passed_on_in_their_order(
    daemon: FakeDaemon, editor: Editor
) -> None:
    link = daemon.accept()
    initialized(editor, link)
    for key in range(2, 302):
        editor.send(id=key, method="m", params={"text": "y" * 1_000})
    for key in range(2, 302):
        assert link.next()["id"] == key
    data = b"".join(frame(b'{"jsonrpc":"2.0","id":%d,"result":null}' % key) for key in range(2, 302))
    for place in range(0, len(data), 777):
        link.send_raw(data[place : place + 777])
    assert [editor.next()["id"] for _ in range(300)] == list(range(2, 302))


def _fill(editor: Editor) -> int:
    """As much as the pipe and the bridge take of one long row of messages."""
    assert editor.process.stdin
    data = frame(b'{"jsonrpc":"2.0","method":"m","params":{"text":"%b"}}' % (b"x" * 50_000)) * (len(MUCH) // 50_000)
    written = 0
    # Half a second in which not a byte is taken: it is full.
    while written < len(data) and select.select([], [editor.process.stdin], [], 0.5)[1]:
        written += os.write(editor.process.stdin.fileno(), data[written : written + 4_096])
    return written
