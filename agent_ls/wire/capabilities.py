"""The static capabilities that `initialize` answers: one file for daemon, docs and tests.

Owns what is announced. `positionEncoding` is
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
CHOOSE: Final = "agent-ls.request.choose"
"""`{requestId, digest, questionId, optionId}`: one choice of several questions; nothing is answered by it yet."""
SEND_PROMPT: Final = "agent-ls.prompt.send"
"""What stands in the prompt document of `{conversationId}` is sent."""
ASK: Final = "agent-ls.prompt.ask"
"""A place (`{uri, range?, problem?}`) goes into the prompt document of its workspace, which is then shown."""
COMMANDS: Final = (SHOW, CHOOSE, SEND_PROMPT, ASK)
AGENT_KIND: Final = "agent"
"""The kind of code actions that are no fixes."""

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
            *COMMANDS,
        ]
    },
    # No resolveProvider: every action comes with its command, and with the digest of what was shown.
    "codeActionProvider": {"codeActionKinds": [QUICKFIX, AGENT_KIND]},
    "hoverProvider": True,
    # Of the two documents of a conversation; every other one gets an empty answer at once.
    "documentSymbolProvider": True,
    "foldingRangeProvider": True,
    "documentLinkProvider": {"resolveProvider": False},
    "codeLensProvider": {"resolveProvider": False},
    "completionProvider": {"triggerCharacters": ["@", "/", "#"], "resolveProvider": False},
    "inlayHintProvider": {"resolveProvider": False},
    "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
    "experimental": {"agentLs": {"protocol": {"min": 1, "max": 1}}},
}
