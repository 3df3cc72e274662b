"""A call that is changed before it is allowed, and an approval bound to what it shows and to nothing else."""

from typing import Any

import pytest

from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import InOrder, say, use
from tests.scene import EDIT, scene

pytestmark = pytest.mark.anyio

TEXT = "one\ntwo\nthree\n"
READ = use("read", path="a.txt")


async def asked(editor: Editor, home: Home) -> tuple[Mirror, str, dict[str, Any]]:
    """A conversation in which the agent waits for leave."""
    (home.workspace / "a.txt").write_text(TEXT)
    conversation = await editor.create(home.workspace)
    run_id = await editor.send(conversation, "Do it.")
    (request,) = await editor.until_asked(conversation)
    return conversation, run_id, request


async def test_a_changed_command_runs_as_changed_and_the_model_is_told() -> None:
    command = "echo one > out; cat out"
    async with scene(InOrder([use("shell", command=command), say("I see.")])) as (server, home):
        async with home.editor(home.workspace) as editor:
            conversation, run_id, request = await asked(editor, home)
            changed = {**request["input"], "command": "echo two > out; cat out"}
            answer = await editor.respond(request, "allow", input=changed)
            await editor.until_ended(conversation, run_id)
            (call,) = conversation.calls
            preview = await editor.request("agent/request/preview", {"requestId": request["id"]})
        assert (answer["status"], (home.workspace / "out").read_text()) == ("resolved", "two\n")
        payload = conversation.items[call["id"]]["payload"]
        assert (payload["input"], payload["original"]) == (changed, request["input"])
        assert (preview["input"], preview["command"]["command"]) == (changed, changed["command"])
        assert payload["digest"] == preview["digest"] != request["digest"]
        _, said = server.requests[-1].results[-1]
        assert "The person changed this call before they allowed it" in said
        assert "echo two > out" in said
        assert said.endswith("two\n")


async def test_changed_contents_are_written_as_changed_and_have_to_be_read_before_more() -> None:
    again = use("edit", path="a.txt", edits=[{"old": "three", "new": "3"}])
    async with scene(InOrder([READ, EDIT, again, say("I see.")])) as (_, home):
        async with home.editor(home.workspace) as editor:
            conversation, run_id, request = await asked(editor, home)
            changed = {"path": "a.txt", "edits": [{"old": "two", "new": "zwei"}]}
            await editor.respond(request, "allow", input=changed)
            await editor.until_ended(conversation, run_id)
        assert (home.workspace / "a.txt").read_text() == TEXT.replace("two", "zwei")
        results = [conversation.result(call["id"]) for call in conversation.calls]
        assert [result["status"] for result in results] == ["ok", "ok", "error"]
        assert "read it first" in results[2]["output"]


async def test_a_changed_call_goes_through_policy_and_what_makes_no_sense_decides_nothing() -> None:
    async with scene(InOrder([READ, EDIT, say("I see.")])) as (_, home):
        async with home.editor(home.workspace) as editor:
            conversation, run_id, request = await asked(editor, home)
            (home.workspace / ".git").mkdir()
            (home.workspace / ".git" / "config").write_text("two\n")
            forbidden = {**request["input"], "path": ".git/config"}
            wrong: list[tuple[dict[str, Any], str]] = [
                ({"input": {**request["input"], "path": "b.txt"}}, "invalid_params"),
                ({"input": {"edits": []}}, "invalid_params"),
                ({"input": forbidden}, "invalid_params"),
                ({"input": {**request["input"], "edits": [{"old": "two", "new": "x"}]}, "digest": "0"}, "digest"),
                (
                    {"input": {**request["input"], "edits": [{"old": "two", "new": "x"}]}, "scope": "conversation"},
                    "once",
                ),
            ]
            for more, code in wrong:
                with pytest.raises(Refused) as refused:
                    await editor.respond(request, "allow", **more)
                assert code in f"{refused.value.code} {refused.value.message}"
            assert [pending["digest"] for pending in await editor.pending()] == [request["digest"]]
            await editor.respond(request, "allow", input=request["input"])
            await editor.until_ended(conversation, run_id)
        assert "original" not in conversation.items[request["itemId"]]["payload"]
        assert (home.workspace / "a.txt").read_text() == TEXT.replace("two", "2")


