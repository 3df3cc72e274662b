"""Where the fuzzer runs what the policy lets pass, and what the kernel says that it did.

Owns the scratch folder, the trace (strace) and its reading. Our own parser has no say in the oracle: programs, writes
and reads are those that the kernel was asked for.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent_ls.adapters.tools.shell_looks import brought, only_looks, outer_path, sights, undisturbed
from agent_ls.adapters.tools.shell_script import environment, words
from agent_ls.core.conversation import Mode
from agent_ls.core.harmless_table import BUILTINS, PROGRAMS
from agent_ls.core.policy import Proposal, judge
from agent_ls.core.rules import Rule, Ruling, Scope, parse_rule

STRACE: Final = shutil.which("strace")
LIMIT_S: Final = 10.0
NOBODY: Final = 65534

_CALLS: Final = (
    "execve,execveat,open,openat,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,"
    "symlinkat,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,truncate,ftruncate,utimensat,mknod,mknodat,setxattr"
)
_WRITES: Final = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND")
_CALL: Final = re.compile(r"^(?:\d+ +)?(?:<\.\.\. )?(\w+)[( ]")
_TEXT: Final = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_GIVEN: Final = re.compile(r"= \d+<((?:\\x[0-9a-f]{2}|[^>\\])*)>")
_DIRECTORY: Final = re.compile(r"AT_FDCWD<((?:\\x[0-9a-f]{2}|[^>\\])*)>")
# A script's own first line names what reads it.
_SCRIPTS: Final = {"which": {"sh", "dash"}, "hostname": set()}
_EVERYWHERE: Final = ("/dev/null", "/dev/tty")


@dataclass(frozen=True)
class Deed:
    """Something that nobody was asked about."""

    script: str
    rules: tuple[str, ...]
    what: str
    line: str

    def __str__(self) -> str:
        return f"{self.what}\n  script: {self.script!r}\n  rules: {self.rules}\n  trace: {self.line[:400]}"


class Ground:
    """`root` is the workspace; what is above it and not in it belongs to others."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.root = top / "x" / "y" / "w"
        self.note = top / "note"
        self.trace = top / "trace"
        self.allowed = 0
        _fill(top, self.root)
        path = os.environ.get("PATH", os.defpath)
        self.env = {"PATH": path, "HOME": f"{top}/home", "LANG": "C.UTF-8"}
        self.hostile = {**self.env, "PATH": f"{self.root}/bin:.:{path}", "BASH_FUNC_ls%%": "() { touch P; }"}

    def deed(self, script: str, rules: tuple[str, ...], *, hostile: bool) -> Deed | None:
        """What a script did unasked, if the policy lets it pass and it did anything.

        `hostile`: the PATH leads through the workspace first, and a function has a program's name.
        """
        if "\0" in script or not script.strip():
            return None
        cwd, env = os.fspath(self.root), self.hostile if hostile else self.env
        seen = sights(script, env, cwd=cwd, root=cwd)
        proposed = Proposal(
            tool="shell",
            effect="shell",
            root=cwd,
            home=self.env["HOME"],
            mode=Mode.ASK,
            command=script,
            sights=seen,
            brought=() if only_looks(seen) else tuple(brought(script, env, cwd=cwd, root=cwd)),
        )
        if judge(proposed, [_rule(text) for text in rules]).kind is not Ruling.ALLOW:
            return None
        self.allowed += 1
        given = undisturbed(env, cwd) if only_looks(seen) else env
        lines = self._traced(script, given)
        return next(self._judged(script, rules, lines, harmless=only_looks(seen)), None)

    def _traced(self, script: str, given: Mapping[str, str]) -> list[str]:
        self.trace.unlink(missing_ok=True)
        argv = words(script, path=outer_path(given["PATH"], os.fspath(self.root)), cwd_file=os.fspath(self.note))
        full = [str(STRACE), "-f", "-qq", "-xx", "-y", "-v", "-s", "4096", "-e", f"trace={_CALLS}", "-e", "signal=none"]
        as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        child = subprocess.Popen(
            [*full, "-o", os.fspath(self.trace), *argv],
            cwd=self.root,
            env=environment(given, cwd=os.fspath(self.root), mark="fuzz"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **as_nobody,  # type: ignore[arg-type]
        )
        try:
            child.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        return self.trace.read_text(errors="replace").splitlines() if self.trace.exists() else []

    def _judged(self, script: str, rules: tuple[str, ...], lines: list[str], *, harmless: bool) -> Iterator[Deed]:
        listed = _listed(rules)
        for place, line in enumerate(lines):
            call = _CALL.match(line)
            if call is None:
                continue
            texts = [_decoded(text) for text in _TEXT.findall(line)]
            what = None
            if call[1].startswith("exec") and texts and place:
                name = os.path.basename(texts[0])
                if name not in listed or texts[0].startswith(os.fspath(self.top)):
                    what = f"ran {texts[0]}"
            elif call[1] in {"open", "openat"}:
                what = self._opened(line, texts, harmless=harmless)
            elif texts and not call[1].startswith("exec"):
                what = f"did {call[1]} to {texts[0]}"
            if what is not None:
                yield Deed(script, rules, what, line)

    def _opened(self, line: str, texts: list[str], *, harmless: bool) -> str | None:
        path = texts[0] if texts else ""
        given = _GIVEN.search(line)
        real = _decoded(given[1]) if given else ""
        if {path, real} & {*_EVERYWHERE, os.fspath(self.note)}:
            return None
        if _WRITES.search(line):
            return f"opened {path or real} to write"
        if real == f"{self.root}/.env" or real.startswith(f"{self.top}/home"):
            return f"read {real}"
        outside = real.startswith(os.fspath(self.top)) and not (real + "/").startswith(f"{self.root}/")
        return f"read {real}" if harmless and outside else None


@contextmanager
def ground() -> Iterator[Ground]:
    top = Path(tempfile.mkdtemp(prefix="als-f-", dir="/tmp")).resolve()
    try:
        yield Ground(top)
    finally:
        shutil.rmtree(top, ignore_errors=True)


def _fill(top: Path, root: Path) -> None:
    """A workspace that brings what it can: programs with the names of others, links out, secrets, odd names."""
    for folder in (root / "src", root / "bin", root / "up", top / "home" / ".ssh", top / "x" / "other"):
        folder.mkdir(parents=True)
    texts = {
        "a.py": "one\n.env\n",
        "b.txt": "two\n",
        "src/c.py": "three\n",
        "a b": "four\n",
        ".env": "TOKEN=1\n",
        "evil": "touch P\n",
    }
    for name, text in texts.items():
        (root / name).write_text(text)
    for name in (*PROGRAMS, "find", "date", "git", "pr", "gzip", "sh", "bash"):
        (root / "bin" / name).write_text("#!/bin/sh\ntouch P\n")
        (root / "bin" / name).chmod(0o755)
        (root / name).write_text("#!/bin/sh\ntouch P\n") if not (root / name).exists() else None
        (root / name).chmod(0o755)
    (root / "evil").chmod(0o755)
    (top / "x" / "y" / "up.txt").write_text("above\n")
    (top / "x" / "other" / "x").write_text("other\n")
    (top / "home" / ".ssh" / "id_rsa").write_text("key\n")
    (root / "link").symlink_to(top / "x" / "other")
    (root / "leak").symlink_to(".env")
    os.mkfifo(root / "gate.fifo")
    git = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ.get("PATH", os.defpath)}
    if shutil.which("git"):
        for words_ in (
            ["init", "-q"],
            ["add", "a.py"],
            ["-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"],
        ):
            subprocess.run(["git", *words_], cwd=root, env=git, check=True)
    if os.getuid() == 0:
        for place in (top, *top.rglob("*")):
            os.chown(place, NOBODY, NOBODY, follow_symlinks=False)


def _listed(rules: tuple[str, ...]) -> set[str]:
    """Names of the programs that may run: those of the table, those that the rules name."""
    named = {re.split(r"[ )]", rule.partition("(")[2])[0] for rule in rules}
    readers = set().union(*(_SCRIPTS.get(name, set()) for name in PROGRAMS))
    return {*PROGRAMS, "find", "date", *BUILTINS, *named, *readers}


def _rule(text: str) -> Rule:
    rule = parse_rule(text, Ruling.ALLOW, Scope.USER, origin="fuzz")
    assert isinstance(rule, Rule), rule
    return rule


def _decoded(text: str) -> str:
    raw = re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode())
    return os.fsdecode(raw)
