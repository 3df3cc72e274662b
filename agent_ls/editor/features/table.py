"""Standard requests of LSP by name, and the commands that are no methods.

Owns which of them are served by what, and what code actions a place has together. Why no library does this:
docs/decisions/0009.
"""

from collections.abc import Mapping

from agent_ls.editor.bound import bound
from agent_ls.editor.connection import Handler
from agent_ls.editor.desk import Desk
from agent_ls.editor.features import answers, completion, conversation_documents, sync
from agent_ls.editor.features.params import Json, bad, uri_of
from agent_ls.editor.features.prompt import Prompts
from agent_ls.editor.surface import code_actions
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
    return code_actions.offered(window, here, desk.documents, lines=(first, last), context=context)


async def resolve(desk: Desk, window: Window, params: Json) -> Json:
    """Every action is complete; some clients ask all the same, and take null for an error."""
    return params


def handlers(desk: Desk) -> dict[str, Handler]:
    """By method name, as a connection wants them."""
    return {
        "textDocument/codeAction": bound(desk, code_action),
        "codeAction/resolve": bound(desk, resolve),
        "textDocument/hover": bound(desk, answers.hovered),
        "textDocument/documentSymbol": bound(desk, conversation_documents.symbols),
        "textDocument/foldingRange": bound(desk, conversation_documents.folding),
        "textDocument/documentLink": bound(desk, conversation_documents.document_links),
        "textDocument/codeLens": bound(desk, conversation_documents.lenses),
        "textDocument/completion": bound(desk, completion.complete),
        "agent/window/focus": bound(desk, sync.focused),
    }


def commands(desk: Desk, methods: Mapping[str, Handler]) -> dict[str, Handler]:
    """Commands that are no methods, by the name that a method would have."""
    return {
        "agent/request/show": bound(desk, answers.show),
        "agent/prompt/send": bound(desk, Prompts(desk, methods).send),
    }
