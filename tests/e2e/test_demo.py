"""The demo tells the whole story with the real daemon, and leaves nothing behind."""

import glob
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from agent_ls.bridge.start import alive

ROOTS = "/tmp/agent-ls-demo-*"


def test_the_demo_survives_its_kill_and_cleans_up(state_dir: Path) -> None:
    before = set(glob.glob(ROOTS))
    environ = {**os.environ, "AGENT_LS_STATE_DIR": str(state_dir), "NO_COLOR": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "agent_ls", "demo"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        env=environ,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    told = [line for line in ran.stdout.splitlines() if re.match(r"(  Allow|● |  \$ kill|  request)", line)]
    assert [re.sub(r"\d{3,}", "PID", line) for line in told] == [
        "● read hello.py",
        "  Allow #1? [y/n] y  (the demo answers itself)",
        "● edit hello.py  +1 -1",
        "  $ kill -9 PID",
        "  request   #2 still waits: the same number, the same command, nothing ran meanwhile",
        "  Allow #2? [y/n] y  (the demo answers itself)",
        "● $ python3 hello.py",
    ]
    assert "    Hello, world!\n" in ran.stdout
    assert set(glob.glob(ROOTS)) - before == set()
    assert list(state_dir.iterdir()) == []


def test_ctrl_c_ends_the_demo_with_a_sentence_and_cleans_up(state_dir: Path) -> None:
    before = set(glob.glob(ROOTS))
    environ = {**os.environ, "AGENT_LS_STATE_DIR": str(state_dir), "NO_COLOR": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "agent_ls", "demo"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ,
    ) as demo:
        assert demo.stdout is not None
        pid = next(found[1] for line in demo.stdout if (found := re.search(r"started, pid (\d+)", line)))
        demo.send_signal(signal.SIGINT)
        out, err = demo.communicate(timeout=30)
    assert (demo.returncode, err) == (0, "")
    assert out.splitlines()[-1] == (
        "The demo ends here. Its daemon and its folder are gone; nothing of yours was touched."
    )
    assert set(glob.glob(ROOTS)) - before == set()
    assert not alive(int(pid))
