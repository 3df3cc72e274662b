"""Trouble from outside: each a sentence that says what to do, nothing lost, nothing hung, and over when it is over."""

import errno
import os
import re
import shlex
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from agent_ls.bridge.start import NoDaemon, ensure_daemon
from agent_ls.testing.editor import Editor, LinkEnded, Refused
from agent_ls.testing.home import PROVIDER, Home, home_of
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import Cut, Gate, Http, InOrder, Raw, Say, Stream, Wait, reply, say, use
from agent_ls.testing.model_server import serve_model
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

KEY = "sk-the-right-key-0123456789"
KEYED = 'api_key_command = ["cat", "{path}"]\n'


async def failed(editor: Editor, conversation: Mirror, text: str = "Hello?") -> tuple[str, str]:
    """Sends a message whose run fails; code and sentence of its error, which stands in the transcript too."""
    run = await editor.until_ended(conversation, await editor.send(conversation, text), "failed")
    error: dict[str, str] = run["error"]
    shown = conversation.of_kind("error")[-1]["payload"]
    assert {name: shown[name] for name in error} == error
    assert error["hint"]
    return error["code"], error["message"]


async def works(editor: Editor, conversation: Mirror, text: str = "And now?") -> None:
    before = len(conversation.answers)
    await editor.until_ended(conversation, await editor.send(conversation, text))
    assert len(conversation.answers) == before + 1


async def refusal(editor: Editor, workspace: Path) -> Refused:
    """Why no conversation can be made."""
    with pytest.raises(Refused) as refused:
        await editor.create(workspace)
    assert refused.value.hint
    return refused.value


async def test_without_any_provider_a_person_learns_how_to_get_one() -> None:
    async with home_of() as home, home.editor() as editor:
        refused = await refusal(editor, home.workspace)
        assert refused.code == "provider_unavailable"
        assert "OPENAI_API_KEY" in refused.hint
        done = await home.run("ask", "Hello?")
        assert (done.returncode, done.stdout) == (1, "")
        assert "OPENAI_API_KEY" in done.stderr


async def test_a_key_that_is_not_set_is_named_and_works_once_it_is() -> None:
    async with serve_model(InOrder([say("Hello.")]), key=KEY) as server:
        async with home_of(server.base_url, config='api_key_env = "MY_KEY"\n') as home:
            async with home.editor() as editor:
                assert "MY_KEY" in (await refusal(editor, home.workspace)).message
            home.env["MY_KEY"] = KEY
            assert (await home.run("restart")).returncode == 0
            async with home.editor() as editor:
                await works(editor, await editor.create(home.workspace))
        assert server.refused == []


async def test_a_wrong_key_is_said_to_be_wrong_and_the_right_one_works_without_a_restart() -> None:
    async with serve_model(InOrder([say("Hello.")]), key=KEY) as server, home_of(server.base_url) as home:
        key = home.root / "key"
        key.write_text("sk-wrong-wrong-wrong-wrong")
        home.config.write_text(home.config.read_text() + KEYED.format(path=key))
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            code, message = await failed(editor, conversation)
            assert (code, "refused the key" in message) == ("unauthorized", True)
            assert "sk-wrong" not in message + home.log
            key.write_text(KEY)
            await works(editor, conversation)
            assert KEY not in home.log


async def test_an_unknown_model_is_named_and_another_one_works() -> None:
    async with (
        serve_model(InOrder([say("Hello.")])) as server,
        home_of(server.base_url) as home,
        home.editor() as editor,
    ):
        conversation = await editor.create(home.workspace, model="no-such-model")
        code, message = await failed(editor, conversation)
        assert (code, "no-such-model" in message) == ("provider_unavailable", True)
        params = {"commandId": "m", "conversationId": conversation.id, "model": "scripted-1"}
        await editor.request("agent/conversation/update", params)
        await works(editor, conversation)
        # Nothing that the person said is lost: the failed message is still in the history.
        assert server.requests[0].user_texts == ("Hello?\n\nAnd now?",)


async def test_a_server_that_is_not_there_is_named_and_works_once_it_is() -> None:
    async with serve_model(InOrder([])) as server:
        port = server.port
    async with home_of(server.base_url, config=ONCE) as home, home.editor() as editor:
        conversation = await editor.create(home.workspace)
        _, message = await failed(editor, conversation)
        assert f"127.0.0.1:{port}" in message
        async with serve_model(InOrder([say("Hello.")]), port=port):
            await works(editor, conversation)


