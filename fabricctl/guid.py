"""GUIDs: one canonical form, ``0x`` and 16 lower-case hexadecimal digits."""

from __future__ import annotations

import re
from typing import NewType

Guid = NewType("Guid", str)
"""A GUID in its canonical form: only :func:`parse_guid` and what works on GUIDs make one."""
_GUID = re.compile(r"(?:0[xX])?([0-9a-fA-F]{1,16})\Z")
_GROUPED = re.compile(r"[0-9a-fA-F]{2}(?:[:-][0-9a-fA-F]{2}){7}\Z|[0-9a-fA-F]{4}(?:[:.][0-9a-fA-F]{4}){3}\Z")


def parse_guid(text: str) -> Guid | None:
    """Return the canonical form of any common spelling, None when it is not a GUID.

    Accepted: ``0x9c0591030a000500``, the same without ``0x`` or leading zeros (ibnetdiscover prints port
    GUIDs so), and groups of two or four digits joined by ``:``, ``-`` or ``.``.
    """
    text = text.strip()
    if _GROUPED.match(text):
        return Guid("0x" + re.sub(r"[:.-]", "", text).lower())
    match = _GUID.match(text)
    return Guid(f"0x{match[1].lower():0>16}") if match else None
