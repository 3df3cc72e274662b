"""Which blobs a stored entity names, read from its JSON.

Owns the two ways to look: what an entity certainly refers to, and anything that could be a digest. Does not own blobs.
"""

import re
from collections.abc import Iterable
from typing import Final

_NAMED: Final = re.compile(
    rb'"(?:blob|full|inputBlob|input_blob|originalBlob)":\s*"([0-9a-f]{64})"|"blob:([0-9a-f]{64})"'
)
_DIGEST: Final = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


def named(entity: bytes) -> Iterable[str]:
    """Digests under the names that are references to blobs."""
    return [(match[1] or match[2]).decode() for match in _NAMED.finditer(entity)]


def possible(entity: bytes) -> Iterable[str]:
    """Everything that could be the digest of a blob: enough to keep it, whatever a newer version calls it."""
    return [match[0].decode() for match in _DIGEST.finditer(entity)]
