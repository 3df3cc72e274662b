"""`agent-ls connect` as a process between a scripted editor and a fake daemon (B65, B67)."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_ls.bridge.frames import frame
from tests.protocol.bridge_editor import COMMAND_ID, Editor, initialized
from tests.protocol.fake_daemon import FakeDaemon


def test_messages_pass_both_ways_and_initialize_carries_the_environment(
    daemon: FakeDaemon, editor: Editor, env: dict[str, str]
) -> None:
    link = daemon.accept()
    told = initialized(editor, link)
    environment = told["params"].pop("initializationOptions")["agentLs"]["environment"]
    assert {name: environment.get(name) for name in env} == env
    assert told == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"processId": None, "capabilities": {}},
    }
    link.send(method="agent/event", params={"text": "北京😀"})
    assert editor.next() == {"jsonrpc": "2.0", "method": "agent/event", "params": {"text": "北京😀"}}


def test_an_environment_that_the_window_sent_is_kept(daemon: FakeDaemon, editor: Editor) -> None:
    options = {"other": 1, "agentLs": {"client": "vscode", "environment": {"A": "b"}}}
    params = {"clientInfo": {"name": "x"}, "initializationOptions": options}
    editor.send(id="i", method="initialize", params=params)
    assert daemon.accept().next() == {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params}


def test_a_command_of_ours_gets_an_id_and_nothing_else_is_touched(daemon: FakeDaemon, editor: Editor) -> None:
    link = daemon.accept()
    bare = {"command": "agent-ls.request.respond", "arguments": [{"requestId": "r"}]}
    editor.send(id=2, method="workspace/executeCommand", params=bare)
    argument = link.next()["params"]["arguments"][0]
    assert (argument.pop("requestId"), len(argument.pop("commandId")), argument) == ("r", 36, {})
    editor.send(id=3, method="workspace/executeCommand", params={"command": "agent-ls.run.interrupt"})
    assert list(link.next()["params"]["arguments"][0]) == ["commandId"]
    own = {"command": "agent-ls.run.retry", "arguments": [{"commandId": COMMAND_ID}]}
    foreign = {"command": "other.do", "arguments": [{}]}
    for key, params in enumerate((own, foreign), 4):
        editor.send(id=key, method="workspace/executeCommand", params=params)
        assert link.next()["params"] == params


@pytest.mark.parametrize(
    "header", [b"content-length:%d\r\n\r\n", b"Content-Length: %d\n\n", b"X: y\r\nContent-Length: %d\r\n\r\n"]
)
def test_every_legal_header_form_arrives_one_byte_at_a_time(daemon: FakeDaemon, editor: Editor, header: bytes) -> None:
    body = '{"jsonrpc":"2.0","id":1,"method":"北京😀"}'.encode()
    for byte in header % len(body) + body:
        editor.write(bytes([byte]))
    assert daemon.accept().raw() == body


def test_a_body_that_is_not_json_is_left_to_the_daemon_and_the_link_lives(daemon: FakeDaemon, editor: Editor) -> None:
    link = daemon.accept()
    editor.write(frame(b"{nonsense") + frame(b"[1]"))
    editor.send(id=1, method="m")
    assert [link.raw(), link.raw(), link.next()] == [b"{nonsense", b"[1]", {"jsonrpc": "2.0", "id": 1, "method": "m"}]


def test_a_lost_border_ends_the_bridge_with_a_reason(daemon: FakeDaemon, editor: Editor) -> None:
    daemon.accept()
    editor.write(b'{"jsonrpc":"2.0","id":1,"method":"initialize"}\n')
    sentence = "The border between two messages is lost: a line where a header should be is not `Name: value`."
    assert editor.next() == {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": sentence}}
    assert editor.code() == 1
    assert editor.process.stderr
    assert editor.process.stderr.read().decode() == f"agent-ls connect: {sentence}\n"


def test_30_mb_pass_in_both_directions(daemon: FakeDaemon, editor: Editor) -> None:
    link = daemon.accept()
    text = "x" * 30_000_000
    editor.send(method="big", params={"text": text})
    assert link.next()["params"]["text"] == text
    link.send(method="big", params={"text": text})
    assert editor.next()["params"]["text"] == text


@pytest.mark.parametrize(("shutdown", "code"), [(True, 0), (False, 1)])
def test_exit_ends_the_bridge_and_its_code_tells_of_shutdown(
    daemon: FakeDaemon, editor: Editor, *, shutdown: bool, code: int
) -> None:
    link = daemon.accept()
    initialized(editor, link)
    if shutdown:
        editor.send(id=2, method="shutdown")
        assert link.next()["method"] == "shutdown"
        link.send(id=2, result=None)
        assert editor.next() == {"jsonrpc": "2.0", "id": 2, "result": None}
    editor.send(method="exit")
    assert link.next() == {"jsonrpc": "2.0", "method": "exit"}
    assert editor.code(within=1) == code
    assert link.raw() is None


def test_the_end_of_stdin_ends_the_bridge_after_what_is_still_to_come(daemon: FakeDaemon, editor: Editor) -> None:
    link = daemon.accept()
    editor.send(id=2, method="m")
    editor.hang_up()
    assert link.next() == {"jsonrpc": "2.0", "id": 2, "method": "m"}
    link.send(id=2, result=3)
    assert editor.next() == {"jsonrpc": "2.0", "id": 2, "result": 3}
    assert editor.code(within=1.5) == 1
    assert link.raw() is None


def test_it_ends_in_a_second_when_its_editor_is_killed_though_a_sibling_holds_the_pipe(
    daemon: FakeDaemon, editor: Editor
) -> None:
    # This test holds the pipe; the editor that it speaks for is another process.
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as other:
        initialized(editor, daemon.accept(), process_id=other.pid)
        os.kill(other.pid, signal.SIGKILL)
        assert editor.code(within=1) == 1


def test_a_process_id_that_was_dead_at_the_start_is_not_watched(daemon: FakeDaemon, editor: Editor) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    link = daemon.accept()
    initialized(editor, link, process_id=gone.pid)
    link.send(method="still", params={})
    assert editor.next()["method"] == "still"


def test_a_daemon_that_cannot_start_is_an_answer_with_the_reason(
    state_dir: Path, open_editor: Callable[[], Editor]
) -> None:
    (state_dir / "logs").write_text("a file where a directory should be")
    editor = open_editor()
    editor.send(id=1, method="initialize", params={})
    error = editor.next()["error"]
    assert error["code"] == -32803
    assert error["message"].startswith(f"The directory {state_dir}/logs cannot be made")
    assert editor.code() == 1


def test_a_runtime_directory_that_others_may_write_to_is_refused(
    runtime_dir: Path, open_editor: Callable[[], Editor]
) -> None:
    runtime_dir.chmod(0o777)
    editor = open_editor()
    editor.hang_up()
    assert editor.code() == 1
    assert editor.process.stderr
    assert f"Others may write to {runtime_dir}." in editor.process.stderr.read().decode()
