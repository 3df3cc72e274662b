"""From a file to the agent: ask about it or a selection, have a diagnostic fixed, undo what the agent did here.

Owns these code actions, and the command that puts a place into the prompt document of the workspace's conversation. It
is added at the end of what the person has there, through the window that has it open, and only as the answer to that
command. A window that draws cards of its own has its own ways to ask.
"""

import os
from collections.abc import Mapping
from typing import Any, Final

from agent_ls.core.display import one_line
from agent_ls.core.errors import Code, Refusal, Refused
from agent_ls.core.mentions import Mention
from agent_ls.core.uris import NotLocal, file_uri, is_within, local_path, path_of
from agent_ls.editor import through
from agent_ls.editor.connection import Handler
from agent_ls.editor.desk import Desk
from agent_ls.editor.features.answers import show_document
from agent_ls.editor.features.conversation_documents import path_in
from agent_ls.editor.features.params import Json
from agent_ls.editor.given import pick
from agent_ls.editor.surface.code_actions import takes_literals
from agent_ls.editor.surface.diagnostics import SOURCE
from agent_ls.editor.through import Made, Patience
from agent_ls.editor.window import Window
from agent_ls.ports.ledger import LedgerError, ListQuery
from agent_ls.ports.papers import PROMPT
from agent_ls.wire.capabilities import AGENT_KIND, ASK, QUICKFIX, command_of

UNDO: Final = command_of("agent/change/undo")
LONGEST_REMARK: Final = 1_000
FIXED_AT_ONCE: Final = 10
LOOKED_AT: Final = 5
"""How many conversations, the newest first, are asked what they changed in a file."""


async def actions(desk: Desk, window: Window, uri: str, *, place: Json, context: Json) -> list[Json]:
    """On any file: what is a command of its own kind, and a fix for each diagnostic of others."""
    key = desk.documents.key(uri)
    if "ui.approval" in window.features or isinstance(local_path(key), NotLocal):
        return []
    only = context.get("only")
    kinds = {"", QUICKFIX, AGENT_KIND} if not isinstance(only, list) or not only else {str(kind) for kind in only}
    found: list[tuple[Json, Json]] = []
    if kinds & {"", AGENT_KIND}:
        asked = {"title": "Ask agent about this", "command": ASK, "arguments": [{"uri": uri, **_selected(place)}]}
        found.append((asked, {"kind": AGENT_KIND}))
        found += [(command, {"kind": AGENT_KIND}) for command in await _undoing(desk, window, uri, place=place)]
    if kinds & {"", QUICKFIX}:
        found += [(_fix(uri, given), {"kind": QUICKFIX, "diagnostics": [given]}) for given in _remarks(context)]
    if not takes_literals(window):
        return [command for command, _ in found]
    return [{"title": command["title"], **more, "command": command} for command, more in found]


