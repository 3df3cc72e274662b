"""The daemon, put together: the only place that names concrete adapters.

Owns what is wired to what, and the order of opening and closing. Does not own the process around it (lifecycle).
"""

import getpass
import logging
import os
import platform
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from agent_ls import paths
from agent_ls.adapters.host import identity
from agent_ls.adapters.host.agent_files import AgentFiles
from agent_ls.adapters.host.cards import CardFiles
from agent_ls.adapters.host.exports import ExportFiles
from agent_ls.adapters.host.notices import DesktopNotices
from agent_ls.adapters.host.rule_files import RuleFiles
from agent_ls.adapters.host.system import RandomIds, SystemClock
from agent_ls.adapters.host.watcher import watch_file
from agent_ls.adapters.ledger.jsonl import open_file
from agent_ls.adapters.mcp.servers import Servers
from agent_ls.adapters.tools.language import LanguageTools
from agent_ls.config.settings import Settings
from agent_ls.core.conversation import Conversation
from agent_ls.core.errors import Refused
from agent_ls.core.projection import ConversationState
from agent_ls.daemon.agents import known_agents
from agent_ls.daemon.catalog import Providers
from agent_ls.daemon.ledgers import open_ledger
from agent_ls.daemon.open_files import OpenFiles, open_files
from agent_ls.daemon.reload import Reloader
from agent_ls.daemon.report import Reporter
from agent_ls.daemon.revising import revising
from agent_ls.daemon.sharing import sharing
from agent_ls.daemon.surface import surface
from agent_ls.daemon.toolbox import Workshop
from agent_ls.daemon.workspaces import Workspaces
from agent_ls.editor.connection import Handler
from agent_ls.editor.desk import Desk, Exchange
from agent_ls.editor.focus import Focus
from agent_ls.editor.handlers.table import handlers
from agent_ls.editor.inbox import Inbox
from agent_ls.editor.notices import Notices
from agent_ls.editor.reading import Reading
from agent_ls.editor.surface import diagnostics
from agent_ls.editor.surface.board import Board
from agent_ls.editor.window import Window
from agent_ls.ports.instances import Instances
from agent_ls.ports.ledger import Ledger
from agent_ls.runtime.children import Children
from agent_ls.runtime.drain import DrainMode
from agent_ls.runtime.feed import Feed
from agent_ls.runtime.hook_calls import end_sessions
from agent_ls.runtime.housekeeping import Housekeeper
from agent_ls.runtime.janitor import Janitor
from agent_ls.runtime.lock_table import LockTable
from agent_ls.runtime.registry import Registry
from agent_ls.runtime.review import Reviewer
from agent_ls.runtime.revise import Reviser
from agent_ls.runtime.services import Limits, Services
from agent_ls.runtime.supervisor import Supervisor
from agent_ls.version import __version__

log = logging.getLogger(__name__)

TAKE_OVER_S: Final = 3.0
# What is abandoned writes down what has happened, and its processes end: asked first, then killed.
ABANDON_S: Final = 8.0
RETRY_AFTER_MS: Final = 500


