"""Shells that go on after their call: kept, read, ended, and found again after a crash.

Owns the processes between the result of their call and their end. What is on record of them is core.shells; who waits
for their end and writes it down is runtime.shells. The output of one that has ended can still be read for a while.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from agent_ls.adapters.tools import shell_spool
from agent_ls.adapters.tools.shell_recording import Recording, how_it_ended
from agent_ls.core.output import Folder, Ring
from agent_ls.core.shells import shell_id
from agent_ls.ports.processes import Child, Processes, ProcessId
from agent_ls.ports.tools import ToolContext

MOST: Final = 16
"""At once, in one conversation."""
_READABLE: Final = 32
_GRACE: Final = 2.0
_DRAIN: Final = 0.2


@dataclass
class KeptShell:
    conversation_id: str
    item_id: str
    child: Child
    recording: Recording
    spool: str
    why: str = ""

    @property
    def name(self) -> str:
        return shell_id(self.item_id)

    def how(self) -> str:
        """In words, once it has ended."""
        return how_it_ended(self.child.exit, None) or "exit code 0"


class BackgroundShells:
    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._running: dict[str, KeptShell] = {}
        self._ended: OrderedDict[str, KeptShell] = OrderedDict()

    def full(self, conversation_id: str) -> str:
        """Why no more can be kept there; empty if one can."""
        mine = [kept.name for kept in self._running.values() if kept.conversation_id == conversation_id]
        if len(mine) < MOST:
            return ""
        return f"{MOST} shells run in the background, which is the limit; end one with shell_stop: {', '.join(mine)}."

    def keep(self, child: Child, context: ToolContext, recording: Recording) -> None:
        recording.detach()
        self._running[context.item_id] = KeptShell(
            context.conversation_id, context.item_id, child, recording=recording, spool=context.spool
        )

    def keeps(self, item_id: str) -> bool:
        """Whether its output is still read or can be."""
        return item_id in self._running or item_id in self._ended

    def find(self, name: str, conversation_id: str) -> KeptShell | None:
        """By what models call it; of the conversation's own."""
        every = (*self._running.values(), *self._ended.values())
        return next((kept for kept in every if kept.name == name and kept.conversation_id == conversation_id), None)

    def names(self, conversation_id: str) -> list[str]:
        """Of those that can be read or ended, the running ones first."""
        every = (*self._running.values(), *self._ended.values())
        return [kept.name for kept in every if kept.conversation_id == conversation_id]

    def forget(self, item_id: str) -> None:
        """Nobody will ask for its output any more."""
        kept = self._ended.pop(item_id, None)
        if kept is not None:
            kept.recording.close()

    def running(self, item_id: str) -> bool:
        return item_id in self._running

    def process(self, item_id: str) -> ProcessId | None:
        kept = self._running.get(item_id)
        return None if kept is None else kept.child.id

    async def over(self, item_id: str) -> str:
        kept = self._running[item_id]
        await kept.child.wait()
        await kept.child.drain(_DRAIN)
        kept.child.close()
        kept.recording.finish()
        # It can still be read: the file is open.
        shell_spool.forget(kept.spool, item_id)
        del self._running[item_id]
        self._ended[item_id] = kept
        while len(self._ended) > _READABLE:
            self.forget(next(iter(self._ended)))
        how = f"was ended: {kept.why}" if kept.why else f"ended: {kept.how()}"
        return _said(kept.name, how, kept.recording.last())

    async def stop(self, item_id: str, why: str) -> bool:
        kept = self._running.get(item_id)
        if kept is None:
            return False
        kept.why = kept.why or why
        await self._processes.end(kept.child.id, item_id, grace=_GRACE)
        return True

    async def left(self, item_id: str, spool: str) -> str:
        left = shell_spool.read(spool, item_id)
        if left is None:
            return _said(shell_id(item_id), "is not running here; how it ended is not known", "")
        ended = await self._processes.end(left.process, item_id, grace=_GRACE)
        folder, ring = Folder(), Ring()
        ring.feed(folder.feed(left.output))
        ring.feed(folder.finish())
        shell_spool.forget(spool, item_id)
        how = "still ran and was ended" if ended else "had ended by then, it is not known how"
        return _said(shell_id(item_id), f"did not outlive the daemon, which was killed: it {how}", ring.end())


def _said(name: str, how: str, last: str) -> str:
    text = f"The background shell `{name}` {how}."
    return f"{text} It said last:\n{last.rstrip()}" if last.strip() else text
