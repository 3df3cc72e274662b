"""Compaction: a summary stands for what is older, what counts is put in again, and a stop is a stop."""

from typing import Any, Final

import pytest

from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import (
    Answer,
    Gate,
    Http,
    RequestView,
    Say,
    Scenario,
    Tokens,
    UseTool,
    Wait,
    reply,
    say,
    use,
)
from tests.protocol.test_hooks import hook, told
from tests.protocol.test_transcript_file import until_holds
from tests.scene import scene

pytestmark = pytest.mark.anyio

Json = dict[str, Any]
WIRES: Final = ("openai-compatible", "anthropic", "openai")
ASKED: Final = "about to be taken out to make room"
SUMMARY: Final = "They greeted each other, at length."
LONG: Final = "All work and no play. " * 200
"""About 1,100 tokens."""


def is_for_summary(request: RequestView) -> bool:
    return ASKED in request.last_user_text


def summarizing(otherwise: Scenario, summary: Answer | None = None) -> Scenario:
    """A model that writes the summary whenever it is asked for one."""
    made = say(SUMMARY) if summary is None else summary
    return lambda request: made if is_for_summary(request) else otherwise(request)


def compactions(conversation: Mirror) -> list[Json]:
    return conversation.of_kind("compaction")


def places(conversation: Mirror) -> list[str]:
    """Ids of all items, in their order."""
    return [item["id"] for item in sorted(conversation.items.values(), key=lambda item: int(item["ord"]))]


async def compact(editor: Editor, conversation: Mirror, **more: Any) -> Json:
    noted: Json = await editor.command("agent/conversation/compact", conversationId=conversation.id, **more)
    return noted


async def talk(editor: Editor, conversation: Mirror, *texts: str) -> str:
    run_id = ""
    for text in texts:
        run_id = await editor.send(conversation, text)
        await editor.until_ended(conversation, run_id)
    return run_id


async def test_a_conversation_is_compacted_when_the_person_wants_it_and_its_items_stay() -> None:
    async with (
        scene(summarizing(lambda _: reply(Say(LONG), usage=Tokens(5_000, 1_100)))) as (server, home),
        home.editor() as editor,
    ):
        conversation = await editor.create(home.workspace)
        await talk(editor, conversation, "One.", "Two.", "Three.")
        before = places(conversation)
        noted = await compact(editor, conversation, instructions="Keep the greeting.")
        assert noted.keys() == {"seq"}
        (item,) = await editor.wait_for(lambda: compactions(conversation))
        assert "[The person asks of this summary: Keep the greeting.]" in server.requests[-1].last_user_text
        held = item["payload"]
        assert {name: held[name] for name in ("summary", "madeBy", "model", "trigger", "mode", "instructions")} == {
            "summary": SUMMARY,
            "madeBy": "model",
            "model": "scripted-1",
            "trigger": "manual",
            "mode": "sliding",
            "instructions": "Keep the greeting.",
        }
        assert places(conversation) == [*before, item["id"]]
        assert held["firstKept"] == before[held["summarized"]], "the second message is the first that is kept"
        assert held["tokensAfter"] < held["tokensBefore"]
        await talk(editor, conversation, "Four.")
        sent = server.requests[-1]
        assert SUMMARY in sent.user_texts[0]
        assert (sent.steps, "Four." in sent.last_user_text) == (2, True)
        assert "One." in sent.user_texts[0], "the person's own words are repeated"
        again = await editor.attach(conversation.id)
        assert compactions(again) == [item]
        shown = await editor.export(conversation.id)
        assert f"**Compacted**: from here on the model is sent a summary of {held['summarized']} older items." in shown


async def test_while_it_is_compacted_the_conversation_is_busy_and_messages_wait_in_the_queue() -> None:
    gate = Gate()
    scenario = summarizing(lambda _: say(LONG), reply(Wait(gate), Say(SUMMARY)))
    async with scene(scenario) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await talk(editor, conversation, "One.", "Two.")
        await compact(editor, conversation, instructions="All.")
        await gate.reached()
        (summary,) = (await editor.request("agent/conversation/list", {}))["conversations"]
        assert (summary["status"], summary["compacting"]["instructions"]) == ("running", "All.")
        await editor.wait_for(lambda: any(p.get("phase") == "compacting" for _, p in editor.notices))
        sent = await editor.say(conversation, "Three.")
        assert sent["disposition"] == "queued"
        with pytest.raises(Refused) as refused:
            await compact(editor, conversation)
        assert refused.value.code == "conversation_busy"
        with pytest.raises(Refused) as refused:
            await editor.command("agent/conversation/delete", conversationId=conversation.id)
        assert refused.value.code == "conversation_busy"
        gate.open()
        await editor.until_ended(conversation, sent["runId"])
        assert "compacting" not in conversation.conversation
        assert SUMMARY in server.requests[-1].user_texts[0]
        assert SUMMARY not in conversation.shown, "a summary is no answer"


