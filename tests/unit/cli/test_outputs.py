"""Output of commands as it comes: whole lines, under the name of their command, and never twice."""

from typing import Any

from agent_ls.cli.outputs import Outputs
from agent_ls.cli.terminal import PLAIN

Json = dict[str, Any]


def command(item_id: str, text: str) -> Json:
    return {"id": item_id, "kind": "command", "payload": {"tool": "shell", "input": {"command": text}}}


def part(item_id: str, output: str, cursor: int) -> Json:
    return {"itemId": item_id, "phase": "tool", "output": output, "cursor": cursor}


def test_lines_come_whole_and_name_their_command_when_another_one_spoke() -> None:
    outputs = Outputs(PLAIN)
    for item_id in ("a", "b"):
        outputs.started(command(item_id, f"make {item_id}"))
    said = [
        outputs.lines(part("a", "one\ntw", 6)),
        outputs.lines(part("a", "o\n10 %\r20 %", 17)),
        outputs.lines(part("b", "else\n", 5)),
        outputs.lines(part("a", "\r30 %\n", 23)),
    ]
    assert said == [
        ["◐ $ make a", "    one"],
        ["    two"],
        ["◐ $ make b", "    else"],
        ["◐ $ make a", "    30 %"],
    ]
    assert outputs.settled(command("a", "make a")) == ([], True)


def test_what_was_missed_is_told_by_the_settled_call() -> None:
    outputs = Outputs(PLAIN)
    outputs.started(command("a", "make"))
    outputs.lines(part("a", "one\n", 4))
    outputs.lines(part("a", "end", 500))
    assert outputs.settled(command("a", "make")) == (["    end"], False)


def test_a_command_that_said_nothing_is_told_by_its_call_alone() -> None:
    outputs = Outputs(PLAIN)
    outputs.started(command("a", "true"))
    assert outputs.settled(command("a", "true")) == ([], False)