@dataclass
class Daemon:
    """Everything that serves windows. `idle` says whether it could end without anybody noticing."""

    desk: Desk
    table: Mapping[str, Handler]
    inbox: Inbox
    reloader: Reloader
    janitor: Janitor

    async def serve(self, stream: Any, denied: Refused | None) -> None:
        """One window, for as long as its link lives."""
        window = Window(stream, self.table, desk=self.desk, pid=os.getpid(), denied=denied)
        await window.serve()

    @property
    def idle(self) -> bool:
        return not self.inbox.windows and not self.inbox.pending and not self.desk.registry.running()

    async def recover(self) -> int:
        return await self.desk.registry.recover_all(TAKE_OVER_S)

    def reload(self) -> None:
        """Reads the configuration again, beside everything else."""
        self.desk.services.supervisor.start("reload", self.reloader.reload)

    async def watch(self) -> None:
        """Reads it again whenever its file has changed."""
        await watch_file(self.reloader.settings.path, self.reload)

    async def come_to_rest(self) -> None:
        """Once it is told to end: waits for what runs until the deadline, then leaves it to the next daemon.

        Everybody is served meanwhile; what they send is committed and not run.
        """
        drain, registry = self.desk.services.drain, self.desk.registry
        log.info("draining (%s), %d conversations at work", drain.mode, len(drain.at_work))
        if not await drain.settled():
            log.warning("%d conversations did not come to a commit in time", len(drain.at_work))
            registry.abandon()
            await drain.settled(ABANDON_S)
        handoff = drain.mode is DrainMode.HANDOFF
        if not handoff:
            await end_sessions(self.desk.services)
        await registry.shells.stop_all(f"the daemon was {'restarted' if handoff else 'stopped'}")
        for actor in registry.actors():
            if self.desk.services.feed.clear_all(actor.id):
                await self.desk.services.ledger.drop_partials(actor.id)
        ledger: object = self.desk.services.ledger
        if isinstance(ledger, Instances):
            ledger.ends_as(str(drain.mode), registry.running())

    def say_goodbye(self) -> None:
        reason = str(self.desk.services.drain.mode)
        for window in self.inbox.windows:
            window.notify("agent/drain", {"retryAfterMs": RETRY_AFTER_MS, "reason": reason})


@asynccontextmanager
async def composed(
    settings: Settings, environ: Mapping[str, str], *, read: Callable[[], Settings]
) -> AsyncIterator[Daemon]:
    """Opens the ledger, starts what has to run, closes all of it in the opposite order. `read` reads settings again."""
    clock, boot_id, state_dir = SystemClock(), RandomIds().fresh(), Path(paths.state_dir(environ))
    ledger, keep, host = await open_ledger(settings, state_dir, clock=clock, boot_id=boot_id)
    providers, workshop = Providers(settings, dict(environ), clock), _workshop(settings, environ, clock)
    try:
        async with Supervisor() as supervisor:
            rules, opened = RuleFiles(str(state_dir / "rules")), open_files(_spool(environ))
            workspaces = Workspaces(settings, environ, rules)
            services = _services(
                settings, environ, ledger=ledger, supervisor=supervisor, providers=providers, workspaces=workspaces,
                workshop=workshop, boot_id=boot_id, clock=clock, opened=opened, host=host,
            )  # fmt: skip
            registry, board = _registry(services), Board(opened.documents, clock.monotonic, diagnostics.draw)
            inbox = await _inbox(registry, board, environ, reviser=revising(registry, opened.documents))
            reloader, janitor = Reloader(settings, read, clock), Janitor(registry)
            reloader.users = [providers.use, workspaces.use, workshop.use, partial(_limit, services)]
            cards = CardFiles(str(state_dir / "cards"))
            exchange = _exchange(registry, settings, state_dir, drop_cards=cards.drop, gone=inbox.deleted)
            shared = sharing(registry, inbox, exchange.housekeeper.delete, settings=settings, rules=rules)
            desk = Desk(
                registry=registry,
                services=services,
                commands=shared.commands,
                reading=Reading(registry),
                catalog=providers,
                inbox=inbox,
                **vars(opened),
                board=board,
                **vars(surface(registry, inbox, opened.documents, folder=str(state_dir / "conversations"))),
                person=_person(),
                version=__version__,
                workspace_rules=workspaces.workspace_rules,
                status=Reporter(registry, inbox, clock, parts=_report(reloader, janitor, services)).status,
                remember_environment=workspaces.remember_environment,
                follow=shared.follow,
                keep_card=cards.keep,
                exchange=exchange,
                reviewer=Reviewer(opened.files, ledger.get_blob),
                kept_rules=rules,
            )
            _begin(supervisor, feed=services.feed.pump, ledger=keep, warm_up=providers.warm_up, **shared.works)
            yield Daemon(desk, handlers(desk), inbox, reloader, janitor)
    finally:
        await providers.close()
        await ledger.close()


def _report(reloader: Reloader, janitor: Janitor, services: Services) -> Mapping[str, Callable[[], Any]]:
    return {"config": reloader.status, "janitor": janitor.status, "mcp": services.toolbox.status}


