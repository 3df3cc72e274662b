"""Parameters of the methods that are built, as a handler gets them: checked, with Python's names.

Owns names, limits and the sentence that a wrong parameter is answered with. Does not own what a method does, nor
shapes that the daemon sends (results.py). Unknown fields are ignored, so that a newer client can talk to us.
"""

from base64 import b64decode
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from agent_ls.core.base import camel
from agent_ls.core.conversation import Mode
from agent_ls.core.images import sniff
from agent_ls.core.items import Block, ContextItem
from agent_ls.core.nesting import DEEPEST, too_deep
from agent_ls.core.request import Decision

TEXT_LIMIT: Final = 1_000_000
IMAGE_LIMIT: Final = 14_000_000
BLOCK_LIMIT: Final = 200
PAGE_LIMIT: Final = 1_000
NUMBER_LIMIT: Final = 2**53
LIST_LIMIT: Final = 200


def _checked(block: Block) -> Block:
    """A block holds what its type says; its own dataclass leaves every field optional."""
    match block.type:
        case "text":
            if block.text is None:
                raise ValueError("a block of type `text` needs `text`")
            if len(block.text) > TEXT_LIMIT:
                raise ValueError(f"its text is longer than {TEXT_LIMIT:,} characters; attach a file instead")
        case "image":
            if not block.mime_type or not block.data:
                raise ValueError("a block of type `image` needs `mimeType` and `data` (base64)")
            if len(block.data) > IMAGE_LIMIT:
                raise ValueError("the image is larger than 10 MiB; scale it down first")
            _check_image(block.mime_type, block.data)
        case "file":
            if not block.uri:
                raise ValueError("a block of type `file` needs `uri`")
        case _:
            raise ValueError("`type` must be one of `text`, `image`, `file`")
    return block


def _check_image(mime_type: str, data: str) -> None:
    """Servers refuse a whole conversation for one image that is none, so it is refused where it comes in."""
    try:
        content = b64decode(data, validate=True)
    except ValueError:
        raise ValueError("the image's `data` is not base64") from None
    found = sniff(content, "")
    if found is None:
        raise ValueError("the image is not a PNG, JPEG, GIF or WebP")
    if found != mime_type:
        raise ValueError(f"the image is {found}, not {mime_type}; correct `mimeType`")


def _checked_context(item: ContextItem) -> ContextItem:
    """It is stored as it comes and read again at every step: what cannot be used is refused here."""
    if len(item.text or "") > TEXT_LIMIT:
        raise ValueError(f"its text is longer than {TEXT_LIMIT:,} characters; attach a file instead")
    if item.range is not None and not all(_is_position(item.range.get(place)) for place in ("start", "end")):
        raise ValueError("`range` must be {start: {line, character}, end: {line, character}}")
    _shallow(item.data)
    return item


def _is_position(value: Any) -> bool:
    match value:
        case {"line": int(line), "character": int(character)}:
            return line >= 0 and character >= 0
        case _:
            return False


def _shallow(value: Any) -> Any:
    if too_deep(value):
        raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    return value


def _said(content: tuple[Block, ...]) -> tuple[Block, ...]:
    if not any(block.type != "text" or (block.text or "").strip() for block in content):
        raise ValueError("the message is empty; write at least one word")
    return content


def _at_most(limit: int) -> BeforeValidator:
    """Asking for more than a page gives a page: the cursor leads on."""
    return BeforeValidator(lambda value: limit if type(value) is int and value > limit else value)


Text = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Cursor = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Uri = Annotated[str, StringConstraints(min_length=1, max_length=8_000)]
Prose = Annotated[str, StringConstraints(max_length=20_000)]
Content = Annotated[
    tuple[Annotated[Block, AfterValidator(_checked)], ...],
    Field(min_length=1, max_length=BLOCK_LIMIT),
    AfterValidator(_said),
]
Context = Annotated[tuple[Annotated[ContextItem, AfterValidator(_checked_context)], ...], Field(max_length=BLOCK_LIMIT)]
Object = Annotated[dict[str, Any], AfterValidator(_shallow)]
Dispatch = Literal["auto", "queue", "steer", "restart", "start"]
QueueOp = Literal["edit", "remove", "move", "promote", "release", "hold"]
Scope = Literal["once", "conversation", "workspace"]


class Params(BaseModel):
    """Base of all parameters. Built at first use: a start that needs three methods pays for three."""

    model_config = ConfigDict(
        alias_generator=camel,
        populate_by_name=True,
        extra="ignore",
        frozen=True,
        defer_build=True,
        hide_input_in_errors=True,
    )


class Command(Params):
    """Something that changes; sent again with the same `commandId` it gives the same answer."""

    command_id: Text


class OfConversation(Params):
    conversation_id: Id


class ListConversations(Params):
    workspace: Uri | None = None
    query: Prose | None = None
    archived: bool = False
    cursor: Cursor | None = None
    limit: Annotated[int, Field(ge=1, le=LIST_LIMIT), _at_most(LIST_LIMIT)] = 50


class CreateConversation(Command):
    """`allowAuto`: the person said so in this very command, which lets mode `auto` be chosen."""

    workspace: Uri
    title: Text | None = None
    provider: Text | None = None
    model: Text | None = None
    mode: Mode | None = None
    allow_auto: bool = False


