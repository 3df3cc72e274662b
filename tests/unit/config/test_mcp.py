"""What may be said of a server of tools, in the person's file and in a workspace's."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agent_ls.config.mcp import Found, of_workspace
from agent_ls.config.options import read
from agent_ls.core.tool_server import LONGEST_NAME, ToolServer, tool_name


def written(root: Path, servers: Any) -> Found:
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    return of_workspace(root)


def test_the_persons_servers_are_taken_as_they_are_written() -> None:
    sections = {
        "notes": {"command": ["notes", "--stdio"], "env": {"A": "1"}},
        "far": {"url": "https://far.example/mcp"},
    }
    options = read({"mcp": sections}, "config.toml")
    assert options.warnings == []
    assert options.servers == [
        ToolServer(name="notes", command=("notes", "--stdio"), env={"A": "1"}, origin="config.toml"),
        ToolServer(name="far", url="https://far.example/mcp", origin="config.toml"),
    ]


@pytest.mark.parametrize(
    ("section", "says"),
    [
        ({}, "should have either a `command` or a `url`"),
        ({"command": ["x"], "url": "https://far.example"}, "should have either a `command` or a `url`"),
        ({"command": "x; rm -rf ~"}, "`command` should be a list of texts"),
        ({"command": ["x"], "timeout_s": "soon"}, "`timeout_s` should be a number of seconds"),
    ],
)
def test_a_server_that_is_said_wrongly_is_not_used_at_all(section: dict[str, Any], says: str) -> None:
    options = read({"mcp": {"notes": section}}, "config.toml")
    assert options.servers == []
    (warning,) = options.warnings
    assert "MCP server `notes` is not used" in warning
    assert says in warning


def test_one_that_is_switched_off_is_silent_and_a_misspelt_key_is_said() -> None:
    sections = {"off": {"command": ["x"], "enabled": False}, "on": {"command": ["x"], "enviroment": {}}}
    options = read({"mcp": sections}, "config.toml")
    assert [server.name for server in options.servers] == ["on"]
    (warning,) = options.warnings
    assert "unknown key `mcp.on.enviroment`" in warning


def test_a_workspaces_servers_are_marked_as_such(tmp_path: Path) -> None:
    found = written(tmp_path, {"local": {"command": "run", "args": ["a b"], "env": {"A": "1"}, "type": "stdio"}})
    origin = str(tmp_path / ".mcp.json")
    server = ToolServer(name="local", command=("run", "a b"), env={"A": "1"}, origin=origin, from_workspace=True)
    assert found == Found((server,))
    assert server.shown == 'run "a b"'


@pytest.mark.parametrize(
    "entry",
    [5, {}, {"command": 5}, {"command": "x", "args": "-c"}, {"command": "x", "env": {"A": 1}}, {"url": "file:///x"}],
)
def test_what_makes_no_sense_in_a_workspaces_file_is_left_out_and_said(tmp_path: Path, entry: Any) -> None:
    found = written(tmp_path, {"bad": entry, "good": {"command": "x"}})
    assert ([server.name for server in found.servers], len(found.warnings)) == (["good"], 1)


def test_a_link_a_fifo_and_nonsense_in_the_files_place_give_no_server(tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    file.write_text("[" * 100_000)
    assert of_workspace(tmp_path).servers == ()
    file.unlink()
    os.mkfifo(file)
    assert of_workspace(tmp_path) == Found()
    file.unlink()
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"mcpServers": {"x": {"command": "x"}}}))
    file.symlink_to(other)
    assert of_workspace(tmp_path) == Found()


def test_a_definition_is_another_one_when_anything_of_it_is() -> None:
    one = ToolServer(name="a", command=("x",), env={"K": "1"})
    others = [
        ToolServer(name="a", command=("x", ""), env={"K": "1"}),
        ToolServer(name="a", command=("x",), env={"K": "2"}),
        ToolServer(name="b", command=("x",), env={"K": "1"}),
        ToolServer(name="a", url="x", env={"K": "1"}),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 5
    assert ToolServer(name="a", command=("x",), env={"K": "1"}, origin="elsewhere").digest == one.digest


def test_names_of_tools_are_legal_for_every_model_and_never_meet() -> None:
    assert tool_name("notes", "add") == "mcp__notes__add"
    odd = [tool_name("no.tes", "add"), tool_name("no_tes", "add"), tool_name("n", "a" * 80), tool_name("n", "a" * 81)]
    assert len(set(odd)) == 4
    assert all(len(name) <= LONGEST_NAME and name.replace("_", "").isalnum() for name in odd)
