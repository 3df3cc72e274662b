"""Twenty editors start at once, whatever lies in the way: one daemon, twenty links that work."""

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from agent_ls import paths
from agent_ls.testing.editor import Editor
from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import InOrder, say
from tests.scene import scene

pytestmark = pytest.mark.anyio

EDITORS = 20


def lay_nothing(_: Home) -> None:
    pass


def lay_stale_socket(home: Home) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(_socket(home))


def lay_dead_pid(home: Home) -> None:
    lay_stale_socket(home)
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    home.state.mkdir(mode=0o700)
    Path(paths.lock_path(home.env)).write_bytes(paths.holder_line(gone.pid, _socket(home)))


def lay_foreign_file(home: Home) -> None:
    Path(_socket(home)).write_text("not yours")


@pytest.mark.parametrize("lay", [lay_nothing, lay_stale_socket, lay_dead_pid, lay_foreign_file])
async def test_20_editors_at_once_have_one_daemon_and_20_working_links(lay: Callable[[Home], None]) -> None:
    async with scene(InOrder([say("Hello all.")])) as (server, home):
        lay(home)
        editors: list[Editor] = []
        ready, done = anyio.Event(), anyio.Event()

        async def edit(number: int) -> None:
            async with home.bridged(name=f"editor-{number}") as editor:
                editors.append(editor)
                if len(editors) == EDITORS:
                    ready.set()
                await done.wait()

        async with anyio.create_task_group() as tasks:
            for number in range(EDITORS):
                tasks.start_soon(edit, number)
            with anyio.fail_after(50):
                await ready.wait()
            assert {editor.hello["pid"] for editor in editors} == {home.pid}
            # Each link carries a whole exchange: all attach, one asks, all hear the answer.
            conversation = await editors[0].create(home.workspace)
            mirrors = [await editor.attach(conversation.id) for editor in editors]
            run_id = await editors[0].send(conversation, "Hello?")
            for editor, mirror in zip(editors, mirrors, strict=True):
                await editor.until_ended(mirror, run_id)
                assert mirror.answers == ["Hello all."]
            done.set()
        assert len(server.requests) == 1
        if lay is lay_foreign_file:
            assert Path(_socket(home)).read_text() == "not yours"


def _socket(home: Home) -> str:
    path = paths.socket_path(home.env)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    return path
