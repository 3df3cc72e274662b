"""A digest of what a command asks, so that its id cannot answer for something else."""

from hashlib import sha256

from agent_ls.wire import models


def what(params: models.Command) -> str:
    """Of the method (each has its own parameters) and all it was given but the command id."""
    said = params.model_dump_json(exclude={"command_id"})
    return sha256(f"{type(params).__name__} {said}".encode("utf-8", "replace")).hexdigest()[:16]
