"""Messages in and out of bytes, on the daemon's side of a link.

Owns JSON-RPC as far as a single message's form: JSON, one object, no batch. Does not own where a frame ends
(bridge/frames, shared with the bridge and the CLI) nor what a message means (connection). No I/O.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_ls.bridge.frames import LONGEST_BODY, FrameSplitter, TooLong, frame

PARSE_ERROR = -32700
INVALID_REQUEST = -32600

Message = dict[str, Any]


@dataclass(frozen=True)
class BadMessage:
    """A frame that holds no message: the sender is told, and the link lives."""

    code: int
    sentence: str


@dataclass(frozen=True)
class LostBorder:
    """Nothing after this can be read: the sender is told, and the link ends."""

    sentence: str


Decoded = Message | BadMessage | LostBorder


class MessageDecoder:
    """Bytes in; messages, and what was wrong with the rest, out in the order they came."""

    def __init__(self, longest: int = LONGEST_BODY) -> None:
        self._frames = FrameSplitter(longest)
        self._longest = longest
        self._told = False

    def feed(self, data: bytes) -> list[Decoded]:
        found = [self._decode(body) for body in self._frames.feed(data)]
        if self._frames.lost and not self._told:
            self._told = True
            found.append(LostBorder(self._frames.lost))
        return found

    def _decode(self, body: bytes | TooLong) -> Decoded:
        if isinstance(body, TooLong):
            return BadMessage(
                INVALID_REQUEST,
                f"A message of {body.length} bytes is over the limit of {self._longest} and was not read. Send less.",
            )
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            return BadMessage(PARSE_ERROR, "A message is not JSON in UTF-8. Send it again.")
        if isinstance(message, dict):
            return message
        if isinstance(message, list):
            return BadMessage(INVALID_REQUEST, "Batches are not supported. Send one message a frame.")
        return BadMessage(INVALID_REQUEST, "A message is not an object.")


def encode(message: Mapping[str, Any]) -> bytes:
    """One frame. A value that JSON does not have is a bug of ours and raises ValueError or TypeError."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return frame(text.encode())
    except UnicodeEncodeError:  # half a surrogate pair, which only the escaped form can carry
        return frame(json.dumps(message, separators=(",", ":")).encode())
