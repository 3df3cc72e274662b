"""Subagents: work handed to conversations of their own, seen, asked for, stopped and paid for in their parent."""

from typing import Any

import pytest

from agent_ls.testing.editor import Editor
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import ByConversation, Gate, InOrder, Tokens, UseTool, Wait, reply, say, use
from agent_ls.testing.model_server import ModelServer
from tests.scene import scene

pytestmark = pytest.mark.anyio

Json = dict[str, Any]


def task(prompt: str, **more: Any) -> UseTool:
    return UseTool("task", {"description": prompt.split(maxsplit=1)[0], "prompt": prompt, **more})


def subagents(conversation: Mirror) -> list[Json]:
    return [item["payload"] for item in conversation.of_kind("subagent")]


def states(conversation: Mirror) -> list[str]:
    return [payload["status"] for payload in subagents(conversation)]


def results(server: ModelServer, text: str) -> list[str]:
    """What the newest request of the conversation with this text was told."""
    (newest,) = [r for r in server.requests if any(text in said for said in r.user_texts)][-1:]
    return [told for _, told in newest.results]


async def child_of(editor: Editor, conversation: Mirror, place: int = 0) -> Mirror:
    await editor.wait_for(lambda: len(subagents(conversation)) > place)
    return await editor.attach(subagents(conversation)[place]["conversationId"])


async def listed(editor: Editor) -> list[str]:
    return [held["id"] for held in (await editor.request("agent/conversation/list", {}))["conversations"]]


def counting() -> ByConversation:
    todo = UseTool("todo", {"steps": [{"text": "look", "status": "done"}]})
    return ByConversation(
        {
            "Count": InOrder([reply(todo, usage=Tokens(100, 10)), reply(*say("Seven.").steps, usage=Tokens(200, 20))]),
            "Go": InOrder([reply(task("Count the files."), usage=Tokens(1000, 1)), say("Done.")]),
        }
    )


async def test_a_subagent_works_in_a_conversation_of_its_own_and_its_last_words_are_the_result() -> None:
    async with scene(counting()) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        await editor.until_ended(conversation, run_id)
        assert results(server, "Go") == ["Seven."]
        (shown,) = conversation.of_kind("subagent")
        child_id = shown["payload"]["conversationId"]
        assert (shown["status"], shown["parentId"]) == ("completed", conversation.calls[0]["id"])
        assert {k: v for k, v in shown["payload"].items() if k not in {"usage", "callId"}} == {
            "conversationId": child_id,
            "task": "Count",
            "status": "completed",
            "result": "Seven.",
            "requests": [],
            "steps": [{"text": "look", "status": "done"}],
            "taken": 2,
        }
        # It is told nothing but its prompt, may not propose plans, and knows that it is one.
        (first, _) = [r for r in server.requests if "Count the files." in r.user_texts]
        assert (first.user_texts, "You are a subagent" in first.system) == (("Count the files.",), True)
        assert ("plan" in first.tools, "task" in first.tools) == (False, True)
        # Its conversation is reached by its id and is no row of the list.
        assert await listed(editor) == [conversation.id]
        child = await editor.attach(child_id)
        assert child.answers == ["Seven."]
        held = child.conversation
        assert (held["relation"], held["parentId"], held["title"]) == ("subagent", conversation.id, "Count")
        # Nobody else was told of it, and it goes with its parent.
        told = [p for method, p in editor.notices if method == "agent/conversation/changed"]
        assert {c["id"] for p in told for c in p["conversations"]} <= {conversation.id}
        await editor.command("agent/conversation/delete", conversationId=conversation.id)
        exported = await editor.begin("agent/conversation/attach", {"conversationId": child_id})
        with pytest.raises(Exception, match="not_found"):
            await editor.reply(exported)


async def test_what_a_subagent_uses_is_used_by_its_parent() -> None:
    async with scene(counting()) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        await editor.until_ended(conversation, run_id)
        used = await editor.request("agent/context/status", {"conversationId": conversation.id})
        assert (used["inputTokens"], used["outputTokens"]) == (1310, 36)
        assert used["lastStep"] == {"inputTokens": 10, "outputTokens": 5, "cacheReadTokens": 0}
        assert used["subagents"] == {"inputTokens": 300, "outputTokens": 30, "cacheReadTokens": 0}
        assert [(run["runId"], run["steps"], run["inputTokens"]) for run in used["runs"]] == [(run_id, 2, 1310)]
        printed = await home.run("usage", conversation.id)
        assert "of it subagents" in printed.stdout
        assert "1,310" in printed.stdout


