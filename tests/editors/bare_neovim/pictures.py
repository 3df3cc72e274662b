"""The picture of docs/any-editor.md: a real Neovim in tmux, without our plugin, light and dark.

    python -m tests.editors.bare_neovim.pictures docs/pictures/

Owns the story that it tells. Needs tmux; is no test, a person looks at what it has made.
"""

import sys
from functools import partial
from pathlib import Path

import anyio

from agent_ls.testing.editor import Editor
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import InOrder, Say, UseTool, reply, say, use
from tests.editors.neovim.nvim import BIN
from tests.editors.neovim.pictures import DARK, LIGHT, NORMAL, TEXT, Screen, picture
from tests.protocol.test_transcript_file import papers, until_holds
from tests.scene import scene

COLUMNS, ROWS = 140, 24
STORY = [
    reply(Say("I look at the file first."), UseTool("read", {"path": "greet.py"})),
    use("edit", path="greet.py", edits=[{"old": '"Hello, " + name', "new": 'f"Hello, {name}!"'}]),
    say("Done: the greeting is an f-string now, and ends with an exclamation mark."),
]


class BareScreen(Screen):
    async def open_files(self, transcript: Path, prompt: Path) -> None:
        connect = f"vim.lsp.config('agent_ls', {{ cmd = {{ '{BIN / 'agent-ls'}', 'connect' }} }})"
        setup = self._home.root / "setup.lua"
        setup.write_text(f"{connect}\nvim.lsp.enable('agent_ls')\nvim.diagnostic.config({{ virtual_lines = true }})\n")
        options = "set termguicolors noswapfile number laststatus=2 wrap conceallevel=0"
        nvim = f"{BIN / 'nvim'} --clean --listen {self._socket} --cmd '{options}' -c 'luafile {setup}'"
        await self.tmux("new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), nvim)
        await self.tmux("set", "-g", "status", "off")
        with anyio.fail_after(30):
            while not await anyio.Path(self._socket).exists():
                await self.tmux("run-shell", "sleep 0.1")
        await self.command(f"edit {transcript}")
        await self.command("setlocal foldmethod=expr foldexpr=v:lua.vim.lsp.foldexpr() foldlevel=2 foldtext=")
        await self.command(f"belowright split {prompt} | resize 5 | wincmd t | vertical botright split greet.py")
        await self.command("windo set nonumber | set statusline=\\ %t\\ %m")
        await self.until("#vim.lsp.get_clients() > 0 and vim.lsp.get_clients()[1].initialized")

    async def act(self, title: str) -> None:
        chosen = f"filter = function(action) return action.title == '{title}' end"
        await self.lua(f"vim.lsp.buf.code_action({{ apply = true, {chosen} }})")

    async def shot(self, name: str) -> None:
        for ground in ("dark", "light"):
            await self.command(f"set background={ground} | redraw! | echo ''")
            made = picture(await self.tmux("capture-pane", "-p", "-e", "-N"), light=ground == "light")
            ours = DARK if ground == "dark" else LIGHT
            file = self._folder / f"{name}-{ground}.svg"
            await anyio.Path(file).write_text(made.replace(ours[0], NORMAL[ground]), encoding="utf-8")


async def make(folder: Path) -> None:
    async with scene(InOrder(STORY)) as (_, home), home.editor(name="terminal") as asker:
        home.env["LOGNAME"] = "ann"
        (home.workspace / "greet.py").write_text(TEXT)
        conversation = await asker.create(home.workspace, title="A friendlier greeting")
        transcript, _ = papers(home, conversation.id)
        await until_holds(asker, transcript, "#")
        await _story(BareScreen(home, folder), asker, conversation, home=home)


async def _story(screen: BareScreen, asker: Editor, conversation: Mirror, *, home: Home) -> None:
    transcript, prompt = papers(home, conversation.id)
    await screen.open_files(transcript, prompt)
    try:
        await screen.command("2wincmd w")
        await screen.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, {'Make @greet.py:6-7 friendlier.'})")
        await screen.act("Send")
        await asker.until_asked(conversation)
        await screen.command("2wincmd w")
        await screen.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, {'And then run the te'})")
        await screen.until("#vim.diagnostic.get() > 0")
        await screen.until(f"table.concat(vim.fn.getbufline('{transcript.name}', 1, '$')):find('greet.py') ~= nil")
        await screen.command("1wincmd w")
        await screen.until("vim.lsp.foldexpr(13) ~= '0'")
        await screen.command("set foldlevel=2 | normal! zXgg")
        await screen.command("3wincmd w")
        await screen.shot("any-editor")
    finally:
        await screen.tmux("kill-server")


if __name__ == "__main__":
    anyio.run(partial(make, Path(sys.argv[1])))