async def test_what_no_rule_can_lift_is_not_lifted_by_a_change() -> None:
    answers = [use("write", path="b.txt", content="b\n"), say("I see.")]
    async with scene(InOrder(answers)) as (_, home), home.editor(home.workspace) as editor:
        conversation, run_id, request = await asked(editor, home)
        with pytest.raises(Refused, match="may not run") as refused:
            await editor.respond(request, "allow", input={"path": ".git/hooks/pre-commit", "content": "x"})
        assert refused.value.code == "permission_denied"
        await editor.respond(request, "deny")
        await editor.until_ended(conversation, run_id)
        assert not (home.workspace / ".git").exists()


@pytest.mark.parametrize(
    ("now", "after", "status"),
    [
        ("zero\none\ntwo\nthree\nfour\n", "zero\none\n2\nthree\nfour\n", "ok"),
        ("one\ntwo, and mine\nthree\n", None, "error"),
        ("one\nTWO\nthree\n", None, "error"),
        ("one\ntwo\ntwo\nthree\n", None, "error"),
    ],
    ids=["elsewhere", "the same line", "its own words", "not unique any more"],
)
async def test_an_edit_that_was_shown_runs_if_its_own_lines_are_as_they_were(
    now: str, after: str | None, status: str
) -> None:
    answers = [READ, EDIT, use("write", path="a.txt", content="all mine\n"), say("I see.")]
    async with scene(InOrder(answers)) as (_, home), home.editor(home.workspace) as editor:
        conversation, run_id, request = await asked(editor, home)
        path = home.workspace / "a.txt"
        path.write_text(now)
        await editor.respond(request, "allow")
        await editor.until_ended(conversation, run_id)
        results = [conversation.result(call["id"]) for call in conversation.calls]
        assert (results[1]["status"], path.read_text()) == (status, after or now)
        # What the model has not seen it cannot write over.
        assert (results[2]["status"], "changed since it was read" in results[2]["output"]) == ("error", True)


async def test_a_preview_holds_all_of_a_large_change() -> None:
    old = "".join(f"line {n}\n" for n in range(9_000))
    new = old.replace("line 77\n", "changed\n") + "é" * 70_000
    async with scene(
        InOrder([use("read", path="big", limit=1), use("write", path="big", content=new), say("Done.")])
    ) as (
        _,
        home,
    ):
        (home.workspace / "big").write_text(old)
        async with home.editor(home.workspace) as editor:
            _, _, request = await asked(editor, home)
            preview = await editor.request("agent/request/preview", {"requestId": request["id"]})
            with pytest.raises(Refused, match="cut for display"):
                await editor.respond(request, "allow", input={**request["input"], "path": "./big"})
        assert (preview["input"], preview["change"]["before"], preview["change"]["after"]) == (
            {"path": "big", "content": new},
            old,
            new,
        )


async def test_a_hook_that_would_refuse_the_changed_call_keeps_it_from_running() -> None:
    async with scene(InOrder([use("shell", command="touch out"), say("I see.")])) as (_, home):
        guard = home.root / "guard"
        guard.write_text("#!/bin/sh\ngrep -q forbidden && { echo 'not that' >&2; exit 2; }\nexit 0\n")
        guard.chmod(0o755)
        home.config.write_text(f'{home.config.read_text()}\n[hooks]\npre_tool = ["{guard}"]\n')
        async with home.editor(home.workspace) as editor:
            conversation, run_id, request = await asked(editor, home)
            with pytest.raises(Refused, match="may not run: not that"):
                await editor.respond(request, "allow", input={"command": "touch forbidden"})
            await editor.respond(request, "allow", input={"command": "touch fine"})
            await editor.until_ended(conversation, run_id)
        assert sorted(path.name for path in home.workspace.iterdir()) == ["a.txt", "fine"]
