"""The daemon, put together: the only place that names concrete adapters.

Owns what is wired to what, and the order of opening and closing. Does not own how it serves (served) nor the process
around it (lifecycle).
"""

import getpass
import os
import platform
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agent_ls import paths
from agent_ls.adapters.host import identity
from agent_ls.adapters.host.agent_files import AgentFiles
from agent_ls.adapters.host.cards import CardFiles
from agent_ls.adapters.host.exports import ExportFiles
from agent_ls.adapters.host.notices import DesktopNotices
from agent_ls.adapters.host.rule_files import RuleFiles
from agent_ls.adapters.host.system import RandomIds, SystemClock
from agent_ls.adapters.ledger.jsonl import open_file
from agent_ls.adapters.mcp.servers import Servers
from agent_ls.adapters.tools.language import LanguageTools
from agent_ls.config.settings import Settings
from agent_ls.core.compaction import Policy
from agent_ls.core.conversation import Conversation
from agent_ls.daemon.agents import known_agents
from agent_ls.daemon.catalog import Providers
from agent_ls.daemon.instructions import Instructions
from agent_ls.daemon.ledgers import open_ledger
from agent_ls.daemon.open_files import OpenFiles, open_files
from agent_ls.daemon.reload import Reloader
from agent_ls.daemon.report import Reporter
from agent_ls.daemon.revising import revising
from agent_ls.daemon.served import Daemon
from agent_ls.daemon.sharing import Work, sharing
from agent_ls.daemon.surface import surface
from agent_ls.daemon.toolbox import Workshop
from agent_ls.daemon.workspaces import Workspaces
from agent_ls.editor.desk import Desk, Exchange
from agent_ls.editor.focus import Focus
from agent_ls.editor.handlers.table import handlers
from agent_ls.editor.inbox import Inbox
from agent_ls.editor.notices import Notices
from agent_ls.editor.reading import Reading
from agent_ls.editor.surface import diagnostics
from agent_ls.editor.surface.board import Board
from agent_ls.editor.surface.redrawing import Redrawing
from agent_ls.ports.ledger import Ledger
from agent_ls.runtime.children import Children
from agent_ls.runtime.feed import Feed
from agent_ls.runtime.housekeeping import Housekeeper
from agent_ls.runtime.janitor import Janitor
from agent_ls.runtime.lock_table import LockTable
from agent_ls.runtime.registry import Registry
from agent_ls.runtime.review import Reviewer
from agent_ls.runtime.revise import Reviser
from agent_ls.runtime.services import Limits, Services
from agent_ls.runtime.supervisor import Supervisor
from agent_ls.version import __version__


@dataclass(frozen=True, kw_only=True)
class _Ground:
    """What both the runtime and the windows' side stand on."""

    settings: Settings
    environ: Mapping[str, str]
    clock: SystemClock
    providers: Providers
    workshop: Workshop
    rules: RuleFiles
    workspaces: Workspaces
    opened: OpenFiles

    def kept_in(self, folder: str) -> str:
        return os.path.join(paths.state_dir(self.environ), folder)


@asynccontextmanager
async def composed(
    settings: Settings, environ: Mapping[str, str], *, read: Callable[[], Settings]
) -> AsyncIterator[Daemon]:
    """Opens the ledger, starts what has to run, closes all of it in the opposite order. `read` reads settings again."""
    clock, boot_id = SystemClock(), RandomIds().fresh()
    ledger, keep, host = await open_ledger(settings, Path(paths.state_dir(environ)), clock=clock, boot_id=boot_id)
    providers = Providers(settings, dict(environ), clock)
    try:
        async with Supervisor() as supervisor:
            ground = _ground(settings, environ, clock=clock, providers=providers)
            services = _services(ground, ledger=ledger, supervisor=supervisor, boot_id=boot_id, host=host)
            daemon, works = await _daemon(ground, services, read)
            _begin(supervisor, feed=services.feed.pump, ledger=keep, warm_up=providers.warm_up, **works)
            yield daemon
    finally:
        await providers.close()
        await ledger.close()


def _ground(settings: Settings, environ: Mapping[str, str], *, clock: SystemClock, providers: Providers) -> _Ground:
    rules = RuleFiles(os.path.join(paths.state_dir(environ), "rules"))
    return _Ground(
        settings=settings,
        environ=environ,
        clock=clock,
        providers=providers,
        workshop=Workshop(settings, clock, hidden=_own_folders(environ)),
        rules=rules,
        workspaces=Workspaces(settings, environ, rules),
        opened=open_files(_spool(environ)),
    )


