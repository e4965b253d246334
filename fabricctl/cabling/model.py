"""The words of the verdict: classes of planned links, kinds of findings, and what a finding carries."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from fabricctl.discovery.names import name_key
from fabricctl.fabric import Link, Port, PortState
from fabricctl.rates import Rate

Spot = tuple[str, *tuple[int, ...]]
"""Device key (see ``End.key``) and ``End.normal``: ``("leaf1", 27)``, of a second half ``("leaf1", 27, 2)``."""


class LinkClass(StrEnum):
    """What became of a planned link; each gets exactly one, the first that applies."""

    OK = "ok"
    DEGRADED = "degraded"
    SWAPPED = "swapped"
    MISWIRED = "miswired"
    MISSING = "missing"
    NOT_JUDGED = "not_judged"


BAD = (LinkClass.MISWIRED, LinkClass.SWAPPED, LinkClass.MISSING, LinkClass.DEGRADED)
"""Classes that count against the bad-link gate, worst first."""

WRONG = (LinkClass.SWAPPED, LinkClass.MISWIRED, LinkClass.MISSING)
"""Classes of planned links whose two ports are not joined."""


class FindingKind(StrEnum):
    """Kinds of findings, worst first: this is the order of the report."""

    SPLIT_FABRIC = "split_fabric"
    BAD_LINK_SHARE = "bad_link_share"
    DUPLICATE_GUID = "duplicate_guid"
    DUPLICATE_NAME = "duplicate_name"
    IDENTITY = "identity"
    INACTIVE = "inactive"
    SUBNET_MANAGER = "subnet_manager"
    ABSENT_DEVICE = "absent_device"
    SWAPPED = "swapped"
    MISWIRED = "miswired"
    MISSING = "missing"
    CABLE_TYPE = "cable_type"
    RESERVED_PORT = "reserved_port"
    SELF_LOOP = "self_loop"
    UNEXPECTED = "unexpected"
    DEGRADED = "degraded"
    RAIL = "rail"
    CARD_SLOT = "card_slot"
    BUNDLE_GAP = "bundle_gap"
    REPLACED_PART = "replaced_part"
    OUTSIDE_PLAN = "outside_plan"
    UNKNOWN_DEVICE = "unknown_device"


@dataclass(frozen=True, slots=True)
class Judged:
    """A planned link that is not ok.

    Ports named ``seen_*`` are in the discovery's keys, those of ``link`` in the plan's.

    :param seen_a: the discovered port that is planned end a, None when its device is unseen.
    :param found_a: what is cabled there instead, None when nothing is.
    :param state_a: why that port carries nothing, None when it carries a cable or is unseen.
    :param partner: of a swapped link, the other one.
    :param absent: plan key of the absent device it is folded under.
    :param excused: why it does not count (planned maintenance), empty otherwise.
    :param reason: of degraded and not judged: what the expectation rests on, or why nothing can be said.
    """

    link: Link
    cls: LinkClass
    seen_a: Port | None = None
    seen_b: Port | None = None
    found_a: Port | None = None
    found_b: Port | None = None
    state_a: PortState | None = None
    state_b: PortState | None = None
    rate: Rate | None = None
    expected_rate: Rate | None = None
    partner: Link | None = None
    absent: str | None = None
    excused: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """One end of a cable as people read it.

    :param device: ``ibl-p01-r1`` or ``gpu001 mlx5_3``; :param port: InfiniBand port number that the device shows:
        for people. The plan and the discovery of a comparison may count otherwise, see ``at``.
    :param label: the front panel's label, empty when it is the number or unknown.
    :param place: ``B07 U31``, empty when unknown; :param guid: canonical, empty when unknown.
    :param key: what tells the device from every other, alike in every run: the planned name, the GUID where that
        name is planned twice or nobody planned the device. Empty: the name as it stands.
    :param at: the port as the comparison names and counts it (``Comparison.in_plan``): for looking it up there.
    :param normal: what tells the port in every run, whatever profile its switch is in: its number in the normal
        profile, with a 2 behind it for a second half. Empty: the number as it stands.
    """

    device: str
    port: int
    label: str = ""
    place: str = ""
    guid: str = ""
    is_hca: bool = False
    key: str = ""
    at: Port | None = None
    normal: tuple[int, ...] = ()

    @property
    def spot(self) -> Spot:
        """Device key and port, the same in every run."""
        return (self.key or name_key(self.device), *(self.normal or (self.port,)))

    def __str__(self) -> str:
        if self.is_hca and self.port == 1:
            return self.device
        return f"{self.device}/{self.port}"

    @property
    def full(self) -> str:
        """With label and place: ``ibl-p01-r1/27 (panel 14/1, B07 U31)``."""
        extra = ", ".join(part for part in (f"panel {self.label}" if self.label else "", self.place) if part)
        return f"{self} ({extra})" if extra else str(self)


@dataclass(frozen=True, slots=True)
class Cable:
    """A planned or seen cable inside a finding.

    :param a: the end the finding speaks from; :param expected: the far end the plan wants, None if unplanned.
    :param found: the far end that is there, None when there is none.
    :param line: line of the plan that wrote it, 0 when generated.
    """

    a: End
    expected: End | None = None
    found: End | None = None
    tiers: str = ""
    line: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, said once.

    :param subject: the device, pair of ports or group it is about, folded.
    :param headline: one line; :param expected: and :param found: one line each, may be empty.
    :param fix: what to do, one line, may be empty.
    :param devices: names of the devices it concerns; :param cables: the cables folded into it.
    :param group: findings of one kind with the same group are shown together.
    :param where: keys (as ``End.key``) that tell it from every other of its kind, where cables and devices do not.
    """

    kind: FindingKind
    subject: str
    headline: str
    expected: str = ""
    found: str = ""
    fix: str = ""
    devices: tuple[str, ...] = ()
    cables: tuple[Cable, ...] = ()
    group: str = ""
    where: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Island:
    """One connected component of a fabric.

    :param rails: names of the rails (or HCA names) its HCAs belong to, with their counts, largest first.
    :param switch_set: folded names; :param sources: labels of the sources that saw it.
    :param strangers: devices in it that the plan does not have; ``switches`` and ``hcas`` do not count them.
    """

    switches: int
    hcas: int
    rails: tuple[tuple[str, int], ...] = ()
    switch_set: str = ""
    sources: tuple[str, ...] = ()
    strangers: int = 0


@dataclass
class Counts:
    """Numbers of the verdict; the six link classes add up to ``intended``."""

    intended: int = 0
    ok: int = 0
    degraded: int = 0
    swapped: int = 0
    miswired: int = 0
    missing: int = 0
    not_judged: int = 0
    excused: int = 0
    unexpected: int = 0
    outside_plan: int = 0
    absent_devices: int = 0
    unknown_devices: int = 0
    cables_seen: int = 0
    cables_as_planned: int = 0
    cables_differ: int = 0
    by_tier: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def bad(self) -> int:
        """Planned links that are not as planned."""
        return self.degraded + self.swapped + self.miswired + self.missing

    @property
    def judged(self) -> int:
        """Planned links a verdict was possible for."""
        return self.intended - self.not_judged

    @property
    def bad_share(self) -> float:
        """Share of judged links that are bad, 0..1."""
        return self.bad / self.judged if self.judged else 0.0
