"""Which microversion of Ironic's API is spoken."""

from __future__ import annotations

import re
from typing import Any

from fabricctl.errors import ProvisionerGarbledError, ProvisionerUnsupportedError

Version = tuple[int, int]
LEAST: Version = (1, 78)
"""History of nodes: without it, why a deployment failed is often told nowhere."""
INVENTORY: Version = (1, 81)
"""From here on, what inspection found can be read."""
NEWEST: Version = INVENTORY
"""The newest one this driver knows; a newer Ironic still speaks it."""


def parse(text: Any) -> Version | None:
    """``"1.81"`` as numbers; None when it is none."""
    found = re.fullmatch(r"(\d{1,4})\.(\d{1,4})", text) if isinstance(text, str) else None
    return (int(found[1]), int(found[2])) if found else None


def written(version: Version) -> str:
    """As it goes into the header."""
    return f"{version[0]}.{version[1]}"


def agreed(root: Any) -> Version:
    """The newest version both speak, by what ``GET /`` says.

    :raises ProvisionerUnsupportedError: there is none; :raises ProvisionerGarbledError: this is no Ironic.
    """
    told = root.get("default_version") if isinstance(root, dict) else None
    low, high = (
        parse(told.get(name)) if isinstance(told, dict) else None for name in ("min_version", "version")
    )
    if low is None or high is None:
        raise ProvisionerGarbledError(
            "expected Ironic's list of API versions, found something else", hint="check ironic.url"
        )
    both = min(NEWEST, high)
    if both < LEAST or low > NEWEST:
        raise ProvisionerUnsupportedError(
            f"this Ironic speaks API versions {written(low)} to {written(high)}; "
            f"{written(LEAST)} to {written(NEWEST)} are known here"
        )
    return both
