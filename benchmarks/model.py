"""The scripted model server as a process of its own, with the times at which bytes came and went.

`python -m benchmarks.model MARKS` prints its base URL. Appends to MARKS, in seconds of CLOCK_MONOTONIC (the same in
every process of a machine): `asked T` when a request is whole, `answered T` when the last bytes of its answer go out.
The person's last words say what it answers, the same for both sides of a comparison:

    say N          a text of N characters          read N    N steps, each reads one file
    stream N       N tokens, one event each        reads N   one step that reads N files
    hang X         some tokens, then silence; asked again it answers    shell N   N steps, each runs `echo hi`
    clock N        N tokens, one in 20 ms, each says when it was said   grep N    N steps, each looks into every file
    stubborn N     a command that ignores TERM

Owns no wire: agent_ls.testing speaks it.
"""

import asyncio
import os
import sys
from time import monotonic
from typing import Any

from agent_ls.testing import model_server
from agent_ls.testing.model_http import HttpConnection, HttpRequest
from agent_ls.testing.model_scenario import Answer, Pause, RequestView, Say, Silence, UseTool, reply

TOKEN = "tok "
FILES = 10
COMMAND = "echo hi"
STUBBORN = "trap '' TERM; echo on; while true; do sleep 0.1; done"


class TimedConnection(HttpConnection):
    marks = -1  # file descriptor

    def note(self, word: str) -> None:
        os.write(self.marks, f"{word} {monotonic():.7f}\n".encode())

    async def request(self) -> HttpRequest | None:
        found = await super().request()
        if found is not None and found.method == "POST":
            self.note("asked")
        return found

    async def end(self) -> None:
        # Before it is out, so that nobody can have finished without the mark being there.
        self.note("answered")
        await super().end()


class Clock(Say):
    """A token that says what time it is when it goes out."""

    def __getattribute__(self, name: str) -> Any:
        return f"{monotonic():.6f} " if name == "text" else super().__getattribute__(name)


TICK = (Clock(""), Pause(0.02))


class Script:
    def __init__(self) -> None:
        self._hung: set[str] = set()

    def __call__(self, request: RequestView) -> Answer:
        words = request.last_user_text.split()
        verb, number = words[0], words[1]
        done = len(request.results)
        match verb:
            case "say":
                return reply(Say("x" * int(number), size=40))
            case "stream":
                return reply(Say(TOKEN * int(number), size=len(TOKEN)))
            case "clock":
                return reply(*(TICK * int(number)))
            case "grep" if done < int(number):
                return reply(UseTool("grep", {"pattern": f"nowhere to be found {done}"}))
            case "read" if done < int(number):
                return reply(UseTool("read", {"path": f"file{done % FILES}.txt"}))
            case "shell" if done < int(number):
                return reply(UseTool("shell", {"command": COMMAND}))
            case "reads" if not done:
                return reply(*(UseTool("read", {"path": f"file{n % FILES}.txt"}) for n in range(int(number))))
            case "stubborn" if not done:
                return reply(UseTool("shell", {"command": STUBBORN}))
            case "hang" if number not in self._hung:
                self._hung.add(number)
                return reply(Say(TOKEN * 20, size=len(TOKEN)), Silence())
        return reply(Say("Done."))


async def main() -> None:
    TimedConnection.marks = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    model_server.HttpConnection = TimedConnection  # type: ignore[misc]
    async with model_server.serve_model(Script()) as server:
        print(server.base_url, flush=True)
        # Ends with whoever started it.
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
