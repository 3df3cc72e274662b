"""`agent-ls connect` as a process between a scripted editor and a fake daemon (B65, B67)."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_ls.bridge.frames import FrameSplitter, frame
from tests.protocol.fake_daemon import FakeDaemon, Link

TRIES = 6
COMMAND_ID = "00000000-0000-4000-8000-000000000001"


class Editor:
    """The editor's side of the bridge's pipes."""

    def __init__(self, env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agent_ls", "connect"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd="/",
        )
        self._frames = FrameSplitter()
        self._messages: list[bytes] = []

    def send(self, **message: Any) -> None:
        self.write(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    def write(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def next(self) -> dict[str, Any]:
        assert self.process.stdout
        while not self._messages:
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            assert data, "the bridge has ended"
            self._messages += [body for body in self._frames.feed(data) if isinstance(body, bytes)]
        message = json.loads(self._messages.pop(0))
        assert isinstance(message, dict)
        return message

    def hang_up(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    def code(self, within: float = 5) -> int:
        return self.process.wait(timeout=within)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            pipe.close()


@pytest.fixture
def env(state_dir: Path, runtime_dir: Path) -> dict[str, str]:
    ours = {"AGENT_LS_STATE_DIR": os.fspath(state_dir), "AGENT_LS_RUNTIME_DIR": os.fspath(runtime_dir)}
    return {"PATH": os.environ["PATH"], "HOME": os.fspath(state_dir), "MARK": "here", **ours}


@pytest.fixture
def daemon(runtime_dir: Path) -> Iterator[FakeDaemon]:
    with FakeDaemon(runtime_dir) as daemon:
        yield daemon


@pytest.fixture
def open_editor(env: dict[str, str]) -> Iterator[Callable[[], Editor]]:
    editors: list[Editor] = []

    def opened() -> Editor:
        editors.append(Editor(env))
        return editors[-1]

    yield opened
    for editor in editors:
        editor.close()


@pytest.fixture
def editor(daemon: FakeDaemon, open_editor: Callable[[], Editor]) -> Editor:
    return open_editor()


def initialized(editor: Editor, link: Link, *, process_id: int | None = None) -> dict[str, Any]:
    """Both have shaken hands; what the daemon was sent."""
    editor.send(id=1, method="initialize", params={"processId": process_id, "capabilities": {}})
    message = link.next()
    link.send(id=1, result={"capabilities": {}})
    assert editor.next() == {"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {}}}
    editor.send(method="initialized", params={})
    assert link.next() == {"jsonrpc": "2.0", "method": "initialized", "params": {}}
    return message


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


def test_a_new_daemon_takes_over_and_the_editor_sees_only_a_pause(
    daemon: FakeDaemon, editor: Editor, runtime_dir: Path
) -> None:
    link = daemon.accept()
    first = initialized(editor, link)
    editor.send(id=7, method="agent/message/send", params={"commandId": COMMAND_ID, "n": 7})
    editor.send(id=8, method="textDocument/hover", params={})
    command = {"command": "agent-ls.run.interrupt", "arguments": [{"runId": "r"}]}
    editor.send(id=9, method="workspace/executeCommand", params=command)
    sent = [link.next() for _ in range(3)]
    link.send(id="1.1:1", method="agent/ui/reveal", params={})
    assert editor.next()["id"] == "1.1:1"

    with daemon.replaced(runtime_dir) as successor:
        assert editor.next() == {
            "jsonrpc": "2.0",
            "id": 8,
            "error": {"code": -32801, "message": "The daemon was replaced by a new one. Ask again."},
        }
        editor.send(id="1.1:1", result="the old one asked this")
        link = successor.accept()
        replayed = link.next()
        assert replayed.pop("id") != first.pop("id")
        assert replayed == first
        link.send(id="agent-ls-bridge:initialize", result={"capabilities": {}})
        link.send(method="agent/hello", params={"bootId": "b2"})
        again = [link.next() for _ in range(3)]
        assert again[2]["params"].pop("agentLs").keys() == {"givenAt"}
        assert again == [{"jsonrpc": "2.0", "method": "initialized", "params": {}}, sent[0], sent[2]]
        link.send(id=9, result="interrupted")
        link.send(id=7, result="sent")
        assert [editor.next() for _ in range(3)] == [
            {"jsonrpc": "2.0", "method": "agent/hello", "params": {"bootId": "b2"}},
            {"jsonrpc": "2.0", "id": 9, "result": "interrupted"},
            {"jsonrpc": "2.0", "id": 7, "result": "sent"},
        ]
        editor.send(id=10, method="m")
        assert link.next() == {"jsonrpc": "2.0", "id": 10, "method": "m"}


def test_a_new_daemon_is_told_of_open_documents_as_they_are_before_anything_is_asked_again(
    daemon: FakeDaemon, editor: Editor, runtime_dir: Path
) -> None:
    link = daemon.accept()
    initialized(editor, link)
    clean = {"uri": "file:///w/b.py", "languageId": "x", "version": 1, "text": "b\n"}
    mine = {"uri": "file:///w/a.py", "languageId": "x", "version": 1, "text": "a\n"}

    def types(version: int, text: str) -> None:
        at = {"line": 0, "character": 0}
        changes = [{"range": {"start": at, "end": at}, "text": text}]
        document = {"uri": mine["uri"], "version": version}
        editor.send(method="textDocument/didChange", params={"textDocument": document, "contentChanges": changes})

    for document in (clean, mine):
        editor.send(method="textDocument/didOpen", params={"textDocument": document})
    types(2, "1😋")
    editor.send(id=7, method="agent/message/send", params={"commandId": COMMAND_ID})
    sent = [link.next() for _ in range(4)][3]

    with daemon.replaced(runtime_dir) as successor:
        link = successor.accept()
        assert link.next()["method"] == "initialize"
        types(3, "2")  # before the new daemon has answered: it is told once
        editor.send(id=8, method="m")
        link.send(id="agent-ls-bridge:initialize", result={"capabilities": {}})
        told = [link.next() for _ in range(6)]
        ages = [message["params"].pop("agentLs")["replay"] for message in told[1:3]]
        assert [age.pop("secondsAgo") < 60 for age in ages] == [True, True]
        assert ages == [{"changed": False}, {"changed": True}]
        assert [(message["method"], message.get("params")) for message in told] == [
            ("initialized", {}),
            ("textDocument/didOpen", {"textDocument": clean}),
            ("textDocument/didOpen", {"textDocument": mine}),
            (
                "textDocument/didChange",
                {"textDocument": {"uri": mine["uri"], "version": 3}, "contentChanges": [{"text": "21😋a\n"}]},
            ),
            ("agent/message/send", sent["params"]),
            ("m", None),
        ]
        types(4, "3")
        assert link.next()["params"]["textDocument"]["version"] == 4


def test_progress_that_nobody_would_end_is_ended(daemon: FakeDaemon, editor: Editor, runtime_dir: Path) -> None:
    link = daemon.accept()
    initialized(editor, link)
    for token, value in [("t", "begin"), ("u", "begin"), ("t", "report"), ("u", "end")]:
        link.send(method="$/progress", params={"token": token, "value": {"kind": value}})
    told = [editor.next() for _ in range(4)]
    with daemon.replaced(runtime_dir):
        assert editor.next() == {**told[0], "params": {"token": "t", "value": {"kind": "end"}}}


def test_a_daemon_that_a_person_stopped_is_not_started_again_by_an_idle_editor(
    daemon: FakeDaemon, editor: Editor, runtime_dir: Path, state_dir: Path
) -> None:
    link = daemon.accept()
    initialized(editor, link)
    link.send(method="agent/drain", params={"retryAfterMs": 0, "reason": "shutdown"})
    assert editor.next()["method"] == "agent/drain"
    daemon.close()
    (runtime_dir / "daemon.sock").unlink()
    editor.send(method="agent/window/focus", params={"focused": True})
    editor.send(method="$/setTrace", params={"value": "off"})
    with FakeDaemon(runtime_dir) as started_by_somebody:
        assert started_by_somebody.accept().next()["method"] == "initialize"
    assert not (state_dir / "logs").exists(), "the bridge has started nothing"


def test_daemons_that_die_one_after_the_other_cost_a_command_and_not_the_editor_its_server(
    daemon: FakeDaemon, editor: Editor, runtime_dir: Path
) -> None:
    link = daemon.accept()
    initialized(editor, link)
    editor.send(id=7, method="agent/message/send", params={"commandId": COMMAND_ID})
    assert link.next()["id"] == 7
    for _ in range(TRIES - 1):
        daemon = daemon.replaced(runtime_dir)
        link = daemon.accept()
        assert link.next()["method"] == "initialize"
        link.send(id="agent-ls-bridge:initialize", result={"capabilities": {}})
        assert [link.next().get("id") for _ in range(2)] == [None, 7]
    told = editor.next()
    assert (told["method"], told["params"]["type"]) == ("window/showMessage", 1)
    assert told["params"]["message"].startswith("The daemon ends soon after each start")
    with daemon.replaced(runtime_dir) as last:
        answer = editor.next()
        assert (answer["id"], answer["error"]["code"]) == (7, -32803)
        link = last.accept()
        assert link.next()["method"] == "initialize"
        link.send(id="agent-ls-bridge:initialize", result={"capabilities": {}})
        assert link.next()["method"] == "initialized"
        editor.send(id=8, method="m")
        assert link.next()["id"] == 8


def test_half_a_message_of_a_dying_daemon_never_reaches_the_editor(
    daemon: FakeDaemon, editor: Editor, runtime_dir: Path
) -> None:
    link = daemon.accept()
    initialized(editor, link)
    link.send_raw(b'Content-Length: 100\r\n\r\n{"jsonrpc":"2.0"')
    with daemon.replaced(runtime_dir) as successor:
        link = successor.accept()
        assert link.next()["method"] == "initialize"
        link.send(id="agent-ls-bridge:initialize", result={})
        link.send(method="whole", params={})
        assert editor.next() == {"jsonrpc": "2.0", "method": "whole", "params": {}}


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


def test_the_bridge_starts_in_the_time_of_four_bare_interpreters(daemon: FakeDaemon, env: dict[str, str]) -> None:
    def bare() -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-I", "-c", "pass"], check=True, env=env)
        return time.perf_counter() - start

    def bridge() -> float:
        start = time.perf_counter()
        editor = Editor(env)
        editor.send(id=1, method="initialize", params={})
        link = daemon.accept()
        link.next()
        took = time.perf_counter() - start
        editor.close()
        return took

    # The least of several, because other work on the machine only ever adds.
    assert min(bridge() for _ in range(10)) <= 4 * min(bare() for _ in range(10))
