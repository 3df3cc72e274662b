"""Who may do what: deny beats ask beats allow, nothing built in can be lifted from a workspace (cases B31, B38)."""

from dataclasses import replace

import pytest

from agent_ls.core.conversation import Mode
from agent_ls.core.errors import Refusal
from agent_ls.core.offers import offers
from agent_ls.core.policy import Proposal, Rule, Ruling, Scope, judge, parse_rule
from agent_ls.core.request import Decision, Option

ROOT = "/home/me/w"
HOME = "/home/me"
BASE = Proposal(
    tool="read", effect="read", root=ROOT, home=HOME, mode=Mode.ASK, protected=("/home/me/.local/state/agent-ls",)
)
ALLOW, ASK, DENY = Ruling.ALLOW, Ruling.ASK, Ruling.DENY
MODES = tuple(Mode)


def read(path: str) -> Proposal:
    return replace(BASE, reads=(path,))


def edit(path: str) -> Proposal:
    return replace(BASE, tool="edit", effect="edit", reads=(path,), writes=(path,))


def shell(command: str) -> Proposal:
    return replace(BASE, tool="shell", effect="shell", command=command)


def rule(text: str, verdict: Ruling = ALLOW, scope: Scope = Scope.USER) -> Rule:
    parsed = parse_rule(text, verdict, scope, origin="config.toml")
    assert isinstance(parsed, Rule), parsed
    return parsed


def kinds(proposal: Proposal, *rules: Rule) -> tuple[Ruling, ...]:
    """In mode ask, edits, plan, auto."""
    return tuple(judge(replace(proposal, mode=mode), rules).kind for mode in MODES)


@pytest.mark.parametrize(
    ("proposal", "expected"),
    [
        (read(f"{ROOT}/a.py"), (ALLOW, ALLOW, ALLOW, ALLOW)),
        (read(ROOT), (ALLOW, ALLOW, ALLOW, ALLOW)),
        (read("/home/me/w2/a.py"), (ASK, ASK, ASK, ALLOW)),
        (read("/etc/passwd"), (ASK, ASK, ASK, ALLOW)),
        (read(f"{ROOT}/.env"), (ASK, ASK, ASK, ALLOW)),
        (read(f"{ROOT}/.env.local"), (ASK, ASK, ASK, ALLOW)),
        (read(f"{ROOT}/keys/server.pem"), (ASK, ASK, ASK, ALLOW)),
        (read(f"{HOME}/.ssh/id_ed25519"), (ASK, ASK, ASK, ALLOW)),
        (edit(f"{ROOT}/a.py"), (ASK, ALLOW, DENY, ALLOW)),
        (edit("/etc/hosts"), (ASK, ASK, DENY, ALLOW)),
        (edit(f"{ROOT}/.env"), (ASK, ASK, DENY, ALLOW)),
        (edit(f"{ROOT}/.vscode/tasks.json"), (ASK, ASK, DENY, ALLOW)),
        (edit(f"{ROOT}/.idea/x.xml"), (ASK, ASK, DENY, ALLOW)),
        (edit(f"{ROOT}/.envrc"), (ASK, ASK, DENY, ALLOW)),
        (edit(f"{ROOT}/.github/workflows/ci.yml"), (ASK, ASK, DENY, ALLOW)),
        (edit(f"{ROOT}/.husky/pre-commit"), (ASK, ASK, DENY, ALLOW)),
        (edit(f"{ROOT}/.mcp.json"), (ASK, ASK, DENY, ALLOW)),
        (edit(f"{ROOT}/.github/CODEOWNERS"), (ASK, ALLOW, DENY, ALLOW)),
        (edit(f"{ROOT}/.git/config"), (DENY, DENY, DENY, DENY)),
        (edit(f"{ROOT}/sub/.git/hooks/pre-commit"), (DENY, DENY, DENY, DENY)),
        (edit(f"{ROOT}/.agent-ls/config.toml"), (DENY, DENY, DENY, DENY)),
        (edit(f"{ROOT}/.gitignore"), (ASK, ALLOW, DENY, ALLOW)),
        (edit(f"{HOME}/.ssh/config"), (DENY, DENY, DENY, DENY)),
        (edit(f"{HOME}/.bashrc"), (DENY, DENY, DENY, DENY)),
        (edit(f"{HOME}/.config/fish/config.fish"), (DENY, DENY, DENY, DENY)),
        (edit("/home/me/.local/state/agent-ls/ledger.db"), (DENY, DENY, DENY, DENY)),
        (shell("ls"), (ASK, ASK, DENY, ALLOW)),
        (shell("echo x > f"), (ASK, ASK, DENY, ALLOW)),
        (replace(BASE, tool="fetch", effect="other"), (ASK, ASK, DENY, ALLOW)),
        (replace(BASE, tool="diagnostics"), (ALLOW, ALLOW, ALLOW, ALLOW)),
    ],
)
def test_what_each_mode_does_without_rules(proposal: Proposal, expected: tuple[Ruling, ...]) -> None:
    assert kinds(proposal) == expected


