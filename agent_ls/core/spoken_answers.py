"""What a person types as the answer to questions, as the daemon takes it: by question id, choices by their id.

Owns the spellings (`2`, `pg`, `Postgres`, `1,3`, `store=pg tests=1,2`). Whether it is an answer is questions.py's to
say. Takes a request as it is on the wire.
"""

import re
from typing import Any

Json = dict[str, Any]
Answer = str | list[str]


def answers_to(request: Json, text: str) -> tuple[dict[str, Answer], str | None]:
    """With the id of the request's own option that this is, if it is one."""
    questions: list[Json] = request.get("questions") or [{}]
    text = text.strip()
    if len(questions) > 1:
        said = _by_question(questions, text)
        return {_id(asked): _value(asked, said[_id(asked)]) for asked in questions if _id(asked) in said}, None
    first = questions[0]
    text = text.removeprefix(f"{_id(first)}=")
    offered = [option for option in request.get("options") or [] if option.get("decision") == "answer"]
    if not first.get("options") and offered:
        # The choices of the request itself are those of its only question.
        picked = _resolve(offered, text)
        return {_id(first): picked}, picked if any(option["id"] == picked for option in offered) else None
    answer = _value(first, text)
    return {_id(first): answer}, next((option["id"] for option in offered if option["id"] == answer), None)


def _by_question(questions: list[Json], text: str) -> dict[str, str]:
    """`a=… b=…`, by id or place; words before the first of them answer the first question."""
    names = {str(place): _id(asked) for place, asked in enumerate(questions, 1)}
    names |= {_id(asked): _id(asked) for asked in questions}
    marks = list(re.finditer(rf"(?:^|\s)({'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})=", text))
    if not marks:
        return {_id(questions[0]): text}
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return {names[mark[1]]: text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)}


def _value(asked: Json, text: str) -> Answer:
    choices: list[Json] = asked.get("options") or []
    if not asked.get("multi"):
        return _resolve(choices, text)
    parts = [part for part in re.split(r"\s*,\s*|\s+(?=\d+(?:\s|$))", text) if part]
    picked = [_resolve(choices, part) for part in parts]
    known = {str(choice["id"]) for choice in choices}
    return picked if (len(picked) > 1 and set(picked) <= known) or not asked.get("free") else [_resolve(choices, text)]


def _resolve(choices: list[Json], text: str) -> str:
    """The id of a choice by its id, its place or its label; else the words as they are."""
    if any(choice["id"] == text for choice in choices):
        return text
    if text.isdecimal() and 0 < int(text) <= len(choices):
        return str(choices[int(text) - 1]["id"])
    named = (str(choice["id"]) for choice in choices if str(choice["label"]).casefold() == text.casefold())
    return next(named, text)


def _id(asked: Json) -> str:
    return str(asked.get("id", "answer"))
