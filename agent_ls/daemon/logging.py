"""The daemon's log: one line a record, rotated, without keys.

Owns file, format and masking. Does not own what is worth a line; nothing is logged for single tokens. Records name
things (`extra={"conversation": id}` becomes ` conversation=…`) and carry no payloads.
"""

import json
import logging
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from typing import Any, Final

from agent_ls import paths
from agent_ls.config.secret import mask
from agent_ls.core.masking import secret_values

LARGEST_FILE: Final = 5 * 1024 * 1024
OLD_FILES: Final = 3
LEVEL_VARIABLE: Final = "AGENT_LS_LOG"
LEVELS: Final[Mapping[str, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
NOT_OURS: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def start(environ: Mapping[str, str] = os.environ, secret_names: Iterable[str] = ()) -> str | None:
    """Logs from here on into the state directory. Gives a sentence if only standard error could be had.

    Can be called again when the settings were read anew; the earlier file is closed.
    """
    named = [environ[name].strip() for name in secret_names if environ.get(name, "").strip()]
    secrets = [*named, *secret_values(environ)]
    handler, trouble = _handler(environ)
    handler.setFormatter(LineFormatter(secrets))
    stop()
    root = logging.getLogger()
    root.addHandler(handler)
    # Libraries name addresses and bodies at info; only their warnings are kept.
    root.setLevel(logging.WARNING)
    wanted = environ.get(LEVEL_VARIABLE, "").strip().lower()
    ours = logging.getLogger("agent_ls")
    ours.setLevel(LEVELS.get(wanted, logging.INFO))
    if wanted and wanted not in LEVELS:
        ours.warning("%s should be one of %s; info is used", LEVEL_VARIABLE, ", ".join(LEVELS))
    return trouble


def started() -> bool:
    return bool(_ours())


def stop() -> None:
    """Closes what `start` opened."""
    for handler in _ours():
        logging.getLogger().removeHandler(handler)
        with suppress(OSError):  # what a full disk did not take is given up
            handler.close()


class LineFormatter(logging.Formatter):
    """`2026-01-31T12:00:00.000Z INFO agent_ls.daemon.listener listening socket=/run/…`"""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        # The longest first: one key may be the beginning of another.
        self._secrets = tuple(sorted(set(secrets), key=len, reverse=True))

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        message = self._clean(record.getMessage())
        given = ((key, value) for key, value in vars(record).items() if key not in NOT_OURS)
        named = "".join(f" {key}={self._value(value)}" for key, value in given)
        error = f" error={_quoted(self._clean(self.formatException(record.exc_info)))}" if record.exc_info else ""
        return f"{at.replace('+00:00', 'Z')} {record.levelname} {record.name} {_one_line(message)}{named}{error}"

    def _clean(self, text: str) -> str:
        return mask(text, self._secrets)

    def _value(self, value: Any) -> str:
        if isinstance(value, int | float):
            return str(value)
        text = self._clean(str(value))
        return text if text and text.isprintable() and not set(text) & set(" \"'=\\") else _quoted(text)


class QuietFileHandler(RotatingFileHandler):
    """For the person alone; a full disk loses log lines and nothing else."""

    def _open(self) -> TextIOWrapper:
        file = open(  # noqa: SIM115 - the handler closes it
            self.baseFilename, self.mode, encoding=self.encoding, errors=self.errors, opener=_private
        )
        assert isinstance(file, TextIOWrapper)
        return file

    def handleError(self, record: logging.LogRecord) -> None:
        pass


def _ours() -> list[logging.Handler]:
    return [each for each in logging.getLogger().handlers if isinstance(each.formatter, LineFormatter)]


def _handler(environ: Mapping[str, str]) -> tuple[logging.Handler, str | None]:
    path = paths.log_path(environ)
    try:
        paths.private_directory(os.path.dirname(path))
        handler = QuietFileHandler(
            path, maxBytes=LARGEST_FILE, backupCount=OLD_FILES, encoding="utf-8", errors="backslashreplace"
        )
    except paths.UnsafePath as error:
        return logging.StreamHandler(sys.stderr), f"Log lines go to standard error. {error}"
    except OSError as error:
        sentence = f"Log lines go to standard error, as {path} cannot be written ({error.strerror})."
        return logging.StreamHandler(sys.stderr), sentence
    return handler, None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def _one_line(text: str) -> str:
    return text if text.isprintable() else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