@pytest.mark.parametrize("mode", MODES)
def test_an_untrusted_workspace_is_read_only_in_every_mode(mode: Mode) -> None:
    def kind(proposal: Proposal) -> Ruling:
        every = [rule("shell(ls)"), rule("edit(**)"), rule("fetch")]
        return judge(replace(proposal, trusted=False, mode=mode), every).kind

    fetch = replace(BASE, tool="fetch", effect="other")
    assert [kind(one) for one in (shell("ls"), edit(f"{ROOT}/a"), fetch)] == [DENY] * 3
    assert kind(read(f"{ROOT}/a")) is ALLOW


@pytest.mark.parametrize(
    ("proposal", "text", "allowed"),
    [
        (shell("git status"), "shell(git status)", True),
        (shell("git  status"), "shell(git status)", True),
        (shell("git 'status'"), "shell(git status)", True),
        (shell("git status -s"), "shell(git status)", False),
        (shell("git log"), "shell(git log *)", True),
        (shell("git log -n 5 | head"), "shell(git log *)", False),
        (shell("git log && git log -p"), "shell(git log *)", True),
        (shell("git logs"), "shell(git log *)", False),
        (shell("/tmp/git log"), "shell(git log *)", False),
        (shell("git log --output=x"), "shell(git log *)", False),
        (shell("git log --output=x"), "shell(git log --output=x)", True),
        (shell("git -c core.pager=x log"), "shell(git *)", False),
        (shell("find . -delete"), "shell(find *)", False),
        (shell("git log > f"), "shell(git log *)", False),
        (shell("git log > /dev/null"), "shell(git log *)", True),
        (shell("git log `x`"), "shell(git log *)", False),
        (shell("git log $X"), "shell(git log *)", False),
        (shell("git log; rm x"), "shell(git log *)", False),
        (shell("git log & rm x"), "shell(git log *)", False),
        (shell("git log\nrm x"), "shell(git log *)", False),
        (shell("X=1 git log"), "shell(git log *)", False),
        (shell("ls"), "shell", True),
        (shell("find . -delete"), "shell", False),
        (shell('grep "a.*b" f.txt'), 'shell(grep "a.*b" f.txt)', True),
        (shell('grep "a.; touch P; echo b" f.txt'), 'shell(grep "a.*b" f.txt)', False),
        (shell('grep "axxb" f.txt'), 'shell(grep "a.*b" f.txt)', False),
        (shell("echo '*'"), "shell(echo '*')", True),
        (shell("echo x"), "shell(echo '*')", False),
        (edit(f"{ROOT}/src/a/b.py"), "edit(src/**)", True),
        (edit(f"{ROOT}/srcs/b.py"), "edit(src/**)", False),
        (edit(f"{ROOT}/src/a/b.py"), "edit(src/*)", False),
        (edit(f"{ROOT}/src/b.py"), "edit(./src/*.py)", True),
        (edit(f"{ROOT}/src/b.py"), "edit(b.py)", False),
        (edit(f"{ROOT}/src/b.py"), "read(src/**)", False),
        (edit(f"{ROOT}/.env"), "edit(**)", False),
        (edit(f"{ROOT}/.git/config"), "edit(.git/config)", False),
        (read("/usr/include/x.h"), "read(/usr/include/**)", True),
        (read("/home/me/notes/x"), "read(~/notes/*)", True),
        (read("/usr/include/x.h"), "read", True),
        (read(f"{ROOT}/.env"), "read(**)", False),
        (read(f"{ROOT}/.env"), "read(.env)", True),
        (replace(BASE, tool="mcp__github__list", effect="other"), "mcp__github__*", True),
        (replace(BASE, tool="mcp__gitlab__list", effect="other"), "mcp__github__*", False),
        (replace(BASE, tool="fetch", effect="other"), "fetch(example.org)", False),
    ],
)
def test_an_allow_rule_is_taken_to_the_letter(proposal: Proposal, text: str, *, allowed: bool) -> None:
    assert (judge(proposal, [rule(text)]).kind is ALLOW) is allowed


