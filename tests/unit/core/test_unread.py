"""Searching is reading: no rule about reads is got round by it, in any mode; questions and steps are always free."""

import re
from dataclasses import replace

import pytest

from agent_ls.core.conversation import Mode
from agent_ls.core.offers import offers
from agent_ls.core.policy import Proposal, judge
from agent_ls.core.rules import Ground, Rule, Ruling, Scope, matches_path
from agent_ls.core.sensitive import asks_to_read
from agent_ls.core.unread import Unread, unread

PLACE = Ground("/w", "/home/ada")
RULES = tuple(
    Rule(verdict, pattern, Scope.USER, "config")
    for verdict, pattern in [
        (Ruling.DENY, "read(private/**)"),
        (Ruling.DENY, "read(*.sqlite)"),
        (Ruling.ASK, "read(~/notes/**)"),
        (Ruling.ALLOW, "read(/etc/**)"),
        (Ruling.DENY, "edit(open.txt)"),
    ]
)
PATHS = [
    "/w/open.txt", "/w/private", "/w/private/a", "/w/sub/private/a", "/w/a.sqlite", "/w/sub/a.sqlite", "/w/.env",
    "/w/.env.local", "/w/prod.env", "/w/env", "/w/id_rsa", "/w/id_rsa.pub", "/w/.ssh", "/w/.ssh/config", "/w/x.pem",
    "/w/x.pem/inside", "/w/secrets.toml", "/home/ada/notes/a", "/home/ada/.aws/x/y", "/etc/hosts", "/w/we\nird.key",
]  # fmt: skip


def proposal(tool: str, *reads: str, mode: Mode = Mode.ASK, **fields: object) -> Proposal:
    known = Proposal(tool=tool, effect="read", root="/w", home="/home/ada", mode=mode, reads=reads)
    return replace(known, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("mode", list(Mode))
def test_a_file_is_left_out_of_a_search_exactly_where_a_read_of_it_would_not_just_run(path: str, mode: Mode) -> None:
    found = unread(RULES, PLACE, mode)
    skipped = any(re.fullmatch(pattern, path, 0) for pattern in (*found.denied, *found.asked))
    narrowed = any(rule.narrows and matches_path(rule, "read", path, place=PLACE) for rule in RULES)
    secret = mode is not Mode.AUTO and asks_to_read(path, PLACE) is not None
    assert skipped is (narrowed or secret)
    if skipped:
        assert judge(proposal("read", path, mode=mode), RULES).kind is not Ruling.ALLOW


def test_case_is_folded_where_the_volume_folds_it() -> None:
    (secrets,) = unread((), replace(PLACE, fold=True), Mode.ASK).asked
    assert re.fullmatch(secrets, "/W/X.PEM")
    assert not re.fullmatch(unread((), PLACE, Mode.ASK).asked[0], "/W/X.PEM")


def test_a_rule_about_all_reads_leaves_nothing_to_search() -> None:
    assert unread((Rule(Ruling.DENY, "read", Scope.USER, "config"),), PLACE, Mode.AUTO) == Unread(("(?s:.*)",))


@pytest.mark.parametrize("path", [*PATHS, "/w/", "/w/private/", "/elsewhere/"])
@pytest.mark.parametrize("mode", list(Mode))
def test_read_glob_and_grep_of_a_path_are_judged_alike(path: str, mode: Mode) -> None:
    verdicts = {judge(proposal(tool, path, mode=mode), RULES) for tool in ("read", "glob", "grep")}
    assert len(verdicts) == 1


@pytest.mark.parametrize("tool", ["todo", "ask"])
@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("mode", list(Mode))
def test_steps_and_questions_need_no_leave_in_any_mode(tool: str, mode: Mode, *, trusted: bool) -> None:
    assert judge(proposal(tool, mode=mode, trusted=trusted), RULES).kind is Ruling.ALLOW


def test_a_search_of_a_folder_needs_leave_for_all_that_is_in_it() -> None:
    def verdict(pattern: str) -> Ruling:
        return judge(proposal("grep", "/data/sub/"), (Rule(Ruling.ALLOW, pattern, Scope.USER, "config"),)).kind

    given = {"read(/data/*)": Ruling.ASK, "read(/data/sub)": Ruling.ASK, "read(/data/**)": Ruling.ALLOW}
    assert {pattern: verdict(pattern) for pattern in given} == given
    assert judge(proposal("grep", "/w/private/"), RULES).kind is Ruling.DENY
    always = next(option.rule for option in offers(proposal("grep", "/data/sub/"), ()) if option.rule)
    assert (always, verdict(always)) == ("read(/data/sub/**)", Ruling.ALLOW)


def test_a_rule_can_still_deny_a_tool_by_its_name() -> None:
    deny = Rule(Ruling.DENY, "grep", Scope.USER, "config")
    assert judge(proposal("grep", "/w"), (deny,)).kind is Ruling.DENY
    assert judge(proposal("glob", "/w"), (deny,)).kind is Ruling.ALLOW
