"""`agent-ls chat`: a conversation in this terminal.

Owns its options, and which of the two forms it takes: on a terminal, or line by line where there is none.
"""

import argparse
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from agent_ls.cli.ask import chosen
from agent_ls.cli.terminal import is_terminal, put, style_of
from agent_ls.cli.usage import Verbs
from agent_ls.cli.which import named

if TYPE_CHECKING:
    from agent_ls.cli.chat.talk import Talk


def register(verbs: Verbs) -> None:
    chat = verbs.add("chat", run_chat, "talk to an agent in this terminal")
    chat.add_argument("--conversation", metavar="ID", help="go on in this conversation instead of a new one")
    chat.add_argument("--mode", choices=["ask", "edits", "plan", "auto"], help="permission mode")
    chat.add_argument("--allow-auto", action="store_true", help="let mode auto run what no rule denies")
    chat.add_argument("--provider", metavar="NAME")
    chat.add_argument("--model", metavar="NAME")


def run_chat(options: argparse.Namespace) -> int:
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)) or os.environ.get("TERM", "dumb") == "dumb":
        from agent_ls.cli.chat.plain import run_plain

        return run_plain(options)
    return _on_terminal(options)


def _on_terminal(options: argparse.Namespace) -> int:
    from agent_ls.cli.chat.loop import Loop
    from agent_ls.cli.chat.talk import Talk
    from agent_ls.cli.chat.transcript import Transcript
    from agent_ls.cli.chat.tty import Hangup, Terminal
    from agent_ls.cli.client import Client

    pause: list[Any] = []

    def connect() -> Client:
        return Client.connect(start=not talk.link.rests, client="chat", pause=pause[0] if pause else None)

    style = style_of(sys.stdout)
    transcript = Transcript(style, 80)
    talk = Talk(connect, transcript, style, now=time.monotonic, chosen=chosen(options))
    _open(talk, options)
    terminal = Terminal()
    try:
        with terminal:
            transcript.columns = terminal.size()[0] - 1
            loop = Loop(terminal, talk, allow_auto=options.allow_auto)
            pause.append(loop.pause)
            loop.run()
    except Hangup:
        return 129
    finally:
        talk.forget_if_empty()
        talk.link.close()
    _say_goodbye(talk)
    return 0


def _open(talk: "Talk", options: argparse.Namespace) -> None:
    talk.link.open()
    try:
        if options.conversation:
            talk.enter(named(talk.link.client, options.conversation) if talk.link.client else options.conversation)
            if talk.chosen:
                talk.update(**talk.chosen)
        else:
            talk.create()
            talk.transcript.note("A new conversation here. @file goes along with a message; /help says more.")
    except BaseException:
        talk.link.close()
        raise


def _say_goodbye(talk: "Talk") -> None:
    conversation_id = talk.link.conversation_id
    if not conversation_id:
        return
    goes_on = "The run goes on. " if talk.run_id else ""
    put(talk.style.dim(f"{goes_on}Back to it: agent-ls chat --conversation {conversation_id}"))
