"""One spelling of a BMC's address, wherever it is written."""

from __future__ import annotations

from ipaddress import ip_address


def bmc_address(text: str) -> str:
    """Without scheme, port and path, in lower case: ``https://[2001:DB8::1]:443/`` -> ``2001:db8::1``.

    Empty when nothing is written. A host name stays a host name.
    """
    bare = text.strip().lower()
    bare = (bare.partition("://")[2] or bare).partition("/")[0]
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        return str(ip_address(bare))
    except ValueError:
        return bare
