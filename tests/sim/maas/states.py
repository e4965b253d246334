"""Statuses of a machine, which follow which, and which actions each allows: MAAS 3.7.3."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """As ``status_name`` says it."""

    NEW = "New"
    COMMISSIONING = "Commissioning"
    FAILED_COMMISSIONING = "Failed commissioning"
    MISSING = "Missing"
    READY = "Ready"
    RESERVED = "Reserved"
    DEPLOYED = "Deployed"
    RETIRED = "Retired"
    BROKEN = "Broken"
    DEPLOYING = "Deploying"
    ALLOCATED = "Allocated"
    FAILED_DEPLOYMENT = "Failed deployment"
    RELEASING = "Releasing"
    FAILED_RELEASING = "Releasing failed"
    DISK_ERASING = "Disk erasing"
    FAILED_DISK_ERASING = "Failed disk erasing"
    RESCUE_MODE = "Rescue mode"
    ENTERING_RESCUE_MODE = "Entering rescue mode"
    FAILED_ENTERING_RESCUE_MODE = "Failed to enter rescue mode"
    EXITING_RESCUE_MODE = "Exiting rescue mode"
    FAILED_EXITING_RESCUE_MODE = "Failed to exit rescue mode"
    TESTING = "Testing"
    FAILED_TESTING = "Failed testing"

    @property
    def number(self) -> int:
        """As ``status`` says it: the order above, which is the order in which MAAS numbers them."""
        return _NUMBERS[self]

    @property
    def word(self) -> str:
        """As the filter ``status=`` says it."""
        return self.name.lower()


_NUMBERS = {one: number for number, one in enumerate(Status)}
S = Status
_RESCUE_ENDS = (S.RESCUE_MODE, S.FAILED_ENTERING_RESCUE_MODE, S.EXITING_RESCUE_MODE)
_USUAL = (S.BROKEN, S.ENTERING_RESCUE_MODE, S.MISSING, S.TESTING)

FIRST = frozenset((S.NEW, S.MISSING, S.RETIRED))
"""What a machine may begin as."""
TRANSITIONS: dict[Status, frozenset[Status]] = {
    S.NEW: frozenset((*_USUAL, S.COMMISSIONING, S.READY, S.RETIRED)),
    S.COMMISSIONING: frozenset(
        (S.FAILED_COMMISSIONING, S.READY, S.RETIRED, S.MISSING, S.NEW, S.BROKEN, S.TESTING)
    ),
    S.FAILED_COMMISSIONING: frozenset((*_USUAL, S.COMMISSIONING, S.RETIRED)),
    S.READY: frozenset((*_USUAL, S.COMMISSIONING, S.ALLOCATED, S.RESERVED, S.RETIRED)),
    S.RESERVED: frozenset((*_USUAL, S.READY, S.ALLOCATED, S.RETIRED, S.DISK_ERASING, S.RELEASING)),
    S.ALLOCATED: frozenset((*_USUAL, S.READY, S.RETIRED, S.DEPLOYING, S.DISK_ERASING, S.RELEASING)),
    S.RELEASING: frozenset(
        (
            S.NEW,
            S.ALLOCATED,
            S.RESERVED,
            S.DEPLOYED,
            S.READY,
            S.BROKEN,
            S.MISSING,
            S.FAILED_DEPLOYMENT,
            S.FAILED_DISK_ERASING,
            S.FAILED_RELEASING,
        )
    ),
    S.DEPLOYING: frozenset(
        (
            S.ALLOCATED,
            S.MISSING,
            S.BROKEN,
            S.FAILED_DEPLOYMENT,
            S.DEPLOYED,
            S.READY,
            S.DISK_ERASING,
            S.RELEASING,
        )
    ),
    S.FAILED_DEPLOYMENT: frozenset((*_USUAL, S.ALLOCATED, S.READY, S.DISK_ERASING, S.RELEASING)),
    S.DEPLOYED: frozenset((*_USUAL, S.ALLOCATED, S.READY, S.DISK_ERASING, S.RELEASING)),
    S.MISSING: frozenset(
        (S.NEW, S.READY, S.ALLOCATED, S.COMMISSIONING, S.BROKEN, S.ENTERING_RESCUE_MODE, S.TESTING)
    ),
    S.RETIRED: frozenset((*_USUAL, S.NEW, S.READY)),
    S.BROKEN: frozenset(
        (S.COMMISSIONING, S.READY, S.DISK_ERASING, S.RELEASING, S.ENTERING_RESCUE_MODE, S.TESTING, S.DEPLOYED)
    ),
    S.FAILED_RELEASING: frozenset((S.RELEASING, S.DISK_ERASING, S.READY, S.BROKEN, S.TESTING)),
    S.DISK_ERASING: frozenset((S.BROKEN, S.DISK_ERASING, S.FAILED_DISK_ERASING, S.READY, S.RELEASING)),
    S.FAILED_DISK_ERASING: frozenset(
        (S.DISK_ERASING, S.RELEASING, S.BROKEN, S.ALLOCATED, S.READY, S.ENTERING_RESCUE_MODE, S.TESTING)
    ),
    S.ENTERING_RESCUE_MODE: frozenset((S.READY, S.BROKEN, S.DEPLOYED, *_RESCUE_ENDS)),
    S.FAILED_ENTERING_RESCUE_MODE: frozenset(
        (S.BROKEN, S.ENTERING_RESCUE_MODE, S.EXITING_RESCUE_MODE, S.TESTING)
    ),
    S.RESCUE_MODE: frozenset((S.BROKEN, S.EXITING_RESCUE_MODE, S.TESTING)),
    S.EXITING_RESCUE_MODE: frozenset(
        (
            S.NEW,
            S.BROKEN,
            S.FAILED_COMMISSIONING,
            S.READY,
            S.RESERVED,
            S.ALLOCATED,
            S.FAILED_DEPLOYMENT,
            S.DEPLOYED,
            S.MISSING,
            S.RETIRED,
            S.FAILED_RELEASING,
            S.FAILED_DISK_ERASING,
            S.RESCUE_MODE,
            S.FAILED_ENTERING_RESCUE_MODE,
            S.FAILED_EXITING_RESCUE_MODE,
            S.FAILED_TESTING,
        )
    ),
    S.FAILED_EXITING_RESCUE_MODE: frozenset((S.BROKEN, S.EXITING_RESCUE_MODE, S.TESTING)),
    S.TESTING: frozenset(
        (
            S.BROKEN,
            S.NEW,
            S.READY,
            S.RESERVED,
            S.ALLOCATED,
            S.DEPLOYED,
            S.COMMISSIONING,
            S.MISSING,
            S.RETIRED,
            S.FAILED_DEPLOYMENT,
            S.FAILED_RELEASING,
            S.FAILED_DISK_ERASING,
            S.FAILED_ENTERING_RESCUE_MODE,
            S.FAILED_EXITING_RESCUE_MODE,
            S.FAILED_TESTING,
        )
    ),
    S.FAILED_TESTING: frozenset((*_USUAL, S.COMMISSIONING, S.READY, S.DEPLOYED)),
}
FAILURE: dict[Status, Status] = {
    S.COMMISSIONING: S.FAILED_COMMISSIONING,
    S.DEPLOYING: S.FAILED_DEPLOYMENT,
    S.RELEASING: S.FAILED_RELEASING,
    S.DISK_ERASING: S.FAILED_DISK_ERASING,
    S.ENTERING_RESCUE_MODE: S.FAILED_ENTERING_RESCUE_MODE,
    S.EXITING_RESCUE_MODE: S.FAILED_EXITING_RESCUE_MODE,
    S.TESTING: S.FAILED_TESTING,
}
"""What a status becomes when its work fails."""
MONITORED = frozenset(FAILURE) - {S.DISK_ERASING}
"""Statuses that MAAS ends by itself when they last too long."""
SHORT_TIMEOUT_MIN = {S.RELEASING: 5, S.EXITING_RESCUE_MODE: 5}
"""Minutes, where they are not ``node_timeout``."""

_FAILED = (S.FAILED_COMMISSIONING, S.FAILED_DEPLOYMENT, S.FAILED_DISK_ERASING, S.FAILED_TESTING)
_FAILED_RESCUE = (S.FAILED_ENTERING_RESCUE_MODE, S.FAILED_EXITING_RESCUE_MODE)
_IDLE = (S.ALLOCATED, S.BROKEN, S.DEPLOYED, *_FAILED, *_FAILED_RESCUE, S.MISSING, S.NEW, S.READY, S.RESERVED)
_STOPPABLE = frozenset((*_IDLE, S.RETIRED, S.FAILED_RELEASING, S.RESCUE_MODE))
ACTIONS: dict[str, frozenset[Status]] = {
    "commission": frozenset((S.BROKEN, S.FAILED_COMMISSIONING, S.NEW, S.READY)),
    "acquire": frozenset((S.READY,)),
    "deploy": frozenset((S.ALLOCATED, S.READY)),
    "on": frozenset((S.BROKEN, S.DEPLOYED, S.DEPLOYING)),
    "off": _STOPPABLE,
    "release": frozenset(
        (S.ALLOCATED, S.DEPLOYED, S.DEPLOYING, S.FAILED_DEPLOYMENT, S.FAILED_DISK_ERASING, S.FAILED_RELEASING)
    ),
    "abort": frozenset((S.COMMISSIONING, S.DEPLOYING, S.DISK_ERASING, S.TESTING)),
    "test": _STOPPABLE,
    "rescue-mode": frozenset((*_IDLE, S.RETIRED)),
    "exit-rescue-mode": frozenset((S.ENTERING_RESCUE_MODE, *_FAILED_RESCUE, S.RESCUE_MODE)),
    "mark-broken": frozenset(
        (
            S.ALLOCATED,
            S.COMMISSIONING,
            S.DEPLOYED,
            S.DEPLOYING,
            S.DISK_ERASING,
            *_FAILED,
            *_FAILED_RESCUE,
            S.NEW,
            S.READY,
            S.RELEASING,
            S.FAILED_RELEASING,
            S.TESTING,
        )
    ),
    "mark-fixed": frozenset((S.BROKEN,)),
    "override-failed-testing": frozenset((S.FAILED_TESTING,)),
    "lock": frozenset((S.DEPLOYED, S.DEPLOYING)),
}
"""Actions and the statuses in which they are offered; those offered in every status are left out."""


def timeout_minutes(status: Status, node_timeout: int) -> int:
    """After how many minutes MAAS gives a monitored status up."""
    return SHORT_TIMEOUT_MIN.get(status, node_timeout)
