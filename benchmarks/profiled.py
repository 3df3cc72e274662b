"""The daemon with a profiler in its main thread: `python -m benchmarks.profiled OUT`, environment as for any daemon.

SIGUSR1 starts it, SIGUSR2 stops it and writes OUT. Costs about as much time again as what it measures, so its numbers
are shares, not times.
"""

import cProfile
import signal
import sys
from time import thread_time

from agent_ls.daemon.lifecycle import run


def main() -> int:
    # The thread's own time: what else the machine does, and waiting, is not ours.
    profiler = cProfile.Profile(thread_time)

    def stop(*_: object) -> None:
        profiler.disable()
        profiler.dump_stats(sys.argv[1])

    signal.signal(signal.SIGUSR1, lambda *_: profiler.enable())
    signal.signal(signal.SIGUSR2, stop)
    return run(foreground=False)


if __name__ == "__main__":
    sys.exit(main())