async def test_what_a_subagent_asks_is_in_the_same_inbox_with_its_origin() -> None:
    talk = ByConversation(
        {
            "Write": InOrder([use("write", path="a.txt", content="a"), say("Written.")]),
            "Go": InOrder([reply(task("Write a file.")), say("Done.")]),
        }
    )
    async with scene(talk) as (server, home), home.editor(home.workspace) as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        await editor.wait_for(lambda: states(conversation) == ["waiting"])
        (asked,) = await editor.pending()
        child_id = subagents(conversation)[0]["conversationId"]
        assert (asked["conversationId"], asked["tool"], asked["number"]) == (child_id, "write", 1)
        assert asked["origin"] == {"conversationIds": [conversation.id], "task": "Write"}
        assert subagents(conversation)[0]["requests"] == [1]
        of_parent = {"conversationId": conversation.id}
        assert (await editor.request("agent/request/list", of_parent))["requests"] == [asked]
        in_workspace = {"workspace": home.workspace.as_uri()}
        assert (await editor.request("agent/request/list", in_workspace))["requests"] == [asked]
        assert editor.changed["requests"] == [asked]
        async with home.editor(name="late") as late:
            assert (await late.attach(conversation.id)).pending == [asked]
        shown = await home.run("pending")
        assert "asked by the subagent for: Write" in shown.stdout
        assert (await home.run("approve", "1")).returncode == 0
        await editor.until_ended(conversation, run_id)
        assert (home.workspace / "a.txt").read_text() == "a"
        assert results(server, "Go") == ["Written."]


async def test_at_most_four_work_at_once_and_the_others_wait_for_their_turn() -> None:
    gates = {name: Gate(name) for name in ("One", "Two", "Three", "Four", "Five", "Six")}
    children = {name: InOrder([reply(Wait(gate), *say(name).steps)]) for name, gate in gates.items()}
    tasks = reply(*(task(f"{name} is a part.") for name in gates))
    talk = ByConversation({**children, "Go": InOrder([tasks, say("Done.")])})
    async with scene(talk) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        for name in ("One", "Two", "Three", "Four"):
            await gates[name].reached()
        await editor.wait_for(lambda: sorted(states(conversation)) == ["queued"] * 2 + ["running"] * 4)
        gates["Two"].open()
        await gates["Five"].reached()
        await editor.wait_for(lambda: sorted(states(conversation)) == ["completed", "queued"] + ["running"] * 4)
        for gate in gates.values():
            gate.open()
        await editor.until_ended(conversation, run_id)
        assert results(server, "Go") == list(gates)


async def test_they_stand_three_levels_deep_and_no_deeper() -> None:
    def level(n: int) -> InOrder:
        return InOrder([reply(task(f"Level{n + 1} is yours.")), say(f"Said {n}.")])

    deepest = InOrder([reply(task("Level4 is yours.")), say("Enough.")])
    talk = ByConversation({"Level3": deepest, "Level2": level(2), "Level1": level(1), "Go": level(0)})
    async with scene(talk) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Go."))
        assert results(server, "Go") == ["Said 1."]
        (told,) = results(server, "Level3")
        assert told.startswith("error: There is no tool `task`.")
        (first, _) = [r for r in server.requests if "Level3 is yours." in r.user_texts]
        assert "task" not in first.tools


async def test_one_subagent_is_stopped_and_the_run_goes_on_with_the_other() -> None:
    gates = Gate("one"), Gate("two")
    talk = ByConversation(
        {
            "One": InOrder([reply(Wait(gates[0]))]),
            "Two": InOrder([reply(Wait(gates[1]), *say("Two.").steps)]),
            "Go": InOrder([reply(task("One is a part."), task("Two is a part.")), say("Done.")]),
        }
    )
    async with scene(talk) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        for gate in gates:
            await gate.reached()
        await editor.wait_for(lambda: states(conversation) == ["running", "running"])
        first = next(i for i in conversation.of_kind("subagent") if i["payload"]["task"] == "One")
        noted = await editor.interrupt(run_id, itemId=first["id"])
        assert (noted["runId"], noted["status"]) == (run_id, "stopping")
        await editor.wait_for(lambda: sorted(states(conversation)) == ["interrupted", "running"])
        gates[1].open()
        await editor.until_ended(conversation, run_id)
        stopped, other = results(server, "Go")
        assert (stopped.startswith("interrupted: The subagent was stopped by "), other) == (True, "Two.")


async def test_stopping_the_parent_stops_all_beneath_it_deepest_first() -> None:
    gate = Gate("deep")
    talk = ByConversation(
        {
            "Level2": InOrder([reply(Wait(gate))]),
            "Level1": InOrder([reply(task("Level2 is yours."))]),
            "Go": InOrder([reply(task("Level1 is yours.")), say("Again.")]),
        }
    )
    async with scene(talk) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        await gate.reached()
        middle = await child_of(editor, conversation)
        deep = await child_of(editor, middle)
        await editor.interrupt(run_id)
        await editor.until_ended(conversation, run_id, "interrupted")
        for child in (middle, deep):
            await editor.until_ended(child, f"{child.id}.r1", "interrupted")
        assert (states(conversation), states(middle)) == (["interrupted"], ["interrupted"])
        ended = [next(e["at"] for e in c.events if e["fact"] == "interrupted") for c in (deep, middle, conversation)]
        assert ended == sorted(ended)
        # The next message finds a legal history.
        await editor.until_ended(conversation, await editor.send(conversation, "Go on."))


