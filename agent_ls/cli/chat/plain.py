"""The chat without a terminal: messages line by line from standard input, one after the other.

Owns how a line is taken: as a message whose end is awaited, or as the answer to what waits. Exit codes are those of
`ask`; a request that nobody answers before the input ends is 2. Does not own what is printed (ask.py, screen.py).
"""

import argparse
import sys
from typing import Any, Final

from agent_ls.cli.ask import DONE, FAILED, INTERRUPTED, WAITS, Followed, Stop, create, send
from agent_ls.cli.client import Client, ClientError
from agent_ls.cli.follow import Follower
from agent_ls.cli.places import command_id
from agent_ls.cli.terminal import complain
from agent_ls.core.spoken_answers import answers_to

Json = dict[str, Any]
_ANSWERS: Final = ("/allow", "/deny", "/answer")
_STAY: Final = argparse.Namespace(json=False, wait=False)


def run_plain(options: argparse.Namespace) -> int:
    with Stop() as stop:
        client = Client.connect(start=True, client="chat")
        follower = Follower(
            client, options.conversation or "", connect=lambda: Client.connect(start=True, client="chat")
        )
        try:
            if options.conversation:
                follower.attach()
            return _Lines(follower, stop, options).take()
        finally:
            follower.client.close()


class _Lines:
    def __init__(self, follower: Follower, stop: Stop, options: argparse.Namespace) -> None:
        self._follower = follower
        self._options = options
        self._stop = stop
        self._run: Followed | None = None
        self._code = DONE

    def take(self) -> int:
        for line in sys.stdin:
            text = line.strip()
            if text.startswith(_ANSWERS):
                self._answer(text)
            elif text in {"/quit", "/exit"}:
                break
            elif self._code == WAITS:
                complain("Something waits for your answer first.", "Lines for it: /allow, /deny why, /answer text")
            elif text:
                self._say(text)
            if self._code == INTERRUPTED:
                break
        return self._code

    def _say(self, text: str) -> None:
        if not self._follower.conversation_id:
            # Not before there is something to say: an empty conversation would stay behind.
            self._follower.conversation_id = create(self._follower.client, self._options)
            self._follower.attach()
        sent: Json = self._follower.client.call("agent/message/send", send(self._follower.conversation_id, text))
        self._stop.arm(sent["runId"])
        self._run = Followed(self._follower, _STAY, sent)
        self._code = self._run.follow()

    def _answer(self, text: str) -> None:
        verb, _, rest = text.partition(" ")
        request = self._oldest()
        if request is None or self._run is None:
            complain("Nothing waits for an answer.")
            return
        params: Json = {"commandId": command_id(), "requestId": request["id"], "digest": request["digest"]}
        if verb == "/answer" and request["kind"] == "question":
            answers, option = answers_to(request, rest.strip())
            params |= {"decision": "answer", "answers": answers, **({"optionId": option} if option else {})}
        elif verb == "/answer" or (request["kind"] == "question" and verb == "/allow"):
            complain(
                f"#{request['number']} takes another answer.", "A question: /answer text; else /allow or /deny why"
            )
            return
        else:
            params |= {"decision": verb[1:], **({"reason": rest.strip()} if verb == "/deny" and rest.strip() else {})}
        try:
            self._follower.client.call("agent/request/respond", params)
        except ClientError as error:
            complain(error.message, error.hint)
            self._code = FAILED
            return
        self._code = self._run.follow()

    def _oldest(self) -> Json | None:
        """What was printed first of what waits."""
        known: Json = self._follower.client.call(
            "agent/request/list", {"conversationId": self._follower.conversation_id}
        )
        return min(known["requests"], key=lambda request: int(request["number"]), default=None)
