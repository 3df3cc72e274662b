"""Programs of hooks: their limit, what they leave behind, and where they are looked for."""

import os
from pathlib import Path

import anyio
import pytest

from agent_ls.adapters.host.hooks import CommandHooks, located
from agent_ls.core.hooks import HookAnswer, HookEvent
from agent_ls.testing.home import gone

pytestmark = pytest.mark.anyio


def script(folder: Path, text: str) -> None:
    (folder / "hook").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "hook").chmod(0o755)


async def run(folder: Path, *, limit_s: float = 30.0) -> HookAnswer:
    hooks = CommandHooks({"stop": ("./hook", "an argument")}, str(folder), limit_s=limit_s)
    return await hooks.run(HookEvent.STOP, {"a": "ü"}, cwd=str(folder), environment={"PATH": os.environ["PATH"]})


async def test_one_that_does_not_end_is_ended_with_all_it_has_started(tmp_path: Path) -> None:
    script(tmp_path, "trap '' TERM; sleep 600 & echo $! > pid; echo $1 > argument; wait; wait")
    answer = await run(tmp_path, limit_s=0.5)
    assert answer == HookAnswer(trouble="The hook `stop` did not end within 0.5 s. It was ignored.")
    with anyio.fail_after(20):
        await gone(int((tmp_path / "pid").read_text()))
    assert (tmp_path / "argument").read_text() == "an argument\n"


async def test_a_child_that_keeps_its_output_open_keeps_nobody_waiting(tmp_path: Path) -> None:
    script(tmp_path, """sleep 600 & echo $! > pid; echo '{"context": "'$(wc -c)'"}'""")
    with anyio.fail_after(20):
        answer = await run(tmp_path)
    os.kill(int((tmp_path / "pid").read_text()), 9)
    assert answer == HookAnswer(context=str(len('{"a": "ü"}'.encode())))


async def test_a_path_stands_beside_the_configuration_and_a_word_is_looked_for_on_the_path(tmp_path: Path) -> None:
    script(tmp_path, "exit 0")
    assert located("./hook", str(tmp_path)) == str(tmp_path / "hook")
    assert located("hook", str(tmp_path)) is None
    assert located("./nothing", str(tmp_path)) is None
    assert os.path.basename(located("sh", str(tmp_path)) or "") == "sh"
    (tmp_path / "hook").chmod(0o644)
    assert located("./hook", str(tmp_path)) is None
