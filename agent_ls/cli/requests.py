"""`pending`, `show`, `approve`, `deny`, `answer`: what waits for the person, answered from a terminal.

Owns that nothing is approved unseen: an approval goes out with the digest of what was printed. Does not own which
answers count (the daemon).
"""

import argparse
import sys
from typing import Any, Final

from agent_ls.cli import shown
from agent_ls.cli.ago import ago
from agent_ls.cli.answers import allowance, plan_answer
from agent_ls.cli.cards import card, decided, verb
from agent_ls.cli.client import Client, ClientError
from agent_ls.cli.places import command_id, short_path, uri_path
from agent_ls.cli.terminal import aside, ask_yes, columns_of, complain, put, put_json, style_of
from agent_ls.cli.usage import Verbs
from agent_ls.core.display import one_line
from agent_ls.core.spoken_answers import answers_to

Json = dict[str, Any]
_LISTED: Final = "`agent-ls pending` lists what waits for an answer."


def register(verbs: Verbs) -> None:
    pending = verbs.add("pending", run_pending, "what waits for your answer, in all conversations")
    pending.add_argument("--json", action="store_true")
    show = verbs.add("show", run_show, "one request, complete: the command with folder and environment, or the diff")
    show.add_argument("number", type=_number, metavar="N")
    show.add_argument("--json", action="store_true")
    approve = verbs.add("approve", run_approve, "allow what was last shown under this number")
    approve.add_argument("number", type=_number, metavar="N")
    approve.add_argument("--scope", choices=["once", "conversation", "prefix", "workspace"], default="once")
    approve.add_argument("--mode", choices=["ask", "edits"], help="of a plan: whether edits are asked for meanwhile")
    approve.add_argument("--plan", metavar="FILE", help="accept a plan as this file has it, changed by you")
    deny = verbs.add("deny", run_deny, "refuse it; the agent is told why")
    deny.add_argument("number", type=_number, metavar="N")
    deny.add_argument("why", nargs="*")
    answer = verbs.add("answer", run_answer, "answer a question")
    answer.add_argument("number", type=_number, metavar="N")
    answer.add_argument("text", nargs="+", help="the answer or the number of an option; ID=ANSWER for each of several")


def run_pending(options: argparse.Namespace) -> int:
    with Client.connect(start=True) as client:
        requests: list[Json] = client.call("agent/request/list", {})["requests"]
        titles = {} if options.json else _titles(client, requests)
    if options.json:
        put_json({"requests": requests})
        shown.remember(requests)
        return 0
    if not requests:
        put("Nothing waits for you.")
    style, before = style_of(sys.stdout), ""
    for request in requests:
        title = titles.get(request["conversationId"], "")
        if title != before:
            put(style.dim(title))
        before = title
        put("\n".join(card(request, style_of(sys.stdout), columns=columns_of(sys.stdout))))
    shown.remember(requests)
    return 0


def _titles(client: Client, requests: list[Json]) -> dict[str, str]:
    """What each is about, where more than one conversation asks."""
    asking = {request["conversationId"] for request in requests}
    if len(asking) < 2:
        return {}
    held: list[Json] = client.call("agent/conversation/list", {})["conversations"]
    about = {each["id"]: (each.get("title") or "(untitled)", short_path(uri_path(each["workspace"]))) for each in held}
    return {name: one_line(f"{title}, in {folder}", 160) for name, (title, folder) in about.items() if name in asking}


def run_show(options: argparse.Namespace) -> int:
    with Client.connect(start=True) as client:
        request = _with_number(client, options.number)
        if options.json:
            preview = client.call("agent/request/preview", {"requestId": request["id"]})
            put_json({"request": request, "preview": preview})
        else:
            put("\n".join(card(request, style_of(sys.stdout), columns=columns_of(sys.stdout))))
    shown.remember([request])
    return 0