def _registry(services: Services) -> Registry:
    """With who waits for the subagents of its conversations."""
    registry = Registry(services)
    children = services.subagents = Children(registry)
    services.supervisor.start("subagents", children.watch)
    return registry


def _workshop(settings: Settings, environ: Mapping[str, str], clock: SystemClock) -> Workshop:
    return Workshop(settings, clock, hidden=(paths.state_dir(environ), paths.runtime_dir(environ)))


def _exchange(
    registry: Registry,
    settings: Settings,
    state_dir: Path,
    *,
    drop_cards: Callable[[Iterable[int]], Awaitable[None]],
    gone: Callable[[str], None],
) -> Exchange:
    exports = ExportFiles(str(state_dir / "exports"))
    keep_days = settings.ledger.keep_days
    return Exchange(
        housekeeper=Housekeeper(registry, keep_days=keep_days, drop_cards=drop_cards, gone=gone),
        spill=exports,
        open_export=lambda path: open_file(path, exports.folder),
    )


def _services(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    ledger: Ledger,
    supervisor: Supervisor,
    providers: Providers,
    workspaces: Workspaces,
    workshop: Workshop,
    boot_id: str,
    clock: SystemClock,
    opened: OpenFiles,
    host: str,
) -> Services:
    servers = Servers(workspaces.tool_servers, workspaces.environment, start=supervisor.start, clock=clock)
    protected = (paths.state_dir(environ), paths.runtime_dir(environ), settings.path)
    return Services(
        ledger=ledger,
        clock=clock,
        feed=Feed(clock, ledger.keep_partial),
        locks=LockTable(clock),
        toolbox=workshop.toolbox(opened.files, servers, LanguageTools(opened.language, opened.files)),
        shells=workshop.shells,
        supervisor=supervisor,
        models=providers.resolve,
        rules=workspaces.rules,
        environment=workspaces.environment,
        masking=lambda: workspaces.masking,
        limits=_limits(settings),
        boot_id=boot_id,
        spool=_spool(environ),
        home=os.path.expanduser("~"),
        platform=f"{platform.system()} {platform.release()}",
        protected=tuple(os.path.realpath(path) for path in protected),
        may_auto=settings.may_auto,
        host=host,
        unsaved=opened.files.unsaved,
        hooks=workshop.hooks,
        agents=partial(known_agents, AgentFiles(), os.path.expanduser("~")),
        chance=random.random,
        folds=identity.folds,
        twins=identity.twins,
    )


def _begin(supervisor: Supervisor, **works: Callable[[], Awaitable[None]] | None) -> None:
    for name, work in works.items():
        if work is not None:
            supervisor.start(name, work)


def _limits(settings: Settings) -> Limits:
    limits = settings.limits
    return Limits(
        steps_per_run=limits.steps_per_run,
        minutes_per_run=int(limits.minutes_per_run),
        retries_per_run=limits.retries_per_run,
        usd_per_run=limits.usd_per_run,
        usd_per_day=limits.usd_per_day,
    )


def _limit(services: Services, settings: Settings) -> None:
    services.limits = _limits(settings)
    services.may_auto = settings.may_auto


def _spool(environ: Mapping[str, str]) -> str:
    return paths.private_directory(os.path.join(paths.state_dir(environ), "spool"))


def _state_of(registry: Registry, conversation_id: str) -> ConversationState | None:
    actor = registry.live(conversation_id)
    return None if actor is None else actor.state


async def _inbox(registry: Registry, board: Board, environ: Mapping[str, str], *, reviser: Reviser) -> Inbox:
    """What waits in the ledger is in it; it hears of everything after that."""
    ledger = registry.services.ledger
    inbox = Inbox(lambda known: _state_of(registry, known), board, Focus(registry.services.clock))
    show = DesktopNotices(environ).show
    inbox.on_asked = Notices(registry.services, show, watched=inbox.watched, waits=inbox.waits).asked
    registry.services.feed.listeners.append(inbox.on_events)
    found = []
    for request in await ledger.requests(None, None):
        conversation = await ledger.find(request.conversation_id)
        if isinstance(conversation, Conversation):
            found.append((request, conversation))
    inbox.load(found)
    reviser.load(request for request, _ in found)
    return inbox


def _person() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
