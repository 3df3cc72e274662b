"""Background shells: commands that go on after their call has its result, and after its run.

Owns how the ledger knows of one: the result of its call begins it, a notice beneath that call ends it. Does not own the
facts of its end (shell_ends), the process (adapters.tools.shell_background) nor who looks after it (runtime.shells).
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from agent_ls.core.items import Call, CallState, Item, Notice, ToolResult

SHELL: Final = "shell"
"""In the data of a result: the call has left a shell running."""
ENDED: Final = "shell_ended"
"""Code of the notice that ends it."""
_NAME_LENGTH: Final = 8


@dataclass(frozen=True, kw_only=True)
class Shell:
    """`id` is what people and models call it; `item_id` that of its call, which it belongs to."""

    id: str
    item_id: str
    run_id: str
    command: str
    cwd: str
    since: str


def shell_id(item_id: str) -> str:
    """Short, and the same whoever asks."""
    return "sh" + sha256(item_id.encode()).hexdigest()[:_NAME_LENGTH]


def begun() -> dict[str, Any]:
    """Data of the result of a call that left a shell running."""
    return {SHELL: True}


def leaves_shell(result: ToolResult | None) -> bool:
    return result is not None and result.data is not None and bool(result.data.get(SHELL))


def shell_of(item: Item) -> Shell | None:
    """The shell that this item began."""
    call = item.payload
    if not isinstance(call, Call) or call.state is not CallState.FINISHED or not leaves_shell(call.result):
        return None
    return Shell(
        id=shell_id(item.id),
        item_id=item.id,
        run_id=item.run_id,
        command=str(call.input.get("command", "")),
        cwd=call.cwd or "",
        since=item.updated_at or item.created_at,
    )


def ended_by(item: Item) -> str | None:
    """The item whose shell this one ended."""
    is_end = isinstance(item.payload, Notice) and item.payload.code == ENDED
    return item.parent_id if is_end else None
