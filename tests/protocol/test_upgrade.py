"""A client that is newer than the daemon has it replaced, once; one that is as old or older never does."""

import os
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

import agent_ls
from agent_ls.bridge.start import newer
from agent_ls.testing.editor import Editor
from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import InOrder, say, use
from agent_ls.version import __version__
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

NEXT = "99.0.0"


def upgraded(home: Home, version: str = NEXT) -> Home:
    """The same home for programs of another version."""
    package = home.root / version / "agent_ls"
    package.mkdir(parents=True)
    real = os.path.dirname(os.path.abspath(agent_ls.__file__))
    (package / "__init__.py").write_text(f"__path__.append({real!r})\n")
    (package / "__main__.py").write_text(Path(real, "__main__.py").read_text())
    (package / "version.py").write_text(f'__version__ = "{version}"\n')
    return replace(home, env={**home.env, "PYTHONPATH": os.fspath(package.parent)})


async def test_newer_editors_have_the_daemon_replaced_once_and_everybody_goes_on() -> None:
    async with (
        scene(InOrder([use("shell", command="echo x >> ran"), say("Done.")])) as (_, home),
        AsyncExitStack() as all_,
    ):
        new = upgraded(home)
        old = await all_.enter_async_context(home.bridged(home.workspace, name="old"))
        assert old.hello["daemonVersion"] == __version__
        conversation = await old.create(home.workspace)
        run_id = await old.send(conversation, "Run it.")
        (asked,) = await old.until_asked(conversation)
        newcomers = [await all_.enter_async_context(new.bridged(name=f"new-{n}")) for n in range(4)]
        for editor in (old, *newcomers):
            await editor.wait_for(lambda: editor.hello["daemonVersion"] == NEXT)  # noqa: B023
        assert {editor.hello["pid"] for editor in (old, *newcomers)} == {home.pid}

        # Whoever comes now, of whatever version, finds the daemon that there is.
        late = [
            await all_.enter_async_context(each.bridged(name="late")) for each in (home, new, upgraded(home, "98.9.9"))
        ]
        assert {editor.hello["pid"] for editor in late} == {home.pid}
        await old.attach(conversation.id, after=conversation.seq)
        await old.respond(asked, "allow")
        await old.until_ended(conversation, run_id)
        assert lines(home.workspace / "ran") == ["x"]
        boots = await boots_of(old)
        assert [(each["version"], each["mode"]) for each in boots] == [(NEXT, None), (__version__, "handoff")]


async def test_a_newer_command_line_has_it_replaced_before_it_asks() -> None:
    async with scene(InOrder([say("Hello.")])) as (_, home):
        new = upgraded(home)
        before = await home.start()
        done = await new.run("ask", "Hello?")
        assert (done.returncode, done.stdout, home.pid != before) == (0, "Hello.\n", True)
        after = home.pid
        assert (await home.run("conversations")).returncode == 0
        assert (await new.run("conversations")).returncode == 0
        assert home.pid == after


async def test_a_successor_that_cannot_start_leaves_the_daemon_where_it_is() -> None:
    async with scene(InOrder([say("Hello.")])) as (_, home), home.bridged() as editor:
        home.config.write_text(home.config.read_text() + "[permissions]\nallow = 7\n")
        done = await home.run("restart")
        assert (done.returncode, "permissions.allow" in done.stderr, "goes on" in done.stderr) == (1, True, True)
        assert "Traceback" not in done.stderr
        assert editor.hello["pid"] == home.pid
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Hello?"))


async def test_two_restarts_at_once_are_one_or_two_and_both_say_that_it_was_done() -> None:
    async with scene(InOrder([])) as (_, home):
        before = await home.start()
        done: list[Any] = []

        async def restart() -> None:
            done.append(await home.run("restart"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(restart)
            tasks.start_soon(restart)
        assert [each.returncode for each in done] == [0, 0]
        # Where it takes long, that is said.
        assert all(each.stderr.startswith("What runs may come to its next step") for each in done if each.stderr)
        assert home.pid not in {None, before}


@pytest.mark.parametrize(
    ("mine", "theirs", "is_newer"),
    [
        ("1.0.0", "0.9.9", True),
        ("0.10.0", "0.9.0", True),
        ("1.0.0.1", "1.0.0", True),
        ("1.0.0", "1.0.0", False),
        ("0.9.0", "0.10.0", False),
        ("1.0.0", "", False),
        ("1.0.0", "1.0.0rc1", False),
        ("", "1.0.0", False),
    ],
)
def test_versions_are_compared_as_numbers_and_what_is_none_is_not_newer(
    mine: str,
    theirs: str,
    is_newer: bool,  # noqa: FBT001
) -> None:
    assert newer(mine, theirs) is is_newer


async def boots_of(editor: Editor) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await editor.request("agent/status", {}))["instances"]
    return found
