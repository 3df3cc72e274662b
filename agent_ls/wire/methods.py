"""METHODS: every method, notification and server request that travels, defined once.

Owns names, directions, parameters, results and what is built. Daemon, docs, JSON Schema, client types and tests all
read this table. Does not own what a method does (editor.handlers), nor the standard LSP methods.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from pydantic import ValidationError

from agent_ls.core.errors import Code, Refusal
from agent_ls.wire import changes, fork_models, later, models, presence, results, rule_models, use

PROTOCOL: Final = 1


class Direction(StrEnum):
    """Who speaks, and whether an answer comes."""

    REQUEST = "request"
    CLIENT_NOTIFICATION = "client notification"
    NOTIFICATION = "notification"
    SERVER_REQUEST = "server request"


@dataclass(frozen=True, kw_only=True)
class Method:
    """`changes`: carries a commandId and a receipt answers its repetition. `feature`: sent only to a client that
    declared it. Not `built`: listed, and answered with `unsupported`."""

    name: str
    direction: Direction
    params: type[Any]
    result: type[Any] | None
    summary: str
    changes: bool = False
    built: bool = True
    feature: str | None = None

    def read(self, raw: object) -> Any | Refusal:
        """The checked parameters, an instance of `params`. No params at all are read as an empty object."""
        if not self.built:
            return unsupported(self)
        if self.changes and _holds_half_a_pair(raw):
            return Refusal(Code.INVALID_PARAMS, _HALF, "Leave that sign out, or send the whole of it.")
        try:
            return self.params.model_validate({} if raw is None else raw)
        except ValidationError as error:
            return Refusal(Code.INVALID_PARAMS, models.describe(error))


_HALF: Final = "A text holds half of a surrogate pair (a sign that was cut in two), which cannot be written down."
_HALF_A_PAIR: Final = re.compile("[\ud800-\udfff]")


def _holds_half_a_pair(raw: object) -> bool:
    left = [raw]
    while left:
        match left.pop():
            case str() as text if _HALF_A_PAIR.search(text):
                return True
            case dict() as table:
                left += [*table.keys(), *table.values()]
            case list() as listed:
                left += listed
    return False


def unsupported(method: Method) -> Refusal:
    return Refusal(
        Code.UNSUPPORTED,
        f"{method.name} is not part of this version of agent-ls yet.",
        "Look for a newer agent-ls; everything else goes on working.",
    )


def _request(name: str, summary: str, *, params: type[models.Params], result: type[Any], built: bool = True) -> Method:
    return Method(
        name=f"agent/{name}",
        direction=Direction.REQUEST,
        params=params,
        result=result,
        summary=summary,
        changes=issubclass(params, models.Command),
        built=built,
    )


def _later(name: str, summary: str, *, params: type[models.Params], result: type[Any]) -> Method:
    return _request(name, summary, params=params, result=result, built=False)


def _told(name: str, params: type[models.Params], summary: str, *, built: bool = False) -> Method:
    return Method(
        name=f"agent/{name}",
        direction=Direction.CLIENT_NOTIFICATION,
        params=params,
        result=None,
        summary=summary,
        built=built,
    )


def _notice(name: str, params: type[Any], summary: str, *, built: bool = True) -> Method:
    return Method(
        name=f"agent/{name}",
        direction=Direction.NOTIFICATION,
        params=params,
        result=None,
        summary=summary,
        built=built,
    )


def _asked(
    name: str, params: type[Any], result: type[Any], *, summary: str, feature: str, built: bool = False
) -> Method:
    return Method(
        name=name,
        direction=Direction.SERVER_REQUEST,
        params=params,
        result=result,
        summary=summary,
        built=built,
        feature=feature,
    )


_CONVERSATIONS: Final = (
    _request(
        "conversation/list",
        "Conversations, newest first.",
        params=models.ListConversations,
        result=results.ConversationList,
    ),
    _request(
        "conversation/create",
        "Makes a conversation; its workspace is fixed.",
        params=models.CreateConversation,
        result=results.Conversed,
    ),
    _request(
        "conversation/attach",
        "A snapshot, then every event after it; asking again gives a fresh one.",
        params=models.Attach,
        result=results.Attached,
    ),
    _request("conversation/detach", "No more events of it.", params=models.OfConversation, result=results.Nothing),
    _request("conversation/items", "Older items, before a cursor.", params=models.OlderItems, result=results.ItemPage),
    _request(
        "conversation/update",
        "Changes title, model, provider, mode or archived.",
        params=models.UpdateConversation,
        result=results.Conversed,
    ),
    _request(
        "conversation/fork",
        "A new conversation that goes on from here: from the end, or after a run or an item.",
        params=fork_models.ForkConversation,
        result=results.Conversed,
    ),
    _request(
        "conversation/mergeBack",
        "Tells the conversation that a fork was made of what came of it.",
        params=fork_models.MergeBack,
        result=results.Sequenced,
    ),
    _request(
        "conversation/compact",
        "Summarizes older items, at the next step border where a run goes on. Stopped as that run is, or the newest.",
        params=models.CompactConversation,
        result=results.Sequenced,
    ),
    _request(
        "conversation/export",
        "The conversation as text or as events.",
        params=models.ExportConversation,
        result=results.Exported,
    ),
    _request(
        "conversation/import",
        "A conversation from a file of events, whatever of it can be read; nothing of it is run.",
        params=models.ImportConversation,
        result=results.ImportedView,
    ),
    _request(
        "conversation/delete",
        "Removes it for good; ask the person first.",
        params=models.DeleteConversation,
        result=results.Nothing,
    ),
)

_RUNS: Final = (
    _request(
        "message/send",
        "A message of the person: starts a run, joins the one that goes on, or waits in the queue.",
        params=models.SendMessage,
        result=results.Sent,
    ),
    _request(
        "queue/update",
        "Edits, removes, moves or promotes a queued run; holds, releases.",
        params=models.UpdateQueue,
        result=results.QueueUpdated,
    ),
    _request(
        "run/interrupt",
        "Noted at once; the end of the run, or of the one call, comes as events.",
        params=models.InterruptRun,
        result=results.Noted,
    ),
    _request(
        "run/hurry",
        "Tries again now instead of after the wait.",
        params=models.CommandOnRun,
        result=results.Hurried,
    ),
    _request(
        "run/retry",
        "Asks the same input again, after a run that failed or was stopped.",
        params=models.CommandOnRun,
        result=results.Sent,
    ),
)

_REQUESTS: Final = (
    _request(
        "request/list",
        "What waits for an answer, of the whole daemon.",
        params=models.ListRequests,
        result=results.RequestList,
    ),
    _request(
        "request/respond",
        "Answers a request, bound to the digest that was shown; the first answer counts.",
        params=models.Respond,
        result=results.Responded,
    ),
    _request("request/preview", "All of what an answer would allow.", params=models.OfRequest, result=results.Preview),
)

_FILES: Final = (
    _later(
        "checkpoint/list",
        "Files as they were at boundaries.",
        params=later.ListCheckpoints,
        result=results.CheckpointList,
    ),
    _later(
        "checkpoint/diff", "Hunks between two checkpoints.", params=later.DiffCheckpoints, result=results.CheckpointDiff
    ),
    _later("checkpoint/restore", "Puts files back.", params=later.RestoreCheckpoint, result=results.Restored),
    _request(
        "change/list", "Hunks of the agent's edits, file by file.", params=models.ListChanges, result=changes.ChangeList
    ),
    _request("change/keep", "Keeps a hunk or a file.", params=models.DecideChange, result=changes.ChangeDecided),
    _request(
        "change/undo",
        "Takes a hunk or a file back, where the agent's own lines are as it wrote them.",
        params=models.DecideChange,
        result=changes.ChangeDecided,
    ),
    _later("rollback", "Back to a run: files and conversation.", params=later.Rollback, result=results.RolledBack),
    _request("blob/read", "A part of a long output.", params=models.ReadBlob, result=results.BlobPart),
    _request("shell/list", "Background shells that run.", params=models.ListShells, result=results.ShellList),
    _request(
        "shell/stop",
        "Ends a background shell with all that it has started.",
        params=models.StopShell,
        result=results.Nothing,
    ),
    _request(
        "lock/list", "Which files and folders are held, by which run.", params=models.Params, result=results.LockList
    ),
    _request(
        "lock/release",
        "The person takes a lock over: who waits for it goes on, who held it is told.",
        params=models.ReleaseLock,
        result=results.Nothing,
    ),
)

_SETTINGS: Final = (
    _request(
        "permission/list", "Rules with their scope and origin.", params=rule_models.ListRules, result=results.RuleList
    ),
    _request(
        "permission/add",
        "Keeps a rule, to the letter; it holds for whatever has not started yet.",
        params=rule_models.AddRule,
        result=results.Rule,
    ),
    _request(
        "permission/remove",
        "Removes a rule that was kept; it holds for whatever has not started yet.",
        params=rule_models.RemoveRule,
        result=results.Nothing,
    ),
    _request(
        "permission/explain",
        "What would happen to a call, and which rule says so.",
        params=rule_models.ExplainPermission,
        result=results.Explanation,
    ),
    _request(
        "provider/list", "Providers, and why one is not available.", params=models.Params, result=results.ProviderList
    ),
    _request("model/list", "Models that can be chosen.", params=models.ListModels, result=results.ModelList),
    _request("context/status", "Tokens, window, cost so far.", params=models.OfConversation, result=use.ContextUse),
    _request(
        "drain",
        "Ends the daemon: nothing new begins, what runs comes to its commit or is left to the next daemon. "
        "`handoff`: that one waits already.",
        params=models.Drain,
        result=results.Nothing,
    ),
    _request(
        "status", "The daemon itself, as `agent-ls status --json`.", params=models.Params, result=results.DaemonStatus
    ),
)

_CLIENT_NOTIFICATIONS: Final = (
    _told("window/focus", later.WindowFocus, "This window got or lost the focus.", built=True),
    _told("diagnostics", later.WindowDiagnostics, "What the window's other servers said.", built=True),
    _told("conversation/draft", later.Draft, "What the person is writing; empty: nothing more.", built=True),
)

_NOTIFICATIONS: Final = (
    _notice("hello", results.Hello, "At each connect and reconnect; another bootId is another daemon."),
    _notice("event", results.Events, "What was committed in an attached conversation."),
    _notice("stream", results.StreamPart, "Text in flight; may be dropped, the committed item supersedes it."),
    _notice("request/changed", results.RequestsChanged, "What waits for an answer has changed."),
    _notice("request/answered", results.RequestList, "Answered in another window; `decidedFrom` says in which."),
    _notice("conversation/draft", presence.Drafted, "Another window of the conversation said what is being written."),
    _notice("conversation/windows", presence.WindowsChanged, "Another window came to a conversation, or left it."),
    _notice("resync", results.Resync, "This window was too slow: attach again."),
    _notice("drain", results.Draining, "The daemon is about to end; connect again after the wait."),
    _notice("conversation/changed", results.ConversationsChanged, "Summaries that changed."),
    _notice("lock/changed", results.LockList, "The locks of this window's workspaces, all of them."),
)

_SERVER_REQUESTS: Final = (
    _asked("agent/ui/reveal", later.Reveal, results.Nothing, summary="Shows a place.", feature="ui.reveal"),
    _asked(
        "agent/document/save",
        later.SaveDocument,
        results.Saved,
        summary="Saves a document that the agent edited.",
        feature="document.save",
        built=True,
    ),
    _asked(
        "agent/lsp/request",
        later.LanguageRequest,
        results.Json,
        summary="Asks one of the window's own language servers.",
        feature="lsp.proxy",
        built=True,
    ),
)

METHODS: Final[dict[str, Method]] = {
    method.name: method for group in (_CONVERSATIONS, _RUNS, _REQUESTS, _FILES, _SETTINGS) for method in group
}
"""Requests from a client, by name."""

CLIENT_NOTIFICATIONS: Final[dict[str, Method]] = {method.name: method for method in _CLIENT_NOTIFICATIONS}
NOTIFICATIONS: Final[dict[str, Method]] = {method.name: method for method in _NOTIFICATIONS}
SERVER_REQUESTS: Final[dict[str, Method]] = {method.name: method for method in _SERVER_REQUESTS}
