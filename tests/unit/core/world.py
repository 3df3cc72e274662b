"""A conversation without a daemon: commits decisions to a list of events, as the ledger would.

Owns ticking time, sequence numbers and owed effects. Decides nothing: whoever drives it calls the real deciders.
"""

from typing import Any

from agent_ls.core.conversation import Conversation, Mode
from agent_ls.core.dispatch import Dispatch, Message, send
from agent_ls.core.draft import Decision
from agent_ls.core.errors import Refusal
from agent_ls.core.events import AnyEntity, ConversationFact, Event, Fact
from agent_ls.core.items import Block, Call, Item, ItemKind
from agent_ls.core.messages import (
    AssistantTurn,
    CallPart,
    ModelMessage,
    Part,
    ReasoningPart,
    Reply,
    ResultsTurn,
    Stop,
    TextPart,
    UserTurn,
)
from agent_ls.core.projection import ConversationState
from agent_ls.core.request import Answer, Request
from agent_ls.core.request import Decision as Answered
from agent_ls.core.run import Interrupt
from agent_ls.core.step import Triage, TriageVerdict, take_reply

ALLOW, ASK, DENY, INVALID = TriageVerdict.ALLOW, TriageVerdict.ASK, TriageVerdict.DENY, TriageVerdict.INVALID


class World:
    def __init__(self) -> None:
        self.state = ConversationState()
        self.state.epoch = 1
        self.events: list[Event] = []
        self.unsettled: set[str] = set()
        self.number = 0
        self._ticks = 0
        self.commit(Decision((Fact(ConversationFact.CREATED, conversation()),)))

    def now(self) -> str:
        self._ticks += 1
        minutes, seconds = divmod(self._ticks, 60)
        return f"2026-01-01T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}.000Z"

    def commit(self, decided: Decision | Refusal | None) -> Decision:
        assert isinstance(decided, Decision), decided
        for fact in decided.facts:
            event = Event("c1", len(self.events) + 1, self.now(), fact.kind, str(fact.name), fact.entity)
            self.events.append(event)
            self.state.apply(fact.entity)
        self.state.seq = len(self.events)
        self.unsettled |= {effect.id for effect in decided.effects}
        self.unsettled -= set(decided.settled)
        return decided

    def say(self, text: str = "do it", dispatch: Dispatch = Dispatch.QUEUE) -> str:
        """Sends a message, that starts or waits; the id of its run."""
        done = self.commit(send(self.state, message(text, dispatch=dispatch), self.now()))
        return str(done.result["runId"])

    def reply(self, *calls: tuple[TriageVerdict, Call], text: str = "") -> list[Item]:
        """The model answers the active run; the items of its calls."""
        run = self.state.active
        assert run is not None
        attempt = self.state.attempts[run.active_attempt_id or ""]
        parts: list[Part] = [TextPart(text)]
        triage = []
        for part, (verdict, call) in enumerate(calls, start=1):
            parts.append(CallPart(f"native-{part}", call.tool, "{}"))
            triage.append(self.judged(part, verdict, call))
        reply = Reply(tuple(parts), Stop.TOOL_CALLS if calls else Stop.END_TURN)
        self.commit(take_reply(self.state, attempt, reply, triage=triage, at=self.now()))
        return [item for item in self.state.items.values() if item.step_id == attempt.step_id and is_call(item)]

    def judged(self, part: int, verdict: TriageVerdict, call: Call) -> Triage:
        self.number += verdict is ASK
        number = self.number if verdict is ASK else 0
        text = "" if verdict in (ALLOW, ASK) else f"it is {verdict}"
        return Triage(
            part=part,
            kind=ItemKind.TOOL_CALL,
            call=call,
            verdict=verdict,
            rule=None if verdict is INVALID else "a rule",
            text=text,
            number=number,
            title=call.tool,
        )

    def request(self, item: Item) -> Request:
        return self.state.requests[item.call.request_id or ""]

    def entities(self) -> list[AnyEntity]:
        """The newest state of everything, as the ledger keeps it."""
        return list({event.entity.id: event.entity for event in self.events}.values())


def conversation(**fields: Any) -> Conversation:
    known: dict[str, Any] = {
        "id": "c1",
        "workspace": "file:///w",
        "title": "",
        "provider": "p",
        "model": "m",
        "mode": Mode.ASK,
        "created_at": "t0",
        "updated_at": "t0",
    }
    return Conversation(**(known | fields))


def message(text: str = "do it", **fields: Any) -> Message:
    return Message(content=(Block(type="text", text=text),), **fields)


def call(tool: str = "edit", *, keys: tuple[str, ...] = (), **fields: Any) -> Call:
    return Call(call_id="", tool=tool, input={}, keys=keys, digest="d1", **fields)


def answer(decision: Answered, *, digest: str = "d1", at: str = "t9", **fields: Any) -> Answer:
    return Answer(digest=digest, decision=decision, by="ada", from_="nvim", at=at, **fields)


def stop(*, hold_queue: bool = True) -> Interrupt:
    return Interrupt(by="ada", from_="nvim", at="t9", hold_queue=hold_queue)


def is_call(item: Item) -> bool:
    return isinstance(item.payload, Call)


def illegal(messages: tuple[ModelMessage, ...]) -> list[str]:
    """Why a server would refuse these messages; nothing for legal ones."""
    found: list[str] = []
    ids: list[str] = []
    owed: tuple[str, ...] = ()
    last: ModelMessage | None = None
    for place, message in enumerate(messages):
        if not isinstance(message, ResultsTurn) and owed:
            found.append(f"{place}: no results for {owed}")
        match message:
            case UserTurn():
                if isinstance(last, UserTurn):
                    found.append(f"{place}: two turns of the person in a row")
                if not message.content or any(b.type == "text" and not (b.text or "").strip() for b in message.content):
                    found.append(f"{place}: the person says nothing")
                owed = ()
            case AssistantTurn():
                if last is None or isinstance(last, AssistantTurn):
                    found.append(f"{place}: nobody asked for this answer")
                found += [
                    f"{place}: empty text" for p in message.parts if isinstance(p, TextPart) and not p.text.strip()
                ]
                if all(isinstance(part, ReasoningPart) for part in message.parts):
                    found.append(f"{place}: an empty answer")
                owed = tuple(part.id for part in message.parts if isinstance(part, CallPart))
                ids += owed
            case ResultsTurn():
                if tuple(result.call_id for result in message.results) != owed:
                    found.append(f"{place}: results {[r.call_id for r in message.results]} for {owed}")
                found += [f"{place}: empty result" for result in message.results if not result.text.strip()]
                owed = ()
        last = message
    if owed:
        found.append(f"no results for {owed} at the end")
    if len(set(ids)) != len(ids):
        found.append("call ids are used twice")
    return found
