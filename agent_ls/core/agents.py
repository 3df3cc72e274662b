"""Agents of the person's own: a file with a name, what it is for, its tools, its model, and what it is told.

Owns the form of such a file (`.agents/agents/*.md`: front matter, then the words). Does not own where files are read
from, nor what an agent may do: its tools only ever narrow what its parent may.
"""

import re
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 16 * 1024
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_FRONT: Final = re.compile(r"---[ \t]*\n(.*?)(?:^|\n)---[ \t]*(?:\n|\Z)(.*)", re.DOTALL)
_KEY: Final = re.compile(r"([A-Za-z_-]+)[ \t]*:[ \t]*(.*)")
_NAMES: Final = re.compile(r"[A-Za-z0-9_*.-]+")


@dataclass(frozen=True, kw_only=True)
class Agent:
    """`tools`: None for all that its parent has. `path` is where it stands."""

    name: str
    description: str
    body: str
    path: str
    tools: tuple[str, ...] | None = None
    model: str | None = None


def parse(text: str, path: str) -> Agent | str:
    """The agent, or a sentence on why the file is none."""
    found = _FRONT.match(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    if found is None:
        return f"{path} is no agent: it has to begin with `---`, a name and a description, and `---`."
    keys = _keys(found[1])
    name = keys.get("name") or re.sub(r"\.md$", "", path.rpartition("/")[2])
    if not _NAME.fullmatch(name):
        return f"{path} is no agent: its `name` has to be made of letters, digits, `_`, `.` and `-`."
    if not keys.get("description"):
        return f"{path} is no agent: its `description` is missing."
    body = found[2].strip()
    if len(body) > LONGEST:
        return f"{path} is no agent: it is longer than {LONGEST:,} characters."
    tools = tuple(_NAMES.findall(keys["tools"])) if "tools" in keys else None
    return Agent(
        name=name,
        description=" ".join(keys["description"].split())[:500],
        body=body,
        path=path,
        tools=tools,
        model=keys.get("model") or None,
    )


def _keys(front: str) -> dict[str, str]:
    """`key: value`, a value in quotes or a list, on its line or below it. No more of YAML is read."""
    found: dict[str, str] = {}
    key = ""
    for line in front.split("\n"):
        matched = _KEY.fullmatch(line.rstrip()) if not line.startswith((" ", "\t", "-", "#")) else None
        if matched:
            key = matched[1].lower()
            found[key] = matched[2].strip().strip("'\"").removeprefix(">").removeprefix("|").strip()
        elif key and line.strip() and not line.lstrip().startswith("#"):
            found[key] = f"{found[key]} {line.strip().removeprefix('- ')}".strip()
    return found
