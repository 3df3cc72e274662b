"""The edits that the daemon sends, as a real Neovim applies them: the text that was meant, in one undo step."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_ls.core.text import Text
from agent_ls.core.text_edits import edits

NVIM = shutil.which("nvim", path=str(Path(sys.executable).parent)) or shutil.which("nvim")

SCRIPT = """
local cases = vim.json.decode(io.open(vim.env.CASES):read("a"))
local found = {}
for _, case in ipairs(cases) do
  vim.cmd("enew!")
  local levels = vim.bo.undolevels
  vim.bo.undolevels = -1
  vim.api.nvim_buf_set_lines(0, 0, -1, true, case.old)
  vim.bo.undolevels = levels
  vim.lsp.util.apply_text_edits(case.edits, vim.api.nvim_get_current_buf(), "utf-16")
  local made = vim.api.nvim_buf_get_lines(0, 0, -1, true)
  local steps = vim.fn.undotree().seq_cur
  vim.cmd("silent! undo")
  table.insert(found, { made = made, steps = steps, undone = vim.api.nvim_buf_get_lines(0, 0, -1, true) })
end
io.open(vim.env.FOUND, "w"):write(vim.json.encode(found))
"""


@pytest.mark.skipif(NVIM is None, reason="there is no Neovim here")
def test_neovim_makes_the_text_that_was_meant_and_takes_it_back_in_one_step(tmp_path: Path) -> None:
    chance = random.Random(11)
    texts = [_texts(chance) for _ in range(300)]
    cases = [
        {"old": old[:-1].split("\n"), "edits": made} for old, new in texts if (made := edits(Text(old, "utf-16"), new))
    ]
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    (tmp_path / "check.lua").write_text(SCRIPT)
    subprocess.run(
        [str(NVIM), "--clean", "-n", "--headless", "-l", str(tmp_path / "check.lua")],
        env={
            "PATH": os.environ["PATH"],
            "CASES": str(tmp_path / "cases.json"),
            "FOUND": str(tmp_path / "found.json"),
            "HOME": str(tmp_path),
        },
        check=True,
        timeout=30,
        capture_output=True,
    )
    assert json.loads((tmp_path / "found.json").read_text()) == [
        {"made": new[:-1].split("\n"), "steps": 1, "undone": old[:-1].split("\n")} for old, new in texts if old != new
    ]


def _texts(chance: random.Random) -> tuple[str, str]:
    """Two texts that share some lines; each ends with a newline, as every buffer of Neovim does."""
    old = [chance.choice(["a", "b😋", "é x", "", "}"]) for _ in range(chance.randrange(1, 8))]
    new = list(old)
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(new) + 1)
        match chance.randrange(3):
            case 0:
                new.insert(place, chance.choice(["new", "é😋", ""]))
            case 1:
                new[place : place + 1] = []
            case _:
                new[place : place + 1] = [f"q😋{line}z" for line in new[place : place + 1]]
    return "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new or [""])