async def test_the_agents_of_the_person_and_of_a_trusted_workspace_can_be_named_and_only_narrow() -> None:
    talk = ByConversation(
        {
            "Look": InOrder([use("shell", command="/bin/true"), say("Looked.")]),
            "Use": InOrder([say("Used.")]),
            "Odd": InOrder([say("Never.")]),
            "Go": InOrder(
                [
                    reply(
                        task("Look around.", agent="reader", tools=["read", "shell"]),
                        task("Use yours.", agent="local"),
                        task("Odd one.", agent="nobody"),
                    ),
                    say("Done."),
                ]
            ),
        }
    )
    async with scene(talk, models=("scripted-1", "small-1")) as (server, home), home.editor() as editor:
        own = home.root / "home" / ".agents" / "agents"
        theirs = home.workspace / ".agents" / "agents"
        for folder in (own, theirs):
            folder.mkdir(parents=True)
        (own / "reader.md").write_text(
            "---\nname: reader\ndescription: Reads and reports.\ntools: [read, grep]\nmodel: small-1\n---\n"
            "Be a reader.\n"
        )
        (theirs / "reader.md").write_text("---\ndescription: Not the person's.\n---\nObey me.\n")
        (theirs / "local.md").write_text("---\ndescription: Of this project.\n---\nKnow the project.\n")
        (theirs / "broken.md").write_text("no front matter")
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Go."))
        looked, used, odd = results(server, "Go")
        assert (looked, used) == ("Looked.", "Used.")
        assert odd == "error: There is no agent `nobody`; known are: local, reader."
        (first, second) = [r for r in server.requests if "Look around." in r.user_texts]
        assert (first.tools, first.model) == (("read",), "small-1")
        assert "Be a reader." in first.system
        assert second.results[0][1].startswith("error: There is no tool `shell`.")
        (local,) = [r for r in server.requests if "Use yours." in r.user_texts]
        assert ("Know the project." in local.system, local.model) == (True, "scripted-1")
        parent = server.requests[0]
        offered = str(parent.body)
        assert ("Reads and reports." in offered, "Not the person's" in offered) == (True, False)
        assert "broken.md is no agent" in home.log


async def test_a_workspace_that_is_not_trusted_brings_no_agents_and_a_subagent_stays_in_mode_plan() -> None:
    talk = ByConversation(
        {
            "Write": InOrder([use("write", path="a.txt", content="a"), say("Not.")]),
            "Go": InOrder([reply(task("Write it.")), say("Done.")]),
        }
    )
    async with scene(talk) as (server, home), home.editor(home.workspace, trusted=False) as editor:
        theirs = home.workspace / ".agents" / "agents"
        theirs.mkdir(parents=True)
        (theirs / "local.md").write_text("---\ndescription: Of this project.\n---\nKnow the project.\n")
        conversation = await editor.create(home.workspace, mode="plan")
        await editor.until_ended(conversation, await editor.send(conversation, "Go."))
        assert "Of this project." not in str(server.requests[0].body)
        assert not (home.workspace / "a.txt").exists()
        assert results(server, "Write")[0].startswith("denied: ")


async def test_in_a_terminal_what_a_subagent_asks_is_shown_and_waits_for_an_answer() -> None:
    talk = ByConversation(
        {
            "Write": InOrder([use("write", path="a.txt", content="a"), say("Written.")]),
            "Go": InOrder([reply(task("Write a file.")), say("Done.")]),
        }
    )
    async with scene(talk) as (_, home):
        asked = await home.run("ask", "Go.")
        assert asked.returncode == 2, asked.stderr
        assert "asked by the subagent for: Write" in asked.stderr
        assert "Waiting for your answer to #1." in asked.stderr
        assert (await home.run("approve", "1")).stdout == "Allowed #1.\n"


async def test_deleting_an_imported_copy_leaves_the_subagents_of_the_original() -> None:
    async with scene(counting()) as (_, home), home.editor(home.workspace) as editor:
        conversation = await editor.create(home.workspace)
        await editor.until_ended(conversation, await editor.send(conversation, "Go."))
        child_id = subagents(conversation)[0]["conversationId"]
        path = home.root / "copy.jsonl"
        path.write_text(await editor.export(conversation.id, "jsonl"))
        copy = (await editor.command("agent/conversation/import", path=str(path)))["conversation"]["id"]
        await editor.command("agent/conversation/delete", conversationId=copy)
        assert (await editor.attach(child_id)).answers == ["Seven."]


async def test_a_message_that_restarts_the_parent_stops_what_it_had_handed_over() -> None:
    gate = Gate("child")
    talk = ByConversation(
        {
            "Old part": InOrder([reply(Wait(gate))]),
            "Go": InOrder([reply(task("Old part of it.")), say("Done anew.")]),
        }
    )
    async with scene(talk) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "Go.")
        await gate.reached()
        child = await child_of(editor, conversation)
        sent = await editor.say(conversation, "No, otherwise.", dispatch="restart")
        assert sent["disposition"] == "restarted"
        await editor.until_ended(conversation, run_id)
        await editor.until_ended(child, f"{child.id}.r1", "interrupted")
        assert (states(conversation), conversation.answers) == (["interrupted"], ["Done anew."])
        assert server.requests[-1].last_user_text == "No, otherwise."
