"""OAuth 1 with PLAINTEXT signatures, as MAAS checks it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from urllib.parse import unquote

from tests.sim.maas.call import Answer

_PAIR = re.compile(r'([a-zA-Z_]+)="([^"]*)"')
_NEEDED = ("consumer_key", "token", "signature", "signature_method", "timestamp", "nonce")
THRESHOLD_S = 300
"""How far a client's clock may be off (LP#978127)."""


@dataclass(frozen=True)
class ApiKey:
    """Consumer key, token key and token secret; the consumer's secret is empty."""

    consumer: str
    token: str
    secret: str

    @classmethod
    def parse(cls, text: str) -> ApiKey:
        """Of ``CK:TK:TS``."""
        consumer, token, secret = text.split(":")
        return cls(consumer, token, secret)

    def __str__(self) -> str:
        return f"{self.consumer}:{self.token}:{self.secret}"


class Login(Enum):
    """Who asks."""

    NOBODY = "no key was sent"
    KNOWN = "a valid key"
    WRONG = "a wrong key"


def check(header: str, key: ApiKey, now_s: float) -> tuple[Login, str]:
    """Judge an ``Authorization`` header; one that lacks a parameter counts as none (as piston does).

    :param now_s: the server's clock. :returns: who asks, and what is wrong with a key.
    """
    said = parameters(header)
    if any(name not in said for name in _NEEDED):
        return Login.NOBODY, ""
    same = (said["consumer_key"], said["token"]) == (key.consumer, key.token)
    if not same or said["signature_method"] != "PLAINTEXT" or said["signature"] != f"&{key.secret}":
        return Login.WRONG, "Invalid API key."
    given = int(said["timestamp"]) if said["timestamp"].isdigit() else 0
    if abs(now_s - given) > THRESHOLD_S:
        off = f"given {given} and now {int(now_s)} has a greater difference than threshold {THRESHOLD_S}"
        return Login.WRONG, repr(f"Expired timestamp: {off}")
    return Login.KNOWN, ""


def parameters(header: str) -> dict[str, str]:
    """The ``oauth_`` parameters of a header, without that prefix, decoded."""
    kind, _, rest = header.partition(" ")
    if kind.lower() != "oauth":
        return {}
    return {name.removeprefix("oauth_"): unquote(value) for name, value in _PAIR.findall(rest)}


def wrong_key(problem: str) -> Answer:
    """401. :param problem: in words."""
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "WWW-Authenticate": 'OAuth realm="OAuth"',
        "Vary": "Cookie",
    }
    return Answer(401, f"Authorization Error: {problem}".encode(), headers)


def forbidden() -> Answer:
    """401 of a resource that serves nobody it does not know."""
    return Answer(401, b"Forbidden", {"Content-Type": "text/plain", "Vary": "Authorization, Cookie"})
