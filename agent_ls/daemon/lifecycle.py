"""The daemon's process: from the start race to the last close.

Owns signals, exit codes, the idle exit and the order listen -> open -> recover -> serve, and the one of
ending: drain -> say goodbye -> hang up -> close. Does not own what is served (compose), the socket (listener) nor how
a successor gets its turn (handoff).
"""

import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from functools import partial
from importlib import import_module
from typing import Any, Final

import anyio

from agent_ls import paths
from agent_ls.config.load import load
from agent_ls.config.secret import mask
from agent_ls.config.settings import ConfigError, Settings
from agent_ls.core.errors import Code, Refusal, Refused
from agent_ls.daemon import logging as logs
from agent_ls.daemon.compose import composed
from agent_ls.daemon.handoff import GRACE_S, Line, Succession, ask_for_the_place, load_all
from agent_ls.daemon.listener import MOST_LINKS, AlreadyRunning, CannotListen, Listener, Reception, bind
from agent_ls.daemon.peers import become_subreaper
from agent_ls.daemon.privacy import keep_private
from agent_ls.daemon.seal import Sealed, seal
from agent_ls.daemon.served import Daemon
from agent_ls.ports.ledger import LedgerError
from agent_ls.runtime.drain import DrainMode
from agent_ls.version import __version__

log = logging.getLogger(__name__)

IDLE_LOOK_S: Final = 30.0
GOODBYE_S: Final = 0.05
# Who ends us by a signal will not wait long.
SHUTDOWN_S: Final = 2.0

DENIED: Final = Refused(
    Refusal(
        Code.PERMISSION_DENIED,
        "A process that the agent started may not talk to the daemon: the agent cannot approve itself.",
    )
)
FULL: Final = Refused(
    Refusal(
        Code.CONVERSATION_BUSY,
        f"{MOST_LINKS} windows and programs are connected to the daemon, which is the limit.",
        "Close some of them, then try again.",
    )
)
REFUSALS: Final[Mapping[Reception, Refused]] = {"descendant": DENIED, "full": FULL}


def run(*, foreground: bool, succession: Succession | None = None) -> int:
    """The verb `daemon`; the result is the exit code. Ends at SIGTERM, SIGINT, `agent/drain` or when idle.

    With a `succession` it takes the place of the daemon that is there.
    """
    environ = dict(os.environ)
    with ExitStack() as held:
        held.callback(logs.stop)
        try:
            _run(environ, succession, held)
        # The reason is there before the socket goes: who loses the link looks for it.
        except AlreadyRunning:
            if foreground:
                sys.stderr.write("agent-ls: a daemon is running already; `agent-ls status` shows it.\n")
        except (CannotListen, ConfigError, Sealed) as error:
            return _fail(str(error))
        except LedgerError as error:
            return _fail(f"{error.refusal.message} {error.refusal.hint}".strip())
        except Exception as error:  # noqa: BLE001 - who started us waits for a reason, not for a traceback
            return _bug(environ, error)
    return 0


def _run(environ: Mapping[str, str], succession: Succession | None, held: ExitStack) -> None:
    """Binds first, so that of many who start at once all but one are gone at once; a successor binds last.

    What is taken is let go with `held`.
    """
    read = partial(_settings, environ)
    if succession is None:
        listener = held.enter_context(closing(bind(environ, version=__version__)))
        _start(listener, environ, read, settings=read())
        return
    line = held.enter_context(closing(Line(environ)))
    settings = read()
    load_all()
    before = ask_for_the_place(environ, succession)
    listener = held.enter_context(closing(bind(environ, lock_s=GRACE_S, after=before, version=__version__)))
    _start(listener, environ, read, settings=settings, ready=line.close)


def _start(
    listener: Listener,
    environ: Mapping[str, str],
    read: Callable[[], Settings],
    *,
    settings: Settings,
    ready: Callable[[], None] = lambda: None,
) -> None:
    listener.seals = seal(paths.state_dir(environ))
    keep_private(environ, settings.secret_names())
    trouble = logs.start(environ, settings.secret_names())
    if trouble is not None:
        sys.stderr.write(f"agent-ls: {trouble}\n")
    become_subreaper()
    _arm(environ)
    anyio.run(partial(_serve, listener, settings, environ, read=read, ready=ready))