@pytest.mark.parametrize(
    ("proposal", "text"),
    [
        (shell("rm x"), "shell(rm *)"),
        (shell("rm"), "shell(rm *)"),
        (shell("/bin/rm x"), "shell(rm *)"),
        (shell("sudo rm x"), "shell(rm *)"),
        (shell("env X=1 rm x"), "shell(rm *)"),
        (shell("ls && rm x"), "shell(rm *)"),
        (shell("ls | xargs rm"), "shell(rm *)"),
        (shell("sh -c 'rm x'"), "shell(rm *)"),
        (shell("echo $(rm x)"), "shell(rm *)"),
        (shell("if true; then rm x; fi"), "shell(rm *)"),
        (shell("ls\nrm x"), "shell(rm *)"),
        (shell("find . -exec rm x"), "shell(rm *)"),
        (shell("ls"), "shell"),
        (read(f"{ROOT}/.env"), "read(.env)"),
        (read(f"{ROOT}/a/.env"), "read(.env)"),
        (read(f"{ROOT}/a/.env"), "read(**/.env)"),
        (read(f"{HOME}/.ssh/id"), "read(~/.ssh/**)"),
        (read(f"{HOME}/.ssh/id"), "read(~/.ssh)"),
        (edit(f"{ROOT}/db/x/y.sql"), "edit(db)"),
        (edit(f"{ROOT}/db/x.sql"), "write(db/**)"),
        (edit(f"{ROOT}/secret/x"), "read(secret/**)"),
        (replace(BASE, tool="fetch", effect="other"), "fetch(example.org)"),
    ],
)
@pytest.mark.parametrize("mode", [Mode.ASK, Mode.EDITS, Mode.AUTO])
def test_a_deny_rule_is_taken_widely_and_holds_in_every_mode(proposal: Proposal, text: str, mode: Mode) -> None:
    verdict = judge(replace(proposal, mode=mode), [rule(text, DENY), rule("shell"), rule("read(**)"), rule("edit(**)")])
    assert verdict.kind is DENY
    assert verdict.rule == f"user: deny {text} (config.toml)"


def test_deny_beats_ask_beats_allow_whatever_the_scope_and_the_order() -> None:
    rules = [
        rule("shell(git push)", ALLOW, Scope.MANAGED),
        rule("shell(git push)", ASK, Scope.CONVERSATION),
        rule("shell(git push)", DENY, Scope.WORKSPACE),
    ]
    for order in (rules, rules[::-1]):
        assert judge(shell("git push"), order).kind is DENY
        assert judge(shell("git push"), [one for one in order if one.verdict is not DENY]).kind is ASK
    assert judge(shell("git push"), rules[:1]).kind is ALLOW
    assert judge(replace(shell("git push"), mode=Mode.AUTO), rules[1:2]).kind is ASK


