"""What is known before any vote: declared identities, hosts known by name, what switches say of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabricctl.cabling.bind import numbered_ports_as_hcas
from fabricctl.cabling.binding import Names
from fabricctl.cabling.card_tables import differing
from fabricctl.cabling.directory import Directory, NameIndex
from fabricctl.cabling.hca_words import readings
from fabricctl.discovery.names import describe, name_key
from fabricctl.fabric import Fabric, Node, NodeKind, Place
from fabricctl.models import NodeModel
from fabricctl.plan.model import Plan

AMBIGUOUS_SHARE = 0.25
"""Two hypotheses whose votes differ by no more than a quarter of the better one's are not told apart.

Chosen between what must be told and what must not be: of two leaves whose 32 host cables each are exchanged the votes
are 64 against 64, and 60 against 68 when four of the cables were not; on a fabric with 40 % of its links exchanged at
random the runner-up of a switch of 64 ports stays below 10 % of the votes."""
PLACED_SHARE = 0.15
"""A switch is given no place when fewer than this share of the votes its cables could cast are for it."""
SCATTERED = 2
"""Votes for other places, as a multiple of those for its own, from which on a switch has no place either."""
WRONG_FABRIC_SHARE = 0.5
"""Fewer placed switches than this, of those that could be, and the discovery is not of this plan."""


@dataclass(frozen=True)
class Evidence:
    """What the operator and the site say, and the knobs.

    :param declared: GUID -> name, from the site file; outranks votes. Serials are turned into GUIDs before
        (:mod:`fabricctl.cabling.serials`).
    :param mapped: GUID -> name, from an ib-node-name-map; somebody wrote it, so it is declared, below the site's.
    :param harvested: HCA GUID -> ``host hca``, read off the hosts themselves.
    :param node_models: host -> its model, for plans that number a host's ports.
    :param serials: discovered node key -> serial number, where a source tells it: what to read on the label.
    :param place_of: device name -> where it stands, beside what the plan says.
    :param trust_descriptions: switches' node descriptions declare them (off: on day 0 they are factory texts, or
        names of the place the switch was configured for).
    """

    declared: Mapping[str, str] = field(default_factory=dict)
    mapped: Mapping[str, str] = field(default_factory=dict)
    harvested: Mapping[str, str] = field(default_factory=dict)
    node_models: Mapping[str, NodeModel] = field(default_factory=dict)
    serials: Mapping[str, str] = field(default_factory=dict)
    place_of: Mapping[str, Place] = field(default_factory=dict)
    trust_descriptions: bool = False
    ambiguous_share: float = AMBIGUOUS_SHARE


@dataclass
class Anchors:
    """Evidence in the plan's and the discovery's keys.

    :param plan: the plan, with running host ports turned into HCAs where the discovery shows a host.
    :param switches: discovered switch -> planned switch, declared.
    :param hcas: discovered HCA -> planned HCA it claims to be, for each way to read the plan's words.
    :param how: what each way is, as a note says it; empty when words agree.
    :param doubtful: discovered HCA -> planned HCA it is harvested as, planned HCA it describes itself as, where these
        are two. :param by_guid: discovered switches that only the plan's GUIDs declare.
    :param described: discovered switch -> planned switch its node description names, where only it does.
    :param said: discovered switch -> the name in its node description, factory texts left out.
    :param named_hosts: hosts the discovery names; :param common_hosts: how many of them are planned.
    :param notes: declared names that mean nothing here, one sentence each.
    """

    plan: Plan
    switches: dict[str, str] = field(default_factory=dict)
    hcas: list[dict[str, str]] = field(default_factory=list)
    how: list[str] = field(default_factory=list)
    doubtful: dict[str, tuple[str, str]] = field(default_factory=dict)
    by_guid: set[str] = field(default_factory=set)
    described: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    named_hosts: int = 0
    common_hosts: int = 0
    notes: list[str] = field(default_factory=list)


def gather(plan: Plan, seen: Fabric, evidence: Evidence) -> Anchors:
    """Lay the evidence out."""
    names = _names(seen, evidence)
    directory = Directory(seen, names)
    anchors = Anchors(numbered_ports_as_hcas(plan, directory))
    nodes = anchors.plan.fabric.nodes
    switches, hcas = NameIndex(), NameIndex()
    for key, node in nodes.items():
        index = hcas if node.kind is NodeKind.HCA else switches
        index.add(node.name, key)
        if key != node.name:
            index.add(key, key)
    _declared_switches(anchors, seen, names, switches, evidence.trust_descriptions)
    _known_hcas(anchors, directory, hcas, evidence)
    return anchors


def _names(seen: Fabric, evidence: Evidence) -> Names:
    """Site before map before harvest."""
    declared = {**evidence.harvested, **evidence.mapped}
    ports = {guid: key for key, node in seen.nodes.items() for _, guid in node.port_guids}
    declared = {guid if guid in seen.nodes else ports.get(guid, guid): n for guid, n in declared.items()}
    declared.update(evidence.declared)
    return Names(declared=declared, node_model=evidence.node_models)


def _declared_switches(
    anchors: Anchors, seen: Fabric, names: Names, switches: NameIndex, trust_descriptions: bool
) -> None:
    plan = anchors.plan
    claimed: dict[str, list[str]] = {}
    for node in seen.switches():
        said = describe(node.kind, node.description).name
        if not said and not node.description and node.name != node.key:
            said = node.name  # formats that tell no raw description
        if said:
            anchors.said[node.key] = said
            found = switches.get(said)
            if len(found) == 1:
                anchors.described[node.key] = found[0]
                claimed.setdefault(found[0], []).append(node.key)
    anchors.described = {key: name for key, name in anchors.described.items() if len(claimed[name]) == 1}
    guids = {node.guid: key for key, node in plan.fabric.nodes.items() if node.guid is not None}
    taken: dict[str, str] = {}
    for node in seen.switches():
        name = names.declared.get(node.key, "")
        found = switches.get(name) if name else [guids[node.key]] if node.key in guids else []
        if not found and trust_descriptions and node.key in anchors.described:
            found = [anchors.described[node.key]]
        if name and not found:
            anchors.notes.append(f"{node.key} is declared as {name}, which is no switch of the plan")
        elif len(found) == 1 and found[0] in taken:
            other = taken[found[0]]
            anchors.notes.append(
                f"{name or found[0]} is declared twice: {other} and {node.key}; neither is believed"
            )
            anchors.switches.pop(other, None)
        elif len(found) == 1:
            taken[found[0]] = node.key
            if not name and node.key in guids:
                anchors.by_guid.add(node.key)
            anchors.switches[node.key] = found[0]


def _known_hcas(anchors: Anchors, directory: Directory, hcas: NameIndex, evidence: Evidence) -> None:
    """HCAs by name; where words differ, every way to read them that needs no cabling."""
    plan, seen = anchors.plan, directory.seen
    nodes = plan.fabric.nodes
    guids = {node.guid: key for key, node in nodes.items() if node.guid and node.kind is NodeKind.HCA}
    known: dict[str, str] = {}
    hosts: set[str] = set()
    other, _ = differing(
        (node for node in nodes.values() if node.kind is NodeKind.HCA), directory, evidence.node_models
    )
    unread = {key for host in other for keys in host.cards.values() for key in keys}
    for node in seen.hcas():
        said = directory.described[node.key]
        if said.host:
            hosts.add(name_key(said.host))
        found = hcas.get(said.name) if said.name and node.key not in unread else []
        if not found and node.key in guids:
            found = [guids[node.key]]
        if not found and node.key in nodes and nodes[node.key].kind is NodeKind.HCA:
            found = [node.key]
        if len(found) == 1:
            known[node.key] = found[0]
            own = hcas.get(node.name) if said.name != node.name and node.name != node.key else []
            if len(own) == 1 and own != found and _is_harvested(node, evidence):
                anchors.doubtful[node.key] = (found[0], own[0])
    planned_hosts = NameIndex()
    for host in dict.fromkeys(n.host for n in nodes.values() if n.kind is NodeKind.HCA and n.host):
        planned_hosts.add(host, host)
    common = {name for host in hosts for name in planned_hosts.get(host)}
    anchors.named_hosts, anchors.common_hosts = len(hosts), len(common)
    taken = set(known.values())
    for how, way in readings(other):
        anchors.hcas.append(
            {**known, **{key: planned for planned, key in way.items() if planned not in taken}}
        )
        anchors.how.append(how)
    if not anchors.hcas:
        anchors.hcas, anchors.how = [known], [""]


def _is_harvested(node: Node, evidence: Evidence) -> bool:
    """Nobody but the harvest gives this HCA its name."""
    guids = {node.key, *(guid for _, guid in node.port_guids)}
    return not guids.isdisjoint(evidence.harvested) and guids.isdisjoint(
        {*evidence.declared, *evidence.mapped}
    )


def switches_of(plan: Plan) -> list[str]:
    """Planned nodes that are switches; what the plan leaves open counts as one where it names its HCAs."""
    nodes = plan.fabric.nodes
    kinds = [NodeKind.SWITCH]
    if any(node.kind is NodeKind.HCA for node in nodes.values()):
        kinds.append(NodeKind.UNKNOWN)
    return [key for key, node in nodes.items() if node.kind in kinds]
