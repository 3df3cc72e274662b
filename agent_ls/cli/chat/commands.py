"""`/commands`: what a person may ask for beside talking.

Owns their names, words and help. Does not own what they do to a conversation (talk.py) nor what is listed where.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from agent_ls.cli import spent
from agent_ls.cli.answers import allowance
from agent_ls.cli.cards import offered
from agent_ls.cli.cells import untabbed, wrap
from agent_ls.cli.chat import listings
from agent_ls.cli.chat.talk import Leave, Talk
from agent_ls.cli.client import ClientError
from agent_ls.core.conversation import FORK
from agent_ls.core.display import one_line
from agent_ls.core.spoken_answers import answers_to

Json = dict[str, Any]
MODES: Final = ("ask", "edits", "plan", "auto")
_COMMAND: Final = re.compile(r"/([a-z]+)(?:\s+(.*))?\Z", re.DOTALL)
_NUMBER: Final = re.compile(r"#?(\d+)(?:\s+|\Z)")


class Commands:
    """`run` takes a line that begins with a slash. `listed` is what `/attach 2` counts in."""

    def __init__(self, talk: Talk, *, allow_auto: bool = False) -> None:
        self._talk = talk
        self._allow_auto = allow_auto
        self._listed: list[str] = []

    def run(self, line: str) -> bool:
        """Whether the line was a command; a path (`/usr/bin`) and `//…` are messages."""
        found = _COMMAND.match(line.strip())
        if found is None:
            return False
        command = COMMANDS.get(found[1])
        if command is None:
            self._say(f"There is no /{found[1]}. /help lists what there is; //{found[1]} sends it as a message.")
        else:
            command.run(self, (found[2] or "").strip())
        return True

    def allow(self, rest: str) -> None:
        request, rest = self._pending(rest)
        if request is None:
            return
        if request["kind"] == "question":
            self._say(f"#{request['number']} is a question: /answer and your words.")
        elif request["kind"] == "plan":
            if rest not in {"", "edits"}:
                self._say("A plan is accepted by /allow, or by /allow edits: its edits are not asked for then.")
            else:
                self._talk.decide(request, "allow", optionId="accept_edits" if rest else "accept")
        elif rest not in {"", "once", *offered(request)}:
            self._say(f"It can be allowed: {', '.join(['once', *offered(request)])}.")
        else:
            self._talk.decide(request, "allow", **allowance(rest or "once"))

    def deny(self, rest: str) -> None:
        request, why = self._pending(rest)
        if request is not None:
            self._talk.decide(request, "deny", **({"reason": why} if why else {}))

    def answer(self, rest: str) -> None:
        request, text = self._pending(rest, rest_needed=True)
        if request is None:
            return
        if request["kind"] != "question":
            self._say(f"#{request['number']} is not a question: /allow or /deny.")
        elif not text:
            self._say("Say your answer, or the number of a choice: /answer 1")
        else:
            answers, option = answers_to(request, text)
            picked = {"optionId": option} if option else {}
            self._talk.decide(request, "answer", answers=answers, **picked)

    def show(self, rest: str) -> None:
        request, _ = self._find(rest)
        if request is not None:
            self._talk.show_card(request)

    def stop(self, _rest: str) -> None:
        if not self._talk.stop():
            self._say("Nothing is running.")

    def hurry(self, _rest: str) -> None:
        if not self._talk.hurry():
            self._say("Nothing is running.")

    def retry(self, _rest: str) -> None:
        if not self._talk.retry():
            self._say("The last message has not failed and was not stopped.")

    def later(self, rest: str) -> None:
        if not rest:
            self._say("Say what: /later and then run the tests")
        else:
            self._talk.say(rest, dispatch="queue")

    def instead(self, rest: str) -> None:
        if not rest:
            self._say("Say what: /instead do it in the other file")
        else:
            self._talk.say(rest, dispatch="restart")

    def steer(self, rest: str) -> None:
        if not rest:
            self._say("Say how: /steer use the other file")
        else:
            self._talk.say(rest, dispatch="steer")

    def queue(self, rest: str) -> None:
        what, _, number = rest.partition(" ")
        waiting = self._talk.queued()
        match what:
            case "":
                self._tell(listings.queue(waiting, self._talk.style), "Nothing is queued.")
            case "go" | "hold":
                self._change_queue(op="release" if what == "go" else "hold")
            case "clear":
                for run in waiting:
                    self._change_queue(op="remove", runId=run["id"])
            case "remove" if number.isdecimal() and 0 < int(number) <= len(waiting):
                self._change_queue(op="remove", runId=waiting[int(number) - 1]["id"])
            case _:
                self._say("/queue lists it; /queue remove 1, /queue clear, /queue hold, /queue go")

    def model(self, rest: str) -> None:
        def show(result: Json) -> None:
            self._tell(listings.models(result["models"], self._talk.conversation, self._talk.style), "No models.")

        name, _, provider = rest.partition(" ")
        if not name:
            self._talk.ask("agent/model/list", {}, show)
        else:
            self._talk.update(model=name, **({"provider": provider.strip()} if provider else {}))

    def mode(self, rest: str) -> None:
        if rest not in MODES:
            self._say(f"Mode is {self._talk.conversation.get('mode')}. /mode {' | '.join(MODES)}")
        else:
            self._talk.update(mode=rest, **({"allowAuto": True} if self._allow_auto else {}))

    def new(self, _rest: str) -> None:
        if self._talk.link.client is None:
            self._say("The daemon is not there just now; try again in a moment.")
            return
        try:
            self._talk.create()
        except ClientError as error:
            self._talk.trouble(error)
            return
        self._say("A new conversation. The one before stays: /conversations")

    def fork(self, rest: str) -> None:
        if self._talk.link.client is None:
            self._say("The daemon is not there just now; try again in a moment.")
            return
        parent = one_line(str(self._talk.conversation.get("title") or "the conversation before"), 60)
        try:
            self._talk.fork(rest)
        except ClientError as error:
            self._talk.trouble(error)
            return
        self._say(f"A fork of “{parent}”, which stays as it is. /merge tells it what comes of this one.")

    def merge(self, _rest: str) -> None:
        parent = self._talk.conversation.get("parentId")
        if self._talk.conversation.get("relation") != FORK or not parent:
            self._say("This conversation is no fork of another one.")
            return

        def merged(_: Json) -> None:
            self._say("What came of this fork goes with the next message there.")

        self._talk.ask(
            "agent/conversation/mergeBack", {"from": self._talk.link.conversation_id, "into": parent}, merged
        )

    def attach(self, rest: str) -> None:
        if rest.isdecimal() and 0 < int(rest) <= len(self._listed):
            rest = self._listed[int(rest) - 1]
        if not rest:
            self._say("Which one? /conversations lists them; then /attach 1, or /attach and its id.")
        elif self._talk.link.client is None:
            self._say("The daemon is not there just now; try again in a moment.")
        else:
            try:
                self._talk.visit(rest)
            except ClientError as error:
                self._talk.trouble(error)

    def conversations(self, _rest: str) -> None:
        def show(result: Json) -> None:
            found = result["conversations"]
            self._listed = [str(held["id"]) for held in found]
            lines = listings.conversations(found, self._talk.link.conversation_id, self._talk.style)
            self._tell([*lines, "/attach 1 goes there"], "None yet.")

        self._talk.ask("agent/conversation/list", {"limit": 20}, show)

    def usage(self, _rest: str) -> None:
        of = {"conversationId": self._talk.link.conversation_id}
        self._talk.ask("agent/context/status", of, lambda used: self._tell(spent.lines(used, self._talk.style), ""))

    def compact(self, rest: str) -> None:
        of = {"conversationId": self._talk.link.conversation_id, **({"instructions": rest} if rest else {})}
        self._talk.ask(
            "agent/conversation/compact", of, lambda _: self._say("It is compacted at its next step, or now.")
        )

    def export(self, rest: str) -> None:
        conversation_id = self._talk.link.conversation_id
        path = os.path.expanduser(rest) or f"{conversation_id}.md"
        form = "jsonl" if path.endswith(".jsonl") else "markdown"

        def write(result: Json) -> None:
            try:
                listings.write_new(path, result)
            except OSError as error:
                self._say(f"{path} cannot be written ({error.strerror}). Name another file: /export FILE")
            else:
                self._say(f"Written to {path}.")

        self._talk.ask("agent/conversation/export", {"conversationId": conversation_id, "format": form}, write)

    def help(self, _rest: str) -> None:
        self._tell([*listings.commands(COMMANDS.values(), self._talk.style), *listings.keys(self._talk.style)], "")

    def leave(self, _rest: str) -> None:
        raise Leave

    def _pending(self, rest: str, *, rest_needed: bool = False) -> tuple[Json | None, str]:
        """The request that is meant, if its card as it is now was shown here; else it is shown first."""
        request, rest = self._find(rest, rest_needed=rest_needed)
        if request is not None and not self._talk.asking.was_shown(request):
            self._talk.show_card(request)
            self._say(f"This is #{request['number']}. Say it again if you mean it.")
            return None, rest
        return request, rest

    def _find(self, rest: str, *, rest_needed: bool = False) -> tuple[Json | None, str]:
        """By a number in front, else the one that is asked now. `/answer 2` is a choice, not a number."""
        asking = self._talk.asking
        found = _NUMBER.match(rest)
        if found and (rest.startswith("#") or not rest_needed or rest[found.end() :]):
            if request := asking.find(int(found[1])):
                return request, rest[found.end() :].strip()
            if not rest_needed:
                self._say(f"No request #{found[1]} waits in this conversation.")
                return None, ""
        if asking.current is None:
            self._say("Nothing waits for you here.")
        return asking.current, rest

    def _change_queue(self, **change: Any) -> None:
        self._talk.ask("agent/queue/update", {"conversationId": self._talk.link.conversation_id, **change})

    def _tell(self, lines: list[str], otherwise: str) -> None:
        if lines:
            columns = self._talk.transcript.columns
            rows = [row for line in lines for row in wrap(untabbed(line), columns, listings.hang(columns))]
            self._talk.transcript.put(rows, kind="told")
        else:
            self._say(otherwise)

    def _say(self, text: str) -> None:
        self._talk.transcript.note(text)


@dataclass(frozen=True)
class Command:
    name: str
    usage: str
    summary: str
    run: Callable[[Commands, str], None]


COMMANDS: Final = {
    command.name: command
    for command in (
        Command("allow", "[N] [HOW]", "allow what was shown: y; HOW: as its card offers", Commands.allow),
        Command("deny", "[N] [why]", "refuse it; the agent is told why: n", Commands.deny),
        Command("answer", "[N] TEXT", "answer a question: words, or a choice's number", Commands.answer),
        Command("show", "[N]", "the card of a request again", Commands.show),
        Command("stop", "", "stop the run: Ctrl-C", Commands.stop),
        Command("steer", "TEXT", "say something to the run that goes on", Commands.steer),
        Command("later", "TEXT", "say it when the run has ended", Commands.later),
        Command("instead", "TEXT", "give up what is being done and do this", Commands.instead),
        Command("hurry", "", "ask a model in trouble again now", Commands.hurry),
        Command("retry", "", "ask again what failed or was stopped", Commands.retry),
        Command("queue", "[remove N]", "what waits for the run to end; clear, hold, go", Commands.queue),
        Command("model", "[NAME]", "the models there are, or another one from now on", Commands.model),
        Command("mode", "[MODE]", "ask, edits (edits need no question), plan, auto", Commands.mode),
        Command("new", "", "a new conversation in this folder", Commands.new),
        Command("fork", "[TITLE]", "a new conversation that goes on from here", Commands.fork),
        Command("merge", "", "tell what came of this fork where it was forked", Commands.merge),
        Command("conversations", "", "what there is", Commands.conversations),
        Command("attach", "ID", "go on in another conversation", Commands.attach),
        Command("usage", "", "tokens and cost, run by run", Commands.usage),
        Command("compact", "[WORDS]", "summarize what is older; WORDS: what to keep", Commands.compact),
        Command("export", "[FILE]", "the conversation as a file: Markdown or .jsonl", Commands.export),
        Command("help", "", "this", Commands.help),
        Command("quit", "", "leave: Ctrl-D; a run goes on", Commands.leave),
    )
}
WORDS: Final = {
    **{f"/{name}": () for name in COMMANDS},
    "/mode": MODES,
    "/queue": ("remove", "clear", "hold", "go"),
}
