"""Tools of a virtual world, and the log of what they really did, which no crash can take back.

Owns a disk of named files and the effect log. Each tool behaves as the real one of its class: reads may run again,
edits can be found out about on the disk, shells can not.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import anyio

from agent_ls.core.call import WALLED
from agent_ls.core.items import Call, ItemKind, ResultStatus, ToolResult
from agent_ls.core.messages import ToolSpec
from agent_ls.ports.tools import Invalid, Prepared, Replay, Tool, ToolContext, ToolEffect
from agent_ls.testing.world_fate import Fate
from agent_ls.testing.world_loop import Process, pause

ROOT: Final = "/world"
_WALLED: Final = 0.15
"""How often a command fails that could do its work outside the sandbox alone."""
_QUESTION: Final = {"id": "which", "text": "Which?", "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]}


@dataclass
class EffectLog:
    """By call with effects: how often it began, and how often it had its effect."""

    began: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    done: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    disk: dict[str, str] = field(default_factory=dict)
    texts: int = 0


class Watcher(Protocol):
    """Is told of each start of something with effects, before its first await, and of each effect as it happens."""

    def begins(self, process: Process, item_id: str, keys: tuple[str, ...]) -> None: ...

    def happens(self, process: Process, item_id: str) -> None: ...


class WorldTool:
    def __init__(
        self, effect: ToolEffect, replay: Replay, *, process: Process, fate: Fate, log: EffectLog, watcher: Watcher
    ) -> None:
        self.name = str(effect)
        self.kind = ItemKind.COMMAND if effect is ToolEffect.SHELL else ItemKind.TOOL_CALL
        self.effect = effect
        self.replay = replay
        self._process = process
        self._fate = fate
        self._log = log
        self._watcher = watcher

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, "", {"type": "object"})

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        await self._fate.gate(self._process, f"prepare {self.name}")
        name = str(arguments.get("file", ""))
        if name not in self._log.disk:
            return Invalid(f"There is no file `{name}`.")
        path = f"{ROOT}/{name}"
        if self.effect is ToolEffect.OTHER:
            return self._prepared(arguments, path, questions=(_QUESTION,))
        if self.effect is ToolEffect.SHELL:
            asks = "commands outside the sandbox" if context.outside else None
            return self._prepared(arguments, path, command=f"make {name}", keys=(f"file://{ROOT}",), asks=asks)
        if self.effect is ToolEffect.READ:
            return self._prepared(arguments, path, reads=(path,))
        before = self._log.disk[name]
        self._log.texts += 1
        after = f"text {self._log.texts}"
        return self._prepared(
            arguments, path, writes=(path,), keys=(f"file://{path}",), before=before, after=after, uri=f"file://{path}"
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        item_id, name = context.item_id, str(prepared.input["file"])
        if self.effect is not ToolEffect.READ:
            self._watcher.begins(self._process, item_id, prepared.keys)
            self._log.began[item_id] += 1
        context.emit(f"{self.name} {name}\n")
        await self._takes_time()
        if self.effect is ToolEffect.EDIT:
            if self._log.disk[name] != prepared.before:
                return ToolResult(status=ResultStatus.ERROR, output="It changed meanwhile; read it again.")
            self._log.disk[name] = prepared.after or ""
        # A read before its reply was committed is no effect: asked again, the model may make another call of it.
        if self.effect is not ToolEffect.READ:
            self._log.done[item_id] += 1
            self._watcher.happens(self._process, item_id)
        await self._takes_time()
        if self.effect is ToolEffect.SHELL and not prepared.asks and self._fate.chance.random() < _WALLED:
            walled = {WALLED: {"why": "it may not", "said": name}}
            return ToolResult(status=ResultStatus.ERROR, output=f"could not {name}", data=walled)
        status = ResultStatus.OK if self._fate.chance.random() < 0.9 else ResultStatus.ERROR
        data = {"uri": f"file://{ROOT}/{name}", "hash": self._log.disk[name]}
        return ToolResult(status=status, output=f"did {name}", data=None if self.effect is ToolEffect.SHELL else data)

    async def recover(self, call: Call, context: ToolContext) -> ToolResult | None:
        await self._fate.gate(self._process, f"recover {self.name}")
        if self.effect is ToolEffect.EDIT:
            found = self._log.disk[str(call.input["file"])]
            if found == call.after:
                return ToolResult(status=ResultStatus.OK, output="found done")
            if found == call.before:
                return None
        return ToolResult(status=ResultStatus.UNKNOWN, output="nobody knows")

    def _prepared(self, arguments: Mapping[str, Any], path: str, **more: Any) -> Prepared:
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=f"{self.name} {path}",
            digest=f"{self.name} {path} {arguments.get('n')} {more.get('asks')}",
            card={"type": "other"},
            **more,
        )

    async def _takes_time(self) -> None:
        await self._fate.gate(self._process, f"run {self.name}")
        await pause(self._fate.chance.choice([0.0, 0.01, 1.0, 20.0]))
        await anyio.lowlevel.checkpoint()


def world_tools(process: Process, fate: Fate, log: EffectLog, *, watcher: Watcher) -> dict[str, Tool]:
    kinds = [
        (ToolEffect.READ, Replay.SAFE),
        (ToolEffect.EDIT, Replay.VERIFY),
        (ToolEffect.SHELL, Replay.ASK),
        (ToolEffect.OTHER, Replay.SAFE),
    ]
    made = [WorldTool(*kind, process=process, fate=fate, log=log, watcher=watcher) for kind in kinds]
    return {tool.name: tool for tool in made}
