"""The pictures of docs/neovim.md: a real Neovim in tmux, 80 and 160 columns wide, light and dark.

    python -m tests.editors.neovim.pictures docs/pictures/

Owns the story that they tell. Needs tmux; is no test, a person looks at what it has made.
"""

import os
import sys
from functools import partial
from pathlib import Path
from subprocess import PIPE
from typing import Final

import anyio

from agent_ls.testing.home import Home
from agent_ls.testing.model_scenario import InOrder, Say, UseTool, reply, say, use
from scripts.picture import DARK, LIGHT, picture
from tests.editors.neovim.nvim import BIN, PLUGIN
from tests.scene import scene

NORMAL: Final = {"dark": "#14161b", "light": "#e0e2ea"}
"""The grounds of Neovim's own colours."""
SIZES: Final = ((160, 36), (80, 36))
LIMIT_MS: Final = 30_000

TEXT: Final = '''"""Greetings."""

import sys


def greet(name):
    print("Hello, " + name)


def main():
    for name in sys.argv[1:]:
        greet(name)


if __name__ == "__main__":
    main()
'''
OLD: Final = (
    'def greet(name):\n    print("Hello, " + name)\n',
    "    for name in sys.argv[1:]:\n        greet(name)\n",
    "import sys\n",
)
NEW: Final = (
    'def greet(name, word="Hello"):\n    print(f"{word}, {name}!")\n',
    '    word = os.environ.get("GREETING", "Hello")\n    for name in sys.argv[1:]:\n        greet(name, word)\n',
    "import os\nimport sys\n",
)
EDITS: Final = [{"old": old, "new": new} for old, new in zip(OLD, NEW, strict=True)]
LICENCES: Final = [
    {"id": "mit", "label": "MIT", "description": "short and permissive"},
    {"id": "apache", "label": "Apache 2.0", "description": "permissive, with a patent grant"},
    {"id": "gpl", "label": "GPL 3", "description": "changes stay free"},
]
FILES: Final = [{"id": name, "label": name} for name in ("README.md", "LICENSE", "greet.py")]
SEVERAL: Final = [
    {"id": "licence", "text": "Which licence shall it have?", "options": LICENCES},
    {"id": "files", "text": "Where shall it be named?", "multi": True, "options": FILES},
    {"id": "name", "text": "Whose name goes into it?", "free": True},
]
STORY: Final = [
    reply(Say("I look at the file first."), UseTool("read", {"path": "greet.py"})),
    use("edit", path="greet.py", edits=EDITS),
    use("shell", command="echo 4 passed in 0.03s"),
    say(
        "The greeting comes from `GREETING` now and is **Hello** without it:\n\n"
        "```sh\nGREETING=Ahoy python greet.py Ann\n```\n\n"
        "- `greet` takes the word as its second argument\n- the tests pass"
    ),
    reply(
        UseTool(
            "ask",
            {
                "questions": [
                    {"id": "licence", "text": "Which licence shall it have?", "options": LICENCES, "free": True}
                ]
            },
        )
    ),
    reply(UseTool("ask", {"questions": SEVERAL})),
]


