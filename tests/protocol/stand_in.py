"""A package that stands in for `agent_ls` in a daemon that the real start code starts: it binds, and says its pid.

Owns making that package. The start race is what is tested with it; what a daemon does afterwards is not.
"""

import os
from pathlib import Path

import agent_ls

MAIN = """
import os, sys
from contextlib import suppress
import anyio
from agent_ls import paths
from agent_ls.adapters.host.system import SystemClock
from agent_ls.daemon.listener import AlreadyRunning, CannotListen, bind

async def serve(stream, reception):
    with suppress(anyio.BrokenResourceError):  # a client that only looks whether somebody is there
        async with stream:
            await stream.send(b"%d %d\\n" % (os.getpid(), reception == "welcome"))

try:
    listener = bind()
except AlreadyRunning:
    sys.exit(0)
except CannotListen as error:
    sys.exit(str(error))
with open(os.path.join(paths.state_dir(), "started"), "a") as file:
    file.write(f"{os.getpid()}\\n")
anyio.run(listener.serve, serve, SystemClock().sleep)
"""


def make(folder: Path) -> dict[str, str]:
    """The environment in which `python -m agent_ls daemon` is the stand-in."""
    package = folder / "agent_ls"
    package.mkdir(parents=True)
    real = os.path.dirname(os.path.abspath(agent_ls.__file__))
    (package / "__init__.py").write_text(f"__path__.append({real!r})\n")
    (package / "__main__.py").write_text(MAIN)
    return {"PYTHONPATH": os.fspath(folder)}
