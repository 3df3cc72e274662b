"""Starts: the bridge, the first command on a machine without a daemon, and the way back after kill -9."""

import json
import os
import signal
import subprocess
import sys
from time import monotonic

from benchmarks.rig import Rig, Window, ms, pause
from benchmarks.table import Row

BRIDGE = [sys.executable, "-I", "-m", "agent_ls", "connect"]
PASS = [sys.executable, "-I", "-c", "pass"]
PEER_COLD_MS = 1700  # 1.3 to 2.1 s


def measure(rig: Rig) -> list[Row]:
    rig.window().client.close()
    bridge: list[float] = []
    nothing: list[float] = []
    for _ in rig.times(21):
        bridge.append(_bridge(rig))
        begin = monotonic()
        subprocess.run(PASS, check=True)
        nothing.append(monotonic() - begin)
    back: list[float] = []
    floor_back: list[float] = []
    for n in rig.times(5):
        back.append(_killed(rig, n))
        floor_back.append(_floor_killed(rig, n))
    cold = [_cold(rig) for _ in rig.times(3)]
    return [
        Row(name="`agent-ls connect` to its first answer (python -I -c pass)", unit="ms", ours=ms(bridge),
            floor=ms(nothing), ratio_at_most=4, at_most=60),
        Row(name="kill -9 of the daemon -> next model request", unit="ms", ours=ms(back), floor=ms(floor_back),
            at_most=700, note="floor: the bare loop killed and started again"),
        Row(name="`agent-ls ask` without a daemon -> first text", unit="ms", ours=ms(cold), peer=PEER_COLD_MS),
    ]  # fmt: skip


def _bridge(rig: Rig) -> float:
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}}
    ).encode()
    begin = monotonic()
    with subprocess.Popen(BRIDGE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=rig.daemon.env) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        process.stdin.flush()
        first = os.read(process.stdout.fileno(), 65536)
        took = monotonic() - begin
        assert first.startswith(b"Content-Length"), first
        process.kill()
    return took


def _killed(rig: Rig, n: int) -> float:
    """From the kill in mid-stream to the next request; a window connects again at once, as an editor's bridge does."""
    window = rig.window()
    window.open()
    rig.model.marks()
    window.send(f"hang ours{os.urandom(3).hex()}{n}")
    rig.model.wait_asked()
    _until_streaming(window)
    killed = rig.daemon.kill()
    window.client.close()
    again = rig.window()
    asked = rig.model.wait_asked()
    again.client.close()
    return asked - killed


def _until_streaming(window: Window) -> None:
    for method, _ in window.client.events(10):
        if method == "agent/stream":
            return


def _floor_killed(rig: Rig, n: int) -> float:
    database = rig.folder / f"killed{os.urandom(3).hex()}.db"
    command = [sys.executable, "-m", "benchmarks.floor", str(database), rig.model.url, str(rig.workspace)]
    rig.model.marks()
    with subprocess.Popen([*command, f"hang floor{database.stem}{n}"]) as first:
        rig.model.wait_asked()
        pause(0.05)
        killed = monotonic()
        first.send_signal(signal.SIGKILL)
    with subprocess.Popen(command):
        return rig.model.wait_asked() - killed


def _cold(rig: Rig) -> float:
    rig.daemon.stop()
    command = [sys.executable, "-m", "agent_ls", "ask", "say 40"]
    begin = monotonic()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=rig.workspace, env=rig.daemon.env
    ) as process:
        assert process.stdout is not None
        os.read(process.stdout.fileno(), 65536)
        took = monotonic() - begin
        process.communicate()
    rig.window().client.close()
    return took
