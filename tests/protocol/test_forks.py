"""Forks: a conversation goes on from a place of another one, which may go on as well, or be deleted."""

from typing import Any

import pytest

from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import Answer, Gate, InOrder, Say, Think, Tokens, UseTool, Wait, reply, say
from tests.protocol.test_transcript_file import papers, until_holds
from tests.scene import scene

pytestmark = pytest.mark.anyio

Json = dict[str, Any]


async def fork(editor: Editor, conversation: Mirror, **more: Any) -> Mirror:
    made = await forked(editor, conversation, **more)
    return await editor.attach(made["conversation"]["id"])


async def forked(editor: Editor, conversation: Mirror, **more: Any) -> Json:
    made: Json = await editor.command("agent/conversation/fork", conversationId=conversation.id, **more)
    return made


async def refusal(editor: Editor, method: str, params: Json) -> tuple[str, str, str]:
    with pytest.raises(Refused) as refused:
        await editor.command(method, **params)
    return refused.value.code, refused.value.message, refused.value.hint


async def said(editor: Editor, conversation: Mirror, *texts: str) -> list[str]:
    """Sends them one after the other; the ids of their runs."""
    found = []
    for text in texts:
        found.append(await editor.send(conversation, text))
        await editor.until_ended(conversation, found[-1])
    return found


def words(conversation: Mirror) -> list[str]:
    """What was said, by both."""
    found = []
    for item in conversation.of_kind("user_message", "assistant_message"):
        payload = item["payload"]
        found.append(payload.get("text") or payload["content"][0]["text"])
    return found


async def test_a_fork_has_the_transcript_and_goes_on_without_its_parent() -> None:
    async with scene(InOrder([say("One."), say("Two."), say("Three.")])) as (server, home), home.editor() as editor:
        parent = await editor.create(home.workspace)
        await said(editor, parent, "first")
        child = await fork(editor, parent)
        assert words(child) == words(parent) == ["first", "One."]
        assert {item["conversationId"] for item in child.items.values()} == {child.id}
        await said(editor, child, "second")
        await said(editor, parent, "third")
        assert [words(child)[2:], words(parent)[2:]] == [["second", "Two."], ["third", "Three."]]
        assert server.requests[1].user_texts == ("first", "second")
        assert server.requests[2].user_texts == ("first", "third")


@pytest.mark.parametrize("kind", ["openai-compatible", "anthropic"])
async def test_the_model_is_sent_the_same_bytes_as_before(kind: str) -> None:
    """Calls and results, thoughts with their signatures: else no cache of a provider is hit, and signatures break."""
    read = reply(Think("Hm."), Say("I look."), UseTool("shell", {"command": "echo hello"}))
    answers: list[Answer] = [read, reply(Think("So."), Say("Done.")), say("Again."), say("And again.")]
    async with scene(InOrder(answers), kind=kind) as (server, home), home.editor() as editor:
        parent = await editor.create(home.workspace)
        await said(editor, parent, "first")
        child = await fork(editor, parent)
        await said(editor, child, "next")
        await said(editor, parent, "next")
        of_child, of_parent = (request.body for request in server.requests[2:])
        assert of_child == of_parent


async def test_it_is_named_after_its_parent_and_says_where_it_began() -> None:
    async with scene(InOrder([say("One.")])) as (_, home), home.editor() as editor:
        parent = await editor.create(home.workspace, title="Fix it")
        (run_id,) = await said(editor, parent, "first")
        made = (await forked(editor, parent))["conversation"]
        last = parent.of_kind("assistant_message")[-1]
        assert (made["title"], made["parentId"], made["relation"], made["status"]) == (
            "Fix it (fork)",
            parent.id,
            "fork",
            "idle",
        )
        assert made["forkedFrom"] == {
            "conversationId": parent.id,
            "title": "Fix it",
            "through": last["ord"],
            "itemId": last["id"],
            "runId": run_id,
            "origin": parent.id,
        }
        child = await editor.attach(made["id"])
        again = (await forked(editor, child, title="  Mine "))["conversation"]
        third = (await forked(editor, child))["conversation"]
        assert [again["title"], third["title"]] == ["Mine", "Fix it (fork 2)"]
        assert again["forkedFrom"]["origin"] == parent.id
        listed = (await editor.request("agent/conversation/list", {}))["conversations"]
        assert {each["id"]: (each.get("parentId"), each["lastText"]) for each in listed} == {
            parent.id: (None, "One."),
            child.id: (parent.id, "One."),
            again["id"]: (child.id, "One."),
            third["id"]: (child.id, "One."),
        }


