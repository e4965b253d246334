"""Ethernet addresses: one canonical form, six pairs of lower-case digits joined by colons."""

from __future__ import annotations

import re

_PAIRS = re.compile(r"[0-9a-f]{2}(?:([:-])[0-9a-f]{2})(?:\1[0-9a-f]{2}){4}\Z")
_DOTTED = re.compile(r"[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}\Z")
_BARE = re.compile(r"[0-9a-f]{12}\Z")


def parse_mac(text: str) -> str | None:
    """Return the canonical form (``0c:42:a1:00:12:ef``) of a 48-bit address, None when it is none.

    Accepted, in upper or lower case: pairs joined by ``:`` or ``-`` (IEEE 802-2014, 8.1), three groups of four
    joined by ``.`` (switch operating systems), and twelve digits without separators (Redfish, labels).
    """
    text = text.strip().lower()
    if not any(pattern.match(text) for pattern in (_PAIRS, _DOTTED, _BARE)):
        return None
    digits = re.sub(r"[:.-]", "", text)
    return ":".join(digits[at : at + 2] for at in range(0, 12, 2))
