"""Cases that are about editors, on each way that an editor comes: straight to the socket, and through the bridge."""

import subprocess
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from agent_ls.testing.editor import Editor
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import (
    Answer,
    ByConversation,
    ByHistory,
    InOrder,
    RequestView,
    Scenario,
    UseTool,
    reply,
    say,
    use,
)
from tests.scene import lines, scene

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("way", ["editor", "bridged"])]


def window(home: Home, way: str, *folders: Path, **ours: Any) -> AbstractAsyncContextManager[Editor]:
    opened: Callable[..., AbstractAsyncContextManager[Editor]] = getattr(home, way)
    return opened(*folders, name="vim", **ours)


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


async def outputs(editor: Editor, conversation: Mirror, run_id: str) -> list[str]:
    await editor.until_ended(conversation, run_id)
    return [str(conversation.result(call["id"])["output"]) for call in conversation.calls]


@pytest.mark.parametrize("kind", ["openai-compatible", "openai", "anthropic"])
async def test_parallel_calls_decided_before_and_after_a_death_go_to_the_model_in_one_batch(
    way: str, kind: str
) -> None:
    """B25. The same window goes on behind the bridge; on the socket another one comes."""
    earlier = use("shell", command="echo earlier >> ran")
    batch = reply(*(UseTool("write", {"path": f"{name}.txt", "content": name}) for name in "abc"))
    async with scene(ByHistory([earlier, batch, say("Done.")]), kind=kind) as (server, home):
        async with window(home, way, home.workspace) as editor:
            conversation = await editor.create(home.workspace)
            run_id = await editor.send(conversation, "Go.")
            await editor.decide(conversation, "allow")
            await editor.wait_for(lambda: len(conversation.pending) == 3)
            a, b, c = conversation.pending
            await editor.respond(a, "allow")
            await editor.respond(b, "deny", reason="not b")
            boot = editor.hello["bootId"]
            await home.kill9()
            if way == "bridged":
                await editor.wait_for(lambda: editor.hello["bootId"] != boot)
                await editor.attach(conversation.id, after=conversation.seq)
                await decided_last(editor, conversation, run_id, last=c)
        if way == "editor":
            async with window(home, way, home.workspace) as editor:
                await decided_last(editor, await editor.attach(conversation.id), run_id, last=c)
        told = server.requests[-1].results
        assert len({known for known, _ in told}) == 4, "each call has one result, of its own"
        assert [text.startswith("denied: not b") for _, text in told[1:]] == [False, True, False]
        assert len(server.requests) == 3, "nothing was sent before all three were decided"
        assert told[:1] == server.requests[1].results, "the earlier result stands as it was sent first"
        names = sorted(path.name for path in home.workspace.iterdir())
        assert (names, lines(home.workspace / "ran")) == (["a.txt", "c.txt", "ran"], ["earlier"])


async def decided_last(editor: Editor, conversation: Mirror, run_id: str, *, last: Any) -> None:
    assert conversation.pending == [last]
    await editor.respond(last, "allow")
    await editor.until_ended(conversation, run_id)


def main_and_tree(home: Home) -> tuple[Path, Path]:
    """A repository and a worktree of it."""
    main, tree = home.folder("main"), home.root / "tree"
    (main / "x.py").write_text("main\n")
    git(main, "init", "-q")
    git(main, "add", ".")
    git(main, "commit", "-qm", "one")
    git(main, "worktree", "add", "-q", str(tree))
    return main, tree


async def test_a_conversation_in_a_worktree_asks_before_it_writes_in_the_main_tree_and_stays_in_its_own(
    way: str,
) -> None:
    """B70: the path that a model knows from the main tree; mode `edits` makes nothing outside the root free."""
    played: list[Scenario] = []  # known once the paths are

    def plays(view: RequestView) -> Answer:
        return played[0](view)

    async with scene(plays) as (_, home):
        main, tree = main_and_tree(home)
        calls = [
            use("write", path="new.py", content="tree\n"),
            use("write", path=str(main / "new.py"), content="wrong\n"),
            use("shell", command="pwd; git rev-parse --show-toplevel; echo held; cat gate"),
        ]
        free = InOrder([use("shell", command="echo free >> ran"), say("Done.")])
        played.append(ByConversation({"tree": InOrder([*calls, say("Done.")]), "main": free}))
        gate = home.gate("gate", tree)
        async with window(home, way, main, tree) as editor:
            conversation = await editor.create(tree, mode="edits")
            run_id = await editor.send(conversation, "tree")
            (outside,) = await editor.until_asked(conversation)
            assert outside["card"]["uri"] == (main / "new.py").as_uri()
            assert ((tree / "new.py").read_text(), (main / "new.py").exists()) == ("tree\n", False)
            await editor.respond(outside, "deny")
            await editor.wait_for(lambda: [r["tool"] for r in conversation.pending] == ["shell"])
            await editor.respond(conversation.pending[0], "allow")
            await editor.wait_for(lambda: "held" in conversation.output)
            held = (await editor.request("agent/lock/list", {}))["locks"]
            assert [lock["key"] for lock in held] == [tree.as_uri()]
            # The folder goes from the window while its lock is held, and the person is in the other one.
            event = {"removed": [{"uri": tree.as_uri(), "name": "tree"}], "added": []}
            await editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})
            await editor.notify("agent/window/focus", {"focused": True, "uri": (main / "x.py").as_uri()})
            # Nobody in the main tree waits for the worktree.
            other = await editor.create(main)
            other_run = await editor.send(other, "main")
            await editor.decide(other, "allow")
            await editor.until_ended(other, other_run)
            await home.open_gate(gate)
            said = await outputs(editor, conversation, run_id)
        assert said[2] == f"{tree}\n{tree}\nheld\nopen\n"
        assert (lines(main / "ran"), (main / "new.py").exists()) == (["free"], False)


async def test_a_path_that_begins_with_the_name_of_its_root_is_an_error_that_names_both(way: str) -> None:
    """B70: the path doubled. Neither the other root nor a new file beneath the first is taken without a word."""
    calls = [
        use("read", path="B/src/x.py"),
        use("write", path="B/src/x.py", content="doubled\n"),
        use("write", path="./B/src/x.py", content="meant\n"),
        say("Done."),
    ]
    async with scene(InOrder(calls)) as (_, home):
        one, two = home.folder("A"), home.folder("B")
        for root in (one, two):
            (root / "src").mkdir()
            (root / "src" / "x.py").write_text(f"in {root.name}\n")
        async with window(home, way, one, two) as editor:
            conversation = await editor.create(two, mode="edits")
            run_id = await editor.send(conversation, "Go.")
            read, write, meant = await outputs(editor, conversation, run_id)
        for said in (read, write):
            assert "B/src/x.py does not exist here, and src/x.py does" in said
        assert meant.startswith("Made ") or "B/src/x.py" in meant
        assert [(root / "src" / "x.py").read_text() for root in (one, two)] == ["in A\n", "in B\n"]
        assert (two / "B" / "src" / "x.py").read_text() == "meant\n"