ONCE = "[limits]\nretries_per_run = 0\n"
"""Nothing is asked again: what is looked at is how trouble is told."""

NONSENSE = [
    Stream(steps=(Raw(b"<html><body>It works!</body></html>"),), stop="", usage=None, done=False),
    Stream(steps=(Raw(b"data: {nonsense\n\ndata: [DONE]\n\n"),), stop="", usage=None, done=False),
    Stream(steps=(Raw(b'data: {"error": {"message": "the GPU is on fire"}}\n\n'),), stop="", usage=None, done=False),
    Stream(steps=(Raw(b"\xff\xfe\x00" * 1000),), stop="", usage=None, done=False),
    Stream(steps=(Raw(b"data: [DONE]\n\n"),), stop="", usage=None, done=False),
    Stream(steps=(Say("I will be cut"), Cut())),
    Stream(steps=(Say("I will be cut"), Cut(reset=True))),
    Http(status=200, body="It works!"),
    Http(status=500, body="<html>Internal Server Error</html>"),
    Http(status=429, body={"error": {"message": "slow down"}}, headers={"Retry-After": "3600"}),
    Http(status=302, body="", headers={"Location": "http://elsewhere.invalid/"}),
]


async def test_each_kind_of_nonsense_ends_the_run_with_a_sentence_and_the_next_message_is_taken() -> None:
    async with scene(InOrder([*NONSENSE, say("Hello.")]), config=ONCE) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        for number, answer in enumerate(NONSENSE):
            code, message = await failed(editor, conversation, f"Try {number}.")
            assert (code, message.rstrip(")")[-1:] != "") in {("provider_error", True), ("rate_limited", True)}, answer
            assert re.search(r"[A-Z'].{10,}[.)]$", message, re.DOTALL), (answer, message)
            assert "Traceback" not in message
        await works(editor, conversation)
        # What was shown and then cut is kept as what it is.
        cut = [i["status"] for i in conversation.of_kind("assistant_message") if "cut" in i["payload"]["text"]]
        assert cut == ["interrupted"] * 2
        assert len(server.requests) == len(NONSENSE) + 1


async def test_a_configuration_that_cannot_be_read_lets_nothing_run_until_it_is_corrected() -> None:
    async with serve_model(InOrder([say("Hello.")])) as server, home_of() as home:
        home.config.write_text('provider = "scripted\n[permissions]\ndeny = ["shell"]\n')
        async with home.editor() as editor:
            refused = await refusal(editor, home.workspace)
            assert (str(home.config) in refused.message, "agent-ls restart" in refused.hint) == (True, True)
            assert (await editor.request("agent/conversation/list", {}))["conversations"] == []
        home.config.write_text(PROVIDER.format(base_url=server.base_url, kind="openai-compatible"))
        assert (await home.run("restart")).returncode == 0
        async with home.editor() as editor:
            await works(editor, await editor.create(home.workspace))


async def test_a_denial_that_cannot_be_read_keeps_the_daemon_from_starting_and_the_editor_is_told() -> None:
    async with home_of("http://127.0.0.1:9/v1", config='[permissions]\ndeny = ["shell("]\n') as home:
        with pytest.raises(Refused) as refused:
            async with home.bridged():
                pass
        assert "permissions.deny" in refused.value.message
        assert (await home.run("ask", "Hello?")).returncode == 1
        home.config.write_text("")
        async with home.bridged() as editor:
            assert editor.hello["pid"] == home.pid


async def test_a_state_directory_that_cannot_be_written_is_named_to_the_editor_and_in_the_terminal() -> None:
    async with home_of("http://127.0.0.1:9/v1") as home:
        home.state.mkdir(mode=0o700)
        with read_only(home.state):
            with pytest.raises((Refused, LinkEnded)) as refused:
                async with home.bridged():
                    pass
            assert str(home.state) in str(refused.value)
            done = await home.run("ask", "Hello?")
            assert (done.returncode, str(home.state) in done.stderr, "AGENT_LS_" in done.stderr) == (1, True, True)
        async with home.bridged() as editor:
            assert editor.hello["pid"] == home.pid


