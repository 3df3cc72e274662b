"""What the runtime is given: ports, rules and limits, put together by daemon.compose.

Owns nothing; every room of the runtime reads from it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agent_ls.core.conversation import Conversation
from agent_ls.core.rules import Rule
from agent_ls.ports.host import Clock
from agent_ls.ports.ledger import Ledger
from agent_ls.ports.provider import Failure, Model
from agent_ls.ports.shells import NoShells, Shells
from agent_ls.ports.tools import Toolbox
from agent_ls.runtime.drain import Drain
from agent_ls.runtime.feed import Feed
from agent_ls.runtime.lock_table import LockTable
from agent_ls.runtime.supervisor import Supervisor


@dataclass(frozen=True, kw_only=True)
class Limits:
    steps_per_run: int = 200
    minutes_per_run: int = 120


@dataclass(kw_only=True)
class Services:
    """`models` resolves a provider's name, `environment` gives a child process of a workspace its variables.

    `rules` are all that hold for a conversation, `protected` absolute paths that no tool may write, `spool` a folder
    for output that must survive a crash. `unsaved` names, for a shell in a folder, edits of the agent that a window
    holds and has not saved: the shell does not see them. `limits` and `may_auto` change when the configuration is read
    again, nothing else does. `host` names this machine where several share a ledger.
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
    unsaved: Callable[[str], Sequence[str]] = lambda root: ()
    drain: Drain = field(default_factory=Drain)
    shells: Shells = field(default_factory=NoShells)
