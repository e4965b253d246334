"""The reason of a quarantine in a machine's description, where MAAS has no other place for it; other text is kept."""

from __future__ import annotations

MARK = "quarantined by fabricctl: "
"""A line of its own, the last one."""


def with_reason(description: str, reason: str) -> str:
    """A description with our line in it, once. :param reason: in one line."""
    return "\n".join([*_others(description), MARK + " ".join(reason.split())])


def without_reason(description: str) -> str:
    """A description without our line."""
    return "\n".join(_others(description))


def reason_in(description: str) -> str:
    """The reason our line tells; empty where there is none."""
    ours = [line for line in description.splitlines() if line.startswith(MARK)]
    return ours[-1].removeprefix(MARK).strip() if ours else ""


def _others(description: str) -> list[str]:
    return [line for line in description.splitlines() if not line.startswith(MARK)]
