"""Which scripts can be read for sure, and what is said of the others. The tables are the specification."""

import pytest

from agent_ls.core.shell_command import Unvouched, Vouched, parse
from agent_ls.core.shell_programs import needs_exact, never_always

READ_FOR_SURE: list[tuple[str, list[str]]] = [
    ("ls", ["ls"]),
    ("  ls  ", ["ls"]),
    ("ls -la src", ["ls -la src"]),
    ("git log -n 5 --oneline", ["git log -n 5 --oneline"]),
    ("git diff HEAD^ -- a.py", ["git diff HEAD^ -- a.py"]),
    ("git show HEAD@1", ["git show HEAD@1"]),
    ("a && b", ["a", "b"]),
    ("a || b", ["a", "b"]),
    ("a; b", ["a", "b"]),
    ("a;", ["a"]),
    ("a | b", ["a", "b"]),
    ("a && b | c; d || e", ["a", "b", "c", "d", "e"]),
    ("cd x && make", ["cd x", "make"]),
    ("make 2>&1", ["make"]),
    ("make 2>&1 | tail -5", ["make", "tail -5"]),
    ("make >/dev/null", ["make"]),
    ("make > /dev/null 2>&1", ["make"]),
    ("make &>/dev/null", ["make"]),
    ("make 2>/dev/null", ["make"]),
    ("make >>/dev/null", ["make"]),
    ("cat </dev/null", ["cat"]),
    ("echo x >&2", ["echo x"]),
    ("echo 12 3", ["echo 12 3"]),
    ("/usr/bin/env1 x", ["/usr/bin/env1 x"]),
    ("./run.sh --all", ["./run.sh --all"]),
    ("cargo test --package a", ["cargo test --package a"]),
    ("npm run build", ["npm run build"]),
    ("pytest tests/a.py::test_b -x", ["pytest tests/a.py::test_b -x"]),
    ("echo naïve 北", ["echo naïve 北"]),
    ("test a = b", ["test a = b"]),
    ("printf %s", ["printf %s"]),
    ("make -j4 all", ["make -j4 all"]),
    ("grep -rn foo src", ["grep -rn foo src"]),
    ("a --b=c", ["a --b=c"]),
    ("python3 x.py", ["python3 x.py"]),
    ("rm -rf d", ["rm -rf d"]),
]

QUOTED: list[tuple[str, tuple[str, ...]]] = [
    ('grep "a.*b" f.txt', ("grep", "a.*b", "f.txt")),
    ("grep 'a.; touch P; echo b' f", ("grep", "a.; touch P; echo b", "f")),
    ('grep "a.; touch P; echo b" f', ("grep", "a.; touch P; echo b", "f")),
    ('echo ""', ("echo", "")),
    ("echo ''", ("echo", "")),
    ('echo " a "', ("echo", " a ")),
    ("echo '$HOME $(x) \\ !'", ("echo", "$HOME $(x) \\ !")),
    ("echo 'x' 2", ("echo", "x", "2")),
    ('git commit -m "fix (a) & b"', ("git", "commit", "-m", "fix (a) & b")),
    ('a --x="y z"', ("a", "--x=y z")),
    ("a b\"c\"'d'", ("a", "bcd")),
    ('"git" status', ("git", "status")),
    ("echo 'it''s'", ("echo", "its")),
    ("echo '*'", ("echo", "*")),
]

