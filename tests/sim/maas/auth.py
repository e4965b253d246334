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


def check(header: str, key: ApiKey, now_s: float) -> Login:
    """Judge an ``Authorization`` header; one that lacks a parameter counts as none (as piston does)."""
    said = parameters(header)
    if any(name not in said for name in _NEEDED):
        return Login.NOBODY
    same = (said["consumer_key"], said["token"]) == (key.consumer, key.token)
    if not same or said["signature_method"] != "PLAINTEXT" or said["signature"] != f"&{key.secret}":
        return Login.WRONG
    if not said["timestamp"].isdigit() or abs(now_s - int(said["timestamp"])) > THRESHOLD_S:
        return Login.WRONG
    return Login.KNOWN


def parameters(header: str) -> dict[str, str]:
    """The ``oauth_`` parameters of a header, without that prefix, decoded."""
    kind, _, rest = header.partition(" ")
    if kind.lower() != "oauth":
        return {}
    return {name.removeprefix("oauth_"): unquote(value) for name, value in _PAIR.findall(rest)}


def wrong_key() -> Answer:
    """401."""
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "WWW-Authenticate": 'OAuth realm="OAuth"',
        "Vary": "Cookie",
    }
    return Answer(401, b"Authorization Error: Invalid API key.", headers)
