"""The static capabilities that `initialize` answers: one file for daemon, docs and tests.

Owns what is announced. What is not here yet (code actions, documents, lenses) is not served either.
"""

from typing import Any, Final

from agent_ls.wire.methods import METHODS, Direction


def command_of(method: str) -> str:
    """`agent/message/send` -> `agent-ls.message.send`."""
    return "agent-ls." + method.removeprefix("agent/").replace("/", ".")


CAPABILITIES: Final[dict[str, Any]] = {
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
