"""A tool as the runtime sees it: read its input, show it, lock it, run it.

Implemented one file a tool in adapters.tools. `prepare` decides nothing: whether a prepared call may run is policy
(core.policy), when it runs is the batch's (runtime.batch).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeGuard, runtime_checkable

from agent_ls.core.delegation import Wanted
from agent_ls.core.harmless import Seen
from agent_ls.core.items import Call, ItemKind, ToolResult
from agent_ls.core.masking import Masking
from agent_ls.core.messages import ToolSpec
from agent_ls.core.tool_effect import Replay, ToolEffect
from agent_ls.core.unread import Unread

__all__ = [
    "Invalid",
    "Prepared",
    "Readies",
    "Replay",
    "Spools",
    "Tool",
    "ToolContext",
    "ToolEffect",
    "ToolSource",
    "Toolbox",
    "delegates",
    "readies",
    "spools",
]


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """Where a call runs. `root` and `cwd` are absolute real paths; `environment` is what a child process gets.

    `seen` maps canonical file URIs to the sha256 that the conversation last read or wrote, from the ledger.
    `emit` takes output in flight: what a cancelled call had put out by then is told from it. `spool` is a folder for
    output that must survive a crash. `keep` stores a large payload as a blob and gives its digest. `unread` says what a
    search has to leave out, `masking` what must not be kept of output. `shown`: a person decides on
    this very call, so only what it shows has to hold. `outside`: it has failed in the sandbox, so it is looked at, and
    with the person's leave run, outside of it.
    """

    conversation_id: str
    item_id: str
    root: str
    cwd: str
    environment: Mapping[str, str]
    seen: Mapping[str, str]
    spool: str
    emit: Callable[[str], None]
    keep: Callable[[bytes], Awaitable[str]]
    unread: Callable[[], Unread] = Unread
    masking: Masking = field(default_factory=Masking)
    shown: bool = False
    outside: bool = False


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A call that could run: what it touches, what the person is shown, what exactly is approved.

    `card` is complete: {"type": "command", "command", "cwd", "environment"} or {"type": "edit", "uri", "path", "diff",
    "before", "after"} or {"type": "other", …}. `digest` covers all of it that decides what runs. `keys` are canonical
    URIs to lock, taken for writing. `reads` and `writes` are absolute real paths, for policy; one that ends with `/`
    stands for all that is beneath it. `before` and `after` are sha256 of a file before and after an edit ("" where it
    does not exist). With `questions` or a `plan`, nothing is run: the answer of the person is the result. `apart`: runs
    in a process of its own, so it takes longer than a moment, and sees what is on disk where a window holds unsaved
    text. `record` makes what is kept of a change for its review (core.hunks); it takes a while for large files.
    `shared`: what is written has other hard links, which may be anywhere.
    `host`: whom it asks on the network, for policy; `asks`: as
    what it has to be asked for, whatever rules allow.
    `sights`: for each simple command of a shell's script what it looks at, None for one that may do more than look.
    `brought`: names in it that the workspace has taken for programs of its own.
    """

    tool: str
    input: dict[str, Any]
    effect: ToolEffect
    title: str
    digest: str
    card: dict[str, Any]
    keys: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    uri: str | None = None
    diff: str | None = None
    before: str | None = None
    after: str | None = None
    command: str | None = None
    questions: tuple[dict[str, Any], ...] = ()
    plan: str | None = None
    apart: bool = False
    shared: bool = False
    record: Callable[[], bytes] | None = field(default=None, compare=False)
    host: str | None = None
    asks: str | None = None
    sights: tuple[tuple[Seen, ...] | None, ...] = ()
    brought: tuple[str, ...] = ()


@dataclass(frozen=True)
class Invalid:
    """The call cannot run as asked; `message` tells the model what was expected. `passing`: in a moment it might."""

    message: str
    passing: bool = False


