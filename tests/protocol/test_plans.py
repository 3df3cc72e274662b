"""Plans: proposed in mode plan, accepted, changed or refused, and carried out in a run of their own."""

import json

import pytest

from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import ByHistory, InOrder, UseTool, reply, say, use
from tests.plain_editor import plain_editor
from tests.scene import scene

pytestmark = pytest.mark.anyio

PLAN = "# Tidy up\n\n1. Read.\n2. Write."
OTHER = "# Tidy up\n\n1. Write."
MINE = "# Tidy up\n\n1. Only read."


async def refused(editor: Editor, request: dict[str, object], decision: str, **more: object) -> Refused:
    with pytest.raises(Refused) as error:
        await editor.respond(request, decision, **more)
    return error.value


def plans(conversation: Mirror) -> list[tuple[str, str, str]]:
    shown = conversation.of_kind("plan")
    return [(item["status"], item["payload"]["state"], item["payload"]["markdown"]) for item in shown]


async def test_an_accepted_plan_ends_its_run_and_is_carried_out_in_one_of_its_own() -> None:
    answers = [use("plan", markdown=PLAN), use("write", path="a.txt", content="a"), say("Done.")]
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace, mode="plan")
        run_id = await editor.send(conversation, "Tidy up.")
        later = await editor.say(conversation, "And then?", dispatch="queue")
        (asked,) = await editor.until_asked(conversation)
        assert (asked["kind"], asked["title"], asked["input"]) == ("plan", "Plan: Tidy up", {"markdown": PLAN})
        assert [o["id"] for o in asked["options"]] == ["accept", "accept_edits", "deny"]
        assert plans(conversation) == [("pending", "proposed", PLAN)]
        await editor.queue(conversation, "hold")

        accepted = await editor.respond(asked, "allow")
        await editor.until_ended(conversation, run_id)
        (write,) = await editor.until_asked(conversation)
        assert (write["tool"], write["runId"]) == ("write", accepted["runId"])
        carried_out = conversation.runs[accepted["runId"]]
        assert (carried_out["planId"], conversation.conversation["mode"]) == (asked["itemId"], "ask")
        assert conversation.status(later["runId"]) == "queued"
        await editor.respond(write, "allow")
        await editor.until_ended(conversation, accepted["runId"])
        assert plans(conversation) == [("completed", "accepted", PLAN)]
        planning, second, _ = server.requests
        assert "mode `plan`" in planning.system
        assert "mode `plan`" not in second.system
        assert ("plan" in planning.tools, "plan" in second.tools) == (True, False)
        assert PLAN in second.last_user_text
        assert conversation.result(conversation.calls[0]["id"])["status"] == "ok"


async def test_a_plan_is_accepted_as_the_person_has_changed_it_and_its_edits_are_not_asked_for() -> None:
    answers = [use("plan", markdown=PLAN), use("write", path="a.txt", content="a"), say("Done.")]
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace, mode="plan")
        await editor.send(conversation, "Tidy up.")
        (asked,) = await editor.until_asked(conversation)
        wrong = await refused(editor, asked, "allow", input={"markdown": " "})
        assert (wrong.code, "`input` has to be {markdown}" in wrong.message) == ("invalid_params", True)
        assert (await refused(editor, asked, "allow", scope="conversation")).code == "invalid_params"
        accepted = await editor.respond(asked, "allow", optionId="accept_edits", input={"markdown": MINE})
        await editor.until_ended(conversation, accepted["runId"])
        assert (home.workspace / "a.txt").read_text() == "a"
        assert conversation.conversation["mode"] == "edits"
        assert plans(conversation) == [("completed", "accepted", MINE)]
        assert MINE in server.requests[1].last_user_text
        # The same plan once more, in the person's own words.
        late = await refused_send(editor, conversation, "no.such.item")
        assert late.code == "not_found"


async def refused_send(editor: Editor, conversation: Mirror, plan_id: str) -> Refused:
    with pytest.raises(Refused) as error:
        await editor.say(conversation, "Go on.", planId=plan_id)
    return error.value


async def test_a_refused_plan_goes_back_with_the_reason_and_the_next_one_can_be_accepted() -> None:
    answers = [use("plan", markdown=PLAN), use("plan", markdown=OTHER), say("Fine."), say("Again.")]
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace, mode="plan")
        await editor.send(conversation, "Tidy up.")
        (asked,) = await editor.until_asked(conversation)
        assert (await refused_send(editor, conversation, asked["itemId"])).code == "invalid_params"
        await editor.respond(asked, "deny", reason="too long")
        await editor.wait_for(lambda: [request["number"] for request in conversation.pending] == [2])
        assert [text for _, text in server.requests[1].results] == ["denied: too long"]
        accepted = await editor.respond(conversation.pending[0], "allow")
        await editor.until_ended(conversation, accepted["runId"])
        assert plans(conversation) == [("cancelled", "refused", PLAN), ("completed", "accepted", OTHER)]
        again = await editor.say(conversation, "Once more.", planId=conversation.of_kind("plan")[1]["id"])
        run = await editor.until_ended(conversation, again["runId"])
        assert run["planId"] == conversation.of_kind("plan")[1]["id"]
        assert OTHER in server.requests[-1].last_user_text


