"""The tools that the daemon offers are those that the rules know and the documentation describes."""

import re
from pathlib import Path

from agent_ls.adapters.host.files import DiskFiles
from agent_ls.adapters.host.system import SystemClock
from agent_ls.config.rules import TOOLS
from agent_ls.config.settings import Settings
from agent_ls.daemon.toolbox import Workshop

PAGE = (Path(__file__).parents[3] / "docs" / "tools.md").read_text()
SPECS = Workshop(Settings(path=""), SystemClock()).toolbox(DiskFiles()).specs()


def test_every_tool_has_a_row_with_its_input_and_a_section() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE, re.MULTILINE))
    offered = {spec.name: spec.schema for spec in SPECS}
    assert set(rows) == set(offered) <= TOOLS
    for name, schema in offered.items():
        required = set(schema["required"])
        listed = re.findall(r"`(\w+\??)", rows[name])
        assert listed == [key if key in required else f"{key}?" for key in schema["properties"]], name
        assert re.search(rf"^## .*\b{name}\b", PAGE, re.MULTILINE), name


def test_descriptions_are_short() -> None:
    for spec in SPECS:
        assert 40 < len(spec.description) < 400, spec.name
