"""The command line: verbs, their help, and how trouble ends.

Owns the order of verbs in the help, exit codes of trouble, and that a closed pipe ends quietly. Nothing that a client
verb imports needs pydantic, anyio or httpcore: `pending` and `approve` feel instant.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Final

from agent_ls.cli import ask, conversations, daemon, exchange, requests, settings, shells, spent
from agent_ls.cli.chat import verb as chat
from agent_ls.cli.client import ClientError
from agent_ls.cli.terminal import complain
from agent_ls.cli.usage import Verbs
from agent_ls.core.errors import HINTS, Code

FAILED: Final = 1
INTERRUPTED: Final = 130
_LATER: Final = {
    "acp": "serve an ACP editor on standard input and output",
}


def main(arguments: Sequence[str]) -> int:
    """Runs one verb; the result is the exit code."""
    verbs = _verbs()
    if not arguments:
        verbs.parser.print_help()
        return 0
    try:
        options = verbs.parser.parse_args(arguments)
        return _run(options)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else FAILED
    except BrokenPipeError:
        # Whoever read us has seen enough. The interpreter would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(options: argparse.Namespace) -> int:
    try:
        code: int = options.run(options)
    except ClientError as error:
        complain(error.message, _for_person(error, options.verb))
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _for_person(error: ClientError, verb: str) -> str:
    """What a client of the protocol has to look up, a person finds in the help."""
    meant_for_clients = error.hint == HINTS[Code.INVALID_PARAMS]
    return f"`agent-ls {verb} --help` says what it takes." if meant_for_clients else error.hint


def _verbs() -> Verbs:
    verbs = Verbs()
    verbs.group("Talk")
    chat.register(verbs)
    ask.register(verbs)
    conversations.register(verbs)
    exchange.register(verbs)
    spent.register(verbs)
    verbs.group("Decide")
    requests.register(verbs)
    settings.register(verbs)
    shells.register(verbs)
    verbs.group("The daemon")
    daemon.register(verbs)
    verbs.group("More")
    connect = verbs.add("connect", _connect, "what an editor runs as its language server")
    connect.set_defaults(run=_connect)
    demo = verbs.add("demo", _demo, "the whole story in under a minute, no key needed")
    demo.add_argument("--yes", action="store_true", help="answer by itself, as without a terminal")
    for name, summary in _LATER.items():
        later = verbs.add(name, _later, f"{summary} (not built yet)")
        later.add_argument("rest", nargs="*", help=argparse.SUPPRESS)
    verbs.describe()
    return verbs


def _connect(_options: argparse.Namespace) -> int:
    from agent_ls.bridge.pump import main as connect
    from agent_ls.version import __version__

    return connect(__version__)


def _demo(options: argparse.Namespace) -> int:
    from agent_ls.cli.demo import run

    return run(yes=options.yes)


def _later(options: argparse.Namespace) -> int:
    complain(f"`agent-ls {options.verb}` is not built yet.", 'For now: agent-ls ask "…", or connect your editor.')
    return FAILED
