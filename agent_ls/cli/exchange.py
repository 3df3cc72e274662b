"""`export`, `import`: a conversation written out, and taken over from a file.

Owns how what was lost of a file is told. Does not own what a file holds, nor what can be read of it: the daemon does
both, since it alone writes.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from agent_ls import paths
from agent_ls.cli.client import Client, ClientError
from agent_ls.cli.places import command_id
from agent_ls.cli.terminal import aside, prose, put, put_json
from agent_ls.cli.usage import Verbs
from agent_ls.cli.which import WHICH, named_or_newest, this_folder

Json = dict[str, Any]
LONG_S: Final = 600.0
TOLD: Final = 20


def register(verbs: Verbs) -> None:
    export = verbs.add("export", run_export, "a conversation as Markdown, or its events as JSON lines")
    export.add_argument("id", nargs="?", metavar="ID", help=WHICH)
    export.add_argument("--format", choices=["markdown", "jsonl"], default="markdown")
    taken = verbs.add("import", run_import, "take over a conversation from a file of JSON lines")
    taken.add_argument(
        "file", metavar="FILE", help="what `export ID --format jsonl` has printed; `-` is standard input"
    )
    taken.add_argument("--json", action="store_true")


def run_export(options: argparse.Namespace) -> int:
    with Client.connect(start=True) as client:
        params = {"conversationId": named_or_newest(client, options.id), "format": options.format}
        exported: Json = client.call("agent/conversation/export", params, timeout=LONG_S)
    # As it is in the ledger: some bytes of a torn name are no characters.
    out = sys.stdout.buffer
    if exported.get("text") is not None:
        out.write(exported["text"].encode("utf-8", "replace"))
    else:
        try:
            with open(exported["path"], "rb") as file:
                shutil.copyfileobj(file, out)
        finally:
            with suppress(OSError):
                os.unlink(exported["path"])
    out.flush()
    return 0


def run_import(options: argparse.Namespace) -> int:
    """0 if something was taken over, however much was lost on the way: that is said."""
    with _file(options.file) as path, Client.connect(start=True) as client:
        params = {"commandId": command_id(), "path": path, "workspace": this_folder()}
        done: Json = client.call("agent/conversation/import", params, timeout=LONG_S)
    if options.json:
        put_json(done)
        return 0
    for gap in done["gaps"][:TOLD]:
        aside(f"line {gap['line']}: {gap['what']}")
    if done["gapCount"] > TOLD:
        aside(f"… and {done['gapCount'] - TOLD:,} more; --json lists them.")
    put("\n".join(prose(line) for line in _told(done)))
    return 0


def _told(done: Json) -> Iterator[str]:
    known = done["conversation"]["id"]
    if done["existed"]:
        yield f"This file was imported before, as {known}; nothing was added."
    else:
        whole = "whole" if not done["gapCount"] else f"with {_many(done['gapCount'], 'gap')}"
        blobs = f" and {_many(done['blobs'], 'attachment')}" if done["blobs"] else ""
        yield f"Imported as {known}, {whole}: {_many(done['events'], 'event')}{blobs}."
    if done["interrupted"]:
        yield f"{_many(done['interrupted'], 'run')} had not ended and will not be gone on with."


def _many(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


@contextmanager
def _file(given: str) -> Iterator[str]:
    """An absolute path for the daemon; what comes on standard input is written down first."""
    if given != "-":
        yield os.path.abspath(given)
        return
    try:
        folder = paths.private_directory(paths.state_dir())
        with tempfile.NamedTemporaryFile(prefix="import-", suffix=".jsonl", dir=folder) as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
            file.flush()
            yield file.name
    except (OSError, paths.UnsafePath) as error:
        raise ClientError("invalid_params", f"Standard input cannot be kept: {error}") from None
