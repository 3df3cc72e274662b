"""Notices of the desktop, where there is a program that shows them (`notify-send`, `osascript`).

Owns which program and its words. Nothing depends on it: where there is none, or it fails, nothing is shown.
"""

import html
import logging
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from anyio import to_thread

log = logging.getLogger(__name__)

VARIABLE: Final = "AGENT_LS_NOTICES"
LIMIT_S: Final = 5.0
_SCRIPT: Final = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


class DesktopNotices:
    """`environ` of the daemon: its PATH, its desktop, and `AGENT_LS_NOTICES=off`."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = dict(environ)
        self._off = environ.get(VARIABLE, "").strip().lower() in {"off", "0", "no", "false"}

    async def show(self, title: str, text: str) -> None:
        argv = None if self._off else command(title, text, self._environ.get("PATH"))
        if argv is not None:
            await to_thread.run_sync(partial(_run, argv, self._environ), abandon_on_cancel=True)


def command(title: str, text: str, path: str | None) -> Sequence[str] | None:
    """What shows it; None where nothing can."""
    if program := shutil.which("notify-send", path=path):
        # The body may be read as markup.
        return [program, "--app-name=agent-ls", "--", title, html.escape(text, quote=False)]
    if program := shutil.which("osascript", path=path):
        lines = [part for line in _SCRIPT for part in ("-e", line)]
        return [program, *lines, title, text]
    return None


def _run(argv: Sequence[str], environ: Mapping[str, str]) -> None:
    try:
        subprocess.run(
            argv,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        log.info("no notice was shown: %s", type(error).__name__)