def _arm(environ: Mapping[str, str]) -> None:
    """For tests: a daemon that kills itself at a named point. By its name, since nothing else here is for tests."""
    if point := environ.get("AGENT_LS_CRASH_AT"):
        import_module("agent_ls.testing.crash_points").arm(point, paths.state_dir(environ))


def _settings(environ: Mapping[str, str]) -> Settings:
    from agent_ls.adapters.host.probe import local_models

    return load(environ, probe=local_models)


async def _serve(
    listener: Listener,
    settings: Settings,
    environ: Mapping[str, str],
    *,
    read: Callable[[], Settings],
    ready: Callable[[], None],
) -> None:
    async with composed(settings, environ, read=read) as daemon:
        log.info("daemon %d, version %s, serves %s", os.getpid(), __version__, listener.path)
        for warning in settings.warnings:
            log.warning("%s", warning)
        daemon.reloader.users.append(lambda found: _mask(environ, found))
        services, returning = daemon.desk.services, daemon.desk.documents.returning
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_signals, daemon)
            tasks.start_soon(_watch_idle, daemon)

            async def serve(stream: Any, reception: Reception) -> None:
                await daemon.serve(stream, REFUSALS.get(reception))

            recovered = await daemon.recover()
            if recovered:
                log.info("took up %d conversations that a daemon before this one left", recovered)
            tasks.start_soon(listener.serve, serve, services.clock.sleep)
            tasks.start_soon(returning.give_time, services.clock.sleep)
            services.supervisor.start("janitor", daemon.janitor.watch)
            services.supervisor.start("configuration", daemon.watch)
            services.supervisor.start("housekeeping", daemon.desk.exchange.housekeeper.watch)
            ready()
            gc.freeze()
            gc.enable()
            await services.drain.asked.wait()
            await daemon.come_to_rest()
            log.info("daemon %d ends", os.getpid())
            returning.freeze()
            daemon.say_goodbye()
            await services.clock.sleep(GOODBYE_S)
            listener.hang_up()
            tasks.cancel_scope.cancel()


async def _signals(daemon: Daemon) -> None:
    """SIGTERM and SIGINT end the daemon, a second one at once; SIGHUP reads the configuration again."""
    drain = daemon.desk.services.drain
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as received:
        async for each in received:
            if each == signal.SIGHUP:
                daemon.reload()
            else:
                drain.begin(DrainMode.SHUTDOWN, 0 if drain.mode is DrainMode.SHUTDOWN else SHUTDOWN_S)


async def _watch_idle(daemon: Daemon) -> None:
    """Ends a daemon that nobody uses: never while a run goes on or a request is pending."""
    idle = 0.0
    while idle < (limit_s := daemon.reloader.settings.daemon.idle_exit_s):
        look = min(IDLE_LOOK_S, max(limit_s / 4, 0.05))
        await daemon.desk.services.clock.sleep(look)
        idle = idle + look if daemon.idle else 0.0
    log.info("nobody has used the daemon for %d s", int(idle))
    daemon.desk.services.drain.begin(DrainMode.SHUTDOWN, 0)


def _mask(environ: Mapping[str, str], settings: Settings) -> None:
    logs.start(environ, settings.secret_names())


def _bug(environ: Mapping[str, str], error: Exception) -> int:
    """What nobody expected: one sentence for who waits for us, and where it happened for who looks into it."""
    if not logs.started():
        logs.start(environ)
    log.error("the daemon ends because of a mistake of agent-ls", exc_info=error)
    inner: BaseException = error
    while isinstance(inner, BaseExceptionGroup):
        inner = inner.exceptions[0]
    said = mask(" ".join(str(inner).split())[:200])
    what = f"{type(inner).__name__}: {said}" if said else type(inner).__name__
    return _fail(f"agent-ls met something that it did not expect ({what}). `agent-ls log` shows where.")


def _fail(sentence: str) -> int:
    sys.stderr.write(f"agent-ls: {sentence}\n")
    return 1
