"""How MAAS is reached, and the API key."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote

from fabricctl.errors import ProvisionerLoginError
from provision.bmc.secret import Secret

API = "api/2.0/"
_PART = re.compile(r"[\x21-\x39\x3b-\x7e]+\Z")


@dataclass(frozen=True)
class MaasSettings:
    """How MAAS is reached. :param url: ``http(s)://HOST[:PORT]/MAAS``; :param key: ``CONSUMER:TOKEN:SECRET``.

    :param ca_file: PEM file of authorities; empty means the system's.
    :param requests: under way at once; :param answer_s: seconds one answer may take, a large one longer.
    """

    url: str
    key: Secret = field(repr=False)
    ca_file: str = ""
    requests: int = 8
    answer_s: float = 90.0

    @property
    def api(self) -> str:
        """Address of the API, with a slash at its end."""
        base = self.url.rstrip("/")
        return f"{base}/" if base.endswith("/api/2.0") else f"{base}/{API}"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The three parts of an API key, as ``maas apikey`` prints them joined by colons."""

    consumer: str
    token: str
    secret: Secret


def api_key(key: Secret) -> ApiKey:
    """The parts of a key. :raises ProvisionerLoginError: it is none; its text is not shown."""
    parts = key.reveal().strip().split(":")
    if len(parts) != 3 or not all(_PART.match(part) for part in parts):
        raise ProvisionerLoginError(
            f"expected an API key of three parts joined by colons, found {len(parts) if key else 0}",
            hint="maas apikey --username USER prints it on MAAS's own host",
        )
    return ApiKey(parts[0], parts[1], Secret(parts[2]))


def authorization(key: ApiKey, clock: Callable[[], float], nonce: Callable[[], str]) -> str:
    """The OAuth 1.0 header with the signature method PLAINTEXT (RFC 5849, 3.4.4), which MAAS asks for.

    :param clock: seconds since 1970; MAAS refuses a time far from its own. :param nonce: never twice the same.
    """
    fields = {
        "oauth_version": "1.0",
        "oauth_signature_method": "PLAINTEXT",
        "oauth_consumer_key": key.consumer,
        "oauth_token": key.token,
        "oauth_signature": f"&{quote(key.secret.reveal(), safe='~')}",
        "oauth_nonce": nonce(),
        "oauth_timestamp": str(int(clock())),
    }
    return "OAuth " + ", ".join(f'{name}="{quote(value, safe="~")}"' for name, value in fields.items())
