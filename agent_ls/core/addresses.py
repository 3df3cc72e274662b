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


def plain_host(host: str) -> str:
    """One spelling of a name: lower case, without a dot at its end."""
    return host.lower().rstrip(".")


def private_kind(address: str) -> str | None:
    """What a numeric address is, if it does not lie on the public internet: nobody is sent there unasked.

    An address inside another one counts as what it stands for. What is no address counts as private.
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "not an address"
    inner = _inside(found) if isinstance(found, ipaddress.IPv6Address) else None
    if inner is not None:
        return private_kind(str(inner))
    kinds = {
        "this machine": found.is_loopback or found.is_unspecified,
        "a link-local address": found.is_link_local,
        "a multicast address": found.is_multicast,
    }
    named = next((kind for kind, is_so in kinds.items() if is_so), None)
    return named or (None if found.is_global and not found.is_reserved else "a private address")


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def _inside(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF) if address in _NAT64 else None
