"""The bridge outlives daemons: what the next one is told, and what the editor sees of it (B65, B67)."""

from pathlib import Path

from tests.protocol.bridge_editor import COMMAND_ID, Editor, initialized
from tests.protocol.fake_daemon import FakeDaemon

TRIES = 6


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


def test_a_new_daemon_is_greeted_with_the_folders_of_now_and_told_where_the_person_is(
    daemon: FakeDaemon, editor: Editor, runtime_dir: Path
) -> None:
    link = daemon.accept()
    one, two, three = ({"uri": f"file:///{name}", "name": name} for name in ("one", "two", "three"))
    editor.send(id=1, method="initialize", params={"workspaceFolders": [one, two]})
    link.next()
    link.send(id=1, result={"capabilities": {}})
    editor.next()
    editor.send(method="initialized", params={})
    event = {"removed": [one], "added": [three]}
    editor.send(method="workspace/didChangeWorkspaceFolders", params={"event": event})
    for uri in ("file:///two/a", "file:///three/b"):
        editor.send(method="agent/window/focus", params={"focused": True, "uri": uri})
    assert [link.next()["method"].rpartition("/")[2] for _ in range(4)] == [
        "initialized",
        "didChangeWorkspaceFolders",
        "focus",
        "focus",
    ]
    with daemon.replaced(runtime_dir) as successor:
        link = successor.accept()
        assert link.next()["params"]["workspaceFolders"] == [two, three]
        link.send(id="agent-ls-bridge:initialize", result={"capabilities": {}})
        assert [link.next().get("params") for _ in range(2)] == [{}, {"focused": True, "uri": "file:///three/b"}]
        editor.send(id=2, method="m")
        assert link.next()["id"] == 2


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
    editor.send(method="agent/conversation/draft", params={"conversationId": "c", "text": "half"})
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
