"""What a ledger does about blobs that nothing refers to any more.

Owns nothing. Whoever wants it asks `isinstance(ledger, Sweeps)`.
"""

from typing import Protocol, runtime_checkable


@runtime_checkable
class Sweeps(Protocol):
    async def sweep_blobs(self, grace_s: float) -> int:
        """Removes blobs that an earlier sweep found unused `grace_s` ago or longer and that are unused still; how many.

        A blob is there before the fact that refers to it, so being unused once is not enough; being put once more
        makes it used. Reads every event once, page by page.
        """
        ...