class Backfill(Params):
    items: Annotated[int, Field(ge=0, le=PAGE_LIMIT), _at_most(PAGE_LIMIT)] = 100


class Attach(OfConversation):
    """`after`: the seq that this window has already; events after it follow instead of a new snapshot."""

    after: Annotated[int, Field(ge=0)] | None = None
    backfill: Backfill = Field(default_factory=Backfill)


class OlderItems(OfConversation):
    cursor: Cursor
    limit: Annotated[int, Field(ge=1, le=PAGE_LIMIT), _at_most(PAGE_LIMIT)] = 100


class UpdateConversation(Command):
    conversation_id: Id
    title: Text | None = None
    provider: Text | None = None
    model: Text | None = None
    mode: Mode | None = None
    archived: bool | None = None
    allow_auto: bool = False


class ExportConversation(OfConversation):
    format: Literal["markdown", "jsonl"] = "markdown"


class ImportConversation(Command):
    """`path` of a file on the daemon's machine, absolute; `workspace` where the file names none."""

    path: Uri
    workspace: Uri | None = None


class CompactConversation(Command):
    conversation_id: Id
    instructions: Prose | None = None


class DeleteConversation(Command):
    conversation_id: Id


class SendMessage(Command):
    conversation_id: Id
    content: Content
    context: Context = ()
    dispatch: Dispatch = "auto"
    target_run_id: Id | None = None
    plan_id: Id | None = None


class UpdateQueue(Command):
    conversation_id: Id
    op: QueueOp
    run_id: Id | None = None
    content: Content | None = None
    before: Id | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.op not in {"hold", "release"} and self.run_id is None:
            raise ValueError(f"`runId` is missing; op `{self.op}` needs it")
        if self.op == "edit" and self.content is None:
            raise ValueError("`content` is missing; op `edit` needs it")
        return self


class CommandOnRun(Command):
    run_id: Id


class InterruptRun(CommandOnRun):
    item_id: Id | None = None
    hold_queue: bool = True


class ListRequests(Params):
    """With `number`, that one request alone, whatever became of it."""

    workspace: Uri | None = None
    conversation_id: Id | None = None
    number: Annotated[int, Field(ge=0, le=NUMBER_LIMIT), _at_most(NUMBER_LIMIT)] | None = None


class Respond(Command):
    request_id: Id
    digest: Text
    decision: Decision
    scope: Scope | None = None
    option_id: Id | None = None
    input: Object | None = None
    reason: Prose | None = None
    answers: Annotated[Any, AfterValidator(_shallow)] = None


class OfRequest(Params):
    request_id: Id


class ListShells(Params):
    """Of one conversation, or of all that this daemon holds."""

    conversation_id: Id | None = None


class StopShell(Command):
    shell_id: Id


class ListChanges(OfConversation):
    run_id: Id | None = None


class DecideChange(Command):
    """One hunk, or without `hunkId` the whole file. `hash`: of the file that the person looked at, as listed."""

    conversation_id: Id
    uri: Uri
    hunk_id: Id | None = None
    hash: Text | None = None


class ReleaseLock(Command):
    """`key` as the list names it."""

    key: Uri


class ReadBlob(Params):
    digest: Text
    offset: Annotated[int, Field(ge=0)] = 0
    limit: Annotated[int, Field(ge=1, le=1_048_576), _at_most(1_048_576)] = 262_144


class ListModels(Params):
    provider: Text | None = None


class Drain(Params):
    mode: Literal["handoff", "shutdown"]
    deadline_ms: Annotated[int, Field(ge=0, le=600_000)] = 30_000


def describe(error: ValidationError) -> str:
    """One sentence that names the first wrong field and what was expected, without what was sent."""
    first = error.errors(include_url=False, include_input=False)[0]
    return _sentence(_path(first["loc"]), first["type"], context=first.get("ctx", {}), message=first["msg"])


def _path(place: tuple[int | str, ...]) -> str:
    path = ""
    for part in place:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def _sentence(field: str, kind: str, *, context: dict[str, Any], message: str) -> str:
    name = f"`{field}`" if field else "params"
    match kind:
        case "missing":
            return f"{name} is missing."
        case "literal_error" | "enum":
            return f"{name} must be one of {_choices(context['expected'])}."
        case "value_error":
            reason = str(context["error"])
            return f"{name}: {reason}." if field else f"{reason[:1].upper()}{reason[1:]}."
        case "string_too_long":
            return f"{name} is longer than {context['max_length']:,} characters."
        case "string_too_short":
            return f"{name} is empty."
        case "too_long" | "too_short":
            limits = {"too_long": "max_length", "too_short": "min_length"}
            word = {"too_long": "at most", "too_short": "at least"}[kind]
            count = context[limits[kind]]
            return f"{name} must have {word} {count:,} {'entry' if count == 1 else 'entries'}."
        case "greater_than_equal":
            return f"{name} must be at least {context['ge']:,}."
        case "less_than_equal":
            return f"{name} must be at most {context['le']:,}."
        case _:
            return f"{name} must be {_EXPECTED.get(kind, f'something else ({message})')}."


def _choices(expected: str) -> str:
    return expected.replace("'", "`").replace(" or ", ", ")


_EXPECTED: Final = {
    "string_type": "a string",
    "string_sub_type": "a string",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dataclass_type": "an object",
    "tuple_type": "a list",
    "list_type": "a list",
}