async def test_a_compaction_is_stopped_at_once_also_twice_and_nothing_is_shortened() -> None:
    gate = Gate()
    scenario = summarizing(lambda _: say(LONG), reply(Wait(gate), Say(SUMMARY)))
    async with scene(scenario) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        last = await talk(editor, conversation, "One.", "Two.")
        await compact(editor, conversation)
        await gate.reached()
        queued = await editor.say(conversation, "Three.")
        await editor.interrupt(last, holdQueue=True)
        await editor.interrupt(last, holdQueue=True)
        assert "compacting" not in conversation.conversation
        assert compactions(conversation) == []
        assert conversation.conversation["queueHeld"] is True
        notice = conversation.of_kind("notice")[-1]["payload"]
        assert notice["code"] == "compaction_stopped"
        await editor.queue(conversation, "release")
        await editor.until_ended(conversation, queued["runId"])
        assert (server.requests[-1].steps, compactions(conversation)) == (2, [])


async def test_what_cannot_be_compacted_is_refused_with_the_reason() -> None:
    async with scene(summarizing(lambda _: say(LONG))) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        with pytest.raises(Refused) as refused:
            await compact(editor, conversation)
        assert (refused.value.code, refused.value.message) == (
            "invalid_params",
            "There is nothing to compact in this conversation yet.",
        )
        with pytest.raises(Refused) as refused:
            await editor.request("agent/conversation/compact", {"commandId": "x1", "conversationId": "cnone"})
        assert refused.value.code == "not_found"


async def test_a_run_is_compacted_at_its_next_step_border_and_goes_on() -> None:
    script = iter([say(LONG), use("shell", command="touch made"), say("Done.")])
    async with scene(summarizing(lambda _: next(script))) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await talk(editor, conversation, "One.")
        run_id = await editor.send(conversation, "Two.")
        (asked,) = await editor.until_asked(conversation)
        await compact(editor, conversation)
        assert compactions(conversation) == [], "not between a call and its result"
        await editor.respond(asked, "allow")
        await editor.until_ended(conversation, run_id)
        (item,) = compactions(conversation)
        assert item["runId"] == run_id
        summary, after = server.requests[-2:]
        assert is_for_summary(summary)
        assert (len(after.results), "Two." in after.user_texts[0]) == (1, True)


@pytest.mark.parametrize("kind", WIRES)
async def test_a_conversation_that_nears_the_window_is_compacted_before_the_next_request(kind: str) -> None:
    full = iter([Tokens(9_000, 500), Tokens(100, 5), Tokens(100, 5)])
    scenario = summarizing(lambda _: reply(Say(LONG), usage=next(full)))
    async with scene(scenario, kind=kind, config="context_window = 10000\n") as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await talk(editor, conversation, "One.")
        status = await editor.request("agent/context/status", {"conversationId": conversation.id})
        assert (status["windowTokens"], status["usedTokens"]) == (10_000, 9_500)
        assert status["thresholds"] == {"reserve": 2_000, "keepRecent": 5_000, "compactAt": 8_000}
        run_id = await talk(editor, conversation, "Two.")
        (item,) = compactions(conversation)
        assert (item["runId"], item["payload"]["trigger"]) == (run_id, "limit")
        assert [is_for_summary(request) for request in server.requests] == [False, True, False]
        after = await editor.request("agent/context/status", {"conversationId": conversation.id})
        assert after["usedTokens"] < 8_000
        # What was counted before is not believed any more, else it would be compacted again at once.
        await talk(editor, conversation, "Three.")
        assert len(compactions(conversation)) == 1


async def test_a_stop_while_it_is_compacted_in_a_run_ends_the_run_uncompacted() -> None:
    gate = Gate()
    full = iter([Tokens(9_000, 500), Tokens(100, 5)])
    summaries = iter([reply(Wait(gate), Say(SUMMARY)), say(SUMMARY)])

    def scenario(request: RequestView) -> Answer:
        return next(summaries) if is_for_summary(request) else reply(Say(LONG), usage=next(full))

    async with scene(scenario, config="context_window = 10000\n") as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await talk(editor, conversation, "One.")
        run_id = await editor.send(conversation, "Two.")
        await gate.reached()
        assert (await editor.interrupt(run_id))["status"] == "stopping"
        await editor.interrupt(run_id)
        await editor.until_ended(conversation, run_id, "interrupted")
        assert compactions(conversation) == []
        await talk(editor, conversation, "Three.")
        (item,) = compactions(conversation)
        assert item["payload"]["summary"] == SUMMARY


