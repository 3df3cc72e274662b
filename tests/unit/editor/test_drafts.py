"""Drafts: what is kept of them, and for how long."""

from collections.abc import Mapping
from typing import Any

import pytest

from agent_ls.editor.drafts import Drafts
from agent_ls.runtime.supervisor import Supervisor
from tests.unit.runtime.house import HandClock

pytestmark = pytest.mark.anyio


class Folder:
    """Of `Papers` what drafts need."""

    def __init__(self) -> None:
        self.written: list[tuple[str, str]] = []

    async def write_draft(self, conversation_id: str, text: str) -> None:
        self.written.append((conversation_id, text))


class Follower:
    def follows(self, conversation_id: str) -> bool:
        return True

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        pass


async def test_a_key_that_comes_after_the_conversation_was_deleted_leaves_nothing_behind() -> None:
    folder, window = Folder(), Follower()
    async with Supervisor() as supervisor:
        drafts = Drafts(folder, supervisor, HandClock(), windows=lambda: [window])  # type: ignore[arg-type]
        drafts.take(window, "c1", "so far")
        drafts.deleted("c1")
        drafts.take(window, "c1", "one more key")
        assert drafts.of("c1") == ""
        await drafts._write()
    assert folder.written == []
