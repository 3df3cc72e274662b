"""What windows are shown beside events, put together: transcripts, progress, held files, drafts.

Owns what is wired to what here; compose passes it on.
"""

from dataclasses import dataclass

from agent_ls.adapters.host.papers import PaperFiles
from agent_ls.editor.documents import Documents
from agent_ls.editor.drafts import Drafts
from agent_ls.editor.inbox import Inbox
from agent_ls.editor.lock_news import LockNews
from agent_ls.editor.surface.choosing import Choices
from agent_ls.editor.surface.progress import Progress
from agent_ls.editor.surface.refreshing import HINTS, Refreshing
from agent_ls.editor.surface.transcripts import Transcripts
from agent_ls.runtime.registry import Registry


@dataclass(frozen=True)
class Surface:
    transcripts: Transcripts
    progress: Progress
    drafts: Drafts
    choices: Choices


def surface(registry: Registry, inbox: Inbox, documents: Documents, *, folder: str) -> Surface:
    """They hear of every commit, of copies that windows open and close, of locks, and of what is deleted."""
    services = registry.services
    papers = PaperFiles(folder)
    transcripts = Transcripts(
        papers,
        documents,
        state_of=registry.state_here,
        load=registry.state,
        supervisor=services.supervisor,
        clock=services.clock,
    )
    progress = Progress(services.supervisor, lambda: [actor.state for actor in registry.actors()], services.boot_id)
    refreshing = Refreshing(services.supervisor, documents, transcripts, windows=lambda: inbox.windows)
    choices = Choices(inbox.waits)
    choices.changed = lambda request: refreshing.offers({request.conversation_id, request.root_id})
    services.feed.listeners += [transcripts.on_events, progress.on_events, refreshing.on_events]
    documents.dropped = transcripts.moved
    drafts = Drafts(papers, services.supervisor, services.clock, windows=lambda: inbox.windows)

    def deleted(conversation_id: str) -> None:
        drafts.deleted(conversation_id)
        transcripts.deleted(conversation_id)

    inbox.on_deleted = deleted
    news = LockNews(services.locks, inbox, services.clock, refresh=lambda window: refreshing.ask(window, HINTS))
    services.supervisor.start("locks", news.tell)
    return Surface(transcripts, progress, drafts, choices)
