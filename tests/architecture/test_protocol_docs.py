"""The protocol is written down as it is: docs and schema are made from METHODS and nobody edits them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_ls.wire import luacats, schema, typescript
from agent_ls.wire.schema import Json
from tests.architecture.source import ROOT

DOCS = ROOT / "docs"


@pytest.mark.parametrize("name", [schema.MARKDOWN, schema.SCHEMA])
def test_the_generated_file_is_what_the_table_says_now(name: str, tmp_path: Path) -> None:
    schema.write(tmp_path)
    made = (tmp_path / name).read_text(encoding="utf-8")
    assert (DOCS / name).read_text(encoding="utf-8") == made, "run: python -m agent_ls.wire.schema docs/"


@pytest.mark.parametrize(("file", "made"), [(typescript.FILE, typescript.typescript), (luacats.FILE, luacats.luacats)])
def test_the_types_of_the_plugins_are_what_the_table_says_now(file: Path, made: Callable[[Json], str]) -> None:
    assert (ROOT / file).read_text(encoding="utf-8") == made(schema.schema()), (
        "run: python -m agent_ls.wire.schema docs/"
    )


def test_every_reference_of_the_schema_leads_somewhere() -> None:
    text = json.dumps(schema.schema())
    names = set(schema.schema()["$defs"])
    referred = {part.split('"')[0] for part in text.split('"#/$defs/')[1:]}
    assert referred - names == set()


def test_no_shape_has_two_names() -> None:
    doubled = [name for name in schema.schema()["$defs"] if name.endswith(("-Input", "-Output"))]
    assert doubled == []