def test_a_workspace_can_never_allow() -> None:
    assert isinstance(parse_rule("shell(ls)", ALLOW, Scope.WORKSPACE, origin=".agent-ls/config.toml"), Refusal)
    smuggled = Rule(ALLOW, "shell(ls)", Scope.WORKSPACE, ".agent-ls/config.toml")
    assert judge(shell("ls"), [smuggled]).kind is ASK


def test_in_mode_auto_a_script_nobody_can_read_is_asked_for_once_a_rule_might_have_meant_it() -> None:
    script = replace(shell("X=$(cat f); $X"), mode=Mode.AUTO)
    assert judge(script, []).kind is ALLOW
    assert judge(script, [rule("shell(rm *)", DENY)]).kind is ASK


def test_where_the_volume_folds_case_another_spelling_is_the_same_file() -> None:
    folded = replace(edit(f"{ROOT}/.GIT/config"), fold=True, mode=Mode.EDITS)
    assert judge(folded, []).kind is DENY
    assert judge(replace(folded, fold=False), []).kind is ALLOW
    assert judge(replace(read(f"{ROOT}/.ENV"), fold=True), []).kind is ASK
    assert judge(replace(read(f"{ROOT}/Notes"), fold=True), [rule("read(notes)", DENY)]).kind is DENY


@pytest.mark.parametrize(
    "text",
    ["", "(x)", "shell(", "shell()", "two words", "shell(rm x) y", "edit(../x)", "read(/a/../b)"],
)
def test_what_is_no_rule_is_refused_with_a_sentence(text: str) -> None:
    refused = parse_rule(text, DENY, Scope.USER, origin="config.toml")
    assert isinstance(refused, Refusal)
    assert refused.message.endswith(".")
    assert refused.hint


@pytest.mark.parametrize("text", ["shell(a && b)", "shell(sh -c x)", "shell(ls > f)", "shell(ls *.py)", "shell(for i)"])
def test_an_allow_rule_that_could_never_allow_is_refused(text: str) -> None:
    assert isinstance(parse_rule(text, ALLOW, Scope.USER, origin="config.toml"), Refusal)
    assert isinstance(parse_rule(text, DENY, Scope.USER, origin="config.toml"), Rule)


def test_the_verdict_names_what_decided() -> None:
    assert judge(read(f"{ROOT}/a"), []).rule == "built-in: reads in the workspace"
    allowed = judge(shell("git log && ls"), [rule("shell(git log *)"), rule("shell(ls)", ALLOW, Scope.LOCAL)])
    assert allowed.rule == "user: allow shell(git log *) (config.toml); local: allow shell(ls) (config.toml)"
    asked = judge(shell("echo x > f"), [rule("shell(echo *)")])
    assert asked.reason == "The command reads or writes a file by redirection, so no rule can allow it."


def options(stored: str | None, family: str | None = None) -> tuple[Option, ...]:
    once = Option(id="allow_once", label="Allow once", decision=Decision.ALLOW, scope="once")
    deny = Option(id="deny", label="Deny", decision=Decision.DENY)
    if stored is None:
        return once, deny
    return (
        once,
        Option(
            id="allow_conversation",
            label="Allow for this conversation",
            decision=Decision.ALLOW,
            scope="conversation",
            rule=stored,
        ),
        *(() if family is None else (prefix(family),)),
        Option(
            id="allow_workspace",
            label="Allow in this workspace",
            decision=Decision.ALLOW,
            scope="workspace",
            rule=stored,
        ),
        deny,
    )


def prefix(family: str) -> Option:
    return Option(
        id="allow_conversation_prefix",
        label=f"Allow {family} for this conversation",
        decision=Decision.ALLOW,
        scope="conversation",
        rule=f"shell({family})",
    )


