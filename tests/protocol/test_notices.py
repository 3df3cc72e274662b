"""Notices of the desktop: only while no window has the focus, one for all that came together."""

import json
from pathlib import Path

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S
from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import InOrder, UseTool, reply, say
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

BOTH = reply(UseTool("shell", {"command": "touch <a>"}), UseTool("shell", {"command": "touch b"}))
ONE = reply(UseTool("shell", {"command": "touch c"}))


def desktop(home: Home) -> Path:
    """A program that writes down what it is told to show, one line a notice."""
    folder = home.folder("bin")
    program = folder / "notify-send"
    program.write_text(
        f"""#!/bin/sh\nprintf '%s|' "$@" | tr '\\n' '/' >> {home.root}/shown; echo >> {home.root}/shown\n"""
    )
    program.chmod(0o755)
    home.env["PATH"] = f"{folder}:{home.env['PATH']}"
    home.env["AGENT_LS_NOTICES"] = "on"
    return home.root / "shown"


async def until_shown(shown: Path, count: int) -> list[str]:
    with anyio.fail_after(LIMIT_S):
        while len(lines(shown)) < count:
            await anyio.lowlevel.checkpoint()
    return lines(shown)


async def test_who_looks_at_a_window_gets_no_notice_and_who_does_not_gets_one_for_all_of_a_batch() -> None:
    async with scene(InOrder([ONE, BOTH, say("Done.")])) as (_, home):
        shown = desktop(home)
        home.config.write_text(home.config.read_text() + f"\n[hooks]\nnotification = ['{home.root}/told']\n")
        (home.root / "told").write_text(f"#!/bin/sh\ncat > {home.root}/said\n")
        (home.root / "told").chmod(0o755)
        async with home.editor(home.workspace) as editor:
            conversation = await editor.create(home.workspace)
            await editor.notify("agent/window/focus", {"focused": True})
            run_id = await editor.send(conversation, "Go.")
            (first,) = await editor.until_asked(conversation)
            await home.run("pending")
            assert lines(shown) == []
            await editor.notify("agent/window/focus", {"focused": False})
            await editor.respond(first, "deny")
            for request in await editor.until_asked(conversation, 2):
                assert request["number"] in (2, 3)
            (notice,) = await until_shown(shown, 1)
            assert notice == "--app-name=agent-ls|--|agent-ls waits for you|#2 $ touch &lt;a&gt;/#3 $ touch b|"
            said = json.loads((home.root / "said").read_text())
            assert (said["event"], said["requests"]) == ("notification", [2, 3])
            for request in conversation.pending:
                await editor.respond(request, "deny")
            await editor.until_ended(conversation, run_id)
        assert len(lines(shown)) == 1


async def test_a_hook_can_keep_a_notice_away_and_nobody_there_is_no_window_with_the_focus() -> None:
    async with scene(InOrder([ONE, ONE])) as (_, home):
        shown = desktop(home)
        home.config.write_text(home.config.read_text() + f"\n[hooks]\nnotification = ['{home.root}/once']\n")
        (home.root / "once").write_text(
            f"#!/bin/sh\n[ -e {home.root}/mark ] && exit 0\ntouch {home.root}/mark\nexit 2\n"
        )
        (home.root / "once").chmod(0o755)
        assert (await home.run("ask", "Go.")).returncode == 2
        with anyio.fail_after(LIMIT_S):
            while not (home.root / "mark").exists():
                await anyio.lowlevel.checkpoint()
        assert (await home.run("ask", "Go.")).returncode == 2
        (notice,) = await until_shown(shown, 1)
        assert "#2 $ touch c" in notice
