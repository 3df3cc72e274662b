"""A real Emacs with Eglot and the lines of editors/others/emacs.el, driven by emacsclient as a person drives it.

Owns the process, and waiting with a limit. Without a display and without a person at a terminal: what would ask in
the minibuffer is answered where the test says so, and is an error everywhere else.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT
from typing import Final

import anyio

from agent_ls.testing.editor import LIMIT_S
from agent_ls.testing.home import Home

BIN: Final = Path(sys.executable).parent
SNIPPET: Final = Path(__file__).parents[3] / "editors" / "others" / "emacs.el"
PACKAGES: Final = "(when (< emacs-major-version 29) (require 'package) (package-initialize))"

_SETUP: Final = f"""(progn
  {PACKAGES}
  (setq make-backup-files nil create-lockfiles nil auto-save-default nil
        eglot-send-changes-idle-time 0.05 last-nonmenu-event t
        read-minibuffer-restore-windows nil)
  (load "{SNIPPET}" nil t)
  (defun y-or-n-p (prompt) (error "asked: %s" prompt))
  (defun yes-or-no-p (prompt) (error "asked: %s" prompt))
  (defun the-buffer (file) (find-file-noselect file))
  (defun managed (file)
    (with-current-buffer (the-buffer file)
      (unless (eglot-managed-p) (call-interactively 'eglot))
      (and (eglot-managed-p) t)))
  (defun choose (file title)
    (with-current-buffer (the-buffer file)
      (condition-case trouble
          (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) title)))
            (if (assoc title (mapcar (lambda (a) (cons (plist-get a :title) a))
                                     (append (eglot-code-actions (point) (point)) nil)))
                (progn (eglot-code-actions (point) (point) nil t) "done")
              "not offered"))
        (error (error-message-string trouble)))))
  (defun marks (file)
    (with-current-buffer (the-buffer file)
      (flymake-start)
      (mapcar (lambda (d) (flymake-diagnostic-text d)) (flymake-diagnostics))))
  t)"""


_EVENTS: Final = """(mapcar (lambda (b)
    (with-current-buffer b (buffer-substring (max 1 (- (point-max) 6000)) (point-max))))
  (seq-filter (lambda (b) (string-search "EGLOT" (buffer-name b))) (buffer-list)))"""


@cache
def missing() -> str:
    """Why there is no Emacs to test with; empty where there is one."""
    if shutil.which("emacs") is None or shutil.which("emacsclient") is None:
        return "Emacs is not installed (Debian: emacs-nox elpa-eglot)"
    done = subprocess.run(
        ["emacs", "-q", "--batch", "--eval", f"(progn {PACKAGES} (require 'eglot))"],
        stdout=PIPE,
        stderr=STDOUT,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else "Emacs has no Eglot (Debian 12: elpa-eglot)"


class Emacs:
    def __init__(self, socket: Path, env: dict[str, str]) -> None:
        self._socket = socket
        self._env = env

    async def there(self) -> None:
        """Until its server listens, which is a moment after it says that it is about to."""
        with anyio.fail_after(LIMIT_S):
            while (await self._client("t")).returncode != 0:
                await anyio.lowlevel.checkpoint()

    async def eval(self, expression: str) -> str:
        """What it prints; an error of Emacs is one of the test."""
        with anyio.fail_after(LIMIT_S):
            done = await self._client(expression)
        assert done.returncode == 0, done.stdout.decode()
        return done.stdout.decode().strip()

    async def _client(self, expression: str) -> subprocess.CompletedProcess[bytes]:
        command = ["emacsclient", "-s", os.fspath(self._socket), "-e", expression]
        return await anyio.run_process(command, env=self._env, stderr=STDOUT, stdin=DEVNULL, check=False)

    async def until(self, expression: str) -> str:
        """Until it is not nil. Emacs works on between two looks, and each look is a process."""
        try:
            with anyio.fail_after(LIMIT_S * 2):
                while (found := await self.eval(expression)) == "nil":
                    await anyio.lowlevel.checkpoint()
        except TimeoutError:
            messages = await self.eval('(with-current-buffer "*Messages*" (buffer-string))')
            raise AssertionError(f"{expression} stayed nil; messages: {messages}") from None
        return found

    async def open(self, path: Path) -> None:
        """Until Eglot and the daemon know the buffer."""
        await self.until(f"(managed {quoted(path)})")

    async def text(self, path: Path) -> str:
        told = await self.eval(f"(json-encode (with-current-buffer (the-buffer {quoted(path)}) (buffer-string)))")
        shown: str = json.loads(json.loads(told))
        return shown

    async def until_shows(self, path: Path, text: str) -> str:
        buffer = f"(with-current-buffer (the-buffer {quoted(path)}) (buffer-string))"
        await self.until(f"(and (string-search {quoted(text)} {buffer}) t)")
        return await self.text(path)

    async def type(self, path: Path, text: str) -> None:
        await self.eval(f"(with-current-buffer (the-buffer {quoted(path)}) (insert {quoted(text)}) t)")

    async def go(self, path: Path, text: str) -> None:
        """The cursor goes to where the text stands."""
        move = f"(goto-char (point-min)) (search-forward {quoted(text)}) (beginning-of-line)"
        await self.eval(f"(with-current-buffer (the-buffer {quoted(path)}) {move} t)")

    async def until_marked(self, path: Path, text: str) -> None:
        await self.until(f"(and (seq-some (lambda (m) (string-search {quoted(text)} m)) (marks {quoted(path)})) t)")

    async def choose(self, path: Path, title: str) -> None:
        """`M-x eglot-code-actions` where the cursor is, until it is offered and was not given too soon."""
        said = ""
        try:
            with anyio.fail_after(LIMIT_S):
                while said != '"done"':
                    said = await self.eval(f"(choose {quoted(path)} {quoted(title)})")
        except TimeoutError:
            raise AssertionError(f"{title}: {said}; {await self.eval(_EVENTS)}") from None

    async def turn(self, path: Path, program: str) -> None:
        """`M-x eglot` once more, with another choice of `eglot-alternatives`."""
        buffer = f"(with-current-buffer (the-buffer {quoted(path)})"
        await self.eval(f"{buffer} (setq the-choice {quoted(program)}) (eglot-shutdown (eglot-current-server)) t)")
        await self.open(path)

    async def save(self, path: Path) -> None:
        await self.eval(f"(with-current-buffer (the-buffer {quoted(path)}) (save-buffer) t)")

    async def messages(self) -> str:
        return await self.eval('(with-current-buffer "*Messages*" (buffer-string))')


def quoted(value: str | Path) -> str:
    return json.dumps(os.fspath(value), ensure_ascii=False)


@asynccontextmanager
async def emacs(home: Home, *files: Path, before: str = "t") -> AsyncIterator[Emacs]:
    """With these files open, and known to a server. `before`: what else stands in its init file."""
    env = {**home.env, "PATH": f"{BIN}:{home.env['PATH']}", "TERM": "dumb"}
    socket = home.root / "emacs"
    command = ["emacs", "-q", "--no-splash", f"--fg-daemon={socket}"]
    async with await anyio.open_process(
        command, env=env, cwd=home.workspace, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE
    ) as process:
        assert process.stderr is not None
        try:
            with anyio.fail_after(LIMIT_S * 2):
                async for line in process.stderr:
                    if b"Starting Emacs daemon" in line:
                        break
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_drained, process.stderr)
                one = Emacs(socket, env)
                await one.there()
                await one.eval(_SETUP)
                await one.eval(before)
                for file in files:
                    await one.open(file)
                yield one
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                if process.returncode is None:
                    process.kill()
                await process.wait()


async def _drained(stream: anyio.abc.ByteReceiveStream) -> None:
    async for _ in stream:
        pass