@pytest.mark.parametrize(
    ("command", "family"),
    [
        ("git status", "git status *"),
        ("git log -n 5 --oneline", "git log *"),
        ("  npm test ", "npm test *"),
        ("pytest tests/a.py -x", "pytest *"),
        ("cargo test --package a", "cargo test *"),
        ("git push", None),
        ("make", None),
        ("cat /etc/hosts", None),
        ("./run.sh", None),
    ],
)
def test_a_beginning_is_offered_only_for_what_is_known_to_stay_in_its_family(command: str, family: str | None) -> None:
    assert offers(shell(command), []) == options(f"shell({command.strip()})", family)


@pytest.mark.parametrize(
    ("proposal", "stored"),
    [
        (shell("git push"), "shell(git push)"),
        (shell('grep "a.*b" f.txt'), 'shell(grep "a.*b" f.txt)'),
        (shell("make 2>&1"), "shell(make 2>&1)"),
        (edit(f"{ROOT}/src/a.py"), "edit(src/a.py)"),
        (read("/etc/hosts"), "read(/etc/hosts)"),
        (edit("/etc/hosts"), "edit(/etc/hosts)"),
        (shell("python3 -c 'print(1)'"), None),
        (shell("for i in 1; do echo $i; done"), None),
        (shell("cd x && make"), None),
        (shell("ls | head"), None),
        (shell("rm x"), None),
        (shell("sudo ls"), None),
        (shell("git push --force"), None),
        (shell("git reset --hard"), None),
        (shell("docker rm -f x"), None),
        (shell("ls > f"), None),
        (shell("ls *"), None),
        (shell("echo '\u202e'"), None),
        (replace(shell("ls"), reads=("/",)), None),
        (read(f"{ROOT}/.env"), None),
        (edit(f"{ROOT}/.vscode/tasks.json"), None),
        (edit(f"{ROOT}/a*.py"), None),
        (edit(f"{ROOT}/a\u200b.py"), None),
        (replace(BASE, tool="fetch", effect="other"), None),
    ],
)
def test_always_is_offered_only_with_the_literal_rule_it_would_store(proposal: Proposal, stored: str | None) -> None:
    assert offers(proposal, []) == options(stored)


@pytest.mark.parametrize(
    "proposal",
    [shell("git status"), shell('grep "a.*b" f'), shell("make 2>&1"), edit(f"{ROOT}/src/a.py"), edit("/etc/hosts")],
)
def test_what_always_stores_allows_exactly_this_from_then_on(proposal: Proposal) -> None:
    stored = offers(proposal, [])[1].rule
    assert stored is not None
    kept = [rule(stored, ALLOW, Scope.CONVERSATION)]
    if proposal.effect == "edit" and not proposal.writes[0].startswith(ROOT):
        proposal = replace(proposal, reads=())
    assert judge(proposal, kept).kind is ALLOW
    others = [shell("git status x"), shell('grep "a.; touch P; b" f'), edit(f"{ROOT}/src/b.py"), edit("/etc/passwd")]
    assert [judge(other, kept).kind for other in others] == [ASK] * 4


def test_no_always_where_an_ask_rule_fits() -> None:
    assert offers(shell("git status"), [rule("shell(git *)", ASK)]) == options(None)


def test_the_agent_may_end_what_it_began_but_not_where_nothing_is_changed() -> None:
    stop = replace(BASE, tool="shell_stop", effect="own")
    assert kinds(stop) == (ALLOW, ALLOW, DENY, ALLOW)
    assert kinds(replace(stop, trusted=False)) == (DENY, DENY, DENY, DENY)
    assert kinds(stop, rule("shell_stop", DENY)) == (DENY, DENY, DENY, DENY)


def test_a_file_that_may_be_one_of_a_guarded_folder_is_asked_for() -> None:
    unsure = replace(read(f"{ROOT}/a.py"), unsure=f"{ROOT}/secret")
    assert kinds(unsure) == (ASK, ASK, ASK, ALLOW)
    assert judge(unsure, ()).reason == (
        f"It has other hard links, and one of them may lie in `{ROOT}/secret`, which is guarded."
    )
