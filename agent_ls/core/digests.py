"""The digest that binds an answer to what was shown: whoever allows a call allows exactly what its digest covers.

Owns how parts become one digest. Which parts decide what runs is for each tool to say.
"""

import json
from hashlib import sha256
from typing import Any


def digest_of(**parts: Any) -> str:
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return sha256(text.encode("ascii")).hexdigest()
