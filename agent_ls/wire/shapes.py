"""Types of the wire as JSON Schema, and the same in one line as a person reads it.

Owns the way from Python types to both forms. Used to make docs and client types, never while the daemon runs.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

Json = dict[str, Any]
_REF: Final = "#/$defs/"


class Shapes:
    """All types at once, so that each gets one name. `(type, True)` is something that we read, else we write it."""

    def __init__(self, types: Sequence[tuple[Any, bool]]) -> None:
        named = [(str(place), _mode(read=read), TypeAdapter(kind)) for place, (kind, read) in enumerate(types)]
        by_place, together = TypeAdapter.json_schemas(named, by_alias=True)
        self._defs: Json = {name: _tidy(shape) for name, shape in together.get("$defs", {}).items()}
        self._of: dict[Any, Json] = {
            kind: _tidy(by_place[str(place), _mode(read=read)]) for place, (kind, read) in enumerate(types)
        }

    def of(self, kind: Any) -> Json:
        return self._of[kind]

    def definitions(self) -> Json:
        return dict(sorted(self._defs.items()))

    def inline(self, kind: Any) -> str:
        """`{conversationId, after?}`: the names of an object, types only where they say more than the name."""
        shape = self._resolved(self._of[kind])
        if "properties" not in shape:
            return _type(shape) if shape.get("additionalProperties") is True else "{}"
        return "{" + ", ".join(self._brief(shape)) + "}"

    def described(self, kept: Collection[Any]) -> Iterator[str]:
        """Every shape but those that are only the parameters or result of one method; `kept` in any case."""
        tops = {_name(shape) for kind, shape in self._of.items() if "$ref" in shape and kind not in kept}
        for name, shape in self.definitions().items():
            if name not in tops - self._referred():
                yield from _define(name, shape)

    def _resolved(self, shape: Json) -> Json:
        return self._defs[_name(shape)] if "$ref" in shape else shape

    def _brief(self, shape: Json) -> Iterator[str]:
        for field, mark, value in _fields(shape):
            told = _type(value)
            plain = told in {"string", "int", "number", "bool", "any"}
            yield f"{field}{mark}" if plain else f"{field}{mark}: {told}"

    def _referred(self) -> set[str]:
        """Names that other shapes use; what is used by none is inline in the method's row."""
        return {name for shape in (*self._defs.values(), *self._inlined()) for name in _refs(shape)}

    def _inlined(self) -> Iterator[Json]:
        yield from (shape for shape in self._of.values() if "$ref" not in shape)


def _define(name: str, shape: Json) -> Iterator[str]:
    if "enum" in shape or "properties" not in shape:
        yield f"{name} = {_type(shape)}"
        return
    line, indent = f"{name} {{", " " * (len(name) + 2)
    fields = [f"{field}{mark}: {_type(value)}" for field, mark, value in _fields(shape)]
    for place, field in enumerate(fields):
        piece = field + ("}" if place == len(fields) - 1 else ", ")
        if len(line) + len(piece) > 118:
            yield line.rstrip()
            line = indent
        line += piece
    yield line


def _fields(shape: Json) -> Iterator[tuple[str, str, Json]]:
    needed = set(shape.get("required", ()))
    for field, value in shape.get("properties", {}).items():
        optional = field not in needed or _nullable(value)
        yield field, "?" if optional else "", value


def _type(shape: Json) -> str:
    if "$ref" in shape:
        return _name(shape)
    if "enum" in shape:
        return "|".join(str(value) for value in shape["enum"])
    if "const" in shape:
        return str(shape["const"])
    if options := shape.get("anyOf") or shape.get("oneOf"):
        return "|".join(_type(option) for option in options if option.get("type") != "null")
    match shape.get("type"):
        case "array":
            return f"[{_type(shape.get('items', {}))}]"
        case "object":
            return "object"
        case "integer":
            return "int"
        case "boolean":
            return "bool"
        case None:
            return "any"
        case other:
            return str(other)


def _tidy(shape: Any) -> Any:
    """Without what only repeats the name."""
    if isinstance(shape, list):
        return [_tidy(part) for part in shape]
    if not isinstance(shape, dict):
        return shape
    return {
        key: ({name: _tidy(part) for name, part in value.items()} if key == "properties" else _tidy(value))
        for key, value in shape.items()
        if key != "title"
    }


def _refs(shape: Any) -> Iterator[str]:
    if isinstance(shape, dict):
        if "$ref" in shape:
            yield _name(shape)
        for part in shape.values():
            yield from _refs(part)
    elif isinstance(shape, list):
        for part in shape:
            yield from _refs(part)


def _nullable(shape: Json) -> bool:
    return any(option.get("type") == "null" for option in shape.get("anyOf", ()))


def _name(shape: Json) -> str:
    return str(shape["$ref"]).removeprefix(_REF)


def _mode(*, read: bool) -> JsonSchemaMode:
    return "validation" if read else "serialization"
