"""What is known of single programs: which of them run or write more than their name says.

Data and look-ups over one simple command's words. Does not own how a script is read (shell_command.py) nor what follows
from it (policy.py).
"""

from collections.abc import Mapping, Sequence
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Their arguments are commands, or change what later words mean: nobody can vouch for the words alone.
WRAPPERS: Final = _words(
    "sudo su doas env xargs nice ionice nohup timeout time setsid stdbuf script watch parallel chroot unshare flock "
    "strace ltrace gdb busybox toybox ssh docker podman kubectl systemd-run entr chpst runuser pkexec fakeroot "
    "proot bwrap firejail at batch crontab"
)
EVALUATORS: Final = _words(
    "eval source . exec command builtin alias unalias trap enable hash bind complete compgen mapfile readarray "
    "coproc set shopt declare typeset local export readonly unset read getopts fc history wait"
)
SHELLS: Final = _words("sh bash dash zsh ksh mksh ash fish csh tcsh rbash")
INTERPRETERS: Final = SHELLS | _words(
    "python pypy perl ruby node nodejs deno bun lua luajit php tclsh wish expect awk gawk mawk nawk sed ed ex vi vim "
    "nvim emacs osascript pwsh powershell ghc runghc Rscript julia irb ipython groovy scala guile racket sbcl "
    "npx uvx pipx"
)
DESTROYERS: Final = _words(
    "rm rmdir unlink shred truncate mv chmod chown chgrp chattr setfacl dd mkfs fdisk parted wipefs mount umount kill "
    "killall pkill shutdown reboot halt poweroff"
)
# A builtin of these evaluates its words as arithmetic, which runs `a[$(cmd)]`.
_ARITHMETIC: Final = _words("let test [")
# Their first word is a program of its own, which can run and write.
_SCRIPTED: Final = _words("awk gawk mawk nawk sed ed ex")
# Flags with which a program runs or writes something, whatever else a rule for the program allows. Short flags are also
# looked for in clusters (`-rf`) and with their value attached (`-ofile`).
_ACTIVE: Final[Mapping[str, frozenset[str]]] = {
    "find": _words("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from"),
    "fd": _words("-x --exec -X --exec-batch"),
    "fdfind": _words("-x --exec -X --exec-batch"),
    "git": _words(
        "-c -C --output --exec-path --git-dir --work-tree --config-env --upload-pack --receive-pack --exec -x -O "
        "--open-files-in-pager --ext-diff --textconv --extcmd --super-prefix --no-index --contents"
    ),
    "sort": _words("-o --output --compress-program -T --temporary-directory --files0-from"),
    "rg": _words("--pre --pre-glob --hostname-bin -z --search-zip"),
    "tree": _words("-o -R"),
    "tar": _words("--to-command --checkpoint-action -I --use-compress-program --rsh-command -F"),
    "printf": _words("-v"),
    "xxd": _words("-r"),
    "date": _words("-s --set -f --file"),
    "file": _words("-C --compile -m --magic-file -z -Z --uncompress --uncompress-noreport -f --files-from"),
    "man": _words("-P --pager -H --html"),
    "less": _words("-o -O --log-file -k --lesskey-file"),
    "jq": _words("-L -f --from-file"),
    "yq": _words("-i --inplace"),
    "curl": _words("-o -O --output --remote-name -K --config -T --upload-file --output-dir -c -D"),
    "wget": _words("-O -o --output-document --use-askpass -e --execute --post-file -P"),
    "rsync": _words("-e --rsh --rsync-path"),
    "go": _words("-exec -toolexec -vettool -o"),
    "cargo": _words("--config --manifest-path -C -Z --target-dir --artifact-dir --out-dir"),
    "ruff": _words("--fix --fix-only --unsafe-fixes --output-file -o --config --add-noqa --cache-dir"),
    "npm": _words("--script-shell --prefix --node-options"),
    "pytest": _words(
        "-p -c --config-file --rootdir --confcutdir -o --override-ini --basetemp --junitxml --junit-xml --log-file "
        "--report-log --pdbcls --pastebin --debug -W --pythonwarnings --pyargs --import-mode --cov-report --cov-config"
    ),
    "diff": _words("--output -l --paginate"),
    "hostname": _words("-F --file -b"),
}
# More operands than these, and the next one is a file that is written, or a name or a time that is set.
_LOOKS_ONLY_AT: Final[Mapping[str, int]] = {"uniq": 1, "xxd": 1, "hostname": 0, "base64": 1}
# What is known of git. Anything else may be a helper, or an alias that the repository brings.
_GIT_VERBS: Final = _words(
    "add am annotate apply archive blame branch cat-file check-ignore checkout cherry cherry-pick clean clone commit "
    "count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref fsck gc grep init log ls-files "
    "ls-remote ls-tree merge merge-base mv name-rev notes pull push range-diff rebase reflog remote reset restore "
    "rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status switch symbolic-ref "
    "tag var version whatchanged worktree"
)
FAMILIES: Final[Mapping[str, frozenset[str]]] = {
    "git": _words("status log diff show blame ls-files shortlog describe"),
    "cargo": _words("build check clippy test"),
    "npm": _words("test"),
    "pytest": frozenset(),
    "ruff": _words("check"),
}
"""Programs, and which of their verbs, that a rule for a beginning may be offered for: what could follow and does
more than their name says is known, and needs a rule of its own."""
_FORCE: Final = ("--force", "--hard")


