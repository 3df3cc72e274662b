"""One file, three hands: a person who types in a window, another program, and the agent, in any order.

No byte of anybody is lost without an error that says so. The seeds are fixed; what the daemon does between two steps of
the others is its own business, as it is in life.
"""

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agent_ls.testing.buffers import Answer, Buffer, Buffers
from agent_ls.testing.editor import Editor, Refused
from agent_ls.testing.home import Home
from agent_ls.testing.mirror import Mirror
from agent_ls.testing.model_scenario import RequestView, UseTool, reply, say
from tests.scene import scene

pytestmark = pytest.mark.anyio

SEEDS = 200
TOGETHER = 10
TEXT = "".join(f"line {n} é😋\n" for n in range(8))
TARGET = "line 4 é😋"


class Careful(Buffers):
    """An editor that does not save over a file which has changed since it read or wrote it, as real ones do not."""

    def __init__(self, encoding: str, *, late: bool) -> None:
        super().__init__(encoding, late=late)
        self.known: dict[Path, bytes] = {}

    def load(self, path: Path) -> dict[str, Any]:
        self.known[path] = path.read_bytes()
        return self.open(path)

    def may_save(self, path: Path) -> bool:
        return path.read_bytes() == self.known[path]

    def save(self, path: Path) -> dict[str, Any]:
        told = super().save(path)
        self.known[path] = path.read_bytes()
        return told

    def _apply(self, change: dict[str, Any]) -> Answer:
        """An edit of an older version is refused and said to be."""
        buffer = self._buffers[change["textDocument"]["uri"]]
        if change["textDocument"]["version"] != buffer.version:
            return Answer({"result": {"applied": False, "failureReason": "the text has changed"}})
        return super()._apply(change)

    def _saved(self, buffer: Buffer) -> Answer:
        return super()._saved(buffer) if self.may_save(buffer.path) else Answer({"result": {"saved": False}})


@dataclass
class File:
    """What was done to one file by whom; every piece is there once and nowhere else."""

    path: Path
    opened: bool
    typed: list[str] = field(default_factory=list)
    appended: list[str] = field(default_factory=list)

    @property
    def agents(self) -> str:
        return f"<agent {self.path.name}>"


class Play:
    def __init__(self, editor: Editor, buffers: Careful, rng: random.Random) -> None:
        self._editor = editor
        self._buffers = buffers
        self._rng = rng

    async def step(self, file: File) -> None:
        """Something that a person or a program does to the file."""
        deeds = [self._append, self._append]
        if file.opened:
            deeds += [self._type, self._type, self._type_there, self._save, self._load_again]
        await self._rng.choice(deeds)(file)

    async def _append(self, file: File) -> None:
        file.appended.append(f"<program {len(file.appended)}>")
        with file.path.open("ab") as held:
            held.write(f"{file.appended[-1]}\n".encode())

    async def _type(self, file: File) -> None:
        text = self._buffers[file.path].text
        starts = [0, *(place + 1 for place, sign in enumerate(text) if sign == "\n")]
        await self._put(file, "{}\n", self._rng.choice(starts))

    async def _type_there(self, file: File) -> None:
        """In the line that the agent changes, or has changed."""
        text = self._buffers[file.path].text
        place = text.find(file.agents) if file.agents in text else text.find(TARGET)
        await self._put(file, "{}", max(place, 0) + (len("line") if place != -1 and file.agents not in text else 0))

    async def _put(self, file: File, form: str, place: int) -> None:
        file.typed.append(f"<person {len(file.typed)}>")
        change = self._buffers.type(file.path, form.format(file.typed[-1]), place)
        await self._editor.notify("textDocument/didChange", change)

    async def _save(self, file: File) -> None:
        if self._buffers[file.path].modified and self._buffers.may_save(file.path):
            await self._editor.notify("textDocument/didSave", self._buffers.save(file.path))

    async def _load_again(self, file: File) -> None:
        buffer = self._buffers[file.path]
        if not buffer.modified:
            self._buffers.known[file.path] = file.path.read_bytes()
            whole = file.path.read_bytes().decode()
            change = self._buffers.type(file.path, whole, 0, over=len(buffer.text))
            buffer.modified = False
            await self._editor.notify("textDocument/didChange", change)


