"""What a command puts out, on its way to the disk, to those who watch and to the model; and how an end is said.

Owns that all three are fed from one stream and that the rest of a long output is kept as a blob. Bytes become text in
core.output, the copy that survives a crash is shell_spool's.
"""

import signal
from typing import Any, Final

import anyio

from agent_ls.adapters.tools import shell_spool
from agent_ls.core.items import ResultStatus, ToolResult
from agent_ls.core.output import Folder, Live, Ring, text_of
from agent_ls.ports.tools import ToolContext

_LIVE_BURST: Final = 64 * 1024
_LIVE_PER_SECOND: Final = 16 * 1024


class Recording:
    """One command's output on its way to the disk, to those who watch, and to the model."""

    def __init__(self, context: ToolContext, *, spooled: bool = True) -> None:
        self._context = context
        self._folder = Folder()
        self._ring = Ring()
        self._live = Live(burst=_LIVE_BURST, per_second=_LIVE_PER_SECOND) if spooled else None
        self._spool = shell_spool.Spool(context.spool, context.item_id) if spooled else None
        self._for_disk = context.masking.of_bytes()
        self._for_eyes = context.masking.of_text()
        self._size = 0

    @property
    def size(self) -> int:
        """Bytes so far, as they are kept."""
        return self._size

    @property
    def spool(self) -> shell_spool.Spool:
        assert self._spool is not None
        return self._spool

    def detach(self) -> None:
        """Its call is over: nobody watches it as it comes any more."""
        self._live = None

    def since(self, offset: int) -> str:
        """What came after so many bytes, bounded like a result: both ends of it where it is long."""
        if offset >= self._size:
            return ""
        raw = self.spool.whole()[offset:] if offset else b""
        if not raw:
            said = self._ring.text() if not offset else self._ring.end()
            return self._context.masking.text(said + text_of(self._folder.unfinished()))
        folder, ring = Folder(), Ring()
        ring.feed(folder.feed(raw))
        ring.feed(folder.finish())
        return ring.text()

    def last(self) -> str:
        """As much of the end as a screen shows."""
        return self._context.masking.text(self._ring.end())

    def feed(self, data: bytes) -> None:
        if self._spool is not None:
            # What is past the limit is not kept, and a flood need not be looked through.
            kept = self._for_disk.feed(data) if self._size < shell_spool.LIMIT else data
            self._size += len(kept)
            self._spool.write(kept)
        final = self._folder.feed(data)
        self._ring.feed(final)
        if self._live is not None:
            self._emit(self._live.feed(final, self._folder.unfinished(), anyio.current_time()))

    def finish(self) -> None:
        if self._spool is not None:
            rest = self._for_disk.finish()
            self._size += len(rest)
            self._spool.write(rest)
        final = self._folder.finish()
        self._ring.feed(final)
        if self._live is not None:
            self._emit(self._live.finish(final, self._ring.end()))
            self._emit(self._for_eyes.finish(), masked=True)

    async def result(
        self,
        status: ResultStatus,
        said: list[str],
        *,
        exit_code: int | None = None,
        data: dict[str, Any] | None = None,
        raw: bytes | None = None,
    ) -> ToolResult:
        blob = None
        text = self._context.masking.text(self._ring.text())
        if self._ring.cut:
            whole = raw if raw is not None else self.spool.whole()
            blob = await self._context.keep(whole) if whole else None
        notes = "\n".join(f"[{line}]" for line in said if line)
        if text and notes and not text.endswith("\n"):
            text += "\n"
        return ToolResult(status=status, output=text + notes, exit_code=exit_code, blob=blob, data=data)

    def close(self) -> None:
        if self._spool is not None:
            self._spool.close()

    def _emit(self, text: str, *, masked: bool = False) -> None:
        shown = text if masked else self._for_eyes.feed(text)
        if shown:
            self._context.emit(shown)


def exit_code(code: int | None) -> int | None:
    """As a shell would say it: 128 and the signal."""
    return 128 - code if code is not None and code < 0 else code


def how_it_ended(code: int | None, limit: int | None) -> str:
    if limit is not None:
        return f"its time of {limit} s was up, so it was ended with all it had started"
    if code is None:
        return "it could not be ended"
    if code < 0:
        return f"ended by signal {-code} ({_signal_name(-code)})"
    if code > 128 and _signal_name(code - 128):
        return f"exit code {code}, as when a command is ended by {_signal_name(code - 128)}"
    return f"exit code {code}" if code else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""