class Asking:
    """`methods` are the handlers of the methods, by name."""

    def __init__(self, desk: Desk, methods: Mapping[str, Handler]) -> None:
        self._desk = desk
        self._methods = methods

    async def ask(self, desk: Desk, window: Window, params: Json) -> Json:
        """`{commandId, uri, range?, problem?}` -> `{conversationId, uri, shown}`."""
        path = local_path(desk.documents.key(str(params.get("uri", ""))))
        if isinstance(path, NotLocal):
            raise Refused(Refusal(Code.INVALID_PARAMS, "`uri` has to name a file on this machine."))
        workspace = self._workspace(window, path)
        root = path_of(self._desk.documents.key(workspace))
        known = await self._conversation(window, workspace, command_id=str(params.get("commandId", "")))
        name = path_in(file_uri(path), root)
        mention = str(Mention(name, *_numbers(params.get("range"))))
        problem = params.get("problem")
        said = (
            mention if not isinstance(problem, str) else f"Fix this in {mention}: {one_line(problem, LONGEST_REMARK)}"
        )
        if not await self._put(window, known, said):
            raise Refused(_NOT_PUT)
        shown = desk.transcripts.uri(known, prompt=True)
        opened = next((copy.uri for copy in desk.documents.at(shown) if copy.window is window), shown)
        hint = f"Write your message in {path_of(shown)} and send it from there by code action."
        return {"conversationId": known, "uri": opened, "shown": await show_document(window, opened, otherwise=hint)}

    def _workspace(self, window: Window, path: str) -> str:
        """The window's folder that holds the file, as it spells it, else the folder that the file lies in."""
        key = self._desk.documents.key(file_uri(path))
        folders = {folder: self._desk.documents.key(folder) for folder in window.folders}
        holding = [folder for folder, known in folders.items() if is_within(key, known)]
        return max(holding, key=lambda folder: len(folders[folder])) if holding else file_uri(os.path.dirname(path))

    async def _conversation(self, window: Window, workspace: str, *, command_id: str) -> str:
        """The newest one of the workspace; a new one where there is none."""
        ledger = self._desk.services.ledger
        try:
            for spelling in dict.fromkeys((workspace.rstrip("/"), self._desk.documents.key(workspace))):
                found, _ = await ledger.conversations(ListQuery(workspace=spelling, archived=False, limit=1))
                if found:
                    return found[0].conversation.id
        except LedgerError as error:
            raise Refused(error.refusal) from error
        wanted = {"commandId": f"{command_id}.conversation", "workspace": workspace}
        made: Any = await self._methods["agent/conversation/create"](window, wanted)
        return str(made["conversation"]["id"])

    async def _put(self, window: Window, known: str, said: str) -> bool:
        """At the end, on a line of its own."""
        papers, uri = self._desk.transcripts.papers, self._desk.transcripts.uri(known, prompt=True)
        copies = sorted(self._desk.documents.at(uri), key=lambda copy: copy.window is not window)
        if not copies:
            await papers.make_prompt(known)
            text = await papers.read(known + PROMPT) or ""
            return await papers.write_prompt(known, _added(text, said), instead_of=text)
        text = str(copies[0].text)
        if not text.strip():
            done = await through.put(copies[0], f"{said}\n", Patience())
            return isinstance(done, Made) or said in str(copies[0].text)
        return isinstance(await through.append(copies[0], _added(text, said)[len(text) :], Patience()), Made)


def _added(text: str, said: str) -> str:
    return (text if not text or text.endswith("\n") else f"{text}\n") + f"{said}\n"


def _selected(place: Json) -> Json:
    """A range where something is selected: a bare cursor means the file."""
    return {} if place.get("start") == place.get("end") else {"range": place}


def _numbers(span: Any) -> tuple[int, int] | tuple[()]:
    first, last, end = pick(span, "start", "line"), pick(span, "end", "line"), pick(span, "end", "character")
    if not isinstance(first, int) or not isinstance(last, int):
        return ()
    # A selection of whole lines ends at the beginning of the next one.
    return first + 1, last + (1 if end or last == first else 0)


def _remarks(context: Json) -> list[Json]:
    given = context.get("diagnostics")
    found = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    return [each for each in found if each.get("source") != SOURCE and isinstance(each.get("message"), str)][
        :FIXED_AT_ONCE
    ]


def _fix(uri: str, given: Json) -> Json:
    source = f" ({given['source']})" if isinstance(given.get("source"), str) else ""
    argument = {"uri": uri, "range": given.get("range"), "problem": f"{given['message']}{source}"[:LONGEST_REMARK]}
    title = f"Fix this diagnostic with agent: {one_line(given['message'], 60)}"
    return {"title": title, "command": ASK, "arguments": [argument]}


async def _undoing(desk: Desk, window: Window, uri: str, *, place: Json) -> list[Json]:
    """Of every conversation that is at hand: its open hunks on these lines."""
    key = desk.documents.key(uri)
    first, last = pick(place, "start", "line"), pick(place, "end", "line")
    states = [actor.state for actor in desk.registry.actors() if actor.state.exists]
    near = [state for state in states if window.sees(state.conversation.workspace) and key in state.seen]
    near.sort(key=lambda state: state.conversation.updated_at, reverse=True)
    found = []
    for state in near[:LOOKED_AT]:
        review = await desk.reviewer.of(state, key)
        if isinstance(review, Refusal):
            continue
        for one in review.applied:
            if one.state == "open" and one.start <= last and first < max(one.end, one.start + 1):
                argument = {
                    "conversationId": state.conversation.id,
                    "uri": uri,
                    "hunkId": one.id,
                    "hash": review.digest,
                }
                title = "Undo this hunk of the agent" if len(near) == 1 else f"Undo this hunk of {_of(state)}"
                found.append({"title": title, "command": UNDO, "arguments": [argument]})
    return found


def _of(state: Any) -> str:
    return f"“{one_line(state.conversation.title or state.conversation.id, 40)}”"


_NOT_PUT: Final = Refusal(
    Code.STALE_DOCUMENT,
    "The place could not be put into the prompt document: it was changed meanwhile.",
    "Choose the action once more.",
)
