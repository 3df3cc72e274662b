"""What is being written belongs to the conversation: it follows the person to other windows and outlives a daemon."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from agent_ls.testing.editor import LIMIT_S, Editor
from agent_ls.testing.model_scenario import InOrder
from tests.scene import scene

pytestmark = pytest.mark.anyio

DRAFT = "agent/conversation/draft"


async def write(editor: Editor, conversation_id: str, text: str) -> None:
    await editor.notify(DRAFT, {"conversationId": conversation_id, "text": text})
    await editor.pending()  # it was heard


def heard(editor: Editor) -> list[Any]:
    return [params["text"] for method, params in editor.notices if method == DRAFT]


async def attached(editor: Editor, conversation_id: str) -> str | None:
    answer = await editor.request("agent/conversation/attach", {"conversationId": conversation_id})
    found: str | None = answer.get("draft")
    return found


async def until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(LIMIT_S):
        while not holds():
            await anyio.lowlevel.checkpoint()


async def test_what_is_half_written_in_one_window_is_there_in_the_next_and_after_the_daemon_died() -> None:
    async with (
        scene(InOrder([])) as (_, home),
        home.bridged(home.workspace, name="one") as one,
        home.bridged(home.workspace, name="two") as two,
    ):
        conversation = await one.create(home.workspace)
        known, file = conversation.id, home.state / "conversations" / f"{conversation.id}.draft"
        assert await attached(two, known) is None
        for text in ("Do", "Do not 😋"):
            await write(one, known, text)
        await two.wait_for(lambda: heard(two) == ["Do", "Do not 😋"])
        assert heard(one) == [], "who writes knows it"
        async with home.editor(home.workspace, name="late") as late:
            assert await attached(late, known) == "Do not 😋"
        await until(lambda: file.exists() and file.read_text() == "Do not 😋")
        assert file.stat().st_mode & 0o777 == 0o600
        await home.kill9()
        async with home.editor(home.workspace, name="later") as later:
            assert await attached(later, known) == "Do not 😋"
            await write(later, known, "")
            assert await attached(later, known) is None
            await until(lambda: not file.exists())
            # It is no part of the conversation until it is sent.
            assert "Do not" not in await later.export(known)
            await write(later, known, "Once more")
            await until(file.exists)
            await later.command("agent/conversation/delete", conversationId=known)
            await until(lambda: not _left(file.parent, known))


async def test_what_makes_no_sense_as_a_draft_is_dropped_and_the_one_before_stays() -> None:
    async with scene(InOrder([])) as (_, home), home.editor(home.workspace) as editor:
        conversation = await editor.create(home.workspace)
        await write(editor, conversation.id, "kept")
        odd: list[dict[str, Any]] = [
            {"conversationId": "../../etc/passwd", "text": "x"},
            {"conversationId": "gone", "text": "x"},
            {"conversationId": conversation.id, "text": "x" * 1_000_001},
            {"conversationId": conversation.id, "text": None},
            {"conversationId": 7},
            {},
        ]
        for params in odd:
            await editor.notify(DRAFT, params)
        assert await attached(editor, conversation.id) == "kept"
        names = {path.name.lstrip(".").partition(".")[0] for path in (home.state / "conversations").iterdir()}
        assert names <= {conversation.id}


def _left(folder: Path, conversation_id: str) -> list[str]:
    return [path.name for path in folder.iterdir() if conversation_id in path.name]
