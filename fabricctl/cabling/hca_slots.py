"""A card in another slot: hosts of one model whose HCAs do not sit where those of most others sit.

No document says which slot of an HGX server is which HCA, and the order of names follows the PCI tree. So it is
learned: for every slot of a host model, whether more than half of its hosts have a card there, and which HCA name and
PCI address more than half of those that tell them have. A host that differs there deviates. With fewer than three
hosts, or without a majority, nothing can be told.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fabricctl.cabling.ends import Ends
from fabricctl.cabling.model import Finding, FindingKind
from fabricctl.cabling.slot_inventory import SlotEntry
from fabricctl.discovery.names import short_key
from fabricctl.fabric import Fabric, Node, NodeKind
from fabricctl.hostset import fold, natural_key
from fabricctl.models import NodeModel

MIN_HOSTS = 3
"""With fewer hosts of a model nobody knows which of them is as it should be."""

EMPTY = "nothing"


class SlotDeviation(NamedTuple):
    """A slot of one host. :param share: ``510 of 511``; :param expected: and :param found: words."""

    host: str
    model: str
    slot: str
    expected: str
    found: str
    share: str
    guid: str = ""


@dataclass
class SlotCheck:
    """What was learned.

    :param usual: model -> slot -> what most hosts have there; :param hosts: model -> hosts it was learned from.
    :param compared: hosts that were compared in every slot.
    """

    usual: dict[str, dict[str, str]] = field(default_factory=dict)
    hosts: dict[str, int] = field(default_factory=dict)
    compared: set[str] = field(default_factory=set)
    deviations: list[SlotDeviation] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check_slots(
    entries: Sequence[SlotEntry], seen: Fabric, node_model: Mapping[str, NodeModel] | None = None
) -> SlotCheck:
    """Learn the slots of each host model and compare every host.

    :param seen: the discovery: its GUIDs tell an HCA's name where the inventory does not.
    :param node_model: host -> model, for inventories without a column of models.
    """
    check = SlotCheck()
    by_guid = _hcas(seen)
    models = {short_key(host): model.name for host, model in (node_model or {}).items()}
    hosts: dict[str, dict[str, list[SlotEntry]]] = defaultdict(lambda: defaultdict(list))
    for entry in entries:
        node = by_guid.get(entry.guid) if entry.guid else None
        if not entry.hca and node is not None and node.hca:
            entry = entry._replace(hca=node.hca)
        model = entry.model or models.get(short_key(entry.host), "")
        hosts[model][entry.host].append(entry)
    _strangers(check, entries, by_guid)
    for model, of_host in sorted(hosts.items()):
        _learn(check, model, of_host)
    check.deviations.sort(key=lambda d: (natural_key(d.host), natural_key(d.slot)))
    return check


def _hcas(seen: Fabric) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for node in seen.nodes.values():
        if node.kind is NodeKind.HCA:
            found.update(dict.fromkeys((guid for _, guid in node.port_guids), node))
            found[node.guid or node.key] = node
    return found


def _strangers(check: SlotCheck, entries: Iterable[SlotEntry], by_guid: Mapping[str, Node]) -> None:
    """Cards that the discovery finds in another host than the inventory: it is old, or a card was moved."""
    moved = []
    for entry in entries:
        node = by_guid.get(entry.guid) if entry.guid else None
        if node is not None and node.host and short_key(node.host) != short_key(entry.host):
            moved.append(f"{entry.guid} of {entry.host} is seen in {node.host}")
    if moved:
        more = f" (and {len(moved) - 1:,} more)" if len(moved) > 1 else ""
        check.notes.append(
            f"the inventory of HCA slots and the discovery name different hosts: {moved[0]}{more}"
        )


def _learn(check: SlotCheck, model: str, of_host: Mapping[str, list[SlotEntry]]) -> None:
    name = model or "no stated model"
    slotted = {host: cards for host, cards in of_host.items() if any(card.slot or card.pci for card in cards)}
    if not slotted:
        check.doubts.append(
            f"HCA slots of {_hosts(of_host)}: the inventory tells neither slots nor PCI addresses"
        )
        return
    if len(slotted) < MIN_HOSTS:
        check.doubts.append(
            f"HCA slots of {name}: {_hosts(slotted)} {'is' if len(slotted) == 1 else 'are'} the only "
            f"{'host' if len(slotted) == 1 else 'hosts'} listed, and a majority needs {MIN_HOSTS}"
        )
        return
    check.hosts[model] = len(slotted)
    own = {host: _by_slot(cards) for host, cards in slotted.items()}
    slots = sorted({slot for cards in own.values() for slot in cards}, key=natural_key)
    unclear = [slot for slot in slots if not _compare(check, model, slot, own)]
    if not unclear:
        check.compared.update(slotted)
    else:
        check.doubts.append(
            f"HCA slots of {name}: no majority of its {len(own):,} hosts for slot {', '.join(unclear[:6])}"
            + (", ..." if len(unclear) > 6 else "")
        )


class _Slot(NamedTuple):
    """What one host has in one slot; a card of two ports names two HCAs and two PCI functions."""

    hca: str = ""
    pci: str = ""
    guid: str = ""

    def words(self) -> str:
        pci = f"PCI {self.pci}" if self.pci else ""
        return " at ".join(part for part in (self.hca, pci) if part) or "a card"


def _compare(check: SlotCheck, model: str, slot: str, own: Mapping[str, Mapping[str, _Slot]]) -> bool:
    """Compare one slot of every host of a model; False when there is no majority for it."""
    cards = [slots[slot] for slots in own.values() if slot in slots]
    if 2 * len(cards) == len(own):
        return False
    filled = 2 * len(cards) > len(own)
    hca, hca_clear = _majority([card.hca for card in cards if card.hca]) if filled else ("", True)
    pci, pci_clear = _majority([card.pci for card in cards if card.pci]) if filled else ("", True)
    usual = _Slot(hca, pci)
    if filled:
        check.usual.setdefault(model, {})[slot] = usual.words()
    alike = sum(_alike(slots.get(slot), usual, filled) for slots in own.values())
    for host, slots in own.items():
        card = slots.get(slot)
        if not _alike(card, usual, filled):
            expected, found = usual.words() if filled else EMPTY, card.words() if card is not None else EMPTY
            share, guid = f"{alike:,} of {len(own):,}", card.guid if card is not None else ""
            check.deviations.append(SlotDeviation(host, model, slot, expected, found, share, guid))
    return hca_clear and pci_clear


def _alike(card: _Slot | None, usual: _Slot, filled: bool) -> bool:
    """Whether a host's slot is as usual; what either side does not tell is no difference."""
    if card is None or not filled:
        return (card is not None) is filled
    return not (
        (card.hca and usual.hca and card.hca != usual.hca)
        or (card.pci and usual.pci and card.pci != usual.pci)
    )


