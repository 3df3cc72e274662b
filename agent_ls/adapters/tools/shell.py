"""shell: one command in a shell of its own, with no terminal, for a limited time and with limited output.

Owns the tool's input, what a person is shown of it and what the model is told came of it. Processes are a port's
(ports.processes), what becomes of output is shell_recording's, a shell that goes on is handed to shell_background.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import anyio
from pydantic import Field

from agent_ls.adapters.tools import shell_spool
from agent_ls.adapters.tools.arguments import Arguments, parse
from agent_ls.adapters.tools.base import OurTool
from agent_ls.adapters.tools.shell_background import BackgroundShells
from agent_ls.adapters.tools.shell_looks import Looked, look, only_looks, outer_path, undisturbed
from agent_ls.adapters.tools.shell_recording import Recording, exit_code, how_it_ended
from agent_ls.adapters.tools.shell_sandbox import Sandbox, blamed
from agent_ls.adapters.tools.shell_script import environment, has_functions, read_cwd, words
from agent_ls.core.call import WALLED
from agent_ls.core.display import escaped, one_line, warning
from agent_ls.core.items import Call, ItemKind, ResultStatus, ToolResult
from agent_ls.core.shells import begun, shell_id
from agent_ls.core.uris import file_uri, is_within
from agent_ls.ports.processes import Child, Processes
from agent_ls.ports.tools import Invalid, Prepared, Replay, ToolContext, ToolEffect

GRACE: Final = 2.0
_DRAIN: Final = 0.2
_LONGEST_COMMAND: Final = 100_000
_AT_ONCE: Final = 0.2
"""Seconds in which a command in the background may end and is then told like any other."""
_DESCRIPTION = (
    "Runs a command in bash, in the folder where the last one ended. There is no terminal and no input, and editors "
    "and prompts fail. Long output is cut in the middle. Use read, edit and write for files. What should go on while "
    "you do something else (a server, a watcher) goes into the background; you are told when it ends."
)


class ShellInput(Arguments):
    command: str = Field(description="What to run, as typed into a shell")
    cwd: str | None = Field(default=None, description="Folder to run in: absolute, or relative to the workspace")
    timeout: int = Field(default=120, ge=1, le=600, description="Seconds until it is ended; none in the background")
    background: bool = Field(default=False, description="Leave it running: shell_output reads it, shell_stop ends it")
    outside: bool = Field(
        default=False, description="Where commands run in a sandbox: outside of it; a person is asked"
    )


@dataclass(frozen=True)
class _Held:
    """A shell that waits until the start of its call is on record."""

    child: Child
    recording: Recording


class ShellTool(OurTool):
    name = "shell"
    description = _DESCRIPTION
    input = ShellInput
    kind = ItemKind.COMMAND
    effect = ToolEffect.SHELL
    replay = Replay.ASK

    def __init__(self, processes: Processes, background: BackgroundShells) -> None:
        super().__init__()
        self._processes = processes
        self._background = background
        self._held: dict[str, _Held] = {}
        self.sandbox: Sandbox | str | None = None
        """A sentence: there ought to be one and there is none, so nothing is run."""

    async def prepare(self, arguments: Mapping[str, Any], context: ToolContext) -> Prepared | Invalid:
        given = parse(ShellInput, arguments)
        if isinstance(given, Invalid):
            return given
        if wrong := _unusable(given.command):
            return Invalid(f"{wrong}. Expected {{command, cwd?, timeout?}}")
        cwd = _folder(given, context)
        if isinstance(cwd, Invalid):
            return cwd
        outside = (given.outside or context.outside) and self.sandbox is not None
        if isinstance(self.sandbox, str) and not outside:
            return Invalid(self.sandbox)
        # One that stays may look again, at something else.
        looked = look(given.command, context.environment, cwd=cwd, root=context.root, looks_once=not given.background)
        card, decides = _shown(given, cwd, looked, outside=outside)
        return Prepared(
            tool=self.name,
            input=dict(arguments),
            effect=self.effect,
            title=_title(given, outside=outside),
            digest=sha256(json.dumps([self.name, *decides]).encode()).hexdigest(),
            card=card,
            # What only looks waits for nobody, and nobody waits for it.
            keys=() if only_looks(looked.sights) else (file_uri(context.root),),
            reads=() if is_within(cwd, context.root) else (cwd,),
            command=given.command,
            asks="commands outside the sandbox" if outside else None,
            sights=looked.sights,
            brought=looked.brought,
        )

    async def run(self, prepared: Prepared, context: ToolContext) -> ToolResult:
        card = prepared.card
        if card.get("background") and (full := self._background.full(context.conversation_id)):
            return ToolResult(status=ResultStatus.ERROR, output=full)
        note = shell_spool.path_of(context.spool, context.item_id, ".cwd")
        held = self._held.pop(context.item_id, None)
        recording = Recording(context) if held is None else held.recording
        try:
            try:
                child = self._start(prepared, context, recording=recording) if held is None else held.child
            except OSError as error:
                why = f"The command could not be started: {error.strerror or error}."
                return ToolResult(status=ResultStatus.ERROR, output=why)
            child.let_go()
            if card.get("background") and not await self._ends_at_once(child, context, recording):
                read_cwd(note)
                return self._left_running(child, context, recording)
            timed_out = await self._watch(child, context, seconds=card["timeout"], recording=recording)
            recording.finish()
            said = [*_moved(prepared, context), how_it_ended(child.exit, card["timeout"] if timed_out else None)]
            walled = self._walled(card, child.exit, recording)
            said += [f"the sandbox is why, it seems: {walled['why']}"] if walled else []
            data = {"cwd": read_cwd(note) or card["cwd"]}
            return await recording.result(
                _status(child.exit, timed_out=timed_out),
                said,
                exit_code=exit_code(child.exit),
                data={**data, WALLED: walled} if walled else data,
            )
        finally:
            if not self._background.keeps(context.item_id):
                recording.close()

    def ready(self, prepared: Prepared, context: ToolContext) -> None:
        """A shell that has not looked at the command yet. One in a sandbox, or that stays, is started when it runs."""
        if self.sandbox is not None or prepared.card.get("background") or has_functions(context.environment):
            return
        recording = Recording(context)
        try:
            child = self._start(prepared, context, recording=recording, held=True)
        except OSError:
            recording.close()
            shell_spool.forget(context.spool, context.item_id)
        else:
            self._held[context.item_id] = _Held(child, recording)

    def put_back(self, item_id: str, spool: str) -> None:
        held = self._held.pop(item_id, None)
        if held is not None:
            held.child.close()
            held.recording.close()
            shell_spool.forget(spool, item_id)

    async def recover(self, call: Call, context: ToolContext) -> ToolResult | None:
        """It may have done anything between nothing and all: what is left of it is ended, and that is told."""
        left = shell_spool.read(context.spool, context.item_id)
        text = "The daemon was killed while this ran. It may or may not have finished"
        if left is None:
            return ToolResult(status=ResultStatus.UNKNOWN, output=f"{text}; none of its output was kept.")
        ended = await self._processes.end(left.process, context.item_id, grace=GRACE)
        text += "; some of it was still running and was ended now." if ended else "; nothing of it is running now."
        recording = Recording(context, spooled=False)
        recording.feed(left.output)
        recording.finish()
        return await recording.result(ResultStatus.UNKNOWN, [text], raw=left.output)

    def forget(self, item_id: str, spool: str) -> None:
        """To be called when the result is committed. What a shell in the background says goes on."""
        if not self._background.running(item_id):
            self._background.forget(item_id)
            shell_spool.forget(spool, item_id)

    def _start(self, prepared: Prepared, context: ToolContext, *, recording: Recording, held: bool = False) -> Child:
        card, given = prepared.card, context.environment
        note = shell_spool.path_of(context.spool, context.item_id, ".cwd")
        if only_looks(prepared.sights):
            given = undisturbed(given, context.root)
        # The shell itself is never one that the workspace brings.
        argv = words(card["command"], path=outer_path(given.get("PATH"), context.root), cwd_file=note, held=held)
        if isinstance(self.sandbox, Sandbox) and not card.get("outside"):
            argv = self.sandbox.words(argv, root=context.root, cwd=card["cwd"], note=note)
            given = self.sandbox.environment(given)
        child = self._processes.start(
            argv,
            cwd=card["cwd"],
            environment=environment(given, cwd=card["cwd"], mark=context.item_id),
            output=recording.feed,
            held=held,
        )
        recording.spool.begin(child.id)
        return child

    def _walled(self, card: Mapping[str, Any], code: int | None, recording: Recording) -> dict[str, str] | None:
        """Of a failure that the sandbox has caused: why, and what the command said of it."""
        if not isinstance(self.sandbox, Sandbox) or card.get("outside"):
            return None
        blame = blamed(recording.since(0), code, network=self.sandbox.network)
        return None if blame is None else {"why": blame.why, "said": blame.said}

    async def _watch(self, child: Child, context: ToolContext, *, seconds: int, recording: "Recording") -> bool:
        """Until the shell has ended. True if its time was up."""
        try:
            with anyio.move_on_after(seconds) as limit:
                await child.wait()
            if limit.cancelled_caught:
                await self._end(child, context)
            # Who still holds the pipe may go on, but is not waited for.
            await child.drain(_DRAIN)
            return limit.cancelled_caught
        except anyio.get_cancelled_exc_class():
            await self._cut(child, context, recording)
            raise
        finally:
            child.close()

    async def _ends_at_once(self, child: Child, context: ToolContext, recording: Recording) -> bool:
        """One that cannot even begin is told at once, and not as a notice some time later."""
        try:
            with anyio.move_on_after(_AT_ONCE):
                await child.wait()
        except anyio.get_cancelled_exc_class():
            await self._cut(child, context, recording)
            raise
        return child.exit is not None

    def _left_running(self, child: Child, context: ToolContext, recording: Recording) -> ToolResult:
        self._background.keep(child, context, recording)
        name = shell_id(context.item_id)
        text = f"Running in the background as `{name}`. shell_output reads what it says, shell_stop ends it."
        so_far = recording.since(0)
        return ToolResult(
            status=ResultStatus.OK, output=f"{so_far}\n[{text}]" if so_far.strip() else text, data=begun()
        )

    async def _cut(self, child: Child, context: ToolContext, recording: Recording) -> None:
        """The call is cancelled: nothing of it goes on."""
        with anyio.CancelScope(shield=True):
            await self._end(child, context)
            await child.drain(_DRAIN)
        recording.finish()
        child.close()

    async def _end(self, child: Child, context: ToolContext) -> None:
        await self._processes.end(child.id, context.item_id, grace=GRACE)
        with anyio.move_on_after(GRACE):
            await child.wait()


def _title(given: ShellInput, *, outside: bool) -> str:
    where = " (outside the sandbox)" if outside else ""
    return f"$ {one_line(given.command)}{' (in the background)' if given.background else ''}{where}"


def _shown(given: ShellInput, cwd: str, looked: Looked, *, outside: bool) -> tuple[dict[str, Any], list[Any]]:
    """(the card, what decides what is run)."""
    changes: dict[str, str] = {}
    decides: list[Any] = [given.command, cwd, given.timeout, changes, *looked.decides]
    card = {"type": "command", "command": given.command, "cwd": cwd, "timeout": given.timeout, "environment": changes}
    card |= {"targets": looked.targets} if looked.targets else {}
    # For windows that draw the card: the command with what would not be seen shown by name.
    if said := warning(given.command):
        card |= {"shown": escaped(given.command), "warning": said}
    for name, is_so in (("background", given.background), ("outside", outside)):
        if is_so:
            decides.append(name)
            card[name] = True
    return card, decides


def _unusable(command: str) -> str | None:
    if not command.strip():
        return "the command is empty"
    if "\0" in command:
        return "the command holds a NUL"
    try:
        size = len(command.encode())
    except UnicodeEncodeError:
        return "the command holds half of a surrogate pair"
    if size > _LONGEST_COMMAND:
        return f"the command has {size:,} bytes, more than {_LONGEST_COMMAND:,}; write it to a file and run that"
    return None


def _folder(given: ShellInput, context: ToolContext) -> str | Invalid:
    """Where it runs: as asked, or where the last command ended, or the workspace when that is gone."""
    if given.cwd is not None:
        cwd = os.path.realpath(os.path.join(context.root, os.path.expanduser(given.cwd)))
        return cwd if os.path.isdir(cwd) else Invalid(f"there is no folder `{given.cwd}` to run in")
    for cwd in (context.cwd, context.root):
        if os.path.isdir(cwd):
            return os.path.realpath(cwd)
    return Invalid(f"the workspace's folder {context.root} is gone; name a `cwd` that exists")


def _moved(prepared: Prepared, context: ToolContext) -> list[str]:
    if prepared.input.get("cwd") is not None or os.path.isdir(context.cwd):
        return []
    return [f"the folder {context.cwd} is gone, so this ran in {prepared.card['cwd']}"]


def _status(code: int | None, *, timed_out: bool) -> ResultStatus:
    if timed_out:
        return ResultStatus.TIMEOUT
    return ResultStatus.OK if code == 0 else ResultStatus.ERROR
