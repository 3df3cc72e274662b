"""What the generators of editors' types share: how a shape of the schema is read.

Owns what may be left out and which methods belong together. Does not own how any language spells it.
"""

from collections.abc import Mapping
from typing import Any, Final

from agent_ls.wire import methods
from agent_ls.wire.methods import Method

Json = dict[str, Any]

TABLES: Final[tuple[tuple[str, str, Mapping[str, Method]], ...]] = (
    ("Requests", "What an editor asks the daemon.", methods.METHODS),
    ("ClientNotifications", "What an editor tells the daemon.", methods.CLIENT_NOTIFICATIONS),
    ("Notifications", "What the daemon tells an editor.", methods.NOTIFICATIONS),
    ("ServerRequests", "What the daemon asks an editor.", methods.SERVER_REQUESTS),
)


def described(of: Json, method: Method) -> Json:
    found: Json = of.get(f"{method.name} ({method.direction})") or of[method.name]
    return found


def present(shape: Json) -> Json:
    """What a field that may be left out holds where it is there."""
    if not nullable(shape):
        return shape
    return {**shape, "anyOf": [option for option in shape["anyOf"] if option.get("type") != "null"]}


def nullable(shape: Json) -> bool:
    return any(option.get("type") == "null" for option in shape.get("anyOf", ()))
