"""Stable ids of findings: what and where, never when."""

from __future__ import annotations

from hashlib import blake2b

from fabricctl.cabling.model import Finding, FindingKind

_WHOLE_FABRIC = frozenset({FindingKind.SPLIT_FABRIC, FindingKind.BAD_LINK_SHARE})
"""Kinds whose subject is a figure that changes from run to run: there is one of them per fabric."""


def finding_id(finding: Finding) -> str:
    """``F-`` and ten hexadecimal digits of kind and subject; the same for the same fault in every run."""
    where = "" if finding.kind in _WHOLE_FABRIC else finding.subject
    return "F-" + blake2b(f"{finding.kind}|{where}".encode("utf-8", "replace"), digest_size=5).hexdigest()
