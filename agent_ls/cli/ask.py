"""`ask` and `interrupt`: one message, headless, in the current folder; and the stop.

Owns the exit codes of `ask`: 0 done, 1 error, 2 waits for an approval, 130 interrupted. Does not own what is drawn
(screen.py).
"""

import argparse
import signal
import sys
from types import FrameType
from typing import Any, Final, Self

from agent_ls.cli import shown
from agent_ls.cli.client import Client, ClientError
from agent_ls.cli.follow import Follower, Happened
from agent_ls.cli.places import command_id
from agent_ls.cli.screen import Screen
from agent_ls.cli.terminal import aside, complain, is_terminal, put_json
from agent_ls.cli.usage import Verbs
from agent_ls.cli.which import named, this_folder
from agent_ls.core.conversation import AT_WORK
from agent_ls.core.run import GOING_ON

Json = dict[str, Any]
DONE, FAILED, WAITS, INTERRUPTED = 0, 1, 2, 130
_ENDS: Final = {"completed": DONE, "failed": FAILED, "cancelled": FAILED, "interrupted": INTERRUPTED}
_LISTED: Final = "`agent-ls conversations` lists what there is."


def register(verbs: Verbs) -> None:
    ask = verbs.add("ask", run_ask, "send one message from the current folder and follow the answer")
    ask.add_argument("text", nargs="*", help="the message; `-` or nothing reads it from standard input")
    ask.add_argument("--json", action="store_true", help="one agent/event or agent/stream object a line")
    ask.add_argument("--conversation", metavar="ID", help="go on in this conversation instead of a new one")
    ask.add_argument("--mode", choices=["ask", "edits", "plan", "auto"], help="permission mode")
    ask.add_argument("--allow-auto", action="store_true", help="let mode auto run what no rule denies")
    ask.add_argument("--provider", metavar="NAME")
    ask.add_argument("--model", metavar="NAME")
    ask.add_argument("--wait", action="store_true", help="stay while an approval is pending")
    stop = verbs.add("interrupt", run_interrupt, "stop a run")
    stop.add_argument("id", nargs="?", metavar="ID", help="conversation or run; else the one that is running")
    stop.add_argument("--keep-queue", action="store_true", help="go on with queued messages after it")


def run_ask(options: argparse.Namespace) -> int:
    text = _message(options.text)
    if not text.strip():
        complain("There is no message.", 'Say what to do: agent-ls ask "…", or pipe the message in.')
        return FAILED
    with Stop() as stop:
        client = Client.connect(start=True)
        follower = Follower(client, "", connect=lambda: Client.connect(start=True))
        try:
            if options.conversation:
                follower.conversation_id = named(client, options.conversation)
                _change(client, follower.conversation_id, options)
            else:
                follower.conversation_id = create(client, options)
            follower.attach()
            sent = client.call("agent/message/send", send(follower.conversation_id, text))
            stop.arm(sent["runId"])
            return Followed(follower, options, sent).follow()
        finally:
            follower.client.close()


def run_interrupt(options: argparse.Namespace) -> int:
    with Client.connect(start=False) as client:
        run_id = _run_to_stop(client, options.id)
        params = {"commandId": command_id(), "runId": run_id, "holdQueue": not options.keep_queue}
        client.call("agent/run/interrupt", params)
    aside("Stopping.")
    return 0


def create(client: Client, options: argparse.Namespace) -> str:
    params: Json = {"commandId": command_id(), "workspace": this_folder(), **chosen(options)}
    made: Json = client.call("agent/conversation/create", params)
    return str(made["conversation"]["id"])


def send(conversation_id: str, text: str) -> Json:
    content = [{"type": "text", "text": text}]
    return {"commandId": command_id(), "conversationId": conversation_id, "content": content}


def chosen(options: argparse.Namespace) -> Json:
    """`--allow-auto` alone means mode auto; mode auto alone is for the daemon to refuse."""
    named: Json = {
        name: value for name in ("mode", "provider", "model") if (value := getattr(options, name)) is not None
    }
    return {"mode": "auto", **named, "allowAuto": True} if options.allow_auto else named


