"""What handlers work with: the daemon as the editor room sees it.

Owns nothing. daemon.compose fills it; handlers read it. Ports of the daemon that are no concern of the runtime
(providers as configured, shutting down) stand here.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agent_ls.core.conversation import Mode
from agent_ls.core.errors import Refusal
from agent_ls.core.rules import Rule
from agent_ls.editor.commands import Commands
from agent_ls.editor.documents import Documents, Overlay
from agent_ls.editor.drafts import Drafts
from agent_ls.editor.inbox import Inbox
from agent_ls.editor.language import WindowLanguage
from agent_ls.editor.reading import Reading
from agent_ls.editor.surface.board import Board
from agent_ls.editor.surface.choosing import Choices
from agent_ls.editor.surface.progress import Progress
from agent_ls.editor.surface.redrawing import Redrawing
from agent_ls.editor.surface.transcripts import Transcripts
from agent_ls.ports.exports import ExportFile, Spill
from agent_ls.ports.files import Files
from agent_ls.ports.provider import Failure
from agent_ls.ports.rules import RuleStore
from agent_ls.runtime.housekeeping import Housekeeper
from agent_ls.runtime.registry import Registry
from agent_ls.runtime.review import Reviewer
from agent_ls.runtime.services import Services


@dataclass(frozen=True, kw_only=True)
class ProviderInfo:
    """A provider as configured or found. `reason` says why it is not available and what to do."""

    name: str
    kind: str
    model: str | None
    available: bool
    reason: str | None = None
    context_window: int | None = None


class Catalog(Protocol):
    """Which providers there are."""

    @property
    def mode(self) -> Mode: ...

    def providers(self) -> Sequence[ProviderInfo]: ...

    def choose(self, name: str | None) -> ProviderInfo | Refusal:
        """The provider for a new conversation: the named one, else the default."""
        ...

    async def models(self, name: str) -> Sequence[str] | Failure: ...


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """Conversations that come and go as a whole.

    `spill` writes out what is too long for an answer, `open_export` opens what was written out (it blocks).
    """

    housekeeper: Housekeeper
    spill: Spill
    open_export: Callable[[str], ExportFile | Refusal]


@dataclass(frozen=True, kw_only=True)
class Desk:
    """`person` is who answers; `status` the daemon's part of `agent/status`; `environments` by workspace root.

    `settle` finds out whether the disk holds the text of a copy that was opened or is changed for the first time.
    `keep_card` writes a text under a name, for windows to show; the URI of it.
    `kept_rules` are those of the person and of workspaces that no file of theirs holds.
    """

    registry: Registry
    services: Services
    commands: Commands
    reading: Reading
    catalog: Catalog
    inbox: Inbox
    files: Files
    documents: Documents
    language: WindowLanguage
    board: Board
    transcripts: Transcripts
    progress: Progress
    drafts: Drafts
    choices: Choices
    redrawing: Redrawing
    settle: Callable[[Overlay], Awaitable[None]]
    person: str
    version: str
    workspace_rules: Callable[[str], Sequence[Rule]]
    status: Callable[[], Awaitable[dict[str, Any]]]
    remember_environment: Callable[[str, Mapping[str, str]], None]
    follow: Callable[[str, int], None]
    keep_card: Callable[[str, str], Awaitable[str]]
    exchange: Exchange
    reviewer: Reviewer
    kept_rules: RuleStore
