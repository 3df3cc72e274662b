"""Refusals: every stable error code with the way out that a person can take.

Owns codes, hints and whether trying again can help. Does not own JSON-RPC framing (editor) nor exit codes (cli).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final


class Code(StrEnum):
    ALREADY_DECIDED = "already_decided"
    NOT_RESUMABLE = "not_resumable"
    DIGEST_MISMATCH = "digest_mismatch"
    TOO_SOON = "too_soon"
    UNKNOWN_REQUEST = "unknown_request"
    STALE_EPOCH = "stale_epoch"
    QUEUE_HELD = "queue_held"
    QUEUE_FULL = "queue_full"
    COMMAND_CONFLICT = "command_conflict"
    NOT_FOUND = "not_found"
    UNSUPPORTED = "unsupported"
    UNAUTHORIZED = "unauthorized"
    CONVERSATION_BUSY = "conversation_busy"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    PROVIDER_ERROR = "provider_error"
    RATE_LIMITED = "rate_limited"
    CONTEXT_OVERFLOW = "context_overflow"
    PERMISSION_DENIED = "permission_denied"
    OUTSIDE_WORKSPACE = "outside_workspace"
    STALE_DOCUMENT = "stale_document"
    LEDGER_UNAVAILABLE = "ledger_unavailable"
    DISK_FULL = "disk_full"
    SCHEMA_TOO_NEW = "schema_too_new"
    INVALID_PARAMS = "invalid_params"


HINTS: Final[Mapping[Code, str]] = {
    Code.ALREADY_DECIDED: "Nothing to do: the first answer counts.",
    Code.NOT_RESUMABLE: "Send the message again.",
    Code.DIGEST_MISMATCH: "Look at the request again (`agent-ls show N`) and answer what it shows now.",
    Code.TOO_SOON: "Read what it asks, then answer again.",
    Code.UNKNOWN_REQUEST: "`agent-ls pending` lists what waits for an answer.",
    Code.STALE_EPOCH: "Another daemon holds this conversation now; connect again.",
    Code.QUEUE_HELD: "Release the queue, or send with dispatch `start`.",
    Code.QUEUE_FULL: "Wait for queued messages to run, or remove some.",
    Code.COMMAND_CONFLICT: "Use a fresh commandId for a new command.",
    Code.NOT_FOUND: "`agent-ls conversations` lists what there is.",
    Code.UNSUPPORTED: "This daemon cannot do that yet.",
    Code.UNAUTHORIZED: "Check the key of this provider; `agent-ls doctor` shows where it comes from.",
    Code.CONVERSATION_BUSY: "Wait until the run has ended, or stop it.",
    Code.PROVIDER_UNAVAILABLE: "`agent-ls doctor` shows which providers were found and what is missing.",
    Code.PROVIDER_ERROR: "Send the message again; `agent-ls log` has the details.",
    Code.RATE_LIMITED: "Wait a little, then send the message again.",
    Code.CONTEXT_OVERFLOW: "Start a new conversation, or use a model with a larger window.",
    Code.PERMISSION_DENIED: "A person has to do this, from an editor or a terminal of their own.",
    Code.OUTSIDE_WORKSPACE: "Use a path inside the conversation's workspace.",
    Code.STALE_DOCUMENT: "Read the file again, then repeat the edit.",
    Code.LEDGER_UNAVAILABLE: "The ledger cannot be written just now; try again.",
    Code.DISK_FULL: "Free some space in the state directory; nothing that was acknowledged is lost.",
    Code.SCHEMA_TOO_NEW: "Install the newer agent-ls that wrote this ledger.",
    Code.INVALID_PARAMS: "See docs/protocol.md for the parameters of this method.",
}

RETRYABLE: Final = frozenset(
    {
        Code.CONVERSATION_BUSY,
        Code.TOO_SOON,
        Code.RATE_LIMITED,
        Code.LEDGER_UNAVAILABLE,
        Code.DISK_FULL,
        Code.PROVIDER_ERROR,
    }
)


DAMAGED: Final = "damaged"
"""In the data of a refusal: what is kept cannot be read, now or later."""


@dataclass(frozen=True)
class Refusal:
    """A command that was not taken: `message` says why, `hint` what to do next, `data` what else is known."""

    code: Code
    message: str
    hint: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def retryable(self) -> bool:
        return self.code in RETRYABLE and not self.data.get(DAMAGED)

    def as_data(self) -> dict[str, Any]:
        """The `data` member of the JSON-RPC error."""
        hint = self.hint or HINTS[self.code]
        return {**self.data, "code": str(self.code), "message": self.message, "hint": hint, "retryable": self.retryable}


class Refused(Exception):
    """Carries a refusal out of a handler."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal
        self.code = str(refusal.code)
        self.message = refusal.message
        self.hint = refusal.hint or HINTS[refusal.code]
        self.retryable = refusal.retryable
