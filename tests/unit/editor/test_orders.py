"""A command that travels through the ledger is decided as it was given."""

import json
from typing import Any

import pytest

from agent_ls.core.compacting import Compact
from agent_ls.core.conversation import Change, Mode
from agent_ls.core.dispatch import Dispatch, Message
from agent_ls.core.items import Block, ContextItem
from agent_ls.core.kept_rules import Kept
from agent_ls.core.merge_back import MergeBack
from agent_ls.core.queue import QueueOp, QueueUpdate
from agent_ls.core.request import Answer, Decision
from agent_ls.core.review import Mark, Review
from agent_ls.core.rules import Ruling
from agent_ls.core.run import Interrupt
from agent_ls.editor.orders import (
    WISHES,
    AskAgain,
    Delete,
    DropRule,
    EndShell,
    Hurry,
    KeepRule,
    Order,
    Reply,
    Settings,
    Stop,
    Wish,
    handed,
    order_of,
)
from agent_ls.ports.shared import Handed

SPAN = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 4}}

EXAMPLES: list[Wish] = [
    Message(
        content=(
            Block(type="text", text="Look: 😋\0"),
            Block(type="image", mime_type="image/png", data="blob:ab"),
            Block(type="file", uri="file:///w/a.py", range=SPAN),
        ),
        context=(ContextItem(type="selection", uri="file:///w/a.py", range=SPAN, text="x", data={"a": None}),),
        dispatch=Dispatch.STEER,
        target_run_id="c1.r1",
    ),
    QueueUpdate(op=QueueOp.EDIT, run_id="c1.r2", content=(Block(type="text", text="b"),), before="c1.r3"),
    Stop(run_id="c1.r1", noted=Interrupt(by="ada", from_="nvim", at="", hold_queue=False)),
    Stop(run_id="c1.r1", noted=Interrupt(by="ada", from_="nvim", at=""), item_id="c1.r1.i1"),
    Hurry(run_id="c1.r1"),
    AskAgain(run_id="c1.r1"),
    Reply(
        request_id="c1.r1.i1.q1",
        said=Answer(
            digest="d", decision=Decision.ANSWER, by="ada", from_="nvim", at="", answers={"q": ["a", 1]}, option_id="o"
        ),
    ),
    Settings(change=Change(title="T", mode=Mode.AUTO, archived=False), may_auto=True),
    Delete(),
    KeepRule(kept=Kept(effect=Ruling.DENY, pattern="shell(rm *)", by="ada", at="t")),
    DropRule(rule_id="c1:ab"),
    EndShell(item_id="c1.r1.a1.s1.1.p0", by="ada"),
    Compact(by="ada", from_="nvim", instructions="keep the names"),
    Compact(by="ada", from_="vscode", instructions="Keep the plan."),
    MergeBack(from_id="c2", text="Files 😋\0", omitted=("2 earlier messages",), after=3, through=9),
    Review(marks={"c1.r1.a1.s1.1.p0": {"1": Mark.KEPT, "2": Mark.UNDONE}}, said={"hunks": ["h"], "left": []}),
]


@pytest.mark.parametrize("wish", EXAMPLES, ids=lambda wish: type(wish).__name__)
def test_it_comes_out_of_the_ledger_as_it_went_in(wish: Wish) -> None:
    order = Order(command_id="k1", conversation_id="c1", wish=wish, what="abc")
    left = handed(order, "t")
    stored = Handed(left.command_id, left.conversation_id, json.loads(json.dumps(left.payload)), left.at)
    assert order_of(stored) == order


def test_there_is_an_example_of_each() -> None:
    assert {type(wish) for wish in EXAMPLES} == set(WISHES.values())


@pytest.mark.parametrize(
    "payload", [{}, {"wish": "dance", "given": {}, "what": ""}, {"wish": "send", "given": {"content": 1}, "what": ""}]
)
def test_what_a_newer_daemon_left_is_told_from_what_is_understood(payload: dict[str, Any]) -> None:
    assert order_of(Handed("k1", "c1", payload, "t")) is None