class Followed:
    """One run from sent to ended, or until it waits."""

    def __init__(self, follower: Follower, options: argparse.Namespace, sent: Json) -> None:
        self._follower = follower
        self._json: bool = options.json
        self._wait: bool = options.wait
        self._run_id: str = sent["runId"]
        self._active = sent.get("disposition") != "queued"
        self._screen = Screen(answer=sys.stdout, activity=sys.stderr, run_id=self._run_id)
        self._pending: dict[str, int] = {}
        self._beneath: dict[str, set[int]] = {}
        if not self._active:
            aside("Queued behind the run that goes on.")

    def follow(self) -> int:
        for happened in self._follower.happenings():
            code = self._take(happened)
            if code is not None:
                self._screen.end_line()
                return code
            # A commit may ask several things at once: all of them are shown before the exit.
            if (self._pending or any(self._beneath.values())) and not self._wait and happened.last:
                return self._waits()
        return FAILED

    def _take(self, happened: Happened) -> int | None:
        match happened.kind:
            case "stream":
                if self._active:
                    self._show(happened)
            case "event":
                self._show(happened)
                return self._note(happened.body["kind"], happened.body["entity"])
            case "snapshot":
                return self._catch_up(happened.body)
        return None

    def _catch_up(self, snapshot: Json) -> int | None:
        """After a new connection. Where too much was missed to be told again, the snapshot says how it ended."""
        if not self._json:
            self._screen.snapshot(snapshot)
        for request in snapshot.get("requests", []):
            self._note("request", request)
        queued = {run["id"] for run in snapshot.get("queue", [])}
        if not snapshot.get("snapshot") or self._run_id in queued or snapshot["conversation"]["status"] in AT_WORK:
            return None
        kinds = [item["kind"] for item in snapshot["items"] if item["runId"] == self._run_id]
        ends = {"error": FAILED, "interrupt": INTERRUPTED}
        return next((ends[kind] for kind in reversed(kinds) if kind in ends), DONE)

    def _show(self, happened: Happened) -> None:
        if self._json:
            put_json(happened.message)
        elif happened.kind == "stream":
            self._screen.stream(happened.body)
        else:
            self._screen.event(happened.body)

    def _note(self, kind: str, entity: Json) -> int | None:
        if kind == "request" and entity.get("runId") == self._run_id:
            self._note_request(entity)
        if kind == "item" and entity["kind"] == "subagent" and entity["runId"] == self._run_id:
            self._note_subagent(entity)
        if kind != "run" or entity["id"] != self._run_id:
            return None
        self._active = entity["status"] in GOING_ON
        code = _ENDS.get(entity["status"])
        error = entity.get("error")
        if code == FAILED and error and not self._screen.failed:
            self._screen.end_line()
            complain(str(error.get("message", "The run failed.")), str(error.get("hint", "")))
        return code

    def _note_request(self, request: Json) -> None:
        if request.get("status") == "pending":
            self._pending[request["id"]] = request["number"]
            shown.remember([request])
        else:
            self._pending.pop(request["id"], None)

    def _note_subagent(self, item: Json) -> None:
        """What a subagent asks is shown here too: it belongs to this run."""
        waiting = set(item["payload"].get("requests") or [])
        fresh = waiting - self._beneath.get(item["id"], set())
        self._beneath[item["id"]] = waiting
        if fresh:
            with Client.connect(start=True) as client:
                for number in sorted(fresh):
                    found = client.call("agent/request/list", {"number": number})["requests"]
                    self._screen.cards(found)
                    shown.remember(found)

    def _waits(self) -> int:
        self._screen.end_line()
        waiting = set(self._pending.values()).union(*self._beneath.values())
        numbers = ", ".join(f"#{number}" for number in sorted(waiting))
        aside(f"Waiting for your answer to {numbers}. The run goes on after it; this terminal is not needed for that.")
        return WAITS


class Stop:
    """Ctrl-C: the first one stops the run and its end is awaited, the second one leaves at once.

    One that comes before the run is known is kept for it. It goes out on a connection of its own: the other one may be
    in the middle of a message.
    """

    def __init__(self) -> None:
        self._run_id: str | None = None
        self._pressed = False
        self._before: Any = None

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def arm(self, run_id: str) -> None:
        self._run_id = run_id
        if self._pressed:
            self._interrupt(run_id)

    def _press(self, _signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._pressed = True
        aside("\nStopping the run; Ctrl-C again leaves it to the daemon.")
        if self._run_id is not None:
            self._interrupt(self._run_id)

    def _interrupt(self, run_id: str) -> None:
        try:
            with Client.connect(start=True) as client:
                client.call("agent/run/interrupt", {"commandId": command_id(), "runId": run_id})
        except ClientError as error:
            complain(error.message, error.hint)


def _message(words: list[str]) -> str:
    if words and words != ["-"]:
        return " ".join(words)
    if not words and is_terminal(sys.stdin):
        return ""
    return sys.stdin.read()


def _change(client: Client, conversation_id: str, options: argparse.Namespace) -> None:
    if changed := chosen(options):
        params = {"commandId": command_id(), "conversationId": conversation_id, **changed}
        client.call("agent/conversation/update", params)


def _run_to_stop(client: Client, given: str | None) -> str:
    """A run as it is; the active run of a conversation; or the only conversation that is active."""
    if given and "." in given:
        return given
    given = named(client, given) if given else _only_active(client)
    snapshot = client.call("agent/conversation/attach", {"conversationId": given, "backfill": {"items": 1}})
    for run in snapshot.get("queue", []):
        if run["status"] in GOING_ON:
            return str(run["id"])
    if snapshot["conversation"]["status"] in AT_WORK and snapshot["items"]:
        return str(snapshot["items"][-1]["runId"])
    raise ClientError("not_found", "Nothing is running in this conversation.", _LISTED)


def _only_active(client: Client) -> str:
    listed = client.call("agent/conversation/list", {"limit": 200})["conversations"]
    active = [held["id"] for held in listed if held["status"] in AT_WORK]
    if len(active) == 1:
        return str(active[0])
    if not active:
        raise ClientError("not_found", "Nothing is running.", _LISTED)
    hint = "Name one: " + ", ".join(f"agent-ls interrupt {held}" for held in active[:3])
    raise ClientError("invalid_params", f"{len(active)} conversations are running.", hint)