@pytest.mark.parametrize("version", [None, 99], ids=["not a ledger", "newer"])
async def test_a_ledger_that_cannot_be_used_is_named_to_the_editor_and_in_the_terminal(version: int | None) -> None:
    async with home_of("http://127.0.0.1:9/v1") as home:
        await home.start()
        assert (await home.run("stop")).returncode == 0
        ledger = home.state / "ledger.db"
        good = ledger.read_bytes()
        ledger.write_bytes(good[:60] + version.to_bytes(4, "big") + good[64:] if version else b"something else " * 999)
        with pytest.raises(Refused) as refused:
            async with home.bridged():
                pass
        done = await home.run("ask", "Hello?")
        wanted = "newer agent-ls" if version else str(ledger)
        assert (done.returncode, wanted in done.stderr, wanted in refused.value.message) == (1, True, True)
        assert "Traceback" not in done.stderr + refused.value.message
        ledger.write_bytes(good)
        async with home.bridged() as editor:
            assert editor.hello["pid"] == home.pid


async def test_a_system_that_starts_no_more_processes_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_more() -> int:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    async with home_of("http://127.0.0.1:9/v1") as home:
        monkeypatch.setattr(os, "fork", no_more)
        with pytest.raises(NoDaemon, match="End some that you do not need"):
            ensure_daemon(home.env)


async def test_a_full_disk_refuses_what_is_new_keeps_what_was_acknowledged_and_heals() -> None:
    async with full_disk_scene() as (home, disk), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Run it.")
        (asked,) = await editor.until_asked(conversation)
        disk.fill()
        acknowledged: list[str] = []
        refused = await until_refused(editor, conversation, acknowledged)
        assert (refused.code, refused.data["retryable"]) == ("disk_full", True)
        assert str(home.state) in refused.message
        with pytest.raises(Refused, match="disk_full"):
            await editor.respond(asked, "allow")
        assert (lines(home.workspace / "ran"), len(await editor.pending())) == ([], 1)

        disk.free()
        await editor.respond(asked, "allow")
        await editor.until_ended(conversation, run_id)
        assert lines(home.workspace / "ran") == ["x"]
        for acknowledged_id in acknowledged:
            await editor.until_ended(conversation, acknowledged_id)
        await works(editor, conversation)
        assert (await editor.history(conversation))[-1]["seq"] == conversation.seq


async def test_a_daemon_starts_on_a_full_disk_and_shows_what_there_is() -> None:
    async with full_disk_scene() as (home, disk):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Run it.")
            (asked,) = await editor.until_asked(conversation)
            await home.kill9()
        disk.fill()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            assert (again.items, await editor.pending()) == (conversation.items, [asked])
            with pytest.raises(Refused, match="disk_full"):
                await editor.respond(asked, "allow")
            disk.free()
            await editor.respond(asked, "allow")
            await editor.until_ended(again, run_id)
            assert lines(home.workspace / "ran") == ["x"]


async def test_a_stop_is_served_while_the_model_says_nothing() -> None:
    gate = Gate()
    silent = Http(status=200, body="", gate=gate)
    async with scene(InOrder([silent, reply(Say("now"), Wait(gate))])) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Hello?")
        await gate.reached()
        await editor.interrupt(run_id)
        await editor.until_ended(conversation, run_id, "interrupted")
        gate.open()
        await works(editor, conversation)


async def until_refused(editor: Editor, conversation: Mirror, acknowledged: list[str]) -> Refused:
    """Sends messages for as long as there is room; the runs of those that were taken."""
    for number in range(200):
        try:
            acknowledged.append(await editor.send(conversation, f"Message {number}. " + "x" * 50_000))
        except Refused as refused:
            return refused
    raise AssertionError("the disk never became full")


class Disk:
    """A small disk of its own, mounted over a folder."""

    def __init__(self, folder: Path) -> None:
        self._filler = folder / "filler"

    def fill(self) -> None:
        with self._filler.open("wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                return

    def free(self) -> None:
        self._filler.unlink()


@asynccontextmanager
async def full_disk_scene() -> AsyncIterator[tuple[Home, Disk]]:
    answers = [use("shell", command="echo x >> ran"), *[say("Done.")] * 210]
    async with scene(InOrder(answers)) as (_, home):
        home.state.mkdir(mode=0o700)
        with mounted(home.state, "size=8m,mode=700"):
            try:
                yield home, Disk(home.state)
            finally:
                await home.run("stop", "--force")


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Root writes wherever modes forbid it, but not to a disk that is mounted read-only."""
    if os.getuid() == 0:
        with mounted(folder, "ro,mode=700"):
            yield
        return
    folder.chmod(0o500)
    try:
        yield
    finally:
        folder.chmod(0o700)


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", os.fspath(folder)]
    done = subprocess.run(mount, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"nothing can be mounted here: {shlex.join(mount)}: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", os.fspath(folder)], check=True)