async def test_a_fork_begins_after_the_run_that_is_named() -> None:
    answers = [say(text) for text in ("One.", "Two.", "Three.", "Two, otherwise.")]
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        parent = await editor.create(home.workspace)
        runs = await said(editor, parent, "first", "second", "third")
        child = await fork(editor, parent, at={"runId": runs[0]})
        assert words(child) == ["first", "One."]
        (run_id,) = await said(editor, child, "second, otherwise")
        assert run_id == f"{child.id}.r2"
        assert server.requests[-1].user_texts == ("first", "second, otherwise")
        # A run that the fork has from its parent is named by the id under which the fork has it.
        grandchild = await fork(editor, child, at={"runId": f"{child.id}.r1"})
        assert words(grandchild) == ["first", "One."]
        code, message, _ = await refusal(
            editor, "agent/conversation/fork", {"conversationId": child.id, "at": {"runId": runs[2]}}
        )
        assert (code, message) == ("not_found", f"There is no run `{runs[2]}` in this conversation.")


async def test_a_fork_begins_after_an_item_but_never_inside_of_an_answer() -> None:
    look = UseTool("shell", {"command": "echo one"})
    answers: list[Answer] = [reply(Say("I look."), look, UseTool("shell", {"command": "echo two"})), say("Done.")]
    async with scene(InOrder([*answers, say("Else.")])) as (server, home), home.editor() as editor:
        parent = await editor.create(home.workspace)
        await said(editor, parent, "first")
        (asked, looked, done) = [item["id"] for item in parent.of_kind("user_message", "assistant_message")]
        first, last = [item["id"] for item in parent.of_kind("command")]
        for inside in (looked, first):
            code, message, hint = await refusal(
                editor, "agent/conversation/fork", {"conversationId": parent.id, "at": {"itemId": inside}}
            )
            assert (code, message, hint) == (
                "invalid_params",
                "This item is inside of an answer: calls and their results belong together and are not cut apart.",
                f"Fork at `{asked}`, right before or at `{last}`, where it ends.",
            )
        shown = {}
        for place in (asked, last, done):
            shown[place] = words(await fork(editor, parent, at={"itemId": place}))
        assert shown == {
            asked: ["first"],
            last: ["first", "I look."],
            done: ["first", "I look.", "Done."],
        }
        child = await fork(editor, parent, at={"itemId": last})
        await said(editor, child, "else")
        assert server.requests[-1].body["messages"][:-1] == server.requests[1].body["messages"]


async def test_of_a_conversation_at_work_comes_what_is_settled() -> None:
    gate = Gate()
    answers: list[Answer] = [
        reply(Say("I look."), UseTool("shell", {"command": "echo one"})),
        reply(Say("It says"), Wait(gate), Say(" one.")),
        say("Else."),
    ]
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        parent = await editor.create(home.workspace)
        run_id = await editor.send(parent, "first")
        await editor.wait_for(lambda: "It says" in parent.shown)
        await editor.say(parent, "waits", dispatch="queue")
        child = await fork(editor, parent)
        assert words(child) == ["first", "I look."]
        assert (child.conversation["status"], child.runs) == ("idle", {})
        (own,) = await said(editor, child, "else")
        assert own == f"{child.id}.r2"
        assert server.requests[-1].user_texts == ("first", "else")
        runs = {e["entity"]["id"]: e["entity"]["status"] for e in await editor.history(child) if e["kind"] == "run"}
        assert runs == {f"{child.id}.r1": "interrupted", own: "completed"}
        await editor.queue(parent, "hold")
        gate.open()
        await editor.until_ended(parent, run_id)
        assert words(parent) == ["first", "I look.", "It says one."]
        assert words(await editor.attach(child.id)) == ["first", "I look.", "else", "Else."]


async def test_the_steps_of_a_run_do_not_hold_a_fork_back() -> None:
    gate = Gate()
    steps = [{"text": "look", "status": "done"}, {"text": "go on", "status": "active"}]
    answers: list[Answer] = [
        reply(UseTool("todo", {"steps": steps})),
        reply(Say("I look."), UseTool("shell", {"command": "echo one"})),
        reply(Say("…"), Wait(gate)),
    ]
    async with scene(InOrder(answers)) as (_, home), home.editor() as editor:
        parent = await editor.create(home.workspace)
        run_id = await editor.send(parent, "first")
        await editor.wait_for(lambda: "…" in parent.shown)
        child = await fork(editor, parent)
        assert words(child) == ["first", "I look."]
        assert [item["status"] for item in child.of_kind("todo_list")] == ["interrupted"]
        gate.open()
        await editor.until_ended(parent, run_id)
        assert [item["status"] for item in parent.of_kind("todo_list")] != ["running"]


