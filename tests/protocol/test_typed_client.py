"""A client that is not ours: that of pygls, strict about every type, with `agent-ls connect` as its server."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from agent_ls.testing.editor import LIMIT_S
from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

ABLE = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(publish_diagnostics=types.PublishDiagnosticsClientCapabilities())
)


@asynccontextmanager
async def client_of(home: Home) -> AsyncIterator[LanguageClient]:
    client = LanguageClient("other", "1")
    await client.start_io(sys.executable, "-m", "agent_ls", "connect", env=home.env)
    root = home.workspace.as_uri()
    answer = await client.initialize_async(types.InitializeParams(capabilities=ABLE, root_uri=root))
    assert answer.server_info is not None
    assert answer.server_info.name == "agent-ls"
    client.initialized(types.InitializedParams())
    yield client
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


async def respond(client: LanguageClient, answer: dict[str, str]) -> None:
    """Again while it is said to be too soon."""
    while True:
        try:
            await client.workspace_execute_command_async(
                types.ExecuteCommandParams("agent-ls.request.respond", [answer])
            )
        except JsonRpcException as error:
            if "just appeared" not in error.message:
                raise
        else:
            return


async def test_a_client_of_another_house_sees_reads_and_answers_an_approval() -> None:
    answers = [use("shell", command="echo hi >> ran"), say("Done.")]
    async with (
        scene(InOrder(answers)) as (_, home),
        home.editor() as asker,
        client_of(home) as client,
    ):
        uri = (home.workspace / "a.txt").as_uri()
        told: list[types.PublishDiagnosticsParams] = []
        changed = [anyio.Event(), anyio.Event()]

        @client.feature("textDocument/publishDiagnostics")
        def _(params: types.PublishDiagnosticsParams) -> None:
            told.append(params)
            changed[len(told) - 1].set()

        client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "text", 1, "one\n")))
        with anyio.fail_after(LIMIT_S):
            conversation = await asker.create(home.workspace)
            run_id = await asker.send(conversation, "Go.")
            (request,) = await asker.until_asked(conversation)
            await changed[0].wait()
            where = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(0, 2))
            hover = await client.text_document_hover_async(where)
            assert hover is not None
            assert isinstance(hover.contents, types.MarkupContent)
            assert hover.contents.kind is types.MarkupKind.PlainText
            assert hover.contents.value.startswith(f"#{request['number']} Run a command\n\necho hi >> ran\n\nIn /")
            bound = {"requestId": request["id"], "digest": request["digest"], "decision": "allow"}
            await respond(client, {**bound, "commandId": "typed-1"})
            await changed[1].wait()
            await asker.until_ended(conversation, run_id)
        assert [(said.uri, len(said.diagnostics)) for said in told] == [(uri, 1), (uri, 0)]
        assert lines(home.workspace / "ran") == ["hi"]
