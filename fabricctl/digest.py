"""Digests of content: whether two things that were read are the same; no protection against an adversary."""

from __future__ import annotations

from hashlib import blake2b


def digest(data: bytes) -> str:
    """Of any bytes, 32 hexadecimal digits; a gigabyte a second."""
    return blake2b(data, digest_size=16).hexdigest()