def _services(ground: _Ground, *, ledger: Ledger, supervisor: Supervisor, boot_id: str, host: str) -> Services:
    settings, clock, opened, workspaces = ground.settings, ground.clock, ground.opened, ground.workspaces
    servers = Servers(workspaces.tool_servers, workspaces.environment, start=supervisor.start, clock=clock)
    home = os.path.expanduser("~")
    protected = (*_own_folders(ground.environ), settings.path)
    return Services(
        ledger=ledger,
        clock=clock,
        feed=Feed(clock, ledger.keep_partial),
        locks=LockTable(clock),
        toolbox=ground.workshop.toolbox(opened.files, servers, LanguageTools(opened.language, opened.files)),
        shells=ground.workshop.shells,
        supervisor=supervisor,
        models=ground.providers.resolve,
        rules=workspaces.rules,
        environment=workspaces.environment,
        masking=lambda: workspaces.masking,
        limits=_limits(settings),
        compaction=_policy(settings),
        window=ground.providers.window,
        boot_id=boot_id,
        spool=_spool(ground.environ),
        home=home,
        platform=f"{platform.system()} {platform.release()}",
        protected=tuple(os.path.realpath(path) for path in protected),
        may_auto=settings.may_auto,
        host=host,
        unsaved=opened.files.unsaved,
        hooks=ground.workshop.hooks,
        agents=partial(known_agents, AgentFiles(), home),
        instructions=Instructions(settings.path).of,
        chance=random.random,
        folds=identity.folds,
        twins=identity.twins,
        linked=identity.linked,
    )


async def _daemon(
    ground: _Ground, services: Services, read: Callable[[], Settings]
) -> tuple[Daemon, Mapping[str, Work]]:
    """What serves windows, and what has to run beside it."""
    opened, registry = ground.opened, _registry(services)
    board = Board(opened.documents, ground.clock.monotonic, diagnostics.draw)
    inbox = await _inbox(registry, board, ground.environ, reviser=revising(registry, opened.documents))
    reloader, janitor = _reloader(ground, services, read), Janitor(registry)
    cards = CardFiles(ground.kept_in("cards"))
    exchange = _exchange(ground, registry, drop_cards=cards.drop, gone=inbox.deleted)
    shared = sharing(registry, inbox, exchange.housekeeper.delete, settings=ground.settings, rules=ground.rules)
    shown = surface(registry, inbox, opened.documents, folder=ground.kept_in("conversations"))
    parts = {"config": reloader.status, "janitor": janitor.status, "mcp": services.toolbox.status}
    desk = Desk(
        registry=registry,
        services=services,
        commands=shared.commands,
        reading=Reading(registry),
        catalog=ground.providers,
        inbox=inbox,
        files=opened.files,
        documents=opened.documents,
        language=opened.language,
        settle=opened.settle,
        board=board,
        transcripts=shown.transcripts,
        drafts=shown.drafts,
        choices=shown.choices,
        redrawing=Redrawing(board, services.supervisor, ground.clock),
        progress=shown.progress,
        person=_person(),
        version=__version__,
        workspace_rules=ground.workspaces.workspace_rules,
        status=Reporter(registry, inbox, ground.clock, parts=parts).status,
        remember_environment=ground.workspaces.remember_environment,
        follow=shared.follow,
        keep_card=cards.keep,
        exchange=exchange,
        reviewer=Reviewer(opened.files, services.ledger.get_blob),
        kept_rules=ground.rules,
    )
    return Daemon(desk, handlers(desk), inbox, reloader, janitor), shared.works


def _registry(services: Services) -> Registry:
    """With who waits for the subagents of its conversations."""
    registry = Registry(services)
    children = services.subagents = Children(registry)
    services.supervisor.start("subagents", children.watch)
    return registry


def _reloader(ground: _Ground, services: Services, read: Callable[[], Settings]) -> Reloader:
    reloader = Reloader(ground.settings, read, ground.clock)
    reloader.users = [ground.providers.use, ground.workspaces.use, ground.workshop.use, partial(_limit, services)]
    return reloader


def _exchange(
    ground: _Ground,
    registry: Registry,
    *,
    drop_cards: Callable[[Iterable[int]], Awaitable[None]],
    gone: Callable[[str], None],
) -> Exchange:
    exports = ExportFiles(ground.kept_in("exports"))
    keep_days = ground.settings.ledger.keep_days
    return Exchange(
        housekeeper=Housekeeper(registry, keep_days=keep_days, drop_cards=drop_cards, gone=gone),
        spill=exports,
        open_export=lambda path: open_file(path, exports.folder),
    )


def _begin(supervisor: Supervisor, **works: Work | None) -> None:
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


def _policy(settings: Settings) -> Policy:
    return Policy(**vars(settings.compaction))


def _limit(services: Services, settings: Settings) -> None:
    services.limits = _limits(settings)
    services.compaction = _policy(settings)
    services.may_auto = settings.may_auto


def _own_folders(environ: Mapping[str, str]) -> tuple[str, str]:
    return (paths.state_dir(environ), paths.runtime_dir(environ))


def _spool(environ: Mapping[str, str]) -> str:
    return paths.private_directory(os.path.join(paths.state_dir(environ), "spool"))


async def _inbox(registry: Registry, board: Board, environ: Mapping[str, str], *, reviser: Reviser) -> Inbox:
    """What waits in the ledger is in it; it hears of everything after that."""
    ledger = registry.services.ledger
    inbox = Inbox(registry.state_here, board, Focus(registry.services.clock))
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
