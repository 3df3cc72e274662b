"""The person's own program that prints a key."""

import os
import sys
from pathlib import Path

from agent_ls.adapters.host.key_command import printed_key
from agent_ls.ports.provider import Cause, Failure


def shell(command: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", command)


def failure(what: str) -> Failure:
    return Failure(
        Cause.UNAUTHORIZED, f"The api_key_command {what}, so there is no key. Run it in a terminal to see why."
    )


def test_the_key_is_what_it_printed() -> None:
    assert printed_key(shell("echo k1")) == "k1\n"


def test_it_has_no_input_and_its_errors_are_not_taken_for_a_key() -> None:
    assert printed_key(shell("cat; echo trouble >&2")) == ""


def test_a_program_that_fails_is_said_without_what_it_printed() -> None:
    assert printed_key(shell("echo topsecret; exit 3")) == failure("ended with status 3")
    assert printed_key(shell("kill -9 $$")) == failure("was ended by signal 9")
    assert printed_key(("/no/such/program",)) == failure("cannot be started (No such file or directory)")
    assert printed_key(("a\0b",)) == failure("cannot be started (its arguments are not usable)")


def test_a_program_that_does_not_end_is_killed_with_its_children(tmp_path: Path) -> None:
    pipe = tmp_path / "held"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        command = f"exec 3>'{pipe}'; {sys.executable} -c 'import signal; signal.pause()' & wait"
        assert printed_key(shell(command), limit_s=0.5) == failure("did not finish within 0.5 s")
        os.set_blocking(reader, True)
        assert os.read(reader, 1) == b""  # nobody holds the other end any more
    finally:
        os.close(reader)


def test_a_program_that_leaves_a_helper_behind_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "end"
    os.mkfifo(pipe)
    # The helper keeps the output open until this test opens the other end.
    assert printed_key(shell(f"echo k1; (read line <'{pipe}') & exit 0"), limit_s=5.0) == "k1\n"
    os.close(os.open(pipe, os.O_WRONLY))


def test_a_program_that_floods_ends_at_the_limit() -> None:
    assert printed_key(shell("yes"), limit_s=0.3) == failure("did not finish within 0.3 s")
