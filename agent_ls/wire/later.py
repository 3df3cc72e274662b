"""Parameters of methods that the protocol names and this version answers with `unsupported`.

Owns their shape only, so that docs and types of clients are complete. A model moves to models.py with its handler.
"""

from typing import Annotated, Any

from pydantic import StringConstraints

from agent_ls.wire.models import TEXT_LIMIT, Command, Id, OfConversation, Params, Text, Uri


class ListCheckpoints(OfConversation):
    run_id: Id | None = None


class DiffCheckpoints(OfConversation):
    from_: Id | None = None
    to: Id | None = None
    path: Uri | None = None


class RestoreCheckpoint(Command):
    checkpoint_id: Id
    dry_run: bool = False
    paths: tuple[Uri, ...] | None = None


class Rollback(Command):
    conversation_id: Id
    run_id: Id
    dry_run: bool = False


class WindowFocus(Params):
    focused: bool
    uri: Uri | None = None
    range: dict[str, Any] | None = None


class WindowDiagnostics(Params):
    """What the window's other servers said of one document."""

    uri: Uri
    version: int | None = None
    diagnostics: tuple[dict[str, Any], ...]


class Draft(OfConversation):
    text: Annotated[str, StringConstraints(max_length=TEXT_LIMIT)]


class Reveal(Params):
    uri: Uri
    range: dict[str, Any] | None = None


class SaveDocument(Params):
    uri: Uri


class LanguageRequest(Params):
    """A request to one of the window's own language servers."""

    method: Text
    params: Any = None
