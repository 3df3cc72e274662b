"""`agent-ls demo`: the whole story in a terminal, in a scratch folder, with a scripted model and no key.

Owns the story: a message, an edit to approve, the daemon killed with -9 while a command waits, everything back, done.
What happens is real: the daemon, the ledger, the files and the kill. Does not own where it happens (demo_world.py).
"""

import os
import signal
import sys
import time
from typing import Any, Final

from agent_ls.cli import screen
from agent_ls.cli.client import Client, ClientError
from agent_ls.cli.demo_world import FILE, World
from agent_ls.cli.follow import Follower
from agent_ls.cli.places import command_id, path_uri
from agent_ls.cli.processes import ended
from agent_ls.cli.terminal import complain, is_terminal, put, style_of

Json = dict[str, Any]
MESSAGE: Final = "Fix the greeting in hello.py and run it"
_ENDED: Final = frozenset({"completed", "failed", "interrupted", "cancelled"})
_PATIENCE_S: Final = 30.0

NEXT: Final = """\
export ANTHROPIC_API_KEY=…            or OPENAI_API_KEY, OPENROUTER_API_KEY; or start Ollama, LM Studio, llama.cpp
agent-ls doctor                       what was found, and what is missing
agent-ls ask "Explain this folder"    from any folder; agent-ls pending, approve, attach beside it
agent-ls connect                      what your editor runs as its language server"""


def run(*, yes: bool) -> int:
    began = time.monotonic()
    try:
        with World() as world:
            return _played(world, began, answers_itself=yes or not is_terminal(sys.stdin))
    except KeyboardInterrupt:
        # Not an error: `make demo` would say so.
        put("\n\nThe demo ends here. Its daemon and its folder are gone; nothing of yours was touched.")
        return 0


def _played(world: World, began: float, *, answers_itself: bool) -> int:
    try:
        return _Demo(world, answers_itself=answers_itself).play(began)
    except ClientError as error:
        complain(error.message, error.hint)
        world.tell_log()
        return 1