def three_steps(request: RequestView) -> Any:
    """Reads the files that the person names, edits one line in each, and is done."""
    names = request.last_user_text.split()
    match request.steps:
        case 0:
            return reply(*(UseTool("read", {"path": name}) for name in names))
        case 1:
            return reply(*(UseTool("edit", {"path": name, "edits": [_edit(name)]}) for name in names))
        case _:
            return say("Done.")


def _edit(name: str) -> dict[str, str]:
    return {"old": TARGET, "new": f"<agent {name}>"}


async def play(editor: Editor, home: Home, buffers: Careful, *, seed: int) -> list[str]:
    """Ten interleavings at once, each on a file of its own: what was lost without a word."""
    rng = random.Random(seed)
    files = [File(home.workspace / f"f{seed}-{n}", opened=rng.random() < 0.7) for n in range(TOGETHER)]
    for file in files:
        file.path.write_bytes(TEXT.encode())
        if file.opened:
            await editor.notify("textDocument/didOpen", buffers.load(file.path))
    conversation = await editor.create(home.workspace, mode=rng.choice(["ask", "edits"]))
    person = Play(editor, buffers, rng)
    for file in files:
        if rng.random() < 0.4:
            await person.step(file)
    run_id = await editor.send(conversation, " ".join(file.path.name for file in files))
    while conversation.status(run_id) not in {"completed", "failed"}:
        await person.step(rng.choice(files))
        await _answer_some(editor, conversation, rng)
        for _ in range(rng.randrange(3)):
            await editor.request("agent/status", {})
    await editor.until_ended(conversation, run_id)
    results = {call["payload"]["input"]["path"]: conversation.result(call["id"]) for call in conversation.calls}
    return [f"seed {seed}: {lost}" for file in files for lost in _lost(file, buffers, results[file.path.name])]


async def _answer_some(editor: Editor, conversation: Mirror, rng: random.Random) -> None:
    for request in list(conversation.pending):
        if rng.random() < 0.5:
            try:
                await editor.respond(request, "allow")
            except Refused as refused:
                if refused.code not in {"already_decided", "digest_mismatch", "not_resumable"}:
                    raise


def _lost(file: File, buffers: Careful, result: dict[str, Any]) -> list[str]:
    disk = file.path.read_bytes().decode()
    shown = buffers[file.path].text if file.opened else disk
    name, status, said = file.path.name, result["status"], result["output"]
    lost = [f"{name}: {piece} typed and gone" for piece in file.typed if shown.count(piece) != 1]
    lost += [f"{name}: {piece} written and gone" for piece in file.appended if disk.count(piece) != 1]
    if status == "ok" and _without(shown, file.typed).count(file.agents) != 1:
        lost.append(f"{name}: the agent was told that its edit is made: {said}")
    if status == "ok" and "It is saved" in said and file.agents not in _without(disk, file.typed):
        lost.append(f"{name}: the agent was told that its edit is saved: {said}")
    if status == "error" and file.agents in shown + disk:
        lost.append(f"{name}: the agent was told that nothing was changed: {said}")
    for line in TEXT.splitlines():
        if line not in _without(shown, file.typed) and not (line == TARGET and status in {"ok", "unknown"}):
            lost.append(f"{name}: {line} is gone after {status}: {said}")
    return lost


def _without(text: str, typed: list[str]) -> str:
    for piece in typed:
        text = text.replace(piece, "")
    return text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8"])
async def test_no_byte_of_anybody_is_lost_without_an_error_that_says_so(encoding: str) -> None:
    async with scene(three_steps) as (_, home):
        buffers = Careful(encoding, late=encoding == "utf-8")
        preferred = {"general": {"positionEncodings": [encoding]}}
        async with home.editor(
            home.workspace, name="vim", features=["document.save"], capabilities=preferred
        ) as editor:
            editor.answer = buffers.answer
            lost: list[str] = []
            for seed in range(SEEDS // TOGETHER // 2):
                lost += await play(editor, home, buffers, seed=seed if encoding == "utf-16" else 1_000 + seed)
        assert lost == []