DOUBTED: list[tuple[str, str]] = [
    ("", "is empty"),
    ("   ", "is empty"),
    ("# nothing", "holds a comment"),
    ("ls # all", "holds a comment"),
    ("ls\nrm x", "several lines"),
    ("ls \\\n x", "several lines"),
    ("echo 'a\nb'", "several lines"),
    ("ls\rrm x", "control characters"),
    ("ls \x1b[2K", "control characters"),
    ("ls \x9b2J", "control characters"),
    ("ls\x0brm", "control characters"),
    ("ls \ud800", "broken characters"),
    ("a" * 10_001, "too long"),
    ("echo '`rm x`'", "another command's output"),
    ("echo `rm x`", "another command's output"),
    ('echo "`rm x`"', "another command's output"),
    ("echo ${x:-`rm y`}", "another command's output"),
    ("echo $(rm x)", "another command's output"),
    ('echo "$(rm x)"', "uses a variable"),
    ("$(rm x)", "another command's output"),
    ("cat <(rm x)", "another command's output"),
    ("tee >(rm x)", "another command's output"),
    ("echo $HOME", "a variable"),
    ("echo ${HOME}", "a variable"),
    ('echo "$HOME"', "a variable"),
    ("echo a$HOME", "a variable"),
    ("$CMD x", "a variable"),
    ("echo $((1+1))", "computes"),
    ("echo $'a\\x41'", "odd quoting"),
    ('echo $"a"', ""),
    ('echo "a\\"b"', "odd quoting"),
    ('echo "a!b"', "odd quoting"),
    ("echo a\\ b", "odd quoting"),
    ("ec\\ho a", "odd quoting"),
    ("ls *", "the shell expands"),
    ("ls *.py", "the shell expands"),
    ("ls a?", "the shell expands"),
    ("ls [ab]", "the shell expands"),
    ("ls {a,b}", ""),
    ("ls ~", "the shell expands"),
    ("ls ~/x", "the shell expands"),
    ("ls --dir=~/x", "the shell expands"),
    ("echo !!", "the shell expands"),
    ("echo a#b", "the shell expands"),
    ("ls &", "background"),
    ("ls & rm x", "background"),
    ("ls |& cat", ""),
    ("! ls", "exit code"),
    ("echo a > f", "redirection"),
    ("echo a >> f", "redirection"),
    ("echo a >| f", "redirection"),
    ("echo a >f b", "redirection"),
    ("echo a 2> f", "redirection"),
    ("echo a &> f", "redirection"),
    ("echo a >& f", "redirection"),
    ("echo a <> f", ""),
    ("cat < f", "redirection"),
    ("echo a > /dev/nullx", "redirection"),
    ("echo a > /dev/null b", "redirection"),
    ("echo a > '/dev/null'", "redirection"),
    ("> f", "redirection"),
    ("cat <<< x", "feeds text"),
    ("cat << E", ""),
    ("X=1 ls", "sets variables"),
    ("X=1", "sets variables"),
    ("PATH=/x git status", "sets variables"),
    ("export X=1", "sets variables"),
    ("declare X=1", "sets variables"),
    ("unset X", "sets variables"),
    ("(ls)", "groups"),
    ("{ ls; }", "groups"),
    ("f() { ls; }", "function"),
    ("function f { ls; }", "function"),
    ("if true; then ls; fi", "condition"),
    ("case x in x) ls;; esac", "condition"),
    ("for i in 1; do echo i; done", "loop"),
    ("while true; do ls; done", "loop"),
    ("until false; do ls; done", "loop"),
    ("[[ a ]]", "expression"),
    ("[ -v x ]", "expression"),
    ("((x=1))", ""),
    ("ls;;", ""),
    ("ls &&", ""),
    ("ls | ", ""),
    ("; ls", ""),
    ("ls )", ""),
    ("echo 'a", ""),
    ('echo "a', ""),
    ("ls\u00a0-la", ""),
    ("ls\u3000-la", ""),
    ("ls\u200b", ""),
    ("eval ls", "builtin `eval`"),
    ("source x", "builtin `source`"),
    (". x", "builtin `.`"),
    ("exec ls", "builtin `exec`"),
    ("command ls", "builtin `command`"),
    ("builtin cd", "builtin `builtin`"),
    ("alias ls=rm", "builtin `alias`"),
    ("trap ls EXIT", "builtin `trap`"),
    ("set -x", "builtin `set`"),
    ("read x", "builtin `read`"),
    ("sudo ls", "through `sudo`"),
    ("/usr/bin/sudo ls", "through `sudo`"),
    ("'sudo' ls", "through `sudo`"),
    ("env ls", "through `env`"),
    ("xargs rm", "through `xargs`"),
    ("ls | xargs rm", "through `xargs`"),
    ("timeout 5 ls", "through `timeout`"),
    ("nohup ls", "through `nohup`"),
    ("nice ls", "through `nice`"),
    ("time ls", ""),
    ("sh -c ls", "script to `sh`"),
    ("bash -c 'rm x'", "script to `bash`"),
    ("bash -lc 'rm x'", "script to `bash`"),
    ("bash +x -c ls", "script to `bash`"),
    ("ls && sh -c x", "script to `sh`"),
]


