"""The static capabilities that `initialize` answers: one file for daemon, docs and tests.

Owns what is announced. What is not here yet (lenses, hints) is not served either. `positionEncoding` is
added for each window: the first of its list that we know.
"""

from typing import Any, Final

from agent_ls.wire.methods import METHODS, Direction


def command_of(method: str) -> str:
    """`agent/message/send` -> `agent-ls.message.send`."""
    return "agent-ls." + method.removeprefix("agent/").replace("/", ".")


INCREMENTAL: Final = 2
QUICKFIX: Final = "quickfix"
RESPOND: Final = command_of("agent/request/respond")
SHOW: Final = "agent-ls.request.show"
"""A command only: it shows something in the window, and is of no use to a client that draws its own cards."""

CAPABILITIES: Final[dict[str, Any]] = {
    # The text at a save shows whether the copy of it is right.
    "textDocumentSync": {"openClose": True, "change": INCREMENTAL, "save": {"includeText": True}},
    "executeCommandProvider": {
        "commands": [
            *(
                command_of(method.name)
                for method in METHODS.values()
                if method.direction is Direction.REQUEST and method.built
            ),
            SHOW,
        ]
    },
    # No resolveProvider: every action comes with its command, and with the digest of what was shown.
    "codeActionProvider": {"codeActionKinds": [QUICKFIX]},
    "hoverProvider": True,
    "workspace": {"workspaceFolders": {"supported": True}},
    "experimental": {"agentLs": {"protocol": {"min": 1, "max": 1}}},
}
