"""Programs that only look: the flags with which each of them writes nothing and starts nothing.

Owns the data. A flag that is not here is not known to be harmless, and one that means something else on another system
(GNU, BSD, busybox) is not here. Left out on purpose: whatever reads a list of files from a file (`wc --files0-from`),
follows (`tail -f`), pages (`diff -l`), keeps a copy on disk (`tac`), descends into what files hold (`grep -r`, `rg`:
the tool `grep` does that and leaves out what may not be read), and every flag that takes a shorter spelling.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Sight(StrEnum):
    """What a program sees of a path: what the file holds, that it is there, or all names beneath it."""

    NOTHING = "nothing"
    CONTENT = "content"
    NAME = "name"
    NAMES = "names"


@dataclass(frozen=True, kw_only=True)
class Program:
    """`flags` stand alone (`--color=` may have a value attached, `-#` is a number), `words` take one word, `files` a
    path that is read. `beneath` are those of the flags that make it descend. `leading` operands are words, unless one
    of `instead` says them. `most` operands at most; without one it looks `here`, or at its standard input. `last`: its
    operand is the last word, since whatever follows may be taken for a file that it writes.
    """

    sight: Sight
    flags: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    beneath: frozenset[str] = frozenset()
    leading: int = 0
    instead: frozenset[str] = frozenset()
    most: int | None = None
    here: bool = False
    last: bool = False


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _program(
    sight: Sight,
    flags: str = "",
    words: str = "",
    *,
    files: str = "",
    beneath: str = "",
    leading: int = 0,
    instead: str = "",
    most: int | None = None,
    here: bool = False,
    last: bool = False,
) -> Program:
    return Program(
        sight=sight,
        flags=_set(flags) | _set(beneath),
        words=_set(words),
        files=_set(files),
        beneath=_set(beneath),
        leading=leading,
        instead=_set(instead),
        most=most,
        here=here,
        last=last,
    )


_SUM: Final = _program(Sight.CONTENT, "-b -t -z --binary --text --zero --tag")
_OF_THE_MACHINE: Final = _program(Sight.NOTHING, most=0)

PROGRAMS: Final[Mapping[str, Program]] = {
    "arch": _OF_THE_MACHINE,
    "base64": _program(Sight.CONTENT, "-d --decode", "-w --wrap", most=1, last=True),
    "basename": _program(Sight.NOTHING, "-a -z --multiple --zero", "-s --suffix"),
    "b2sum": _SUM,
    "cat": _program(
        Sight.CONTENT,
        "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs "
        "--show-nonprinting",
    ),
    "cksum": _program(Sight.CONTENT),
    "cmp": _program(Sight.CONTENT, "-b -l -s --print-bytes --verbose --quiet --silent", "-n --bytes", most=2),
    "column": _program(Sight.CONTENT, "-t -x", "-s -c"),
    "comm": _program(Sight.CONTENT, "-1 -2 -3 --check-order --nocheck-order --total", "--output-delimiter", most=2),
    "cut": _program(
        Sight.CONTENT,
        "-s -z --only-delimited --zero-terminated --complement",
        "-b -c -d -f --bytes --characters --delimiter --fields --output-delimiter",
    ),
    "diff": _program(
        Sight.CONTENT,
        "-a -b -B -c -d -e -E -i -n -p -q -s -t -T -u -w -y -Z --brief --report-identical-files --text --minimal "
        "--normal --side-by-side --suppress-common-lines --ignore-case --ignore-all-space --ignore-space-change "
        "--ignore-blank-lines --ignore-trailing-space --strip-trailing-cr --show-c-function --unified= --context= "
        "--color=",
        "-C -U -W -I -L --label --width --ignore-matching-lines",
        most=2,
    ),
    "dirname": _program(Sight.NOTHING, "-z --zero"),
    "du": _program(
        Sight.NAMES,
        "-0 -a -b -c -h -k -l -m -s -S -x --all --apparent-size --bytes --total --human-readable --count-links "
        "--summarize --separate-dirs --one-file-system --si --time",
        "-d -t --max-depth --threshold --exclude",
        here=True,
    ),
    "echo": _program(Sight.NOTHING),
    "expand": _program(Sight.CONTENT, "-i --initial", "-t --tabs"),
    "false": _program(Sight.NOTHING),
    "file": _program(
        Sight.CONTENT, "-b -h -i -L -N --brief --no-dereference --mime --mime-type --mime-encoding --dereference"
    ),
    "fmt": _program(Sight.CONTENT, "-c -s -u", "-w --width"),
    "fold": _program(Sight.CONTENT, "-b -s --bytes --spaces", "-w --width"),
    "grep": _program(
        Sight.CONTENT,
        "-# -a -b -c -E -F -G -H -h -i -L -l -n -o -P -q -s -T -v -w -x -y -z -Z --text --byte-offset --count "
        "--extended-regexp --fixed-strings --basic-regexp --with-filename --no-filename --ignore-case "
        "--no-ignore-case --files-without-match --files-with-matches --line-number --only-matching --perl-regexp "
        "--quiet --silent --no-messages --initial-tab --invert-match --word-regexp --line-regexp --null-data --null "
        "--line-buffered --color= --colour=",
        "-A -B -C -e -m --after-context --before-context --context --max-count --regexp --label",
        files="-f --file",
        leading=1,
        instead="-e --regexp -f --file",
    ),
    "groups": _OF_THE_MACHINE,
    "head": _program(
        Sight.CONTENT, "-# -q -v -z --quiet --silent --verbose --zero-terminated", "-c -n --bytes --lines"
    ),
    "hexdump": _program(Sight.CONTENT, "-b -c -C -d -o -v -x", "-e -n -s"),
    "hostname": _program(Sight.NOTHING, "-s --short", most=0),
    "id": _program(Sight.NOTHING, "-g -G -n -r -u --group --groups --name --real --user", most=0),
    "join": _program(Sight.CONTENT, "-i --ignore-case --header --check-order", "-1 -2 -a -e -j -o -t -v", most=2),
    "ls": _program(
        Sight.NAME,
        "-1 -A -a -B -b -C -c -d -F -f -g -G -h -i -k -l -L -m -N -n -o -p -Q -q -r -S -s -t -U -u -v -X -x -Z "
        "--all --almost-all --author --classify= --color= --context --dereference --directory --escape --file-type "
        "--full-time --group-directories-first --human-readable --inode --literal --no-group --numeric-uid-gid "
        "--quote-name --reverse --si --size --zero",
        "--block-size --format --hide --ignore --indicator-style --quoting-style --sort --time --time-style --width",
        beneath="-R --recursive",
        here=True,
    ),
    "md5sum": _SUM,
    "nl": _program(Sight.CONTENT, "-p", "-b -d -f -h -i -l -n -s -v -w"),
    "nproc": _program(Sight.NOTHING, "--all", most=0),
    "od": _program(Sight.CONTENT, "-a -b -c -d -o -v -x", "-A -j -N -t"),
    "paste": _program(Sight.CONTENT, "-s --serial", "-d --delimiters"),
    "pwd": _program(Sight.NOTHING, "-L -P", most=0),
    "readlink": _program(
        Sight.NAME,
        "-e -f -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --zero",
    ),
    "realpath": _program(
        Sight.NAME,
        "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical --quiet "
        "--no-symlinks --zero",
        files="--relative-to --relative-base",
    ),
    "rev": _program(Sight.CONTENT),
    "seq": _program(Sight.NOTHING, "-w --equal-width", "-f -s --format --separator"),
    "sha1sum": _SUM,
    "sha224sum": _SUM,
    "sha256sum": _SUM,
    "sha384sum": _SUM,
    "sha512sum": _SUM,
    "sleep": _program(Sight.NOTHING),
    # More than its memory holds it sorts with the help of a nameless file of its own.
    "sort": _program(
        Sight.CONTENT,
        "-b -c -C -d -f -g -h -i -m -M -n -r -R -s -u -V -z --ignore-leading-blanks --dictionary-order --ignore-case "
        "--general-numeric-sort --human-numeric-sort --ignore-nonprinting --month-sort --numeric-sort --reverse "
        "--stable --unique --version-sort --zero-terminated",
        "-k -t --key --field-separator",
    ),
    "stat": _program(Sight.NAME, "-L -t --dereference --terse", "-c --format --printf"),
    "sum": _program(Sight.CONTENT, "-r -s"),
    "tail": _program(
        Sight.CONTENT, "-# -q -v -z --quiet --silent --verbose --zero-terminated", "-c -n --bytes --lines"
    ),
    "tr": _program(Sight.NOTHING, "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1", most=2),
    "tree": _program(
        Sight.NAMES,
        "-A -a -C -D -d -F -f -g -h -i -J -n -N -p -Q -q -r -s -S -t -u -U -v -X --dirsfirst --du --inodes "
        "--noreport --prune --si",
        "-I -L -P",
        here=True,
    ),
    "true": _program(Sight.NOTHING),
    "uname": _program(Sight.NOTHING, "-a -m -n -o -p -r -s -v --all", most=0),
    "unexpand": _program(Sight.CONTENT, "-a --all", "-t --tabs"),
    # Its second operand is a file that it writes.
    "uniq": _program(
        Sight.CONTENT,
        "-c -d -D -i -u -z --count --repeated --ignore-case --unique --zero-terminated",
        "-f -s -w --skip-fields --skip-chars --check-chars",
        most=1,
        last=True,
    ),
    "wc": _program(Sight.CONTENT, "-c -l -L -m -w --bytes --chars --lines --max-line-length --words"),
    "which": _program(Sight.NOTHING, "-a"),
    "whoami": _OF_THE_MACHINE,
    # So is that of this one.
    "xxd": _program(Sight.CONTENT, "-a -b -E -i -p -u", "-c -g -l -s", most=1, last=True),
}

BUILTINS: Final = _set("cd echo false printf pwd true type")
"""Those that a shell does itself: nothing is looked for on the PATH."""

FIND_TESTS: Final[Mapping[str, int]] = {
    **dict.fromkeys(
        _set("! ( ) , -a -and -not -o -or -empty -executable -readable -writable -false -true -ls -nouser -nogroup")
        | _set("-depth -mount -xdev -print -print0 -prune -quit -daystart -nowarn -noleaf"),
        0,
    ),
    **dict.fromkeys(
        _set("-amin -atime -cmin -ctime -mmin -mtime -used -gid -group -uid -user -inum -links -iname -ipath -iregex")
        | _set("-lname -ilname -maxdepth -mindepth -name -path -perm -printf -regex -regextype -size -type -wholename")
        | _set("-xtype"),
        1,
    ),
}
"""Words of an expression of `find`, with how many words each takes. None of them reads what a file holds."""
