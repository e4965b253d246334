"""Small fabrics for tests, written as a picture of cables."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verdict import Verdict
from fabricctl.discovery.model import DiscoveryFormat, Observation, Source
from fabricctl.fabric import Fabric, Link, Node, NodeKind, Port
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.rates import Rate

HDR = Rate(4, "HDR")
Cable = tuple[str, int, str, int]


def guid(name: str) -> str:
    """A GUID that only depends on the name."""
    return "0x" + blake2b(name.encode(), digest_size=8).hexdigest()


def fabric(
    cables: Iterable[Cable], *, by_guid: bool, rate: Rate | None = HDR, alone: Iterable[str] = ()
) -> Fabric:
    """A fabric of named devices; names with a blank are HCAs ("gpu1 mlx5_0"), others switches."""
    made = Fabric()
    rows = list(cables)

    def key(name: str) -> str:
        return guid(name) if by_guid else name

    for name in dict.fromkeys([n for a, _, b, _ in rows for n in (a, b)] + list(alone)):
        host, _, hca = name.partition(" ")
        kind = NodeKind.HCA if hca else NodeKind.SWITCH
        made.nodes[key(name)] = Node(
            key(name),
            kind,
            name,
            guid=guid(name) if by_guid else None,
            description=name,
            ports=1 if hca else 64,
            host=host if hca else None,
            hca=hca or None,
        )
    for a, ap, b, bp in rows:
        clash = made.connect(Link(Port(key(a), ap), Port(key(b), bp), rate))
        assert clash is None, clash
    return made


def plan(cables: Iterable[Cable], *, rate: Rate | None = HDR, **declared: bool) -> Plan:
    """A plan by names."""
    return Plan(fabric(cables, by_guid=False, rate=rate), PlanFormat.CSV, **declared)


def seen(cables: Iterable[Cable], *, rate: Rate | None = HDR, alone: Iterable[str] = ()) -> Observation:
    """An observation by GUID in which every named device was read."""
    made = fabric(cables, by_guid=True, rate=rate, alone=alone)
    return Observation(
        made, [Source("test", DiscoveryFormat.IBNETDISCOVER, len(made.nodes), made.link_count)]
    )


def two_tier(hosts: int = 4, leaves: int = 2, spines: int = 2, width: int = 2) -> list[Cable]:
    """Leaves with ``hosts`` HCAs each on ports 1.., and ``width`` cables to every spine on ports 21.. ."""
    cables: list[Cable] = []
    for leaf in range(1, leaves + 1):
        cables += [(f"gpu{h} mlx5_{leaf - 1}", 1, f"leaf{leaf}", h) for h in range(1, hosts + 1)]
        for spine in range(1, spines + 1):
            for w in range(width):
                cables.append(
                    (f"leaf{leaf}", 21 + (spine - 1) * width + w, f"spine{spine}", (leaf - 1) * width + w + 1)
                )
    return cables


def without(cables: list[Cable], *gone: Cable) -> list[Cable]:
    assert all(cable in cables for cable in gone)
    return [cable for cable in cables if cable not in gone]


def classes(verdict: Verdict) -> dict[str, int]:
    names = ("ok", "degraded", "swapped", "miswired", "missing", "not_judged")
    return {name: number for name in names if (number := getattr(verdict.counts, name))}


def kinds(verdict: Verdict) -> list[FindingKind]:
    return [finding.kind for finding in verdict.findings]
