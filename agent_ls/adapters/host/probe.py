"""Local model servers: which of them answer on loopback, and with which models.

Owns asking them within a short time. Does not own their addresses (config.providers), nor talking to them later.
Blocking: an event loop calls it in a thread.
"""

import http.client
import json
import socket
from collections.abc import Mapping, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

LIMIT_S: Final = 0.5
LARGEST_ANSWER: Final = 256 * 1024

Answer = tuple[str, tuple[str, ...] | None]


def local_models(base_urls: Sequence[str], limit_s: float = LIMIT_S) -> Mapping[str, tuple[str, ...]]:
    """Base URL -> models of each that answered as an OpenAI-compatible server does. All are asked at once."""
    answers: SimpleQueue[Answer] = SimpleQueue()
    for base_url in base_urls:
        # A daemon thread: whoever drips bytes for minutes keeps neither the caller nor the process.
        Thread(target=_ask, args=(base_url, limit_s, answers), daemon=True, name="probe").start()
    deadline = monotonic() + limit_s
    found: dict[str, tuple[str, ...]] = {}
    for _ in base_urls:
        try:
            base_url, models = answers.get(timeout=max(0.0, deadline - monotonic()))
        except Empty:
            break
        if models is not None:
            found[base_url] = models
    return {base_url: found[base_url] for base_url in base_urls if base_url in found}


def listening(base_urls: Sequence[str], limit_s: float = LIMIT_S) -> frozenset[str]:
    """Those where something takes connections, whatever it is; for addresses on loopback, which answer at once."""
    return frozenset(base_url for base_url in base_urls if _connects(base_url, limit_s))


def _connects(base_url: str, limit_s: float) -> bool:
    parts = urlsplit(base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), limit_s).close()
    except OSError:
        return False
    return True


def _ask(base_url: str, limit_s: float, answers: SimpleQueue[Answer]) -> None:
    parts = urlsplit(base_url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=limit_s)
    try:
        connection.request("GET", f"{parts.path}/models", headers={"Accept": "application/json"})
        response = connection.getresponse()
        content = response.read(LARGEST_ANSWER) if response.status == http.HTTPStatus.OK else b""
        answers.put((base_url, _names(content)))
    except (OSError, http.client.HTTPException):
        answers.put((base_url, None))
    finally:
        connection.close()


def _names(content: bytes) -> tuple[str, ...] | None:
    """None where something else listens on that port."""
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        return None
    listed = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        return None
    names = [entry.get("id") for entry in listed if isinstance(entry, dict)]
    return tuple(name for name in names if isinstance(name, str) and name.isprintable())