def test_the_tables_are_large_enough_to_mean_something() -> None:
    assert len(READ_FOR_SURE) + len(QUOTED) + len(DOUBTED) >= 120


@pytest.mark.parametrize(("script", "commands"), READ_FOR_SURE)
def test_a_plain_script_is_read_word_by_word(script: str, commands: list[str]) -> None:
    assert parse(script) == Vouched(tuple(tuple(command.split()) for command in commands))


@pytest.mark.parametrize(("script", "argv"), QUOTED)
def test_quotes_are_taken_off_as_the_shell_would(script: str, argv: tuple[str, ...]) -> None:
    assert parse(script) == Vouched((argv,))


@pytest.mark.parametrize(("script", "reason"), DOUBTED)
def test_everything_else_is_doubted_with_a_reason(script: str, reason: str) -> None:
    answer = parse(script)
    assert isinstance(answer, Unvouched)
    assert reason in answer.reason


@pytest.mark.parametrize(
    "script",
    [
        "rm x",
        "ls; rm x &",
        "echo $(rm x)",
        "echo `rm x`",
        "if true; then rm x; fi",
        "f() { rm x; }; f",
        "sh -c 'rm x'",
        "sudo sh -c 'ls && rm x'",
        "bash -c \"bash -c 'rm x'\"",
        "eval rm x",
        "X=1 rm x > f",
        "ls\nrm x",
        "(rm x)",
        "for i in 1; do rm x; done",
        '"r"m x $y',
    ],
)
def test_a_command_inside_what_is_doubted_is_still_seen(script: str) -> None:
    answer = parse(script)
    commands = answer.commands if isinstance(answer, Vouched) else answer.seen
    assert any(argv[i : i + 2] == ("rm", "x") for argv in commands for i in range(len(argv)))


def test_a_deep_script_is_answered_without_recursion() -> None:
    for script in ("(" * 4000 + ")" * 4000, "$(" * 3000, "a " + '"$(' * 2000, "{ " * 4000, "if " * 3000):
        assert isinstance(parse(script), Unvouched)


@pytest.mark.parametrize(
    ("command", "exact"),
    [
        ("find . -name x", False),
        ("find . -delete", True),
        ("find . -exec rm", True),
        ("find . -fprint x", True),
        ("git log", False),
        ("git -c core.pager=x log", True),
        ("git -ccore.pager=x log", True),
        ("git diff --output=x", True),
        ("git diff --outp=x", True),
        ("git grep -Oless x", True),
        ("sort x", False),
        ("sort -o y x", True),
        ("sort -oy x", True),
        ("sort -ro y x", True),
        ("rg --pre=x y", True),
        ("rg -n y", False),
        ("test -v x", True),
        ("let x", True),
        ("printf -v x y", True),
        ("printf %s y", False),
        ("/usr/bin/sort -o y x", True),
        ("sed -n p", True),
        ("awk x", True),
        ("ls -o", False),
    ],
)
def test_flags_that_run_or_write_need_a_rule_of_their_own(command: str, *, exact: bool) -> None:
    assert needs_exact(command.split()) is exact


@pytest.mark.parametrize(
    ("command", "never"),
    [
        ("git status", False),
        ("pytest -q", False),
        ("tar -tf x", False),
        ("python3 -c x", True),
        ("python3.11 x.py", True),
        ("/usr/bin/node x", True),
        ("rm x", True),
        ("mv a b", True),
        ("chmod +x a", True),
        ("dd if=a", True),
        ("mkfs.ext4 x", True),
        ("kill 1", True),
        ("sudo ls", True),
        ("git push --force", True),
        ("git push --force-with-lease", True),
        ("git push -f", True),
        ("git push origin +main", True),
        ("git clean -xdf", True),
        ("git reset --hard", True),
        ("docker rm -f x", True),
        ("ln -f a b", True),
        ("bash x.sh", True),
    ],
)
def test_what_always_is_never_offered_for(command: str, *, never: bool) -> None:
    assert never_always(command.split()) is never
