"""The static capabilities that `initialize` answers: one file for daemon, docs and tests.

Owns what is announced. What is not here yet (code actions, lenses) is not served either. `positionEncoding` is
added for each window: the first of its list that we know.
"""

from typing import Any, Final

from agent_ls.wire.methods import METHODS, Direction


def command_of(method: str) -> str:
    """`agent/message/send` -> `agent-ls.message.send`."""
    return "agent-ls." + method.removeprefix("agent/").replace("/", ".")


INCREMENTAL: Final = 2

CAPABILITIES: Final[dict[str, Any]] = {
    # The text at a save shows whether the copy of it is right.
    "textDocumentSync": {"openClose": True, "change": INCREMENTAL, "save": {"includeText": True}},
    "executeCommandProvider": {
        "commands": [
            command_of(method.name)
            for method in METHODS.values()
            if method.direction is Direction.REQUEST and method.built
        ]
    },
    "workspace": {"workspaceFolders": {"supported": True}},
    "experimental": {"agentLs": {"protocol": {"min": 1, "max": 1}}},
}
