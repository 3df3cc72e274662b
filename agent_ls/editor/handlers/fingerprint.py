"""A digest of what a command asks, so that its id cannot answer for something else."""

from hashlib import sha256

from agent_ls.editor.orders import Delete, Order, Wish
from agent_ls.wire import models


def what(params: models.Command) -> str:
    """Of the method (each has its own parameters) and all it was given but the command id."""
    said = params.model_dump_json(exclude={"command_id"})
    return sha256(f"{type(params).__name__} {said}".encode("utf-8", "replace")).hexdigest()[:16]


def order(params: models.Command, conversation_id: str, wish: Wish) -> Order:
    """The command as a value. What is deleted keeps nothing but that it was."""
    asked = "" if isinstance(wish, Delete) else what(params)
    return Order(command_id=params.command_id, conversation_id=conversation_id, wish=wish, what=asked)