async def test_an_approval_that_waits_stays_with_the_parent() -> None:
    answers = [reply(Say("I make it."), UseTool("shell", {"command": "touch made"})), say("Made."), say("Else.")]
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        parent = await editor.create(home.workspace)
        run_id = await editor.send(parent, "first")
        (request,) = await editor.until_asked(parent)
        child = await fork(editor, parent)
        assert (words(child), child.pending) == (["first"], [])
        await editor.respond(request, "allow", scope="conversation")
        await editor.until_ended(parent, run_id)
        # What was allowed for the parent was not allowed for a fork.
        later = await fork(editor, parent)
        rules = await editor.request("agent/permission/list", {"conversationId": later.id})
        assert [rule for rule in rules["rules"] if rule.get("scope") == "conversation"] == []
        await said(editor, child, "else")
        assert server.requests[-1].user_texts == ("first\n\nelse",)


async def test_the_same_command_again_gives_the_same_fork() -> None:
    async with scene(InOrder([say("One."), say("Two.")])) as (_, home), home.editor() as editor:
        parent = await editor.create(home.workspace)
        await said(editor, parent, "first")
        params = {"commandId": "the same", "conversationId": parent.id}
        first = await editor.request("agent/conversation/fork", params)
        await said(editor, parent, "second")
        again = await editor.request("agent/conversation/fork", params)
        assert again == first
        assert words(await editor.attach(first["conversation"]["id"])) == ["first", "One."]
        await editor.request("agent/conversation/delete", {"commandId": "d", "conversationId": parent.id})
        assert await editor.request("agent/conversation/fork", params) == first


async def test_an_id_that_was_used_for_another_command_makes_no_fork_and_no_conversation_of_it() -> None:
    async with scene(InOrder([])) as (_, home), home.editor() as editor:
        workspace = home.workspace.as_uri()
        create = {"commandId": "made", "workspace": workspace, "title": "one"}
        parent = (await editor.request("agent/conversation/create", create))["conversation"]["id"]
        fork = {"commandId": "forked", "conversationId": parent, "title": "two"}
        forked = await editor.request("agent/conversation/fork", fork)
        for method, params in (
            ("agent/conversation/fork", {**fork, "commandId": "made"}),
            ("agent/conversation/fork", {**fork, "title": "three"}),
            ("agent/conversation/create", {**create, "commandId": "forked"}),
            ("agent/conversation/create", {**create, "title": "three"}),
        ):
            with pytest.raises(Refused) as refused:
                await editor.request(method, params)
            assert refused.value.code == "command_conflict"
        again = await editor.request("agent/conversation/fork", fork)
        assert again["conversation"]["id"] == forked["conversation"]["id"]
        assert (await editor.request("agent/conversation/create", create))["conversation"]["id"] == parent


async def test_a_fork_outlives_its_parent_and_the_daemon() -> None:
    look = reply(Say("I look."), UseTool("shell", {"command": "echo one"}))
    async with scene(InOrder([look, say("Done."), say("Two.")])) as (server, home):
        async with home.editor() as editor:
            parent = await editor.create(home.workspace)
            await said(editor, parent, "first")
            child = await fork(editor, parent)
            await editor.request("agent/conversation/delete", {"commandId": "d", "conversationId": parent.id})
            code, _, _ = await refusal(editor, "agent/conversation/fork", {"conversationId": parent.id})
            assert code == "not_found"
        await home.kill9()
        async with home.editor() as editor:
            found = await editor.attach(child.id)
            assert words(found) == ["first", "I look.", "Done."]
            assert [call["payload"]["result"]["output"] for call in found.calls] == ["one\n"]
            await said(editor, found, "second")
            assert server.requests[-1].user_texts == ("first", "second")


async def test_a_fork_has_used_up_nothing() -> None:
    answers = [reply(Say("One."), usage=Tokens(1000, 10)), reply(Say("Two."), usage=Tokens(2000, 20))]
    async with scene(InOrder(answers)) as (_, home), home.editor() as editor:
        parent = await editor.create(home.workspace)
        await said(editor, parent, "first")
        child = await fork(editor, parent)
        used = await editor.request("agent/context/status", {"conversationId": child.id})
        assert (used["inputTokens"], used["outputTokens"], used["usedTokens"]) == (0, 0, 1010)
        await said(editor, child, "second")
        used = await editor.request("agent/context/status", {"conversationId": child.id})
        assert (used["inputTokens"], used["outputTokens"], used["usedTokens"]) == (2000, 20, 2020)


