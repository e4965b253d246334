"""What came of one host, whatever was asked for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Told(StrEnum):
    """What is known at the end."""

    OK = "ok"
    FINDING = "finding"
    UNKNOWN = "could not tell"


class End(StrEnum):
    """Where a node ended."""

    ENROLLED = "enrolled"
    KNOWN = "already enrolled"
    READY = "ready"
    DEPLOYED = "deployed"
    RELEASED = "released"
    REPLACED = "replaced"
    BEGUN = "begun"
    """It goes on in the provisioner, and nobody waited for it."""
    UNCHANGED = "nothing to do"
    QUARANTINED = "quarantined"
    FAILED = "failed, not in quarantine"
    """It failed, and the provisioner did not let it be taken out of the pool."""
    NOT_STARTED = "not started"
    REFUSED = "refused"
    INTERRUPTED = "interrupted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class NodeResult:
    """What came of one host.

    :param before: and ``after``: the provisioner's words for its state; :param reason: why it is not as wanted, the
        provisioner's own words in it. :param notes: what else is to be known.
    :param written: whether anything was sent for it; :param requests: calls for this host alone, as bulk reads are
        shared.
    """

    host: str
    outcome: Told
    end: End
    before: str = ""
    after: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()
    machine_id: str = ""
    seconds: float = 0.0
    requests: int = 0
    written: bool = False
