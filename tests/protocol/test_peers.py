"""Who may talk to the daemon: not what its own shells have brought forth, however far they have run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_ls.adapters.host.filesystem import mount_type, network_filesystem
from agent_ls.daemon.peers import descends

# A daemon stand-in: becomes a subreaper, has a shell leave a process behind in a session of its own, and looks at it.
ORPHAN = """
import os, subprocess, sys
from agent_ls.daemon.peers import OrphanReaper, become_subreaper, descends
assert become_subreaper()
orphan = int(subprocess.run(["sh", "-c", "setsid sleep 60 >/dev/null 2>&1 & echo $!"], capture_output=True).stdout)
print(descends(orphan, os.getpid()))
os.kill(orphan, 9)
os.waitid(os.P_PID, orphan, os.WEXITED | os.WNOWAIT)
reaper = OrphanReaper()
print([reaper.sweep(), reaper.sweep()], os.path.exists(f"/proc/{orphan}"))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ancestry is read from /proc")
def test_a_process_left_behind_by_a_shell_still_descends_and_is_reaped_when_nobody_else_does() -> None:
    done = subprocess.run([sys.executable, "-c", ORPHAN], check=True, capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("True\n[0, 1] False\n", "")


ORPHANS = """
import os, subprocess
from agent_ls.daemon.peers import OrphanReaper, become_subreaper
assert become_subreaper()
start = "for i in $(seq 300); do setsid sleep 60 >/dev/null 2>&1 & echo $!; done"
orphans = [int(pid) for pid in subprocess.run(["sh", "-c", start], capture_output=True).stdout.split()]
own = subprocess.Popen(["true"])
for pid in orphans:
    os.kill(pid, 9)
for pid in (*orphans, own.pid):
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
reaper = OrphanReaper()
print(reaper.sweep(), own.wait(), reaper.sweep(), reaper.sweep())
print([pid for pid in orphans if os.path.exists(f"/proc/{pid}")])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux hands orphans over")
def test_all_orphans_of_a_command_are_reaped_together_and_never_a_child_that_is_waited_for() -> None:
    done = subprocess.run([sys.executable, "-c", ORPHANS], check=True, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("0 0 300 0\n[]\n", "")


def test_a_child_descends_a_parent_does_not_and_a_process_that_is_gone_is_not_trusted() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        assert descends(child.pid, os.getpid())
        assert not descends(os.getpid(), child.pid)
        assert not descends(os.getppid(), os.getpid())
    assert descends(child.pid, os.getpid())


MOUNTS = [
    "22 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n",
    "30 22 0:40 / /home rw - nfs4 server:/home rw\n",
    "31 30 0:41 / /home/me/local\\040disk rw - ext4 /dev/vdb rw\n",
    "32 22 0:42 / /mnt rw - fuse.sshfs host: rw\n",
    "nonsense\n",
]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/x", "ext4"),
        ("/home", "nfs4"),
        ("/home/me/x", "nfs4"),
        ("/homely", "ext4"),
        ("/home/me/local disk/x", "ext4"),
        ("/mnt/x", "fuse.sshfs"),
    ],
)
def test_the_nearest_mount_above_a_path_says_what_holds_it(path: str, kind: str) -> None:
    assert mount_type(path, MOUNTS) == kind


def test_a_local_directory_is_none_of_the_network(tmp_path: Path) -> None:
    assert network_filesystem(os.fspath(tmp_path)) is None


# A daemon stand-in whose shell runs a client, as an agent does that wants to approve itself.
SELF_APPROVAL = """
import os, subprocess, sys
from agent_ls import paths
from agent_ls.bridge.start import connect
from agent_ls.daemon.listener import bind
from agent_ls.daemon.peers import verdict
listener = bind()
client = [sys.executable, "-c", "from agent_ls.bridge.start import connect; connect().recv(1)"]
with subprocess.Popen(["sh", "-c", '"$@" & wait', "sh", *client]) as shell:
    listener._socket.setblocking(True)
    link, _ = listener._socket.accept()
    print(verdict(link, os.getpid()))
    link.close()
with connect():
    link, _ = listener._socket.accept()
    print(verdict(link, os.getpid()), verdict(link, 1))
    link.close()
listener.close()
"""


def test_a_shell_of_the_daemon_is_told_apart_from_a_client_of_the_person(state_dir: Path, runtime_dir: Path) -> None:
    ours = {"AGENT_LS_STATE_DIR": os.fspath(state_dir), "AGENT_LS_RUNTIME_DIR": os.fspath(runtime_dir)}
    done = subprocess.run(
        [sys.executable, "-c", SELF_APPROVAL],
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, **ours},
    )
    assert done.stdout == "descendant\nwelcome descendant\n"
