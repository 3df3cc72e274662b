"""The scripted model server over its socket: scenarios, gates, records, and itself as a process."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from agent_ls.testing.model_scenario import (
    EXHAUSTED,
    ByConversation,
    ByHistory,
    Gate,
    InOrder,
    RequestView,
    Say,
    Scenario,
    Wait,
    reply,
    say,
)
from agent_ls.testing.model_server import ModelServer, serve_model

pytestmark = pytest.mark.anyio


def message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def body(*texts: str, model: str = "scripted-1") -> dict[str, Any]:
    """The person's and the model's texts in turn."""
    messages = [message("assistant" if at % 2 else "user", text) for at, text in enumerate(texts)]
    return {"model": model, "stream": True, "messages": messages}


async def text(client: httpx.AsyncClient, server: ModelServer, *texts: str) -> str:
    response = await client.post(f"{server.base_url}/chat/completions", json=body(*texts))
    return text_of(response.text) if response.status_code == 200 else f"{response.status_code}"


def text_of(stream: str) -> str:
    events = [json.loads(line[6:]) for line in stream.splitlines() if line.startswith("data: {")]
    deltas = [choice["delta"] for event in events for choice in event["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)


def view(*texts: str, steps: int = 0) -> RequestView:
    return RequestView(
        dialect="chat",
        model="m",
        system="",
        user_texts=texts,
        results=(),
        steps=steps,
        tools=(),
        body={},
        headers={},
        number=0,
    )


def test_a_story_gives_the_same_reply_when_asked_again() -> None:
    scenario = ByHistory([say("one"), say("two")])
    assert [scenario(view(steps=steps)) for steps in (0, 0, 1, 1, 2)] == [
        *[say("one")] * 2,
        *[say("two")] * 2,
        EXHAUSTED,
    ]


def test_replies_in_order_are_used_up() -> None:
    scenario = InOrder([say("one"), say("two")])
    assert [scenario(view()) for _ in range(3)] == [say("one"), say("two"), EXHAUSTED]


@pytest.mark.parametrize(("default", "other"), [(None, EXHAUSTED), (InOrder([say("else")]), say("else"))])
def test_each_conversation_has_its_own_scenario(default: Scenario | None, other: Any) -> None:
    scenario = ByConversation({"A": InOrder([say("a")]), "B": InOrder([say("b")])}, default=default)
    assert [scenario(view(text)) for text in ("to B", "to A", "to C")] == [say("b"), say("a"), other]


async def test_it_streams_and_remembers_what_it_was_asked() -> None:
    async with serve_model(InOrder([say("hello", size=2)])) as server, httpx.AsyncClient() as client:
        with anyio.fail_after(5):
            assert await text(client, server, "one", "two", "three") == "hello"
        asked = server.requests[0]
        assert (asked.user_texts, asked.steps, asked.last_user_text) == (("one", "three"), 1, "three")


async def test_a_gate_holds_the_stream_until_it_is_opened() -> None:
    gate = Gate()
    heard: list[str] = []
    async with serve_model(InOrder([reply(Say("a"), Wait(gate), Say("b"))])) as server, httpx.AsyncClient() as client:

        async def ask() -> None:
            heard.append(await text(client, server, "x"))

        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(ask)
                await gate.reached()
                assert heard == []
                gate.open()
        assert heard == ["ab"]


async def test_it_refuses_with_a_reason_and_keeps_it() -> None:
    async with serve_model(InOrder([]), key="k") as server, httpx.AsyncClient() as client:
        url = f"{server.base_url}/chat/completions"
        key = {"Authorization": "Bearer k"}
        with anyio.fail_after(5):
            answers = [
                await client.post(url, json=body("x")),
                await client.post(url, json=body("x", model="other"), headers=key),
                await client.post(url, json=body(" "), headers=key),
                await client.post(url, content=b"{", headers=key),
                await client.post(f"{server.base_url}/nothing", json={}, headers=key),
            ]
        assert [answer.status_code for answer in answers] == [401, 404, 400, 400, 404]
        assert [refused.reason for refused in server.refused] == [
            answer.json()["error"]["message"] for answer in answers
        ]
        assert server.requests == []


async def test_a_client_that_goes_away_is_noticed() -> None:
    gate = Gate()
    async with serve_model(InOrder([reply(Say("a"), Wait(gate))])) as server:
        with anyio.fail_after(5):
            async with httpx.AsyncClient() as client:
                url = f"{server.base_url}/chat/completions"
                async with client.stream("POST", url, json=body("x")):
                    await gate.reached()
            await server.until(lambda: server.abandoned == 1)


async def test_as_a_process_it_prints_its_port_plays_a_file_and_logs(tmp_path: Path) -> None:
    scenario, log = tmp_path / "scenario.json", tmp_path / "requests.jsonl"
    story = {"story": [{"steps": [{"say": "a"}, {"gate": "g"}, {"say": "b"}]}, {"http": 503, "body": "down"}]}
    scenario.write_text(json.dumps({"conversations": {"mine": story}, "default": {"replies": [{"say": "else"}]}}))
    command = [sys.executable, "-m", "agent_ls.testing.model_server", "--scenario", str(scenario), "--log", str(log)]
    async with await anyio.open_process(command, stderr=None) as process:
        assert process.stdout is not None
        try:
            with anyio.fail_after(10):
                base = f"http://127.0.0.1:{int(await process.stdout.receive())}"
                await talk(base)
        finally:
            process.kill()
    assert [json.loads(line)["number"] for line in log.read_text().splitlines()] == [0, 1, 2]


async def talk(base: str) -> None:
    url = f"{base}/v1/chat/completions"
    heard: list[str] = []
    async with httpx.AsyncClient(timeout=5) as client:

        async def ask() -> None:
            heard.append(text_of((await client.post(url, json=body("mine"))).text))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await client.get(f"{base}/control/gates/g/reached")
            await client.post(f"{base}/control/gates/g/open")
        assert heard == ["ab"]
        assert (await client.post(url, json=body("mine", "ab", "more"))).status_code == 503
        assert text_of((await client.post(url, json=body("other"))).text) == "else"
        requests = (await client.get(f"{base}/control/requests")).json()["requests"]
        assert [len(request["messages"]) for request in requests] == [1, 3, 1]
