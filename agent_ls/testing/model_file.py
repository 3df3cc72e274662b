"""A scenario out of JSON, for a scripted model server that runs as a process.

    {"replies": [REPLY, ...]}                     in the order in which requests come
    {"story": [REPLY, ...]}                       the n-th for a history with n answers, so asking again changes nothing
    {"conversations": {"a text of the person": SCENARIO, ...}, "default": SCENARIO}

A REPLY is one of

    {"say": "text", "size": 4}                    size: characters a chunk, 0 whole
    {"use": "read", "arguments": {"path": "a"}, "id": "c1"}
    {"steps": [STEP, ...], "usage": {"input": 10, "output": 5, "cached": 0}, "stop": "length", "done": true}
    {"http": 429, "body": {...}, "headers": {"Retry-After": "2"}, "gate": "g"}

and a STEP is a say or use as above, or {"think": "..."}, {"gate": "name"}, {"pause": 0.1}, {"silence": true},
{"raw": "data: ..."}, {"cut": true}, {"cut": "reset"}. A gate opens by POST /control/gates/NAME/open; GET
/control/gates/NAME/reached answers once a reply stands before it; GET /control/requests lists what was asked.
"""

from collections.abc import Callable
from typing import Any

from agent_ls.testing.model_scenario import (
    Answer,
    ByConversation,
    ByHistory,
    Cut,
    Gate,
    Http,
    InOrder,
    Pause,
    Raw,
    Say,
    Scenario,
    Silence,
    Step,
    Stream,
    Think,
    Tokens,
    UseTool,
    Wait,
)

GateOf = Callable[[str], Gate]


def load(described: dict[str, Any], gate: GateOf) -> Scenario:
    """Raises ValueError, with what is wrong, for a description that is none."""
    match described:
        case {"replies": list(replies)}:
            return InOrder([_answer(reply, gate) for reply in replies])
        case {"story": list(replies)}:
            return ByHistory([_answer(reply, gate) for reply in replies])
        case {"conversations": dict(scenarios)}:
            default = described.get("default")
            return ByConversation(
                {key: load(scenario, gate) for key, scenario in scenarios.items()},
                default=load(default, gate) if default is not None else None,
            )
        case _:
            raise ValueError(f"not a scenario: {sorted(described)}")


def _answer(described: dict[str, Any], gate: GateOf) -> Answer:
    if "http" in described:
        return Http(
            status=described["http"],
            body=described.get("body", ""),
            headers=described.get("headers", {}),
            gate=gate(described["gate"]) if "gate" in described else None,
        )
    steps = described.get("steps")
    usage = described.get("usage", {})
    return Stream(
        steps=tuple(_step(step, gate) for step in ([described] if steps is None else steps)),
        usage=Tokens(**usage) if usage is not None else None,
        stop=described.get("stop"),
        done=described.get("done", True),
        fragment=described.get("fragment", 0),
        until_close=described.get("until_close", False),
    )


def _step(described: dict[str, Any], gate: GateOf) -> Step:
    size = described.get("size", 0)
    match described:
        case {"say": str(text)}:
            return Say(text, size)
        case {"think": str(text)}:
            return Think(text, size, described.get("field", "reasoning_content"))
        case {"use": str(name)}:
            return UseTool(name, described.get("arguments", {}), described.get("id"), size)
        case {"gate": str(name)}:
            return Wait(gate(name))
        case {"pause": int() | float() as seconds}:
            return Pause(seconds)
        case {"silence": True}:
            return Silence()
        case {"raw": str(body)}:
            return Raw(body.encode())
        case {"cut": how}:
            return Cut(reset=how == "reset")
        case _:
            raise ValueError(f"not a step: {described}")
