"""TLS contexts as BMCs need them. The standard library alone: the reaper of sessions uses it, too."""

from __future__ import annotations

import ssl
import warnings

_FLOORS = {
    "1.0": ssl.TLSVersion.TLSv1,
    "1.1": ssl.TLSVersion.TLSv1_1,
    "1.2": ssl.TLSVersion.TLSv1_2,
    "1.3": ssl.TLSVersion.TLSv1_3,
}
_LEGACY_SERVER_CONNECT = 0x4
"""SSL_OP_LEGACY_SERVER_CONNECT; Python names it from 3.12 on."""


def context_of(ca_file: str, floor: str) -> ssl.SSLContext:
    """A context that trusts these authorities; without a file whomever, as pins are compared by who uses it.

    :param floor: oldest version spoken. :raises OSError: the file of authorities cannot be read.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_file:
        context.load_verify_locations(cafile=ca_file)
    else:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    with warnings.catch_warnings():
        # TLS 1.0 and 1.1 only where the site file says so: iDRAC7/8 with old firmware end the handshake otherwise
        # (https://github.com/dell/iDRAC-Redfish-Scripting/issues/18)
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = _FLOORS[floor]
    if floor in ("1.0", "1.1"):
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        context.options |= _LEGACY_SERVER_CONNECT
    return context
