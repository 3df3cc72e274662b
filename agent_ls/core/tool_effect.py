"""What running a tool does to the world, and what a crash in the middle of it asks for."""

from enum import StrEnum


class ToolEffect(StrEnum):
    READ = "read"
    EDIT = "edit"
    SHELL = "shell"
    OTHER = "other"
    OWN = "own"
    """Ends what the agent itself has begun, and touches nothing else. No read: in mode plan nothing is changed."""
    DELEGATE = "delegate"
    """Hands work to a subagent, whose own calls are judged one by one."""


class Replay(StrEnum):
    """After a crash between start and result: run again, look at the disk, or ask the person."""

    SAFE = "safe"
    VERIFY = "verify"
    ASK = "ask"