class Tool(Protocol):
    name: str
    kind: ItemKind
    effect: ToolEffect
    replay: Replay

    @property
    def spec(self) -> ToolSpec: ...

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        """Reads the input and what it would touch. Changes nothing."""
        ...

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        """Does it, once. Trouble is a result with status error. Cancelling ends all that it started, then raises the
        cancellation."""
        ...

    async def recover(self, call: Call, context: ToolContext) -> ToolResult | None:
        """What became of a call whose result was lost in a crash, for replay `verify` and `ask`. None: it certainly has
        not happened, so it can run."""
        ...


@runtime_checkable
class Spools(Protocol):
    """A tool that keeps output on disk until its result is committed."""

    def forget(self, item_id: str, spool: str) -> None: ...


@runtime_checkable
class Readies(Protocol):
    """A tool that can get a call ready while its start is being written down: up to where it would have effects."""

    def ready(self, prepared: Prepared, context: ToolContext) -> None:
        """Must not wait. Trouble is found again by `run`, which is given the same call."""
        ...

    def put_back(self, item_id: str, spool: str) -> None:
        """What was got ready and did not run is ended. Nothing, for a call that ran or was not got ready."""
        ...


@runtime_checkable
class Delegates(Protocol):
    """A tool whose calls are done by a subagent (runtime.children) and outlive the daemon."""

    def wanted(self, given: Mapping[str, Any]) -> Wanted | Invalid: ...


# Whether an instance has a protocol's methods is found out anew at each `isinstance`; of a class it is remembered.


def spools(tool: object) -> TypeGuard[Spools]:
    return issubclass(type(tool), Spools)


def readies(tool: object) -> TypeGuard[Readies]:
    return issubclass(type(tool), Readies)


def delegates(tool: object) -> TypeGuard[Delegates]:
    return issubclass(type(tool), Delegates)


class ToolSource(Protocol):
    """Tools that come and go, each workspace with its own."""

    async def open(self, root: str) -> None:
        """Brings up what it has for this workspace. Returns within seconds; what comes later is there the next time."""
        ...

    def tools(self, root: str) -> Mapping[str, Tool]:
        """All that can be called by name, also those that can just now only say why not."""
        ...

    def offered(self, root: str) -> Sequence[Tool]:
        """Those that a model is told of."""
        ...

    def status(self) -> list[dict[str, Any]]:
        """How it stands, for `agent-ls status`."""
        ...


@runtime_checkable
class Picky(Protocol):
    """A tool that is of use to some models only."""

    def fits(self, model: str) -> bool: ...


@dataclass
class Toolbox:
    """The tools offered, by name: our own, and for a workspace's root those of the sources."""

    tools: dict[str, Tool] = field(default_factory=dict)
    sources: tuple[ToolSource, ...] = ()

    async def open(self, root: str) -> None:
        """Nothing for an empty root: whoever has none has our own tools only."""
        for source in self.sources if root else ():
            await source.open(root)

    def get(self, name: str, root: str = "") -> Tool | None:
        """`root` is a real path; without it only our own are found."""
        tool = self.tools.get(name)
        if tool is not None or not root:
            return tool
        return next((found for source in self.sources if (found := source.tools(root).get(name)) is not None), None)

    def status(self) -> list[dict[str, Any]]:
        return [entry for source in self.sources for entry in source.status()]

    def names(self, root: str) -> list[str]:
        return sorted(spec.name for spec in self.specs(root))

    def specs(self, root: str = "", model: str = "") -> tuple[ToolSpec, ...]:
        """What a model is offered; without one, everything."""
        more = [tool for source in self.sources for tool in source.offered(root)] if root else []
        return tuple(tool.spec for tool in (*self.tools.values(), *more) if _suits(tool, model))


def _suits(tool: object, model: str) -> bool:
    return not model or not _is_picky(tool) or tool.fits(model)


def _is_picky(tool: object) -> TypeGuard[Picky]:
    return issubclass(type(tool), Picky)
