"""What a model gave to a tool, read by a pydantic model; and the schema that tells it what to give.

Owns the sentence about wrong input. It never repeats the values: they may be long or secret.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from agent_ls.ports.tools import Invalid

_ERRORS_SHOWN = 5


class Arguments(BaseModel):
    """Base of every tool's input."""

    model_config = ConfigDict(extra="forbid", frozen=True)


A = TypeVar("A", bound=Arguments)


def parse(model: type[A], arguments: Mapping[str, Any]) -> A | Invalid:
    try:
        return model.model_validate(dict(arguments))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        said = "; ".join(f"{_where(problem['loc'])}: {problem['msg']}" for problem in problems[:_ERRORS_SHOWN])
        return Invalid(f"the input does not fit: {said}. Expected {_shape(model)}")


def schema_of(model: type[Arguments]) -> dict[str, Any]:
    """A JSON Schema without titles: they cost tokens and say nothing."""
    schema = _untitled(model.model_json_schema())
    assert isinstance(schema, dict)
    return schema


def twice(names: Sequence[str]) -> str | None:
    """The first that is given a second time."""
    return next((name for place, name in enumerate(names) if name in names[:place]), None)


def _where(location: tuple[int | str, ...]) -> str:
    return ".".join(map(str, location)) or "input"


def _shape(model: type[Arguments]) -> str:
    names = [name if field.is_required() else f"{name}?" for name, field in model.model_fields.items()]
    return "{" + ", ".join(names) + "}"


def _untitled(schema: Any, *, names: bool = False) -> Any:
    """`names`: the keys are names of properties, of which one may well be `title`."""
    if isinstance(schema, list):
        return [_untitled(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    optional = _without_null(schema)
    return {
        key: _untitled(part, names=key in {"properties", "$defs"})
        for key, part in optional.items()
        if names or not (key == "title" or (key == "default" and part is None))
    }


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """`T | None` is told to a model as T that may be left out."""
    kinds = schema.get("anyOf")
    if not isinstance(kinds, list) or {"type": "null"} not in kinds:
        return schema
    rest = [kind for kind in kinds if kind != {"type": "null"}]
    others = {key: part for key, part in schema.items() if key != "anyOf"}
    return {**rest[0], **others} if len(rest) == 1 else {**others, "anyOf": rest}
