"""Standard requests of LSP by name, and the commands that are no methods.

Owns which of them are served by what, and what code actions a place has together. Why no library does this:
docs/decisions/0009.
"""

from collections.abc import Mapping

from agent_ls.editor.bound import bound
from agent_ls.editor.connection import Handler
from agent_ls.editor.desk import Desk
from agent_ls.editor.features import answers, asking, completion, conversation_documents, sync
from agent_ls.editor.features.params import Json, bad, uri_of
from agent_ls.editor.features.prompt import Prompts
from agent_ls.editor.surface import code_actions
from agent_ls.editor.surface.message_prompts import MessagePrompts
from agent_ls.editor.surface.places import line_of
from agent_ls.editor.window import Window


async def code_action(desk: Desk, window: Window, params: Json) -> list[Json]:
    uri = uri_of(params)
    first, last = line_of(params, "range", "start"), line_of(params, "range", "end")
    if first is None or last is None:
        raise bad("`range` has to be a range of the document.")
    given = params.get("context")
    context = given if isinstance(given, dict) else {}
    desk.board.use(window, uri, first)
    if desk.transcripts.paper(uri) is not None:
        return await conversation_documents.actions(desk, window, uri, only=context.get("only"))
    here = desk.board.at(window, uri)
    answers_here = code_actions.offered(
        window, here, desk.documents, chosen=desk.choices.of, lines=(first, last), context=context
    )
    return answers_here + await asking.actions(desk, window, uri, place=params["range"], context=context)


async def resolve(desk: Desk, window: Window, params: Json) -> Json:
    """Every action is complete; some clients ask all the same, and take null for an error."""
    return params


async def hints(desk: Desk, window: Window, params: Json) -> list[Json]:
    """At the top of a file that a call holds just now, itself or with its folder."""
    uri, first = uri_of(params), line_of(params, "range", "start")
    if first:
        return []
    place = {"line": 0, "character": 0}
    said = desk.board.held(window, desk.documents.key(uri))
    return [{"position": place, "label": f"⏳ {each}", "paddingRight": True, "tooltip": each} for each in said]


def handlers(desk: Desk, methods: Mapping[str, Handler]) -> dict[str, Handler]:
    """By method name, as a connection wants them."""

    async def cancelled(desk: Desk, window: Window, params: Json) -> None:
        """A click on the progress of a run is the person's wish to stop it."""
        run_id = desk.progress.run_of(params.get("token"))
        if run_id is not None:
            await methods["agent/run/interrupt"](window, {"commandId": f"cancel {run_id}", "runId": run_id})

    _prompting(desk, methods)
    return {
        "textDocument/inlayHint": bound(desk, hints),
        "window/workDoneProgress/cancel": bound(desk, cancelled),
        "textDocument/codeAction": bound(desk, code_action),
        "codeAction/resolve": bound(desk, resolve),
        "textDocument/hover": bound(desk, answers.hovered),
        "textDocument/documentSymbol": bound(desk, conversation_documents.symbols),
        "textDocument/foldingRange": bound(desk, conversation_documents.folding),
        "textDocument/documentLink": bound(desk, conversation_documents.document_links),
        "textDocument/codeLens": bound(desk, conversation_documents.lenses),
        "textDocument/completion": bound(desk, completion.complete),
        "agent/window/focus": bound(desk, sync.focused),
        "agent/conversation/draft": bound(desk, sync.drafted),
        "workspace/didChangeWorkspaceFolders": bound(desk, sync.folders_changed),
    }


def commands(desk: Desk, methods: Mapping[str, Handler]) -> dict[str, Handler]:
    """Commands that are no methods, by the name that a method would have."""
    return {
        "agent/request/show": bound(desk, answers.show),
        "agent/request/choose": bound(desk, answers.choose),
        "agent/prompt/ask": bound(desk, asking.Asking(desk, methods).ask),
        "agent/prompt/send": bound(desk, Prompts(desk, methods).send),
    }


def _prompting(desk: Desk, methods: Mapping[str, Handler]) -> None:
    """Windows that want to be asked by message are."""
    prompts = MessagePrompts(desk.services.supervisor, desk.services.clock, methods["agent/request/respond"])
    desk.inbox.on_told, desk.inbox.on_left = prompts.told, prompts.leave