def base(word: str) -> str:
    """`/usr/bin/python3.11` -> `python`: the program as the tables name it."""
    name = word.rsplit("/", 1)[-1]
    stem = name.removesuffix(".exe").rstrip("0123456789.-")
    return stem if stem in INTERPRETERS else name


def hands_on(argv: Sequence[str]) -> str | None:
    """Why the words of this command do not say what runs, if so."""
    name = base(argv[0])
    if name in EVALUATORS:
        return f"uses the builtin `{name}`, which changes what other words mean"
    if name in WRAPPERS:
        return f"starts another command through `{name}`"
    if name in SHELLS and any(word.startswith(("-", "+")) and "c" in word for word in argv[1:]):
        return f"hands a script to `{name}`"
    return None


def needs_exact(argv: Sequence[str]) -> bool:
    """Only a rule for exactly these words may allow it; one for its beginning says too little."""
    name = base(argv[0])
    if name in _ARITHMETIC or name in _SCRIPTED or _sets_or_writes(name, argv[1:]):
        return True
    return any(_is_active(word, _ACTIVE[name]) for word in argv[1:]) if name in _ACTIVE else False


def never_always(argv: Sequence[str]) -> bool:
    """No "always" is offered for it: what it does depends on more than its words, or cannot be undone."""
    name = base(argv[0])
    if name in INTERPRETERS or name in DESTROYERS or name in WRAPPERS or name in EVALUATORS or needs_exact(argv):
        return True
    return name.startswith("mkfs") or any(_forces(word, name) for word in argv[1:])


def unwrapped(argv: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The command and every command it may start, as a narrowing rule sees it: `sudo rm x` is also `rm x`."""
    found = [tuple(argv)]
    if argv and (base(argv[0]) in WRAPPERS or base(argv[0]) in EVALUATORS):
        found += [tuple(argv[start:]) for start in range(1, len(argv))]
    if argv and base(argv[0]) == "find":
        found += [tuple(argv[n + 1 :]) for n, word in enumerate(argv) if word in {"-exec", "-execdir", "-ok"}]
    return tuple(words for words in found if words)


def _sets_or_writes(name: str, words: Sequence[str]) -> bool:
    operands = [word for word in words if not word.startswith("-") or word == "-"]
    match name:
        case "git":
            return bool(operands) and operands[0] not in _GIT_VERBS
        case "date":
            return any(not word.startswith("+") for word in operands)
        case _:
            return name in _LOOKS_ONLY_AT and _reaches_past(words, _LOOKS_ONLY_AT[name])


def _reaches_past(words: Sequence[str], most: int) -> bool:
    """Not every program takes flags after an operand: what looks like one may be the file that it writes."""
    first = next((n for n, word in enumerate(words) if not word.startswith("-") or word in {"-", "--"}), len(words))
    return len(words) - first > most


def _is_active(word: str, flags: frozenset[str]) -> bool:
    if not word.startswith("-") or word == "-":
        return False
    name = word.split("=", 1)[0]
    if name in flags:
        return True
    if word.startswith("--"):
        # GNU programs take any unambiguous beginning of a long flag.
        # Others take `--exec` for `-exec`.
        return name[1:] in flags or (len(name) > 3 and any(flag.startswith(name) for flag in flags))
    return any(len(flag) == 2 and flag[1] in word[1:] for flag in flags)


def _forces(word: str, name: str) -> bool:
    if word == "-f" or word.startswith(_FORCE):
        return True
    # `git push origin +main` forces as well.
    return name == "git" and (word.startswith("+") or (word[:1] == "-" and word[:2] != "--" and "f" in word))
