"""Several questions at once, answered by code action: one for each choice, and one that sends them together.

Owns what has been chosen so far. It belongs to the request as it was shown, not to a window, and decides nothing: a
daemon that ends forgets it, and the person chooses again. Does not own what is an answer (core.questions).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from agent_ls.core.display import one_line
from agent_ls.core.errors import Code, Refusal
from agent_ls.core.request import Decision, Request, RequestKind
from agent_ls.wire.capabilities import CHOOSE, RESPOND

HEADER: Final = 30

Json = dict[str, Any]
Chosen = Mapping[str, Sequence[str]]
"""The ids of the options, by the question's."""


class Choices:
    """`waits`: whether a request is still pending; `changed` hears of a request whose choices are others now."""

    def __init__(self, waits: Callable[[str], bool]) -> None:
        self.changed: Callable[[Request], None] = lambda request: None
        self._waits = waits
        self._made: dict[tuple[str, str], dict[str, list[str]]] = {}

    def of(self, request: Request) -> Chosen:
        return self._made.get((request.id, request.digest), {})

    def choose(self, request: Request, question_id: Any, option_id: Any) -> Refusal | None:
        """The one instead of another; where several may be chosen, one more or one less."""
        asked = next((each for each in request.questions if name_of(each) == question_id), None)
        offered = [] if asked is None else [option["id"] for option in asked.get("options") or []]
        if asked is None or option_id not in offered:
            return Refusal(
                Code.INVALID_PARAMS, f"#{request.number} offers no such choice.", "Ask for its actions anew."
            )
        self._made = {known: made for known, made in self._made.items() if self._waits(known[0])}
        made = self._made.setdefault((request.id, request.digest), {})
        before = made.get(question_id, [])
        if not asked.get("multi"):
            made[question_id] = [option_id]
        else:
            now = [one for one in offered if (one == option_id) != (one in before)]
            made[question_id] = now
        self.changed(request)
        return None


def is_several(request: Request) -> bool:
    """Whether one click cannot be all of the answer."""
    asked = request.questions
    return request.kind is RequestKind.QUESTION and (len(asked) > 1 or bool(asked and asked[0].get("multi")))


def name_of(asked: Mapping[str, Any]) -> str:
    return str(asked.get("id", "answer"))


def commands(request: Request, chosen: Chosen) -> list[Json]:
    """A choice of each question, marked where it is made; and to send them, once there is one for each."""
    bound = {"requestId": request.id, "digest": request.digest}
    found: list[Json] = []
    for place, asked in enumerate(request.questions, 1):
        header = one_line(str(asked.get("header") or asked.get("text") or name_of(asked)), HEADER)
        for option in asked.get("options") or []:
            mark = "✓ " if option["id"] in chosen.get(name_of(asked), ()) else ""
            title = f"{mark}{header}: {one_line(str(option['label']))} #{request.number}.{place}"
            argument = {**bound, "questionId": name_of(asked), "optionId": option["id"]}
            found.append({"title": title, "command": CHOOSE, "arguments": [argument]})
    answers = {name_of(asked): _answer(asked, chosen.get(name_of(asked), ())) for asked in request.questions}
    if all(answers.values()):
        argument = {**bound, "decision": str(Decision.ANSWER), "answers": answers}
        found.append({"title": f"Send these answers #{request.number}", "command": RESPOND, "arguments": [argument]})
    return found


def _answer(asked: Mapping[str, Any], made: Sequence[str]) -> str | list[str]:
    return list(made) if asked.get("multi") else "".join(made)
