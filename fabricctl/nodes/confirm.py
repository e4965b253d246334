"""Derived GUIDs against those that were seen: on the fabric, or on the hosts themselves (ibstat)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from fabricctl.hostset import natural_key
from fabricctl.nodes.model import DERIVED, Fact, IdentityKind, NodeRecord


class Verdict(StrEnum):
    """What came of one derived GUID."""

    CONFIRMED = "confirmed"
    CONTRADICTED = "contradicted"
    NOT_SEEN = "not seen"


@dataclass(frozen=True, slots=True)
class Judged:
    """One derived GUID. :param why: what contradicts it, or why nothing could be told."""

    node: str
    part: str
    guid: str
    verdict: Verdict
    why: str = ""


@dataclass(frozen=True, slots=True)
class SeenGuid:
    """A GUID of an HCA that was seen. :param name: ``gpu001 mlx5_0`` as it calls itself, empty when it says none.

    :param host: the host of that name, empty when it names none of the site; :param hca: tells HCAs apart.
    """

    guid: str
    name: str = ""
    host: str = ""
    hca: str = ""


def judge_guids(records: Iterable[NodeRecord], seen: Iterable[SeenGuid]) -> list[Judged]:
    """Every derived GUID of the nodes with what was seen of it.

    A GUID that is seen under its own host, or under no host's name, is right. It is wrong when another host shows it,
    or when its host shows at least as many HCAs as it has functions and it is not among them. Else nothing is known.
    """
    by_guid: dict[str, SeenGuid] = {}
    of_host: dict[str, dict[str, str]] = defaultdict(dict)
    for one in seen:
        by_guid[one.guid] = one
        if one.host:
            of_host[one.host].setdefault(one.hca or one.name or one.guid, one.guid)
    judged: list[Judged] = []
    for record in records:
        guids = [i.fact for i in record.current(IdentityKind.GUID)]
        functions = len({fact.part.removesuffix(" port") for fact in guids})
        derived = [fact for fact in guids if fact.source == DERIVED]
        judged += [_judged(record.name, fact, by_guid, of_host, functions) for fact in derived]
    return sorted(judged, key=lambda one: (natural_key(one.node), natural_key(one.part)))


def _judged(
    node: str,
    fact: Fact,
    by_guid: Mapping[str, SeenGuid],
    of_host: Mapping[str, Mapping[str, str]],
    functions: int,
) -> Judged:
    one = by_guid.get(fact.value)
    if one is not None:
        if one.host in ("", node):
            return Judged(node, fact.part, fact.value, Verdict.CONFIRMED, one.name)
        return Judged(node, fact.part, fact.value, Verdict.CONTRADICTED, f"it is {one.name!r}, of {one.host}")
    shown = of_host.get(node, {})
    if len(shown) >= functions:
        others = ", ".join(sorted(shown.values())[:8])
        return Judged(
            node, fact.part, fact.value, Verdict.CONTRADICTED, f"{node} shows {len(shown)} others: {others}"
        )
    why = f"{node} shows {len(shown)} of {functions} HCAs" if shown else f"no HCA of {node} was seen by name"
    return Judged(node, fact.part, fact.value, Verdict.NOT_SEEN, why)