@pytest.mark.parametrize("kind", ["openai-compatible", "openai", "anthropic"])
async def test_a_plan_accepted_in_one_window_while_edited_in_another_is_accepted_as_one_of_them(kind: str) -> None:
    async with (
        scene(InOrder([use("plan", markdown=PLAN), say("Done.")]), kind=kind) as (server, home),
        home.editor(name="left") as left,
        home.editor(name="right") as right,
    ):
        conversation = await left.create(home.workspace, mode="plan")
        other = await right.attach(conversation.id)
        await left.send(conversation, "Tidy up.")
        (asked,) = await left.until_asked(conversation)
        await right.until_asked(other)
        # Edited and not yet accepted: what the other window shows is not the plan any more.
        revised = await right.respond(asked, "answer", input={"markdown": MINE})
        assert revised["status"] == "pending"
        mismatch = await refused(left, asked, "allow")
        assert (mismatch.code, mismatch.data["digest"]) == ("digest_mismatch", revised["digest"])
        await left.wait_for(lambda: conversation.pending[0]["digest"] == revised["digest"])
        (now,) = conversation.pending
        assert (now["id"], now["number"], now["input"]) == (asked["id"], asked["number"], {"markdown": MINE})
        # Accepted here, and edited there at the same time: the first one counts, the other is told of it.
        accepted = await left.respond(now, "allow")
        late = await refused(right, now, "allow", input={"markdown": OTHER})
        assert (late.code, late.data["from"], late.data["decision"]) == ("already_decided", "left", "allow")
        assert (await right.respond(now, "allow"))["status"] == "resolved"
        await left.until_ended(conversation, accepted["runId"])
        assert plans(conversation) == [("completed", "accepted", MINE)]
        assert MINE in server.requests[1].last_user_text


async def test_a_plan_of_a_run_that_has_changed_files_is_carried_out_once_they_are_kept() -> None:
    answers = [use("write", path="a.txt", content="a"), use("plan", markdown=PLAN), say("Done.")]
    async with scene(InOrder(answers)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace, mode="edits")
        run_id = await editor.send(conversation, "Tidy up.")
        await editor.say(conversation, "And then?", dispatch="queue")
        (asked,) = await editor.until_asked(conversation)
        await editor.queue(conversation, "hold")
        accepted = await editor.respond(asked, "allow")
        await editor.until_ended(conversation, accepted["runId"])
        assert conversation.status(run_id) == "completed"
        assert (conversation.conversation["mode"], conversation.conversation["queueHeld"]) == ("edits", True)
        assert PLAN in server.requests[-1].last_user_text


async def test_a_plan_outlives_the_daemon_and_stopping_its_run_drops_it() -> None:
    together = reply(UseTool("plan", {"markdown": PLAN}), UseTool("glob", {"pattern": "*"}))
    async with scene(ByHistory([together, together])) as (server, home):
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace, mode="plan")
            run_id = await editor.send(conversation, "Tidy up.")
            (asked,) = await editor.until_asked(conversation)
            await home.kill9()
        async with home.editor() as editor:
            again = await editor.attach(conversation.id)
            assert again.pending == [asked]
            await editor.interrupt(run_id)
            await editor.until_ended(again, run_id, "interrupted")
            assert plans(again) == [("cancelled", "dropped", PLAN)]
            assert again.conversation["mode"] == "plan"
        assert len(server.requests) == 1


async def test_a_plan_is_read_changed_and_accepted_in_a_terminal() -> None:
    async with scene(InOrder([use("plan", markdown=PLAN), say("Done.")])) as (server, home):
        asked = await home.run("ask", "--mode", "plan", "Tidy up.")
        assert asked.returncode == 2
        for line in ("#1  Plan: Tidy up", "2. Write.", "agent-ls approve 1 [--mode edits] [--plan FILE]"):
            assert line in asked.stderr
        assert json.loads((await home.run("show", "1", "--json")).stdout)["preview"]["input"] == {"markdown": PLAN}
        wrong = await home.run("answer", "1", "yes")
        assert (wrong.returncode, "takes a yes or a no" in wrong.stderr) == (1, True)
        (home.workspace / "plan.md").write_text(MINE)
        done = await home.run("approve", "1", "--mode", "edits", "--plan", "plan.md")
        assert (done.returncode, done.stdout) == (0, "Allowed #1.\n"), done.stderr
        async with home.editor() as editor:
            (held,) = (await editor.request("agent/conversation/list", {}))["conversations"]
            await editor.wait_for(lambda: len(server.requests) == 2)
            assert held["mode"] == "edits"
            exported = await editor.export(held["id"])
            assert f"> **Plan** (accepted)\n\n{MINE}" in exported
        assert MINE in server.requests[1].last_user_text


async def test_in_any_lsp_editor_a_plan_is_read_by_hover_and_accepted_by_a_code_action() -> None:
    async with (
        scene(InOrder([use("plan", markdown=PLAN), say("Done.")])) as (_, home),
        home.editor(name="terminal") as asker,
        plain_editor(home) as plain,
    ):
        path = home.workspace / "a.txt"
        path.write_text("one\n")
        await plain.open(path)
        conversation = await asker.create(home.workspace, mode="plan")
        await asker.send(conversation, "Tidy up.")
        await asker.until_asked(conversation)
        (mark,) = await plain.until_marked(path)
        assert (mark.code, mark.message) == ("plan", "#1 waits for your answer: Plan: Tidy up")
        assert [action.title for action in await plain.actions(path, 0)] == [
            "Accept the plan #1",
            "Accept the plan, edits without asking #1",
            "Refuse the plan #1",
            "Show #1",
        ]
        assert PLAN in str(await plain.hover(path, 0))
        answered = await plain.choose(path, 0, "Accept the plan, edits without asking #1")
        await asker.until_ended(conversation, answered["runId"])
        assert conversation.conversation["mode"] == "edits"
        await plain.until_marked()
