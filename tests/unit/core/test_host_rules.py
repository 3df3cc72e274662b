"""Rules about hosts: to the letter where they allow, widely where they narrow."""

import pytest

from agent_ls.core.conversation import Mode
from agent_ls.core.errors import Refusal
from agent_ls.core.offers import offers
from agent_ls.core.policy import Proposal, judge
from agent_ls.core.rules import Rule, Ruling, Scope, parse_rule


def proposal(host: str, **more: object) -> Proposal:
    fields: dict[str, object] = {"mode": Mode.ASK, **more}
    return Proposal(tool="fetch", effect="read", host=host, root="/w", home="/home/ada", **fields)  # type: ignore[arg-type]


def rules(**texts: str) -> list[Rule]:
    made = [parse_rule(text, Ruling(verdict), Scope.USER, origin="config") for verdict, text in texts.items()]
    return [rule for rule in made if isinstance(rule, Rule)]


@pytest.mark.parametrize(
    ("rule", "host", "allowed"),
    [
        ("fetch(docs.python.org)", "docs.python.org", True),
        ("fetch(docs.python.org)", "evil.docs.python.org", False),
        ("fetch(docs.python.org)", "docs.python.org.evil.test", False),
        ("fetch(python.org)", "docs.python.org", False),
        ("fetch(*.python.org)", "docs.python.org", True),
        ("fetch(*.python.org)", "python.org", False),
        ("fetch(*.python.org)", "notpython.org", False),
        ("fetch", "any.test", True),
        ("shell(curl *)", "any.test", False),
    ],
)
def test_an_allowing_rule_means_what_it_says_and_no_more(rule: str, host: str, allowed: bool) -> None:  # noqa: FBT001
    verdict = judge(proposal(host), rules(allow=rule))
    assert verdict.kind is (Ruling.ALLOW if allowed else Ruling.ASK)


def test_a_denied_host_is_denied_with_all_beneath_it_whatever_allows_it() -> None:
    given = rules(allow="fetch", deny="fetch(evil.test)")
    assert [judge(proposal(host), given).kind for host in ("evil.test", "a.evil.test", "good.test")] == [
        Ruling.DENY,
        Ruling.DENY,
        Ruling.ALLOW,
    ]


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.EDITS, Mode.PLAN])
def test_no_mode_but_auto_fetches_unasked(mode: Mode) -> None:
    assert judge(proposal("a.test", mode=mode), ()).kind is Ruling.ASK
    assert judge(proposal("a.test", mode=mode, trusted=False), ()).kind is Ruling.ASK


def test_always_keeps_the_one_host() -> None:
    assert [option.rule for option in offers(proposal("docs.python.org"), ()) if option.rule] == [
        "fetch(docs.python.org)",
        "fetch(docs.python.org)",
    ]


@pytest.mark.parametrize("body", ["https://a.test", "a.test/x", "*", "**.a.test", "a*.test"])
def test_a_rule_that_names_no_host_is_refused_with_the_way_to_write_it(body: str) -> None:
    read = parse_rule(f"fetch({body})", Ruling.ALLOW, Scope.USER, origin="config")
    assert isinstance(read, Refusal) is (body != "*")
