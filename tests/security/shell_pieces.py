"""Pieces of bash grammar for the fuzzer: commands that only look, and everything that could make them do more.

Owns what is tried. Names lead nowhere but into the scratch folder of the fuzzer (shell_ground.py): whatever slips
through can do no harm.
"""

import tomllib
from pathlib import Path
from typing import Final

from hypothesis import strategies as st

from agent_ls.core.harmless_table import FIND_TESTS, PROGRAMS

MARK: Final = "P"
"""What a hostile piece would write."""

_TABLE: Final = Path(__file__).parents[1] / "unit" / "core" / "commands.toml"
BENIGN: Final = tuple(
    line
    for group in tomllib.loads(_TABLE.read_text(encoding="utf-8"))["group"]
    if group["verdict"] == "allow" and "sleep" not in group["commands"].split("\n")
    for line in group["commands"].split("\n")
    if line
)
FAMILIES: Final = (
    "git log", "git log -1 --oneline", "git status", "git status -s", "git diff", "git diff HEAD", "git show HEAD",
    "find . -name x", "sort a.py", "uniq a.py", "xxd a.py", "date +%s", "diff a.py b.txt", "tree", "file a.py",
    "cat a.py",
)  # fmt: skip
RULES: Final = (
    (),
    tuple(f"shell({family} *)" for family in ("git log", "git status", "git diff", "git show", "git blame")),
    tuple(
        f"shell({name} *)" for name in ("find", "sort", "uniq", "xxd", "date", "diff", "tree", "file", "cat", "grep")
    ),
    ("shell(git status)", "shell(git log -1)", "shell(cat a.py)", "shell(echo *)", "shell(printf *)"),
)

_OPERANDS: Final = (
    "a.py", "b.txt", "src", "src/c.py", ".env", "link", "leak", "up/x", "out.txt", "-", "''", '""', ".", "..",
    "../up.txt", "src/../.env", "./a.py", "gate.fifo", "'a b'", '"a b"', "P", "./P", "-P", "--", "+P", "@a.py", "HEAD",
    "a.py:1",
)  # fmt: skip
_FLAGS: Final = tuple(
    sorted({flag for program in PROGRAMS.values() for flag in program.flags | program.words | program.files})
)
_ACTIVE: Final = (
    "-o", "-oP", "-o P", "--output=P", "--outp=P", "--output P", "-T.", "--compress-program=./evil", "-delete",
    "-exec ./evil ;", "-exec touch P ';'", "-exec touch P +", "-execdir touch P ';'", "-ok touch P ';'", "-fprint P",
    "-fprint0 P", "-fls P", "-fprintf P x", "-files0-from a.py", "--files0-from=a.py", "--pre=./evil", "--pre ./evil",
    "-z", "-Z", "-C -m P", "-r", "-R", "-f", "-F", "-f a.py", "-s 0101", "--set=0101", "-v x", "-v 'a[$(touch P)]'",
    "-c core.pager=./evil", "-c alias.x=!./evil", "--ext-diff", "--textconv", "--exec-path=.", "--git-dir=.",
    "-C src", "--no-index", "-O./evil", "--paginate", "-p", "-l", "--to-file=P", "-x", "-X a.py", "--fromfile",
    "-H .", "--info", "-i P", "-b P", "-n", "-e", "-E", "--help", "--version", "-",
)  # fmt: skip
_WORDS: Final = (
    "$(touch P)", "`touch P`", "${x:-`touch P`}", "${x:=$(touch P)}", "<(touch P)", ">(touch P)",
    "$((a[$(touch P)]))", "$X", "${X}", "$PATH", "~", "~/.env", "*", "?.py", "[ab]*", "{a.py,.env}", "{P,a}",
    "$'\\x61'", '$"a"', "a\\.py", "\\a", "'", '"', "`", "\\", "!", "!!", "#", "@(a|b)", "!(a)", "a=b", "a+=b",
    "x[1]=2", "%", "&1", "^a^b", "|", "\u00a0", "\u200b", "\u202e", "\u3000", "é", "\ufeff", "\x01", "\x7f", "\x85",
    "\x0b", "\x0c", "=ls", "''touch", "t''ouch", '"$(touch P)"', "'$(touch P)'", "\"`touch P`\"", "$((1))", "$[1]",
    "$#",
)  # fmt: skip
_BREAKS: Final = (
    ";", "&&", "||", "|", "|&", "&", "\n", "\r", "\r\n", ";;", ";&", " ", "  ", "\t", "\\\n", " # x\n", "\n\n", "(",
    ")", "{ ", " }", "; }", "! ", " then ", " do ", " done", " fi", " esac", "))", "((", "]]", "[[ ",
)  # fmt: skip
_REDIRECTS: Final = (
    "> P", ">P", ">>P", "2>P", "&>P", ">&P", "&>>P", ">|P", "<>P", "< a.py", "<.env", "<<< x", "<<E\n$(touch P)\nE\n",
    "<<'E'\nx\nE\n", "2>&1", ">/dev/null", "2>/dev/null", "</dev/null", "> /dev/null/../P", ">/dev/nullP", "{fd}>P",
    "1>&2", ">&-", "3>P", "2>&1>P", ">/dev/null P", ">&2P", "2>&1P", ">/dev/fd/1", "> /dev/stdout", ">'/dev/null'P",
)  # fmt: skip
_PREFIXES: Final = (
    "X=1 ", "PATH=. ", "PATH=.:$PATH ", "BASH_ENV=evil ", "IFS=/ ", "a[$(touch P)]=1 ", "X+=1 ", "time ", "command ",
    "builtin ", "exec ", "eval ", "env ", "nice ", "nohup ", "timeout 5 ", "xargs ", "sudo ", "sh -c ", "bash -c ",
    "coproc ", "function f ", "f() ", "source ", ". ", "alias ls=", "export ", "declare ", "local ", "readonly ",
    "trap ", "set ", "let ", "test ", "[ ", "./", "bin/", "\\", "''", "cd src && ", "cd .. && ", "cd link; ",
    "cd src; cd ..; ", "touch P; ", "! ", "if ", "while ", "for x in ", "case ", "{ ", "(", "select ",
)  # fmt: skip

