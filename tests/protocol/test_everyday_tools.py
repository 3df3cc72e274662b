"""glob, grep, todo and ask through the whole daemon, alone and in one reply with everything else."""

import json
from typing import Any

import pytest

from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import InOrder, UseTool, reply, say, use
from tests.scene import lines, scene

pytestmark = pytest.mark.anyio

STORE = {
    "id": "store",
    "header": "Store",
    "text": "Which one?",
    "options": [{"id": "pg", "label": "Postgres"}, {"id": "lite", "label": "SQLite", "description": "One file"}],
}
WHY = {"id": "why", "text": "Why?"}
SAID = "Which one?\n-> SQLite"


def todo(*statuses: str) -> UseTool:
    return UseTool("todo", {"steps": [{"text": f"step {n}", "status": s} for n, s in enumerate(statuses, 1)]})


def steps(conversation: Mirror) -> list[tuple[str, list[str]]]:
    return [
        (item["status"], [step["status"] for step in item["payload"]["steps"]])
        for item in conversation.of_kind("todo_list")
    ]


async def refused(editor: Editor, request: Any, **answer: Any) -> str:
    with pytest.raises(Refused) as error:
        await editor.respond(request, "answer", **answer)
    assert error.value.code == "invalid_params"
    return error.value.message


async def test_files_are_found_and_searched_and_a_rule_about_reads_holds_for_both() -> None:
    config = '[permissions]\ndeny = ["read(private/**)"]\n'
    answers = [
        use("glob", pattern="**/*.txt"),
        use("grep", pattern="needle"),
        use("grep", pattern="needle", path="private"),
        use("grep", pattern="needle", path="/"),
        say("Done."),
    ]
    async with scene(InOrder(answers), config=config) as (server, home), home.editor() as editor:
        for name in ("a.txt", "private/b.txt", ".env", "c.pem"):
            path = home.workspace / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("needle\n")
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Look.")
        # Outside of the workspace it is asked for.
        (asked,) = await editor.until_asked(conversation)
        assert (asked["tool"], asked["title"]) == ("grep", "Search needle in /")
        await editor.respond(asked, "deny")
        await editor.until_ended(conversation, run_id)
        found, searched, denied, _ = (text for _, text in server.requests[-1].results)
        left = "left out (rules on reads, or likely secrets)]"
        assert found == f"a.txt\n[1 file {left}\n"
        assert searched == f"a.txt\n1:needle\n[2 files {left}\n"
        assert denied.startswith("denied: ")


async def test_the_steps_of_a_run_are_one_item_that_changes_in_place_and_ends_with_it() -> None:
    answers = [reply(todo("active", "pending")), reply(todo("done", "active")), use("todo", steps=[{"text": "x",
               "status": "doing"}]), say("Done.")]  # fmt: skip
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace, mode="plan")
        await editor.until_ended(conversation, await editor.send(conversation, "Go."))
        assert steps(conversation) == [("completed", ["done", "active"])]
        first, _, wrong = (text for _, text in server.requests[-1].results)
        assert first == "2 steps: 0 done, 1 active, 1 pending"
        assert "'pending', 'active' or 'done'" in wrong
        history = await editor.history(conversation)
        # Each list came in the commit of the call that set it.
        kinds = [(e["fact"], e["entity"]["kind"]) for e in history if e["kind"] == "item"]
        assert kinds.count(("added", "todo_list")) == 1
        assert kinds[kinds.index(("added", "todo_list")) - 1] == ("finished", "tool_call")


async def test_a_question_waits_for_the_person_and_its_answer_is_the_result() -> None:
    async with scene(InOrder([use("ask", questions=[STORE]), say("Fine.")])) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Choose.")
        (asked,) = await editor.until_asked(conversation)
        assert (asked["kind"], asked["number"], asked["title"]) == ("question", 1, "Question: Store")
        (shown,) = conversation.of_kind("question")
        assert (shown["id"], shown["status"]) == (asked["itemId"], "pending")
        assert shown["payload"]["questions"] == asked["questions"]
        assert [option["id"] for option in asked["options"]] == ["pg", "lite", "deny"]
        preview = await editor.request("agent/request/preview", {"requestId": asked["id"]})
        assert preview["questions"] == asked["questions"]

        assert "`store` has no option `oracle`" in await refused(editor, asked, answers={"store": "oracle"})
        assert "an answer to `store` is missing" in await refused(editor, asked, answers={})
        assert "there is no question `x`" in await refused(editor, asked, answers={"store": "pg", "x": "y"})
        await editor.respond(asked, "answer", answers={"store": "lite"})
        await editor.until_ended(conversation, run_id)
        assert [text for _, text in server.requests[-1].results] == [SAID]
        (shown,) = conversation.of_kind("question")
        assert (shown["status"], shown["payload"]["answers"]) == ("completed", {"store": "lite"})
        assert conversation.result(conversation.calls[0]["id"])["status"] == "ok"
        assert conversation.transcript[-1] == ("assistant_message", "completed")


