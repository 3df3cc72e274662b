"""Who has a conversation open, and what is being written in it, key by key as on the wire.

Owns these shapes only; results.py holds all others.
"""

from typing import NotRequired

from typing_extensions import TypedDict  # comes with pydantic, which reads no other before Python 3.12


class Presence(TypedDict):
    """A window that follows a conversation. `number` tells windows of one daemon apart."""

    number: int
    client: str
    focused: bool
    windowId: NotRequired[str]


class WindowsChanged(TypedDict):
    """Every window that follows the conversation now, this one included."""

    conversationId: str
    windows: list[Presence]


class Drafted(TypedDict):
    conversationId: str
    text: str
