"""A real VS Code for tests: code-server with the extension from its .vsix, and a Chromium to look at it.

Owns installing (scripts/vscode_testbed.sh, once a machine), the server's process group and which browser. Does not own
what is done in a window (window.py).
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection
from pathlib import Path
from subprocess import DEVNULL, STDOUT
from typing import Any, Final

import anyio
import pytest
from anyio import to_thread

ROOT: Final = Path(__file__).parents[3]
EXTENSION: Final = ROOT / "editors" / "vscode"
BIN: Final = Path(sys.executable).parent
START_S: Final = 60
CHROMIUM_FLAGS: Final = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--force-color-profile=srgb", "--disable-dev-shm-usage",
)  # fmt: skip
SETTINGS: Final[dict[str, Any]] = {
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "workbench.colorTheme": "Light 2026",
    "workbench.tips.enabled": False,
    "workbench.enableExperiments": False,
    "remote.autoForwardPorts": False,
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "extensions.autoCheckUpdates": False,
    "extensions.ignoreRecommendations": True,
    "chat.commandCenter.enabled": False,
    "chat.disableAIFeatures": True,
    "git.enabled": False,
    "window.confirmBeforeClose": "never",
    "files.autoSave": "off",
    "editor.minimap.enabled": False,
}
TRUST: Final[dict[bool, dict[str, Any]]] = {
    True: {"security.workspace.trust.enabled": False},
    False: {"security.workspace.trust.enabled": True, "security.workspace.trust.startupPrompt": "never"},
}


@cache
def installed() -> Path:
    """The cache's folder; skips with the reason where there can be none."""
    done = subprocess.run(
        ["sh", "scripts/vscode_testbed.sh"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=900
    )
    if done.returncode != 0:
        pytest.skip(f"no VS Code to test in: {done.stderr.strip()}")
    return Path(done.stdout.strip())


def chromium() -> str:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next((path for name in names if (path := shutil.which(name))), None)
    assert found is not None, "scripts/vscode_testbed.sh has installed one"
    return found


@cache
def vsix() -> Path:
    done = subprocess.run(["sh", "scripts/vsix.sh"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr + done.stdout
    return Path(done.stdout.strip())


@dataclass(frozen=True)
class CodeServer:
    port: int
    folder: Path
    pid: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def code_server(folder: Path, env: Mapping[str, str], *, trusted: bool = True) -> AsyncIterator[CodeServer]:
    """With the extension in it. Not `trusted`: nobody has said that the workspace may be.

    `env` is what its extension hosts, and so `agent-ls connect`, are started with.
    """
    cache_folder = await to_thread.run_sync(installed)
    package = await to_thread.run_sync(vsix)
    node = next((cache_folder / "node_modules").glob("node-*/bin/node"))
    entry = cache_folder / "server" / "node_modules" / "code-server" / "out" / "node" / "entry.js"
    user = folder / "data" / "User"
    user.mkdir(parents=True)
    (user / "settings.json").write_text(json.dumps(SETTINGS | TRUST[trusted]))
    (folder / "config.yaml").write_text("")
    # VS Code takes the PATH of the person's login shell.
    (Path(env["HOME"]) / ".profile").write_text(f'PATH="{BIN}:$PATH"\n')
    port = _free_port()
    environment = {
        **env,
        "PATH": f"{BIN}{os.pathsep}{node.parent}{os.pathsep}{env['PATH']}",
        "XDG_DATA_HOME": os.fspath(folder / "xdg"),
        "XDG_CONFIG_HOME": os.fspath(folder / "xdg"),
    }
    places = [
        "--config",
        folder / "config.yaml",
        "--user-data-dir",
        folder / "data",
        "--extensions-dir",
        folder / "ext",
    ]
    base = [os.fspath(part) for part in (node, entry, *places)]
    await anyio.run_process([*base, "--install-extension", package, "--force"], env=environment)
    options = [] if not trusted else ["--disable-workspace-trust"]
    options += [
        "--bind-addr", f"127.0.0.1:{port}", "--auth", "none", "--disable-telemetry", "--disable-update-check",
        "--disable-getting-started-override", "--ignore-last-opened",
        "--reconnection-grace-time", "60",
    ]  # fmt: skip
    with (folder / "server.log").open("wb") as log:
        process = await anyio.open_process(
            [*base, *options], env=environment, stdin=DEVNULL, stdout=log, stderr=STDOUT, start_new_session=True
        )
    try:
        await _until_healthy(port)
        yield CodeServer(port, folder, process.pid)
    finally:
        with anyio.CancelScope(shield=True):
            _kill_group(process.pid)
            await process.wait()


async def _until_healthy(port: int) -> None:
    with anyio.fail_after(START_S):
        while not await to_thread.run_sync(_healthy, port):
            await _moment()


def _healthy(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


async def _moment() -> None:
    """There is nothing to wait on before a server has begun to listen."""
    with anyio.move_on_after(0.1):
        await anyio.Event().wait()


def _kill_group(leader: int) -> None:
    """Its extension hosts and their bridges too: SIGTERM alone leaves some of them."""
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