async def test_who_does_not_want_to_answer_denies_and_cancel_stops_the_run() -> None:
    asking = use("ask", questions=[STORE, WHY])
    async with scene(InOrder([asking, asking])) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Choose.")
        (asked,) = await editor.until_asked(conversation)
        assert [option["id"] for option in asked["options"]] == ["deny"]
        await editor.respond(asked, "deny", reason="ask Grace")
        await editor.wait_for(lambda: [request["number"] for request in conversation.pending] == [2])
        assert [text for _, text in server.requests[-1].results] == ["denied: ask Grace"]
        await editor.respond(conversation.pending[0], "cancel")
        await editor.until_ended(conversation, run_id, "interrupted")
        assert [item["status"] for item in conversation.of_kind("question")] == ["cancelled", "cancelled"]
        assert conversation.result(conversation.calls[1]["id"])["status"] == "not_run"


async def test_a_question_is_printed_and_answered_in_a_terminal() -> None:
    asking = use("ask", questions=[STORE, WHY])
    async with scene(InOrder([asking, say("Fine.")])) as (server, home):
        asked = await home.run("ask", "Choose.")
        assert asked.returncode == 2
        for line in ("#1  2 questions: Store, Why?", "store: Which one?", "2. SQLite", "One file", "why: Why?"):
            assert line in asked.stderr
        assert "agent-ls answer 1 store=… why=…" in asked.stderr
        assert "store: Which one?" in (await home.run("show", "1")).stdout
        assert json.loads((await home.run("show", "1", "--json")).stdout)["request"]["questions"][0]["id"] == "store"
        missing = await home.run("answer", "1", "store=2")
        assert (missing.returncode, missing.stdout) == (1, "")
        assert "an answer to `why` is missing" in missing.stderr
        done = await home.run("answer", "1", "store=2", "why=I", "say", "so")
        assert (done.returncode, done.stdout) == (0, "Answered #1.\n")
        async with home.editor() as editor:
            await editor.wait_for(lambda: len(server.requests) == 2)
        assert [text for _, text in server.requests[-1].results] == [f"{SAID}\nWhy?\n-> I say so"]


async def test_one_reply_with_everything_runs_under_locks_and_its_results_come_in_the_order_of_its_calls() -> None:
    calls = [
        UseTool("grep", {"pattern": "one"}),
        UseTool("shell", {"command": "echo held; cat gate; echo shell >> order"}),
        UseTool("edit", {"path": "a.txt", "edits": [{"old": "one", "new": "two"}]}),
        UseTool("read", {"path": "a.txt"}),
        UseTool("ask", {"questions": [STORE]}),
        todo("active"),
        UseTool("write", {"path": "b.txt", "content": "b"}),
        UseTool("glob", {"pattern": "*.txt"}),
    ]
    answers = [use("read", path="a.txt"), reply(*calls), say("Done.")]
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        gate = home.gate("gate")
        (home.workspace / "a.txt").write_text("one\n")
        conversation = await editor.create(home.workspace, mode="edits")
        run_id = await editor.send(conversation, "All of it.")
        shell, question = await editor.until_asked(conversation, 2)
        # What only reads waits for nobody; what changes files waits behind the command that is not decided yet.
        await editor.wait_for(lambda: states(conversation)[1::7] == ["finished", "finished"])
        await editor.wait_for(lambda: states(conversation)[4] == "finished")
        assert states(conversation)[2:] == [
            "awaiting_approval", "approved", "finished", "awaiting_approval", "finished", "approved", "finished",
        ]  # fmt: skip
        await editor.respond(shell, "allow")
        await editor.wait_for(lambda: "held" in conversation.output)
        assert (home.workspace / "a.txt").read_text() == "one\n"
        assert not (home.workspace / "b.txt").exists()
        await home.open_gate(gate)
        await editor.wait_for(lambda: states(conversation)[3] == states(conversation)[7] == "finished")
        assert len(server.requests) == 2
        await editor.respond(question, "answer", optionId="lite")
        await editor.until_ended(conversation, run_id)
        assert lines(home.workspace / "order") == ["shell"]
        assert (home.workspace / "a.txt").read_text() == "two\n"
        results = [text for _, text in server.requests[-1].results][1:]
        assert [result.split("\n")[0] for result in results] == [
            "a.txt", "held", "a.txt: 1 place replaced, line 1.", "one", "Which one?",
            "1 step: 0 done, 1 active, 0 pending", "b.txt: created, 1 line.", "a.txt",
        ]  # fmt: skip


def states(conversation: Mirror) -> list[str]:
    return [call["payload"]["state"] for call in conversation.calls]
