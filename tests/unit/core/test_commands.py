"""The table of commands (commands.toml) against the policy: what runs by itself, what is asked for, what is refused."""

import os
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agent_ls.core.conversation import Mode
from agent_ls.core.harmless import Seen, survey
from agent_ls.core.harmless_table import PROGRAMS, Sight
from agent_ls.core.policy import Proposal, judge
from agent_ls.core.rules import Rule, Ruling, Scope, parse_rule

ROOT_OF_DOCS = Path(__file__).parents[3] / "docs"
ROOT, HOME = "/home/me/w", "/home/me"
FOLDERS = {f"{ROOT}{name}" for name in ("", "/src", "/docs", "/src/deep", "/notes")} | {"/", "/etc", "/home", HOME}
LINKS = {f"{ROOT}/link": "/etc", f"{ROOT}/leak": f"{ROOT}/.env"}
GROUPS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))[
    "group"
]


def commands(group: dict[str, Any]) -> list[str]:
    return [line for line in group["commands"].split("\n") if line]


CASES = [
    pytest.param(command, group.get("rules", []), Ruling(group["verdict"]), id=f"{group['verdict']}: {command!r}")
    for group in GROUPS
    for command in commands(group)
]


def real(path: str) -> str:
    """As the disk of the table would have it."""
    path = os.path.normpath(path)
    for link, target in LINKS.items():
        if path == link or path.startswith(link + "/"):
            return target + path[len(link) :]
    return path


def sights(command: str) -> tuple[tuple[Seen, ...] | None, ...]:
    """What the tool would find out, as far as it concerns one command after another."""
    steps = survey(command)
    mixed = any(step is None for step in steps)
    places, found = [ROOT], list[tuple[Seen, ...] | None]()
    for step in steps:
        if step is None or (mixed and step.looks):
            found.append(None)
            continue
        paths = [(real(os.path.join(place, look.path)), look.sight) for look in step.looks for place in places]
        found.append(tuple(Seen(path, sight, folder=path in FOLDERS) for path, sight in paths))
        if step.moves is not None:
            places += [real(os.path.join(place, step.moves)) for place in places]
    return tuple(found)


def proposal(command: str, mode: Mode = Mode.ASK) -> Proposal:
    return Proposal(
        tool="shell", effect="shell", root=ROOT, home=HOME, mode=mode, command=command, sights=sights(command)
    )


def rules(texts: list[str]) -> list[Rule]:
    found = []
    for text in texts:
        verdict, _, pattern = text.partition(" ")
        rule = parse_rule(pattern, Ruling(verdict), Scope.USER, origin="config.toml")
        assert isinstance(rule, Rule), rule
        found.append(rule)
    return found


@pytest.mark.parametrize(("command", "given", "expected"), CASES)
def test_what_is_said_to_a_command(command: str, given: list[str], expected: Ruling) -> None:
    verdict = judge(proposal(command), rules(given))
    assert (verdict.kind, verdict.rule != "", verdict.reason != "") == (expected, True, True), verdict


def test_the_table_is_large_and_has_all_three_answers() -> None:
    counted = Counter(expected for _, _, expected in (case.values for case in CASES))
    assert sum(counted.values()) >= 300
    assert min(counted[Ruling(each)] for each in ("allow", "ask", "deny")) >= 30


def test_every_harmless_program_is_in_the_table() -> None:
    allowed = {command.split()[0] for group in GROUPS if group["verdict"] == "allow" for command in commands(group)}
    spoken = {
        part.split()[0] for group in GROUPS for line in commands(group) for part in line.split("|") if part.strip()
    }
    families = {"sha1sum", "sha224sum", "sha384sum", "sha512sum", "b2sum", "sum", "unexpand"}
    assert set(PROGRAMS) - families <= allowed | spoken


def test_the_page_on_permissions_lists_them_by_what_they_look_at() -> None:
    table = (ROOT_OF_DOCS / "permissions.md").read_text(encoding="utf-8").partition("| they look at | programs |")[2]
    written = {
        line.split("|")[1].strip(): set(re.findall(r"`([^`]+)`", line.split("|")[2]))
        for line in table.partition("\n\n")[0].splitlines()[2:]
    }
    held: dict[Sight, set[str]] = {sight: set() for sight in Sight}
    for name, program in PROGRAMS.items():
        held[program.sight].add(name)
    held[Sight.NAME] |= {"cd"}
    held[Sight.NAMES] |= {"find"}
    held[Sight.NOTHING] |= {"date", "printf", "type"}
    assert written == {
        "what files hold": held[Sight.CONTENT],
        "that files are there": held[Sight.NAME],
        "names beneath a folder": held[Sight.NAMES],
        "nothing": held[Sight.NOTHING],
    }


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.EDITS])
def test_a_harmless_command_runs_by_itself_and_says_by_which_rule(mode: Mode) -> None:
    verdict = judge(proposal("cat a.py | head -5", mode), [])
    assert (verdict.kind, verdict.rule) == (
        Ruling.ALLOW,
        "built-in: `cat` only looks (table of harmless commands); "
        "built-in: `head` only looks (table of harmless commands)",
    )


def test_a_plan_and_an_untrusted_workspace_run_not_even_that() -> None:
    assert judge(proposal("ls", Mode.PLAN), []).kind is Ruling.DENY
    untrusted = Proposal(
        tool="shell", effect="shell", root=ROOT, home=HOME, mode=Mode.ASK, command="ls", sights=((),), trusted=False
    )
    assert judge(untrusted, []).kind is Ruling.DENY


def test_without_a_look_at_the_disk_nothing_is_harmless() -> None:
    blind = Proposal(tool="shell", effect="shell", root=ROOT, home=HOME, mode=Mode.ASK, command="ls")
    assert judge(blind, []).kind is Ruling.ASK


def test_a_denied_read_is_denied_in_mode_auto_as_well() -> None:
    assert judge(proposal("cat .env", Mode.AUTO), rules(["deny read(.env)"])).kind is Ruling.DENY