async def test_the_parents_edits_are_reviewed_in_the_parent() -> None:
    write = reply(UseTool("write", {"path": "a.txt", "content": "one\n"}))
    async with scene(InOrder([write, say("Done.")])) as (_, home), home.editor() as editor:
        parent = await editor.create(home.workspace, mode="edits")
        await said(editor, parent, "first")
        child = await fork(editor, parent)
        found = {
            each.id: len((await editor.request("agent/change/list", {"conversationId": each.id}))["changes"])
            for each in (parent, child)
        }
        assert found == {parent.id: 1, child.id: 0}


async def test_an_exported_fork_is_whole_and_can_be_imported() -> None:
    look = reply(Say("I look."), UseTool("shell", {"command": "echo one"}))
    answers = [look, say("Done."), say("Two."), say("Three.")]
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        parent = await editor.create(home.workspace)
        await said(editor, parent, "first")
        child = await fork(editor, parent)
        await said(editor, child, "second")
        path = home.state / "fork.jsonl"
        path.write_text(await editor.export(child.id, "jsonl"))
        taken = await editor.request("agent/conversation/import", {"commandId": "i", "path": str(path)})
        assert (taken["gapCount"], taken["conversation"].get("forkedFrom")) == (0, None)
        imported = await editor.attach(taken["conversation"]["id"])
        assert words(imported) == ["first", "I look.", "Done.", "second", "Two."]
        await said(editor, imported, "third")
        assert server.requests[-1].user_texts == ("first", "second", "third")
        text = await editor.export(child.id)
        assert [text.find(word) > 0 for word in ("Forked from", "I look.", "Done.", "Two.")] == [True] * 4


async def test_a_conversation_in_which_nothing_was_said_can_be_forked() -> None:
    async with scene(InOrder([say("One.")])) as (_, home), home.editor() as editor:
        parent = await editor.create(home.workspace)
        child = await fork(editor, parent)
        await said(editor, child, "first")
        assert words(child) == ["first", "One."]
        assert child.conversation["forkedFrom"]["through"] == 0


async def test_its_transcript_file_begins_with_what_it_has_from_its_parent() -> None:
    async with scene(InOrder([say("One."), say("Two.")])) as (_, home), home.editor() as editor:
        parent = await editor.create(home.workspace, title="Fix it")
        await said(editor, parent, "first")
        child = await fork(editor, parent)
        await said(editor, child, "second")
        held = await until_holds(editor, papers(home, child.id)[0], "Two.")
        about = f"{home.workspace.as_uri()} · scripted/scripted-1"
        assert held == (
            f"# Fix it (fork)\n\n{about}\n\nForked from “Fix it”, up to run 1\n"
            "\n## Run 1 · first\n\n> first\n\nOne.\n\n## Run 2 · second\n\n> second\n\nTwo.\n"
        )


async def test_any_lsp_client_forks_by_a_command() -> None:
    async with scene(InOrder([say("One.")])) as (_, home), home.editor() as editor:
        parent = await editor.create(home.workspace)
        await said(editor, parent, "first")
        params = {"commandId": editor.command_id(), "conversationId": parent.id}
        command = {"command": "agent-ls.conversation.fork", "arguments": [params]}
        made = await editor.request("workspace/executeCommand", command)
        assert words(await editor.attach(made["conversation"]["id"])) == ["first", "One."]


async def test_what_goes_on_from_a_subagent_is_not_freer_than_who_that_worked_for() -> None:
    task = UseTool("task", {"description": "Count", "prompt": "Count the files."})
    async with scene(InOrder([reply(task), say("Seven."), say("Done.")])) as (_, home), home.editor() as editor:
        parent = await editor.create(home.workspace)
        await said(editor, parent, "Go.")
        deny = {"effect": "deny", "rule": "shell(make)", "scope": "conversation", "conversationId": parent.id}
        await editor.request("agent/permission/add", {"commandId": "deny", **deny})
        (subagent,) = parent.of_kind("subagent")
        child = await editor.attach(subagent["payload"]["conversationId"])
        goes_on = await fork(editor, child)
        assert words(goes_on) == ["Count the files.", "Seven."]
        assert [rule["pattern"] for rule in goes_on.conversation["rules"]] == ["shell(make)"]
        listed = (await editor.request("agent/conversation/list", {}))["conversations"]
        assert {each["id"] for each in listed} == {parent.id, goes_on.id}
