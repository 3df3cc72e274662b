"""What a server calls too large is compacted and sent again, a few times; what merely looks like it is not (B74)."""

import base64
import json
from typing import Any, Final

import pytest

from agent_ls.testing.model_scenario import Answer, Http, RequestView, Say, Tokens, reply, say
from tests.protocol.test_compaction import LONG, SUMMARY, WIRES, compactions, is_for_summary, talk
from tests.protocol.test_context import PIXEL
from tests.scene import scene

pytestmark = pytest.mark.anyio

Json = dict[str, Any]


def error(status: int, message: str = "", **more: Any) -> Http:
    return Http(status=status, body={"error": {"message": message, "type": "invalid_request_error", **more}})


OVERFLOWS: Final[dict[str, Answer]] = {
    "by its code": error(400, "no", code="context_length_exceeded"),
    "by another code": error(400, "no", code="context_overflow"),
    "prompt too long": error(400, "prompt is too long: 210000 tokens > 200000 maximum"),
    "with max_tokens": error(400, "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000"),
    "by its status": Http(status=413, body="Payload Too Large"),
}


class Tight:
    """A model that answers `refused` once, then says what it is given. Summaries are always written."""

    def __init__(self, refused: Answer, *, times: int = 1, usage: Tokens | None = None) -> None:
        self.refused = refused
        self.times = times
        self.usage = usage or Tokens(20_000, 1_100)
        self.spoken = 0

    def __call__(self, request: RequestView) -> Answer:
        if is_for_summary(request):
            return say(SUMMARY)
        self.spoken += 1
        if self.spoken > 2 and self.times:
            self.times -= 1
            return self.refused
        return reply(Say(LONG), usage=self.usage)


@pytest.mark.parametrize(
    ("kind", "how"),
    [*((WIRES[0], how) for how in OVERFLOWS), *((kind, "by its code") for kind in WIRES[1:])],
)
async def test_a_request_that_the_server_calls_too_large_is_compacted_and_sent_again(kind: str, how: str) -> None:
    async with scene(Tight(OVERFLOWS[how]), kind=kind) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await talk(editor, conversation, "One.", "Two.", "Three.")
        (item,) = compactions(conversation)
        assert (item["payload"]["trigger"], conversation.of_kind("error", "notice")) == ("overflow", [])
        assert [is_for_summary(request) for request in server.requests] == [False] * 3 + [True, False]
        assert SUMMARY in server.requests[-1].user_texts[0]


async def test_an_answer_that_had_no_room_at_all_is_an_overflow() -> None:
    full = reply(usage=Tokens(4_000, 0))
    cut = type(full)(steps=(), usage=Tokens(4_000, 0), stop="length")
    async with scene(Tight(cut)) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await talk(editor, conversation, "One.", "Two.", "Three.")
        assert [item["payload"]["trigger"] for item in compactions(conversation)] == ["overflow"]


@pytest.mark.parametrize(("used", "seen"), [(9_900, True), (5_000, False)])
async def test_a_refusal_without_a_word_is_an_overflow_only_where_the_window_is_all_but_full(
    used: int, *, seen: bool
) -> None:
    model = Tight(Http(status=400, body=""), usage=Tokens(used - 1_100, 1_100))
    # It is not compacted before: what the server says is what is tried here.
    config = "context_window = 10000\n[compaction]\nthreshold = 1.0\n"
    async with scene(model, config=config) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await talk(editor, conversation, "One.", "Two.")
        run_id = await editor.send(conversation, "Three.")
        await editor.until_ended(conversation, run_id, "completed" if seen else "failed")
        assert [item["payload"]["trigger"] for item in compactions(conversation)] == ["overflow"] * seen


async def test_a_plain_bad_request_is_no_overflow() -> None:
    async with scene(Tight(error(400, "tools.0.name is wrong"))) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await talk(editor, conversation, "One.", "Two.")
        run_id = await editor.send(conversation, "Three.")
        await editor.until_ended(conversation, run_id, "failed")
        assert (compactions(conversation), len(server.requests)) == ([], 3)