def _majority(values: list[str]) -> tuple[str, bool]:
    """What more than half of three or more tell, empty when there is none; and whether that is no doubt."""
    if len(values) < MIN_HOSTS:
        return "", True  # too few tell it: not compared
    most, count = Counter(values).most_common(1)[0]
    return (most, True) if 2 * count > len(values) else ("", False)


def _by_slot(cards: Iterable[SlotEntry]) -> dict[str, _Slot]:
    """Cards by slot; where the inventory tells no slot, by PCI address, which is the slot's."""
    slots: dict[str, list[SlotEntry]] = defaultdict(list)
    for card in cards:
        if card.slot or card.pci:
            slots[card.slot or card.pci].append(card)
    return {
        slot: _Slot(
            " and ".join(sorted({card.hca for card in of} - {""}, key=natural_key)),
            " and ".join(sorted({card.pci for card in of if card.slot} - {""})),
            next((card.guid for card in of if card.guid), ""),
        )
        for slot, of in slots.items()
    }


def _hosts(hosts: Iterable[str]) -> str:
    return fold(hosts)


def slot_findings(check: SlotCheck, ends: Ends) -> list[Finding]:
    """One finding per host that deviates."""
    of_host: dict[str, list[SlotDeviation]] = defaultdict(list)
    for deviation in check.deviations:
        of_host[deviation.host].append(deviation)
    by_guid = _hcas(ends.seen)
    return [_finding(host, slots, by_guid, ends) for host, slots in of_host.items()]


def _finding(host: str, slots: list[SlotDeviation], by_guid: Mapping[str, Node], ends: Ends) -> Finding:
    first = slots[0]
    what = f"hosts of model {first.model}" if first.model else "hosts"
    expected = "; ".join(f"slot {s.slot}: {s.expected} (as {s.share} {what})" for s in slots)
    found = "; ".join(f"slot {s.slot}: {s.found}{_cabled(s, by_guid, ends)}" for s in slots)
    numbers = ", ".join(s.slot for s in slots)
    headline = f"{host}: slot{'' if len(slots) == 1 else 's'} {numbers} not as in most {what}"
    return Finding(
        FindingKind.CARD_SLOT,
        host,
        headline,
        expected=expected,
        found=found,
        fix=_fix(host, slots),
        devices=(host,),
        group=first.model,
    )


def _fix(host: str, slots: list[SlotDeviation]) -> str:
    """The card to move, where one slot lacks what another has too much; else what to look at."""
    gone = [s for s in slots if s.found == EMPTY]
    more = [s for s in slots if s.expected == EMPTY]
    if len(gone) == 1 and len(more) == 1 and len(slots) == 2:
        return (
            f"move the card of {host} from slot {more[0].slot} to slot {gone[0].slot}, and its cable with it"
        )
    return f"compare the cards of {host} with another host of its model; the cables follow the cards"


def _cabled(deviation: SlotDeviation, by_guid: Mapping[str, Node], ends: Ends) -> str:
    """The card's GUID, and where its first cable goes when the discovery sees it."""
    if not deviation.guid:
        return ""
    node = by_guid.get(deviation.guid)
    if node is None:
        return f" (GUID {deviation.guid}, not in the discovery)"
    ports = sorted(port for port in ends.seen.links if port.node == node.key)
    if not ports:
        return f" (GUID {deviation.guid}, no cable seen)"
    return f" (GUID {deviation.guid}, cabled to {ends.discovered(ends.seen.links[ports[0]].other(ports[0]))})"
