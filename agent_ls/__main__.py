"""The entry point of `agent-ls` and `python -m agent_ls`.

Owns which room answers a verb, and imports that room only. Does not own what a verb does.
"""

import sys


def main() -> int:
    """Run one verb; the result is the exit code."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        from agent_ls.version import __version__

        print(f"agent-ls {__version__}")
        return 0
    print("agent-ls: no such command. Try `agent-ls --version`.", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