def run_approve(options: argparse.Namespace) -> int:
    with Client.connect(start=True) as client:
        request = _find(client, options.number)
        if request["kind"] == "question":
            return _is_question(options.number)
        digest = shown.digest(options.number) or _look(request)
        if digest is None:
            return 1
        how = plan_answer(options) if request["kind"] == "plan" else allowance(options.scope)
        _respond(client, request, digest=digest, decision="allow", **how)
    put(f"Allowed #{options.number}.")
    return 0


def run_deny(options: argparse.Namespace) -> int:
    with Client.connect(start=True) as client:
        request = _find(client, options.number)
        reason = " ".join(options.why)
        said = {"reason": reason} if reason else {}
        # To refuse needs no look at what it is now: nothing runs.
        _respond(client, request, digest=request["digest"], decision="deny", **said)
    put(f"Denied #{options.number}.")
    return 0


def run_answer(options: argparse.Namespace) -> int:
    with Client.connect(start=True) as client:
        request = _find(client, options.number)
        if request["kind"] != "question":
            number = options.number
            complain(
                f"#{number} asks for your leave, so it takes a yes or a no.",
                f'Say `agent-ls approve {number}`, or `agent-ls deny {number} "why"`.',
            )
            return 1
        answers, option = answers_to(request, " ".join(options.text))
        picked = {"optionId": option} if option else {}
        _respond(client, request, digest=request["digest"], decision="answer", answers=answers, **picked)
    put(f"Answered #{options.number}.")
    return 0


def _find(client: Client, number: int) -> Json:
    """The one with this number, while it waits for an answer."""
    request = _with_number(client, number)
    if request.get("status", "pending") == "pending":
        return request
    raise ClientError("already_decided", _became(request), _LISTED)


def _with_number(client: Client, number: int) -> Json:
    """Whatever became of it."""
    requests: list[Json] = client.call("agent/request/list", {"number": number})["requests"]
    for request in requests:
        if request["number"] == number:
            return request
    said = f"There is no request #{number}: this number was never given out, or its conversation was deleted."
    raise ClientError("unknown_request", said, _LISTED)


def _became(request: Json) -> str:
    """`#7 was allowed by ada in neovim 3 minutes ago.`"""
    if request.get("status") == "expired":
        return f"#{request['number']} can no longer be answered: its run has ended."
    if not request.get("decidedBy"):
        return f"#{request['number']} was {verb(request)}: its run was stopped or has ended."
    from agent_ls.adapters.host.system import SystemClock

    when = ago(str(request.get("decidedAt") or ""), SystemClock().now())
    return f"#{request['number']} was {decided(request)} {when}".rstrip() + "."


def _is_question(number: int) -> int:
    complain(
        f"#{number} is a question, so there is nothing to allow.",
        f'Answer it with `agent-ls answer {number} "…"`, or refuse it with `agent-ls deny {number}`.',
    )
    return 1


def _look(request: Json) -> str | None:
    """Shows the card and asks, since it was not shown in a terminal before."""
    number = request["number"]
    aside("\n".join(card(request, style_of(sys.stderr), answers=False, columns=columns_of(sys.stderr))))
    said = ask_yes(f"Allow #{number}?")
    if said is None:
        complain(
            f"Request #{number} was not shown before, so it cannot be approved here.",
            f"Look at it with `agent-ls show {number}`, then approve it.",
        )
    elif not said:
        aside(f"Left as it is. To refuse it: agent-ls deny {number}")
    return str(request["digest"]) if said else None


def _respond(client: Client, request: Json, *, digest: str, decision: str, **more: Any) -> None:
    params = {
        "commandId": command_id(),
        "requestId": request["id"],
        "digest": digest,
        "decision": decision,
        **more,
    }
    client.call("agent/request/respond", params)


def _number(text: str) -> int:
    """`7` or `#7`."""
    number = text.removeprefix("#")
    if not number.isdecimal():
        raise argparse.ArgumentTypeError(f"`{text}` is not a request number")
    return int(number)
