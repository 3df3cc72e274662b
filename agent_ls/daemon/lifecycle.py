"""The daemon's process: from the start race to the last close.

Owns signals, exit codes, the idle exit and the order listen -> open -> recover -> serve. Does not own what is served
(compose) nor the socket (listener).
"""

import logging
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any, Final

import anyio

from agent_ls import paths
from agent_ls.config.load import load
from agent_ls.config.settings import ConfigError, Settings
from agent_ls.core.errors import Code, Refusal, Refused
from agent_ls.daemon import logging as logs
from agent_ls.daemon.compose import Daemon, composed
from agent_ls.daemon.listener import AlreadyRunning, CannotListen, Listener, bind
from agent_ls.daemon.peers import become_subreaper
from agent_ls.daemon.seal import Sealed, seal
from agent_ls.ports.ledger import LedgerError

log = logging.getLogger(__name__)

IDLE_LOOK_S: Final = 30.0
GOODBYE_S: Final = 0.05

DENIED: Final = Refused(
    Refusal(
        Code.PERMISSION_DENIED,
        "A process that the agent started may not talk to the daemon: the agent cannot approve itself.",
    )
)


def run(*, foreground: bool) -> int:
    """The verb `daemon`; the result is the exit code. Ends at SIGTERM, SIGINT, `agent/drain` or when idle."""
    environ = dict(os.environ)
    try:
        listener = bind(environ)
    except AlreadyRunning:
        if foreground:
            sys.stderr.write("agent-ls: a daemon is running already; `agent-ls status` shows it.\n")
        return 0
    except CannotListen as error:
        return _fail(str(error))
    try:
        listener.seals = seal(paths.state_dir(environ))
        settings = _settings(environ)
        trouble = logs.start(environ, settings.secret_names())
        if trouble is not None:
            sys.stderr.write(f"agent-ls: {trouble}\n")
        become_subreaper()
        anyio.run(_serve, listener, settings, environ)
    except (ConfigError, Sealed) as error:
        return _fail(str(error))
    except LedgerError as error:
        return _fail(f"{error.refusal.message} {error.refusal.hint}".strip())
    finally:
        listener.close()
        logs.stop()
    return 0


def _settings(environ: Mapping[str, str]) -> Settings:
    from agent_ls.adapters.host.probe import local_models

    return load(environ, probe=local_models)


async def _serve(listener: Listener, settings: Settings, environ: Mapping[str, str]) -> None:
    ending = anyio.Event()
    async with composed(settings, environ, shut_down=ending.set) as daemon:
        log.info("daemon %d serves %s", os.getpid(), listener.path)
        for warning in settings.warnings:
            log.warning("%s", warning)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_signals, ending)
            tasks.start_soon(_watch_idle, daemon, settings.daemon.idle_exit_s, ending)

            async def serve(stream: Any, welcome: bool) -> None:  # noqa: FBT001
                await daemon.serve(stream, None if welcome else DENIED)

            recovered = await daemon.recover()
            if recovered:
                log.info("took up %d conversations that a daemon before this one left", recovered)
            clock, returning = daemon.desk.services.clock, daemon.desk.documents.returning
            tasks.start_soon(listener.serve, serve, clock.sleep)
            tasks.start_soon(returning.give_time, clock.sleep)
            await ending.wait()
            log.info("daemon %d ends", os.getpid())
            returning.freeze()
            daemon.say_goodbye("shutdown")
            await clock.sleep(GOODBYE_S)
            tasks.cancel_scope.cancel()


async def _signals(ending: anyio.Event) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
        async for _ in received:
            ending.set()


async def _watch_idle(daemon: Daemon, limit_s: float, ending: anyio.Event) -> None:
    """Ends a daemon that nobody uses: never while a run goes on or a request is pending."""
    look = min(IDLE_LOOK_S, max(limit_s / 4, 0.05))
    idle = 0.0
    while idle < limit_s:
        await daemon.desk.services.clock.sleep(look)
        idle = idle + look if daemon.idle else 0.0
    log.info("nobody has used the daemon for %d s", int(limit_s))
    ending.set()


def _fail(sentence: str) -> int:
    sys.stderr.write(f"agent-ls: {sentence}\n")
    return 1