async def test_after_three_compactions_for_one_request_it_is_given_up_with_the_numbers() -> None:
    async with scene(Tight(OVERFLOWS["by its code"], times=99)) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await talk(editor, conversation, "One.", "Two.")
        run_id = await editor.send(conversation, "Three. " + LONG)
        ended = await editor.until_ended(conversation, run_id, "failed")
        assert ended["error"]["code"] == "context_overflow"
        assert "tokens now" in ended["error"]["message"]
        assert 1 <= len(compactions(conversation)) <= 3
        assert sum(1 for request in server.requests if not is_for_summary(request)) <= 2 + 4


async def test_where_it_is_switched_off_an_overflow_ends_the_run() -> None:
    config = "context_window = 2000\n[compaction]\nenabled = false\n"
    async with scene(Tight(OVERFLOWS["by its code"]), config=config) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        await talk(editor, conversation, "One.", "Two.")
        run_id = await editor.send(conversation, "Three.")
        ended = await editor.until_ended(conversation, run_id, "failed")
        assert (ended["error"]["code"], compactions(conversation)) == ("context_overflow", [])


async def test_before_a_model_with_a_smaller_window_is_asked_the_size_is_looked_at() -> None:
    async with scene(Tight(say("never"), times=0, usage=Tokens(90_000, 1_000))) as (server, home):
        text = home.config.read_text()
        large = text + "context_window = 1000000\n"
        small = text.partition("[providers.scripted]")[2].strip()
        home.config.write_text(f"{large}\n[providers.small]\n{small}\ncontext_window = 64000\n")
        async with home.editor() as editor:
            conversation = await editor.create(home.workspace)
            await talk(editor, conversation, "One.", "Two.")
            assert compactions(conversation) == []
            params = {"commandId": editor.command_id(), "conversationId": conversation.id, "provider": "small"}
            await editor.request("agent/conversation/update", params)
            await talk(editor, conversation, "Three.")
            assert [item["payload"]["trigger"] for item in compactions(conversation)] == ["limit"]
            assert [is_for_summary(request) for request in server.requests] == [False, False, True, False]


async def test_what_does_not_fit_however_it_is_shortened_is_said_with_the_numbers() -> None:
    scenario, config = Tight(say("never"), times=0), "context_window = 1000\n"
    async with scene(scenario, config=config) as (_, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        run_id = await editor.send(conversation, "One.")
        ended = await editor.until_ended(conversation, run_id, "failed")
        assert ended["error"]["code"] == "context_overflow"
        assert "the window has 1,000" in ended["error"]["message"]


@pytest.mark.parametrize("kind", WIRES)
async def test_pictures_go_first_where_the_bytes_are_too_many(kind: str) -> None:
    picture = base64.b64encode(PIXEL).decode()

    def scenario(request: RequestView) -> Answer:
        return OVERFLOWS["by its status"] if picture in json.dumps(request.body) else say("I see nothing.")

    async with scene(scenario, kind=kind) as (server, home), home.editor() as editor:
        conversation = await editor.create(home.workspace)
        image = {"type": "image", "mimeType": "image/png", "data": picture}
        content = [{"type": "text", "text": "What is this?"}, image]
        params = {"commandId": editor.command_id(), "conversationId": conversation.id, "content": content}
        run_id = (await editor.request("agent/message/send", params))["runId"]
        await editor.until_ended(conversation, run_id)
        assert [notice["payload"]["code"] for notice in conversation.of_kind("notice")] == ["pictures_left_out"]
        assert (len(server.requests), compactions(conversation)) == (2, [])
        assert "(a picture was here; it is left out" in "\n".join(server.requests[-1].user_texts)
        await talk(editor, conversation, "And now?")
        assert len(server.requests) == 3
