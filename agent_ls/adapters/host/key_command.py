"""Runs the person's own program that prints a key.

Owns its process, time limit and what is said when it fails; what it prints is never part of that. Does not own
remembering the key (config.secret). Blocking: an event loop calls it in a thread.
"""

import os
import signal
import subprocess
from contextlib import suppress
from typing import Final

from agent_ls.ports.provider import Cause, Failure

LIMIT_S: Final = 10.0
LARGEST_KEY: Final = 64 * 1024


def printed_key(argv: tuple[str, ...], limit_s: float = LIMIT_S) -> str | Failure:
    """What it printed. It has no terminal and no input, so it cannot ask for a passphrase here."""
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "its arguments are not usable"
        return _failure(f"cannot be started ({reason})")
    assert process.stdout is not None
    with process.stdout as output:
        try:
            # Waiting for the process, not for the end of its output: an agent it started may keep the pipe open.
            # A key fits into the pipe; who prints more than that runs into the time limit.
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            _kill(process)
            return _failure(f"did not finish within {limit_s:g} s")
        os.set_blocking(output.fileno(), False)
        printed = output.read(LARGEST_KEY) or b""
    if code != 0:
        return _failure(f"ended with status {code}" if code > 0 else f"was ended by signal {-code}")
    return printed.decode(errors="replace")


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _failure(what: str) -> Failure:
    return Failure(
        Cause.UNAUTHORIZED, f"The api_key_command {what}, so there is no key. Run it in a terminal to see why."
    )
