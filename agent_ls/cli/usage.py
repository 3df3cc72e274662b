"""Verbs as the parser knows them, and what `--help` says.

Owns the form of usage errors: one sentence, and exit code 64, since 2 means "waits for an approval".
"""

import argparse
import re
from collections.abc import Callable
from typing import NoReturn

from agent_ls.cli.terminal import complain
from agent_ls.version import __version__

USAGE_ERROR = 64
_UNKNOWN_VERB = re.compile(r"argument VERB: invalid choice: '(.*?)'")
Run = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        if found := _UNKNOWN_VERB.match(message):
            message = f"there is no `agent-ls {found[1]}`"
        complain(f"{message[:1].upper()}{message[1:]}.", f"See `{self.prog} --help`.")
        raise SystemExit(USAGE_ERROR)


class Verbs:
    """Collects the verbs of all groups under headings, for one help that a person can read."""

    def __init__(self) -> None:
        self.parser = Parser(
            prog="agent-ls",
            usage="agent-ls VERB …",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.parser.add_argument("-V", "--version", action="version", version=f"agent-ls {__version__}")
        self._verbs = self.parser.add_subparsers(
            dest="verb", metavar="VERB", prog="agent-ls", help=argparse.SUPPRESS, parser_class=Parser
        )
        self._groups: list[tuple[str, list[tuple[str, str]]]] = []

    def group(self, heading: str) -> None:
        self._groups.append((heading, []))

    def add(self, name: str, run: Run, summary: str) -> argparse.ArgumentParser:
        parser = self._verbs.add_parser(name, description=f"{summary[:1].upper()}{summary[1:]}.", allow_abbrev=False)
        parser.set_defaults(run=run)
        self._groups[-1][1].append((name, summary))
        return parser

    def describe(self) -> None:
        """Writes the list of verbs into the help."""
        lines = ["One daemon for all your editors: conversations with coding agents that survive kill -9."]
        for heading, verbs in self._groups:
            lines += ["", f"{heading}:"]
            lines += [f"  {name:<14} {summary}" for name, summary in verbs]
        self.parser.description = "\n".join(lines)
        self.parser.epilog = "`agent-ls VERB --help` says more. Commands that print data take --json."
