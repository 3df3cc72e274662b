"""What the runtime is given: ports, rules and limits, put together by daemon.compose.

Owns nothing; every room of the runtime reads from it.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agent_ls.core.agents import Agent
from agent_ls.core.compaction import Policy
from agent_ls.core.conversation import Conversation, Delegated
from agent_ls.core.delegation import Wanted
from agent_ls.core.items import ResultStatus, ToolResult
from agent_ls.core.masking import Masking
from agent_ls.core.projection import ConversationState
from agent_ls.core.rules import Rule
from agent_ls.core.run import Interrupt
from agent_ls.ports.checkpoints import Checkpoints, NoCheckpoints
from agent_ls.ports.hooks import Hooks, NoHooks
from agent_ls.ports.host import Clock
from agent_ls.ports.ledger import Ledger
from agent_ls.ports.provider import Failure, Model
from agent_ls.ports.shells import NoShells, Shells
from agent_ls.ports.tools import Invalid, Toolbox
from agent_ls.runtime.drain import Drain
from agent_ls.runtime.feed import Feed
from agent_ls.runtime.lock_table import LockTable
from agent_ls.runtime.supervisor import Supervisor


class Subagents(Protocol):
    """Who does the work that a call hands over (runtime.children)."""

    async def run(self, item_id: str, wanted: Wanted | Invalid) -> ToolResult | None:
        """The result; None while it goes on and this daemon ends."""
        ...

    async def stop(self, item_id: str, stop: Interrupt) -> None:
        """Stops what the call has handed over, and waits for its end."""
        ...

    def leave_line(self, item_id: str) -> bool:
        """Stops one that waits for its turn; False where none does."""
        ...

    async def above(self, delegated: Delegated) -> Sequence[Conversation]:
        """Who a subagent works for, as they are now; those that are gone are left out."""
        ...

    def above_here(self, delegated: Delegated) -> Sequence[Conversation]:
        """Those of them that this daemon works on, without a wait."""
        ...

    async def topmost(self, delegated: Delegated) -> ConversationState | None:
        """The conversation that the person talks to."""
        ...

    def known(self, conversation_id: str) -> ConversationState | None:
        """One that this daemon works on, as it is now."""
        ...


class NoSubagents:
    """Where none can be started."""

    async def run(self, item_id: str, wanted: Wanted | Invalid) -> ToolResult | None:
        return ToolResult(status=ResultStatus.ERROR, output="Subagents cannot be started here; do it yourself.")

    async def stop(self, item_id: str, stop: Interrupt) -> None:
        return

    def leave_line(self, item_id: str) -> bool:
        return False

    async def above(self, delegated: Delegated) -> Sequence[Conversation]:
        return ()

    def above_here(self, delegated: Delegated) -> Sequence[Conversation]:
        return ()

    async def topmost(self, delegated: Delegated) -> ConversationState | None:
        return None

    def known(self, conversation_id: str) -> ConversationState | None:
        return None


async def _nowhere(conversation_id: str, run_id: str, stop: Interrupt) -> None:
    """No daemon but this one uses the ledger."""


async def _no_agents(conversation: Conversation) -> Mapping[str, Agent]:
    return {}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """`retries_per_run`: how often at most a model is asked again, None: as the policy has it. Money None: no limit."""

    steps_per_run: int = 200
    minutes_per_run: int = 120
    retries_per_run: int | None = None
    usd_per_run: float | None = None
    usd_per_day: float | None = None


@dataclass(kw_only=True)
class Services:
    """`models` resolves a provider's name, `environment` gives a child process of a workspace its variables.

    `rules` are all that hold for a conversation, `protected` absolute paths that no tool may write, `spool` a folder
    for output that must survive a crash. `unsaved` names, for a shell in a folder, edits of the agent that a window
    holds and has not saved: the shell does not see them. `agents` are those that a subagent of a conversation can be,
    by name; `stop_elsewhere` stops a run that another daemon on the same ledger works on; `sessions` are conversations
    that have begun to work here, as they were then. `limits` and `may_auto` change when the configuration is read
    again, nothing else does. `host` names this machine where several share a ledger. `window` says how many tokens a
    provider's model takes, None where nobody knows; `compaction` changes as limits do.
    `masking` knows the secrets that no result may hold. `chance` yields numbers between 0 and 1.
    `folds`: the volume of a folder takes another case for the same name; `twins` are other names of the same files
    beneath known places, `linked` those that hard links give them in folders, and a folder too large to be sure.
    """

    ledger: Ledger
    clock: Clock
    feed: Feed
    locks: LockTable
    toolbox: Toolbox
    supervisor: Supervisor
    models: Callable[[str], Model | Failure]
    rules: Callable[[Conversation], Sequence[Rule]]
    environment: Callable[[str], Mapping[str, str]]
    limits: Limits
    boot_id: str
    spool: str
    home: str
    platform: str
    protected: tuple[str, ...] = ()
    may_auto: bool = False
    host: str = ""
    folds: Callable[[str], bool] = lambda folder: False
    twins: Callable[[Iterable[str], Iterable[str]], Sequence[str]] = lambda paths, known: ()
    linked: Callable[[Iterable[str], Iterable[str]], tuple[Sequence[str], str | None]] = lambda paths, folders: (
        (),
        None,
    )
    unsaved: Callable[[str], Sequence[str]] = lambda root: ()
    drain: Drain = field(default_factory=Drain)
    shells: Shells = field(default_factory=NoShells)
    agents: Callable[[Conversation], Awaitable[Mapping[str, Agent]]] = _no_agents
    instructions: Callable[[Conversation], Sequence[str]] = lambda conversation: ()
    hooks: Hooks = field(default_factory=NoHooks)
    sessions: dict[str, Conversation] = field(default_factory=dict)
    subagents: Subagents = field(default_factory=NoSubagents)
    stop_elsewhere: Callable[[str, str, Interrupt], Awaitable[None]] = _nowhere
    masking: Callable[[], Masking] = Masking
    checkpoints: Checkpoints = field(default_factory=NoCheckpoints)
    chance: Callable[[], float] = lambda: 0.5
    compaction: Policy = field(default_factory=Policy)
    window: Callable[[str, str], int | None] = lambda provider, model: None