operands = st.sampled_from(_OPERANDS)
blanks = st.sampled_from((" ", " ", " ", "  ", "\t"))
signs = st.text(alphabet=";|&<>()$`\\\"'*?[]#~=%{}!\n -PfeE", max_size=3)
benign = st.sampled_from(BENIGN)
odd = st.one_of(
    *map(
        st.sampled_from, (_ACTIVE, _WORDS, _REDIRECTS, _BREAKS, _FLAGS, _OPERANDS, sorted(FIND_TESTS), sorted(PROGRAMS))
    )
)


@st.composite
def commands(draw: st.DrawFn) -> str:
    """A program of the table with flags and operands: some of it is right."""
    name = draw(st.sampled_from((*sorted(PROGRAMS), "cd", "echo", "printf", "date", "find", "type", "true")))
    program = PROGRAMS.get(name)
    own = sorted((program.flags | program.words | program.files) - {"-#"}) if program else sorted(FIND_TESTS)
    right = st.one_of(operands, st.sampled_from(own) if own else operands)
    rest = st.one_of(right, right, right, odd)
    return draw(blanks).join([name, *draw(st.lists(rest, max_size=4))])


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A script that may run, with something put into it."""
    script = draw(st.one_of(benign, st.sampled_from(FAMILIES), commands()))
    for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2, 2, 3)))):
        place = draw(st.one_of(st.integers(0, len(script)), st.just(len(script)), st.just(0)))
        cut = draw(st.sampled_from((0, 0, 0, 1, 2)))
        glue = draw(st.sampled_from((" ", "", " ")))
        piece = draw(
            st.one_of(
                odd, odd, st.sampled_from(_PREFIXES), st.text(alphabet=";|&<>()$`\\\"'*?[]#~=%{}!\n -PfeE", max_size=3)
            )
        )
        script = script[:place] + glue + piece + glue + script[place + cut :]
    return script


@st.composite
def listed(draw: st.DrawFn) -> str:
    """Several of them, one after the other or one into the next."""
    parts = draw(st.lists(mutated(), min_size=1, max_size=3))
    script = parts[0]
    for part in parts[1:]:
        script += draw(st.sampled_from((" | ", "; ", " && ", " || ", "|", ";", *_BREAKS))) + part
    return script


soup = st.lists(st.one_of(odd, st.sampled_from(_PREFIXES), blanks, st.sampled_from(BENIGN)), max_size=8).map("".join)
scripts = st.one_of(mutated(), mutated(), listed(), soup)
rule_sets = st.sampled_from(RULES)
