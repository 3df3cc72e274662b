"""Questions of the agent to the person: which answers fit, how they are told to the model, and what stays unanswered.

A question is `{id, header, text, options: [{id, label, description?}], multi?, free?}`; answers are `{questionId:
optionId | [optionIds] | "free text"}`. Owns no state: the request is request.py's, the call that waits is call.py's.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent_ls.core.request import Decision, Option

Answers = dict[str, str | list[str]]

UNWILLING: Final = "The person does not want to answer this. Go on with what is known, or say why it is needed."
_NO: Final = "Do not answer"


def options(questions: Sequence[Mapping[str, Any]]) -> tuple[Option, ...]:
    """What a card can offer as one click: the choices of a single question, and to leave it."""
    known = [] if len(questions) != 1 or questions[0].get("multi") else questions[0].get("options") or []
    chosen = [Option(id=one["id"], label=one["label"], decision=Decision.ANSWER) for one in known]
    taken = {option.id for option in chosen}
    return (*chosen, Option(id="deny" if "deny" not in taken else "no_answer", label=_NO, decision=Decision.DENY))


def fit(questions: Sequence[Mapping[str, Any]], given: Any, option_id: str | None) -> Answers | str:
    """Answers to all of the questions, each as it was offered; or a sentence on what is missing or unknown."""
    if given is None and option_id is not None and len(questions) == 1:
        given = {questions[0]["id"]: option_id}
    known = {str(question["id"]): question for question in questions}
    if not isinstance(given, dict):
        return f"answers have to be an object with the keys {_named(known)}"
    unknown = [name for name in given if name not in known]
    if unknown:
        return f"there is no question {_named(unknown)}; the questions are {_named(known)}"
    missing = [name for name in known if name not in given]
    if missing:
        return f"an answer to {_named(missing)} is missing"
    fitted: Answers = {}
    for name, question in known.items():
        one = _fit_one(question, given[name])
        if isinstance(one, _Wrong):
            return one.why
        fitted[name] = one
    return fitted


class _Wrong:
    def __init__(self, why: str) -> None:
        self.why = why


def _fit_one(question: Mapping[str, Any], said: Any) -> str | list[str] | _Wrong:
    name, multi = question["id"], bool(question.get("multi"))
    several = said if isinstance(said, list) else [said]
    if not several or not all(isinstance(one, str) and one.strip() for one in several):
        return _Wrong(f"the answer to `{name}` is empty or not a text")
    if len(several) > 1 and not multi:
        return _Wrong(f"`{name}` takes one answer, not {len(several)}")
    offered = [option["id"] for option in question.get("options") or []]
    unknown = [one for one in several if one not in offered]
    if unknown and not is_free(question):
        return _Wrong(f"`{name}` has no option {_named(unknown)}; choose {_named(offered)}")
    return list(dict.fromkeys(several)) if multi else several[0]


def is_free(question: Mapping[str, Any]) -> bool:
    """Whether words of the person's own are an answer."""
    return bool(question.get("free")) or not question.get("options")


def in_words(questions: Sequence[Mapping[str, Any]], answers: Mapping[str, str | list[str]]) -> str:
    """One paragraph a question, with labels in the place of ids."""
    return "\n".join(f"{question['text']}\n-> {_said(question, answers[question['id']])}" for question in questions)


def _said(question: Mapping[str, Any], answer: str | list[str]) -> str:
    labels = {option["id"]: option["label"] for option in question.get("options") or []}
    return "; ".join(labels.get(one, one) for one in (answer if isinstance(answer, list) else [answer]))


def _named(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names) or "(none)"
