"""`agent-ls connect`: the editor's stdio server, which is a link to the daemon that outlives the daemon.

Owns moving frames both ways without holding any back, ending with its editor, and taking up a new link when the
daemon goes. Does not own what is remembered for that (memory) nor how a daemon is found or started (start).

It ends when stdin does, at `exit` (code 0 after `shutdown`, 1 without), when nobody reads stdout, or when
`processId` dies if it was alive at the start. One thread and `poll`: nothing here may block. Stdin and stdout stay
in blocking mode, because that mode is shared with whoever else holds these pipes; a write of up to PIPE_BUF bytes
to a pipe that poll calls writable does not block.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections import deque
from contextlib import suppress

from agent_ls.bridge.frames import FrameSplitter, TooLong, frame
from agent_ls.bridge.memory import Memory, Outgoing, error_body, message_body
from agent_ls.bridge.start import (
    NoDaemon,
    alive,
    connect,
    ensure_daemon,
    last_words,
    newer,
    no_answer,
    start_successor,
    successor_waits,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

STDIN, STDOUT, STDERR = 0, 1, 2
PIPE_BUF = 4096
READ = 256 * 1024
FULL = 8 * 1024 * 1024  # more than this is not read from one side before the other has taken some
LINGER_S = 0.5  # how long answers may still come after stdin has ended
LOOK_S = 0.5  # how often a process is looked at that cannot be polled
HELLO_S = 5.0  # a daemon that says nothing for so long is told of
SHORT_LINK_S = 2.0
MANY_SHORT_LINKS = 5
LONGEST_PAUSE_S = 1.0
FAR_LONGEST = 1024 * 1024 * 1024
_ENDS_AT_ONCE = (
    "The daemon ends soon after each start; it is started again every few seconds. `agent-ls log` shows why."
)


class _EditorGone(Exception):
    pass


def main(version: str) -> int:
    """`version` is ours: the daemon of an older one is asked to make room."""
    try:
        return Bridge(os.environ, version).run()
    except KeyboardInterrupt:
        return 130


class Bridge:
    def __init__(self, env: Mapping[str, str], version: str) -> None:
        self._env = env
        self._version = version
        self._memory = Memory(env)
        self._poll = select.poll()
        self._link: socket.socket | None = None
        self._near, self._far = FrameSplitter(), FrameSplitter(FAR_LONGEST)
        self._to_daemon: deque[Outgoing] = deque()
        self._queued = 0  # bytes of these
        self._sending: Outgoing | None = None
        self._head = memoryview(b"")  # what is left of it to be written
        self._to_editor = bytearray()
        self._watched: int | None = None  # a pid looked at now and then
        self._pidfd = -1
        self._reading = True
        self._end_at: float | None = None
        self._code = 1
        self._said = ""
        self._linked_at = 0.0
        self._short_links = 0
        self._heard = False
        self._unheard_since: float | None = None  # asked, and no word came on this link yet
        self._has_called = False  # a successor, for a daemon that is older than we are

    def run(self) -> int:
        try:
            self._link = ensure_daemon(self._env, pause=self._pause_at_start)
        except NoDaemon as error:
            return self._refuse(str(error))
        except _EditorGone:
            return self._code
        self._end_at = None  # what was said before stdin ended is read now, and answered
        self._attach_link()
        try:
            while not self._over():
                self._turn()
        except _EditorGone:
            pass
        return self._code

    def _turn(self) -> None:
        for fd, mask in self._ready():
            if fd == STDIN:
                self._read_editor()
            elif fd == STDOUT:
                self._write_editor(mask)
            elif fd == self._pidfd:
                raise _EditorGone
            elif self._link and fd == self._link.fileno():
                self._use_link(mask)
        if self._watched and not alive(self._watched):
            raise _EditorGone
        if self._link is None and self._end_at is None:
            self._relink(starting=bool(self._to_daemon))
        if self._unheard_since is not None and time.monotonic() - self._unheard_since >= HELLO_S:
            self._unheard_since = None
            self._tell(no_answer(self._env))

    def _ready(self) -> list[tuple[int, int]]:
        poll = self._poll
        if self._reading:
            poll.register(STDIN, select.POLLIN if self._queued < FULL else 0)
        # With no events asked for, the end of the reader is still told.
        poll.register(STDOUT, select.POLLOUT if self._to_editor else 0)
        if self._link:
            reads = select.POLLIN if len(self._to_editor) < FULL else 0
            poll.register(self._link, reads | (select.POLLOUT if self._next_out() else 0))
        limits = [LOOK_S * 1000] if self._watched or self._link is None else []
        if self._end_at is not None:
            limits.append(max(0.0, self._end_at - time.monotonic()) * 1000)
        if self._unheard_since is not None:
            limits.append(max(0.0, self._unheard_since + HELLO_S - time.monotonic()) * 1000)
        return poll.poll(min(limits) if limits else None)

    def _over(self) -> bool:
        if self._end_at is None:
            return False
        if time.monotonic() >= self._end_at:
            return True
        if self._to_editor:
            return False
        answered = self._memory.exit_code is not None or not self._memory.waits
        return self._link is None or (answered and not self._next_out())

    # From the editor

    def _read_editor(self) -> None:
        try:
            data = os.read(STDIN, READ)
        except OSError:
            data = b""
        if not data:
            self._finish()
        for body in self._near.feed(data):
            if isinstance(body, TooLong):
                sentence = f"A message of {body.length} bytes is over the limit of 64 MiB and was not read. Send less."
                self._to_editor += frame(error_body(None, -32600, sentence))
            else:
                self._take(body)
        if self._near.lost and self._end_at is None:
            self._say(self._near.lost)
            self._to_editor += frame(error_body(None, -32700, self._near.lost))
            self._finish()

    def _take(self, body: bytes) -> None:
        first = self._memory.process_id is None
        message = self._memory.from_editor(body)
        unheard = self._link is None and self._memory.stopped
        if message and not (unheard and message.idle):
            self._to_daemon.append(message)
            self._queued += len(message.body)
        if first and self._memory.process_id is not None:
            self._watch(self._memory.process_id)
        if self._memory.exit_code is not None:
            self._finish()

    def _finish(self) -> None:
        if self._end_at is None:
            self._end_at = time.monotonic() + LINGER_S
        if self._memory.exit_code is not None:
            self._code = self._memory.exit_code
        if self._reading:
            self._reading = False
            self._poll.unregister(STDIN)

    def _watch(self, pid: int) -> None:
        if not alive(pid):
            return  # another PID namespace: the editor is where we cannot see it
        try:
            self._pidfd = os.pidfd_open(pid)
            self._poll.register(self._pidfd, select.POLLIN)
        except (AttributeError, OSError):
            self._watched = pid

    # To the editor

    def _write_editor(self, mask: int) -> None:
        if mask & (select.POLLERR | select.POLLNVAL):
            raise _EditorGone
        if mask & select.POLLOUT and self._to_editor:
            try:
                written = os.write(STDOUT, self._to_editor[:PIPE_BUF])
            except BlockingIOError:
                return
            except OSError:
                raise _EditorGone from None
            del self._to_editor[:written]
        elif mask & select.POLLHUP:
            raise _EditorGone

    # The link

    def _attach_link(self) -> None:
        assert self._link is not None
        self._link.setblocking(False)
        self._far = FrameSplitter(FAR_LONGEST)
        self._memory.stopped = self._memory.replaced = False
        self._linked_at = time.monotonic()
        self._heard, self._unheard_since = False, None

    def _next_out(self) -> bool:
        """Whether something may be written to the daemon now; takes up the next message."""
        if not self._head and self._to_daemon and not self._memory.replaying:
            self._sending = self._to_daemon.popleft()
            self._queued -= len(self._sending.body)
            self._head = memoryview(frame(self._sending.body))
        return bool(self._head)

    def _use_link(self, mask: int) -> None:
        assert self._link is not None
        try:
            if mask & select.POLLOUT and self._next_out():
                self._head = self._head[self._link.send(self._head) :]
                if not self._heard and self._unheard_since is None:
                    self._unheard_since = time.monotonic()
            if mask & ~select.POLLOUT and not self._receive(self._link.recv(READ)):
                self._link_lost()
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._link_lost()

    def _receive(self, data: bytes) -> bool:
        self._heard, self._unheard_since = True, None
        for body in self._far.feed(data):
            assert isinstance(body, bytes), "the far side has no limit that a daemon reaches"
            if self._memory.from_daemon(body):
                self._to_editor += frame(body)
            else:
                self._queue(self._memory.after_replay(self._to_daemon))
        if self._memory.daemon_version and not self._has_called:
            self._call_successor()
        return bool(data) and self._far.lost is None

    def _call_successor(self) -> None:
        """Once in our life, whatever comes of it: a daemon of our version takes the place of an older one."""
        self._has_called = True
        if newer(self._version, self._memory.daemon_version) and not successor_waits(self._env):
            with suppress(NoDaemon):
                start_successor(self._env, "--upgrade")

    def _queue(self, messages: list[Outgoing]) -> None:
        self._to_daemon = deque(messages)
        self._queued = sum(len(message.body) for message in messages)

    def _link_lost(self) -> None:
        assert self._link is not None
        self._poll.unregister(self._link)
        self._link.close()
        self._link = self._unheard_since = None
        unsent = list(self._to_daemon)
        if self._sending and self._head:
            unsent.insert(0, self._sending)  # half a message counts for nothing
        self._head, self._sending = memoryview(b""), None
        again, answers = self._memory.daemon_gone(unsent)
        self._queue(again)
        for body in answers:
            self._to_editor += frame(body)
        if self._end_at is None:
            self._after_loss(anything=bool(again))

    def _after_loss(self, *, anything: bool) -> None:
        short = not self._memory.replaced and time.monotonic() - self._linked_at < SHORT_LINK_S
        self._short_links = self._short_links + 1 if short else 0
        reason = last_words(self._env) if self._short_links > 1 else ""
        if reason:
            self._give_up(f"The daemon did not start: {reason}")
        elif self._short_links:
            if self._short_links == MANY_SHORT_LINKS:
                self._tell(_ENDS_AT_ONCE)
            self._pause(min(0.05 * 2**self._short_links, LONGEST_PAUSE_S))
        # One that a person has stopped is started again by what the editor sends next, not by us.
        self._relink(starting=not reason and (anything or not self._memory.stopped))

    def _relink(self, *, starting: bool) -> None:
        try:
            self._link = ensure_daemon(self._env, pause=self._pause) if starting else connect(self._env)
        except NoDaemon as error:
            self._give_up(str(error))
            return
        if self._link:
            self._attach_link()
            if message := self._memory.replay():
                self._head = memoryview(frame(message.body))

    def _give_up(self, sentence: str) -> None:
        """Nothing can be asked of a daemon now; the next thing that the editor sends is another try."""
        if sentence != self._said:
            self._say(sentence)
        self._queue([])
        for body in self._memory.give_up(sentence):
            self._to_editor += frame(body)

    def _tell(self, sentence: str) -> None:
        """Says it where a person sees it; what was asked stays asked, and is answered once there is a daemon."""
        self._say(sentence)
        self._to_editor += frame(message_body(sentence))

    def _say(self, sentence: str) -> None:
        self._said = sentence
        with suppress(OSError):
            os.write(STDERR, f"agent-ls connect: {sentence}\n".encode(errors="replace"))

    def _pause(self, seconds: float) -> None:
        """Wait for a daemon, but not longer than the editor lives."""
        watch = select.poll()
        watch.register(STDIN, 0)
        watch.register(STDOUT, 0)
        if self._pidfd >= 0:
            watch.register(self._pidfd, select.POLLIN)
        if watch.poll(seconds * 1000) or (self._watched and not alive(self._watched)):
            raise _EditorGone

    def _pause_at_start(self, seconds: float) -> None:
        """Nothing is read yet, and who only had something to say may have closed stdin: a moment for the daemon."""
        watch = select.poll()
        watch.register(STDIN, 0)
        watch.register(STDOUT, 0)
        if not self._end_at and not watch.poll(seconds * 1000):
            return
        self._end_at = self._end_at or time.monotonic() + LINGER_S
        if time.monotonic() >= self._end_at:
            raise _EditorGone
        select.select([], [], [], seconds)

    def _refuse(self, sentence: str) -> int:
        """No daemon: said on stderr, and to an editor that says hello, as the answer."""
        self._say(sentence)
        until = time.monotonic() + 1
        while (left := until - time.monotonic()) > 0 and select.select([STDIN], [], [], left)[0]:
            data = os.read(STDIN, READ)
            for body in self._near.feed(data):
                if isinstance(body, bytes):
                    self._memory.from_editor(body)
            answers = self._memory.give_up(sentence)
            if answers or not data:
                os.write(STDOUT, b"".join(frame(body) for body in answers))
                break
        return 1