async def test_where_no_summary_comes_a_digest_of_the_ledger_takes_its_place_and_says_so() -> None:
    broken = Http(status=500, body={"error": {"message": "no", "type": "server_error"}})
    async with scene(summarizing(lambda _: say(LONG), broken)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await talk(editor, conversation, "One.", "Two.", "Three.")
        await compact(editor, conversation)
        (item,) = await editor.wait_for(lambda: compactions(conversation))
        held = item["payload"]
        assert held["madeBy"] == "digest"
        assert "failed (500)" in held["trouble"]
        assert held["summary"].splitlines()[0] == "- The person: One."
        await talk(editor, conversation, "Four.")
        assert "- The person: One." in server.requests[-1].user_texts[0]


@pytest.mark.parametrize(
    ("summary", "said"), [("", "was empty"), (LONG * 3, "has about 3,300 tokens")], ids=["empty", "long"]
)
async def test_a_summary_that_is_no_use_is_given_up_after_two_tries_and_the_numbers_are_said(
    summary: str, said: str
) -> None:
    async with scene(summarizing(lambda _: say(LONG), say(summary))) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await talk(editor, conversation, "One.", "Two.", "Three.")
        asked = len(server.requests)
        await compact(editor, conversation)
        (notice,) = await editor.wait_for(lambda: conversation.of_kind("notice"))
        assert notice["payload"]["code"] == "compaction_failed"
        assert said in notice["payload"]["message"]
        assert "in 2 tries" in notice["payload"]["message"]
        assert (len(server.requests) - asked, compactions(conversation)) == (2, [])
        assert "compacting" not in conversation.conversation
        await talk(editor, conversation, "Four.")


async def test_a_hook_hears_of_it_adds_to_it_or_refuses_it_with_its_reason() -> None:
    async with scene(summarizing(lambda _: say(LONG))) as (server, home):
        hook(home, "pre_compact", """echo '{"context": "Name the colours."}'""")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            await talk(editor, conversation, "One.", "Two.", "Three.")
            await compact(editor, conversation, instructions="Keep it short.")
            await editor.wait_for(lambda: compactions(conversation))
            asked = server.requests[-1].last_user_text
            assert "[The person asks of this summary: Keep it short.\nName the colours.]" in asked
            (said,) = told(home, "pre_compact")
            assert (said["trigger"], said["instructions"], said["conversationId"]) == (
                "manual",
                "Keep it short.",
                conversation.id,
            )
            hook(home, "pre_compact", "echo 'not today' >&2; exit 2", word="")
            asked_before = len(server.requests)
            await compact(editor, conversation)
            await editor.wait_for(
                lambda: "compacting" not in conversation.conversation and conversation.of_kind("notice")
            )
            notice = conversation.of_kind("notice")[-1]["payload"]
            assert (notice["code"], notice["message"]) == (
                "hook_refused",
                "Not compacted: your hook `pre_compact` refused: not today",
            )
            assert (len(compactions(conversation)), len(server.requests)) == (1, asked_before)


async def test_what_counts_is_put_in_again_whatever_the_summary_says() -> None:
    steps = [{"text": "read a", "status": "done"}, {"text": "read b", "status": "done"}]
    steps.append({"text": "change b", "status": "active"})
    script = iter(
        [
            reply(UseTool("read", {"path": "a.txt"}), UseTool("todo", {"steps": steps})),
            use("shell", command="rm -r db"),
            reply(Say(LONG)),
            use("edit", path="a.txt", edits=[{"old": "one", "new": "two"}]),
            say("I have to read it first."),
        ]
    )
    async with scene(summarizing(lambda _: next(script)), config="[compaction]\nmode = 'all'\n") as (server, home):
        (home.workspace / "a.txt").write_text("one\n")
        (home.workspace / "AGENTS.md").write_text("Mind the gap.\n")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace, mode="edits")
            run_id = await editor.send(conversation, "Do not run tests.")
            (asked,) = await editor.until_asked(conversation)
            await editor.respond(asked, "deny", reason="never touch db/")
            await editor.until_ended(conversation, run_id)
            await compact(editor, conversation)
            (item,) = await editor.wait_for(lambda: compactions(conversation))
            assert (item["payload"]["mode"], "firstKept" in item["payload"]) == ("all", False)
            await talk(editor, conversation, "Go on.")
            assert "Mind the gap." in server.requests[-2].system
            sent = "\n".join(server.requests[-2].user_texts)
            for expected in (
                SUMMARY,
                "Do not run tests.",
                "- [x] read a\n- [x] read b\n- [>] change b",
                "- shell rm -r db — never touch db/",
                "Files that have to be read again before they are edited:\n- a.txt",
                "It has been dealt with.",
                "Go on.",
            ):
                assert expected in sent
            (edit,) = [call for call in conversation.calls if call["payload"]["tool"] == "edit"]
            assert edit["payload"]["result"]["status"] == "error"
            assert "read" in edit["payload"]["result"]["output"].lower()
            assert (home.workspace / "a.txt").read_text() == "one\n"


async def test_the_transcript_file_of_a_conversation_tells_of_a_compaction() -> None:
    async with scene(summarizing(lambda _: say(LONG))) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await talk(editor, conversation, "One.", "Two.")
        await compact(editor, conversation)
        await editor.wait_for(lambda: compactions(conversation))
        await talk(editor, conversation, "Three.")
        text = await until_holds(editor, home.state / "conversations" / f"{conversation.id}.md", "## Run 3")
        assert "> **Compacted**: from here on the model is sent a summary of 2 older items." in text
        assert text.index("## Run 2") < text.index("**Compacted**") < text.index("## Run 3")
