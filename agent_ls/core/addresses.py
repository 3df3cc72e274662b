"""Addresses of servers, as text: their host, and whether that is this machine.

Owns the one answer for all who ask: whose key may travel unencrypted, who is given time to load a model, whom no proxy
stands before. Asks no name server: a name that only happens to lead here is a name like any other.
"""

import ipaddress
from urllib.parse import urlsplit


def host_of(url: str) -> str:
    """Empty for an address that is none: what is wrong with it is told when it is used."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_loopback(url: str) -> bool:
    host = host_of(url)
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