class Screen:
    """One tmux with one Neovim in it, spoken to by Neovim's own socket."""

    def __init__(self, home: Home, folder: Path) -> None:
        self._home, self._folder = home, folder
        self._tmux = os.fspath(home.root / "tmux")
        self._socket = os.fspath(home.root / "nvim")

    async def tmux(self, *words: str) -> str:
        environment = {**self._home.env, "COLORTERM": "truecolor", "AGENT_LS_CMD": os.fspath(BIN / "agent-ls")}
        done = await anyio.run_process(
            ["tmux", "-S", self._tmux, "-f", "/dev/null", *words], env=environment, cwd=self._home.workspace
        )
        return done.stdout.decode()

    async def open(self) -> None:
        columns, rows = SIZES[0]
        options = f"set rtp+={PLUGIN} termguicolors noswapfile number laststatus=3"
        nvim = f"{BIN / 'nvim'} --clean --listen {self._socket} --cmd '{options}' greet.py"
        await self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), nvim)
        await self.tmux("set", "-g", "status", "off")
        with anyio.fail_after(LIMIT_MS / 1000):
            while not await anyio.Path(self._socket).exists():
                await self.tmux("run-shell", "sleep 0.1")
        await self.command("set statusline=\\ %f\\ %m%=%{v:lua.require'agent_ls'.status()}\\ ")
        await self.until("next(require('agent_ls.state').links) ~= nil")

    async def lua(self, code: str) -> str:
        """What an expression of Lua is."""
        quoted = code.replace("'", "''")
        words = [os.fspath(BIN / "nvim"), "--clean", "--server", self._socket, "--remote-expr", f"luaeval('{quoted}')"]
        done = await anyio.run_process(words, env=self._home.env, stderr=PIPE)
        return (done.stdout or done.stderr).decode().strip()

    async def until(self, condition: str) -> None:
        found = await self.lua(f"vim.wait({LIMIT_MS}, function() return {condition} end, 20)")
        assert found == "true", f"waited in vain for {condition}: {found}\n{await self.tmux('capture-pane', '-p')}"

    async def command(self, line: str) -> None:
        await self.lua(f"vim.cmd([[{line}]])")

    async def answered(self, line: str) -> None:
        """In the first moment after a card came an answer is not taken."""
        waits = "#require('agent_ls.approvals').pending() == 0"
        await self.until(
            f"(function() vim.cmd([[{line}]]) return vim.wait(200, function() return {waits} end, 10) end)()"
        )

    async def shots(self, name: str, *before: str) -> None:
        """One of each size and ground; `before` makes it what it is at this size."""
        for columns, rows in SIZES:
            await self.tmux("resize-window", "-x", str(columns), "-y", str(rows))
            await self.until(f"vim.o.columns == {columns}")
            for line in before:
                await self.command(line)
            for ground in ("dark", "light"):
                await self.command(f"set background={ground} | redraw! | echo ''")
                await self.until("true")
                capture = await self.tmux("capture-pane", "-p", "-e", "-N")
                made = picture(capture, light=ground == "light")
                ours = DARK if ground == "dark" else LIGHT
                file = self._folder / f"neovim-{name}-{columns}-{ground}.svg"
                await anyio.Path(file).write_text(made.replace(ours[0], NORMAL[ground]), encoding="utf-8")


async def make(folder: Path) -> None:
    async with scene(InOrder(STORY)) as (_, home):
        home.env["LOGNAME"] = "ann"
        (home.workspace / "greet.py").write_text(TEXT)
        screen = Screen(home, folder)
        try:
            await screen.open()
            again = ("lua require('agent_ls.window').close()", "Agent", "wincmd t", "normal! gg")
            await screen.command("Agent ask Take the greeting from the environment")
            await screen.until("#require('agent_ls.approvals').pending() == 1")
            await screen.shots("approval", *again)
            await screen.answered("Agent approve 1")
            await screen.until("select(2, next(require('agent_ls.state').conversations)).run == nil")
            unfolded = ("wincmd b", "call search('edit greet', 'bw')", "normal! zo", "wincmd t")
            await screen.shots("transcript", *again, *unfolded)
            await screen.command("lua require('agent_ls.window').close()")
            await screen.command("Agent review")
            await screen.until("vim.bo.buftype == 'quickfix'")
            await screen.shots("review", "cclose", "wincmd t", "normal! gg", "botright copen 5", "redraw")
            await screen.command("cclose")
            await screen.command("Agent ask Add a licence")
            await screen.until("#require('agent_ls.approvals').pending() == 1")
            await screen.shots("question", "silent! fclose", *again, "Agent answer")
            await screen.command("silent! fclose")
            await screen.answered("Agent answer 1")
            await screen.until("#require('agent_ls.approvals').pending() == 1")
            picked = "lua vim.api.nvim_feedkeys('213', 'xt', false)"
            await screen.shots("questions", "silent! fclose", *again, "Agent answer", picked)
        finally:
            await screen.tmux("kill-server")


if __name__ == "__main__":
    anyio.run(partial(make, Path(sys.argv[1])))
