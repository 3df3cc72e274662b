"""The entry point of `agent-ls` and `python -m agent_ls`.

Owns which room answers, and imports that room only: `connect` is in every editor's start and must be there in an
instant. Does not own what a verb does.
"""

import gc
import os
import sys


def main() -> int:
    """Run one verb; the result is the exit code."""
    arguments = sys.argv[1:]
    if os.name == "nt":
        print("agent-ls: native Windows is not supported yet. Run it inside WSL.", file=sys.stderr)
        return 1
    # Editors add flags of their own (`--stdio`, `--clientProcessId=…`): they change nothing here.
    if arguments[:1] == ["connect"] and not {"-h", "--help"} & set(arguments):
        from agent_ls.bridge.pump import main as connect
        from agent_ls.version import __version__

        return connect(__version__)
    if arguments in (["--version"], ["-V"]):
        from agent_ls.version import __version__

        print(f"agent-ls {__version__}")
        return 0
    if arguments[:1] == ["daemon"]:
        # What is loaded at the start stays: looking for garbage in it meanwhile is an eighth of the time that it takes.
        gc.disable()
        # Loading all verbs to find this one takes a tenth of a start. What a successor is told stays with the verb.
        if set(arguments[1:]) <= {"--foreground"}:
            from agent_ls.daemon.lifecycle import run as serve

            return serve(foreground="--foreground" in arguments)
    from agent_ls.cli.main import main as run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
