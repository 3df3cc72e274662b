"""Requests whose files go on changing: who notices, wired to who looks again.

Owns what is wired to what for that; compose passes it on.
"""

from agent_ls.adapters.host.file_watch import FileWatch
from agent_ls.editor.documents import Documents
from agent_ls.runtime.registry import Registry
from agent_ls.runtime.revise import Reviser


def revising(registry: Registry, documents: Documents) -> Reviser:
    reviser = Reviser(registry)
    watch = FileWatch(reviser.changed)
    reviser.watch = watch.follow
    documents.touched = reviser.touched
    registry.services.feed.listeners.append(reviser.on_events)
    registry.services.supervisor.start("file watch", watch.watch)
    return reviser