class _Demo:
    def __init__(self, world: World, *, answers_itself: bool) -> None:
        self._world = world
        self._answers_itself = answers_itself
        self._style = style_of(sys.stdout)
        self._screen = screen.on_terminal(hints=False)
        self._pid = 0
        self._failed = False

    def play(self, began: float) -> int:
        self._open()
        client, conversation_id = self._start()
        follower = Follower(client, conversation_id, connect=self._world.connect, patience=_PATIENCE_S)
        try:
            code = self._tell(follower)
        finally:
            follower.client.close()
        self._close(time.monotonic() - began)
        return code

    def _tell(self, follower: Follower) -> int:
        follower.attach()
        self._say(follower)
        edit = self._until_asked(follower)
        if edit is None:
            return self._ended_early()
        if not self._decide(follower, edit):
            self._until_asked(follower)
            return self._ended_early()
        command = self._until_asked(follower)
        if command is None:
            return self._ended_early()
        self._heading("The daemon dies while a command waits for you")
        survived = self._kill(follower, command)
        if not survived:
            return 1
        self._heading("You answer, and it goes on where it was")
        self._decide(follower, command)
        self._until_asked(follower)
        return self._judged()

    def _open(self) -> None:
        put()
        put(self._style.bold("agent-ls demo"))
        self._note(f"A scratch folder, a scripted model, no key, no network. All of it is in {self._world.root}")
        self._note("and goes away at the end; nothing of yours is read or changed.")
        if self._answers_itself:
            self._note("Nobody can be asked here, so the demo answers its questions itself, with yes.")

    def _start(self) -> tuple[Client, str]:
        self._heading("A daemon, a folder, a message")
        client = self._world.connect()
        self._pid = int(client.call("agent/status")["pid"])
        self._fact("daemon", f"started, pid {self._pid}; every editor and terminal shares it")
        self._fact(FILE, self._world.file_text().strip())
        made = client.call(
            "agent/conversation/create", {"commandId": command_id(), "workspace": path_uri(self._world.workspace)}
        )
        return client, str(made["conversation"]["id"])

    def _say(self, follower: Follower) -> None:
        content = [{"type": "text", "text": MESSAGE}]
        params = {"commandId": command_id(), "conversationId": follower.conversation_id, "content": content}
        follower.client.call("agent/message/send", params)

    def _until_asked(self, follower: Follower) -> Json | None:
        """Shows what happens until something waits for the person, or None when the run has ended."""
        for happened in follower.happenings():
            match happened.kind:
                case "stream":
                    self._screen.stream(happened.body)
                case "snapshot":
                    self._screen.snapshot(happened.body)
                case _:
                    self._screen.event(happened.body)
                    entity: Json = happened.body["entity"]
                    self._failed |= happened.body["kind"] in {"item", "run"} and entity["status"] == "failed"
                    if happened.body["kind"] == "request" and entity["status"] == "pending":
                        return entity
                    if happened.body["kind"] == "run" and entity["status"] in _ENDED:
                        return None
        return None

    def _decide(self, follower: Follower, request: Json) -> bool:
        allowed = self._asked(f"  Allow #{request['number']}?")
        params: Json = {
            "commandId": command_id(),
            "requestId": request["id"],
            "digest": request["digest"],
            "decision": "allow" if allowed else "deny",
        }
        follower.client.call("agent/request/respond", params)
        return allowed

    def _asked(self, question: str) -> bool:
        shown = self._style.paint(f"{question} [y/n] ", "bold", "yellow")
        if self._answers_itself:
            put(shown + "y" + self._style.dim("  (the demo answers itself)"))
            return True
        while True:
            sys.stdout.write(shown)
            sys.stdout.flush()
            said = sys.stdin.readline()
            if not said:
                put()
                return False
            if said.strip().lower() in {"y", "yes", "n", "no"}:
                return said.strip().lower().startswith("y")

    def _kill(self, follower: Follower, before: Json) -> bool:
        put(f"  {self._style.paint('$', 'dim')} {self._style.bold(f'kill -9 {self._pid}')}")
        os.kill(self._pid, signal.SIGKILL)
        ended(self._pid, 5)
        self._fact("daemon", f"pid {self._pid} is dead: no warning, no clean-up, no last words")
        began = time.monotonic()
        follower.client.close()
        follower.client = self._world.connect()
        follower.seq, follower.backfill = 0, 100
        snapshot = follower.attach()
        took = time.monotonic() - began
        self._pid = int(follower.client.call("agent/status")["pid"])
        self._fact("daemon", f"a new one, pid {self._pid}, started by the next client; back after {took:.2f} s")
        self._fact("items", f"{len(snapshot['items'])} of the conversation, from the ledger")
        return self._same_request(before, snapshot["requests"])

    def _same_request(self, before: Json, pending: list[Json]) -> bool:
        after = next((request for request in pending if request["id"] == before["id"]), None)
        if after is None or (after["number"], after["digest"]) != (before["number"], before["digest"]):
            complain("The request did not come back as it was. That is a bug: please report it.")
            return False
        told = f"#{after['number']} still waits: the same number, the same command, nothing ran meanwhile"
        self._fact("request", told)
        return True

    def _judged(self) -> int:
        if self._failed:
            complain("Something in the story failed that should not: please report it, with what stands above.")
            self._world.tell_log()
        return 1 if self._failed else 0

    def _ended_early(self) -> int:
        put()
        self._note("So the story ends here. With a yes you would see the daemon killed while a command waits.")
        return 0

    def _close(self, seconds: float) -> None:
        self._heading("Done")
        self._fact(FILE, self._world.file_text().strip())
        self._fact("took", f"{seconds:.0f} s")
        put()
        put(self._style.bold("With a real model"))
        for line in NEXT.split("\n"):
            command, told = line[:38].rstrip(), line[38:]
            put(f"  {self._style.paint(command.ljust(36), 'cyan')}  {self._style.dim(told)}")
        put()

    def _heading(self, text: str) -> None:
        put()
        put(f"{self._style.paint('━━', 'blue')} {self._style.paint(text, 'bold', 'blue')}")
        put()

    def _fact(self, name: str, text: str) -> None:
        put(f"  {self._style.dim(name.ljust(9))} {text}")

    def _note(self, text: str) -> None:
        put(self._style.dim(text))
