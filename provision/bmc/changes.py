"""What a harvest found otherwise than the record or the site say: replaced and moved cards, other machines.

Nothing is overwritten silently: a machine that is not the one recorded stays unrecorded until somebody accepts it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from fabricctl.hostset import natural_key
from fabricctl.nodes.facts import FactChange, Key, family_of
from fabricctl.nodes.fleet import Clash, ClashKind
from fabricctl.nodes.model import DERIVED, Fact, Identity, IdentityKind, NodeRecord
from provision.bmc.inventory import Depth, Family, Inventory, Role
from provision.bmc.node_facts import BMC_PART, BOARD_PART, SOURCE, identities_of, own_mac, unsure
from provision.bmc.outcome import BmcFinding

_REPLACED = {
    Family.GPU.value: "GPU",
    Family.DRIVE.value: "drive",
    Family.PSU.value: "power supply",
    Family.DIMM.value: "memory module",
}


def other_machine(
    host: str, inventory: Inventory, site_tag: str, record: NodeRecord | None
) -> BmcFinding | None:
    """That the machine behind this BMC's address is not the one it should be.

    :param site_tag: service tag the site file names, empty when it names none.
    """
    tag = inventory.system.service_tag.value
    if site_tag and tag and tag != site_tag.upper():
        text = (
            f"{host}: service tag {tag} answers where the site expects {site_tag.upper()}: the BMC cable or the "
            "service tag in the site file (management.service_tags) is wrong; nothing was stored"
        )
        return BmcFinding(host, "service-tag-mismatch", text, "", site_tag.upper(), tag)
    for kind, word, found in (
        (IdentityKind.SERVICE_TAG, "service tag", tag),
        (IdentityKind.SERIAL, "serial number", None if tag else inventory.system.serial.value),
    ):
        held = _held(record, kind, "")
        if held and found and held != found.upper():
            text = (
                f"{host}: another machine answers: {word} {found}, recorded is {held}; nothing was stored: "
                "--accept-replaced if the machine was replaced"
            )
            return BmcFinding(host, "machine-replaced", text, "", held, found)
    held, found = _held(record, IdentityKind.MAC, BMC_PART), own_mac(inventory)
    unnamed = not tag and not inventory.system.serial.known
    if unnamed and held and found and held != found:
        text = (
            f"{host}: another BMC answers: its MAC is {found}, recorded is {held}; nothing was stored: "
            "--accept-replaced if it was replaced"
        )
        return BmcFinding(host, "machine-replaced", text, BMC_PART, held, found)
    return None


def _held(record: NodeRecord | None, kind: IdentityKind, part: str) -> str:
    if record is None:
        return ""
    return next((i.fact.value for i in record.current(kind) if i.fact.part == part), "")


def card_changes(
    host: str, inventory: Inventory, record: NodeRecord | None, serials: Mapping[str, object]
) -> tuple[list[BmcFinding], list[Fact]]:
    """Findings about network cards, and GUIDs that went with a card that was taken out.

    A card is replaced when its slot shows other addresses; it moved when its addresses are now in another slot.

    :param serials: card -> its serial number before.
    """
    if record is None:
        return [], []
    now = {function.id: function for function in inventory.functions if function.role is Role.HOST}
    where = {function.mac: function.id for function in now.values() if function.mac}
    card_of = {function.id: function.adapter or function.id for function in now.values()}
    replaced: dict[str, list[tuple[str, str]]] = defaultdict(list)
    moved: dict[tuple[str, str], list[str]] = defaultdict(list)
    lost: list[tuple[str, str]] = []
    retired: list[Fact] = []
    for identity in _macs_of(record):
        old, part = identity.fact.value, identity.fact.part
        new = now[part].mac if part in now else None
        if new == old:
            continue
        if old in where:
            moved[_card(part, card_of), card_of[where[old]]].append(old)
        elif new is None:
            lost.append((part, old))
        else:
            replaced[card_of[part]].append((old, str(new)))
        if new is not None:
            retired += _stale_guids(record, part, identities_of(inventory))
    found = _board(host, inventory, record)
    found += [_replaced(host, card, pairs, inventory, serials) for card, pairs in replaced.items()]
    found += [_moved(host, old, new, macs) for (old, new), macs in moved.items()]
    found += [_lost(host, part, mac, part in now) for part, mac in lost if _could_see(inventory)]
    return sorted(found, key=lambda one: (one.kind, natural_key(one.part))), retired


def _board(host: str, inventory: Inventory, record: NodeRecord) -> list[BmcFinding]:
    """Another BMC in the same chassis: the system board was changed."""
    held, found = _held(record, IdentityKind.MAC, BMC_PART), own_mac(inventory)
    if not held or not found or held == found:
        return []
    before, after = _held(record, IdentityKind.SERIAL, BOARD_PART), inventory.system.serial.value
    serials = f" (board serial {before or 'unknown'} -> {after or 'unknown'})" if before != after else ""
    text = f"{host}: the BMC has another MAC, {held} -> {found}{serials}: was the system board replaced?"
    return [BmcFinding(host, "board-replaced", text, BMC_PART, held, found)]


def _macs_of(record: NodeRecord) -> Iterable[Identity]:
    """MACs of the host that a harvest told of."""
    return (
        identity
        for identity in record.current(IdentityKind.MAC)
        if identity.fact.source == SOURCE and identity.fact.part.partition(" ")[0] != BMC_PART
    )


def _could_see(inventory: Inventory) -> bool:
    """Whether a MAC that is not there is really gone, and was not just not read."""
    return Family.NIC not in unsure(inventory)


def _card(part: str, card_of: Mapping[str, str]) -> str:
    """Card of a function, also of one that is gone: an FQDD without its port."""
    return card_of.get(part) or part.partition("-")[0]


def _stale_guids(record: NodeRecord, part: str, now: Iterable[Fact]) -> list[Fact]:
    fresh = {fact.value for fact in now if fact.kind is IdentityKind.GUID}
    return [
        i.fact
        for i in record.current(IdentityKind.GUID)
        if i.fact.part in (part, f"{part} port") and i.fact.value not in fresh
    ]


def _replaced(
    host: str,
    card: str,
    pairs: Sequence[tuple[str, str]],
    inventory: Inventory,
    serials: Mapping[str, object],
) -> BmcFinding:
    was, now = ", ".join(old for old, _ in pairs), ", ".join(new for _, new in pairs)
    before = serials.get(card)
    after = next((a.serial.value for a in inventory.adapters if a.id == card), None)
    named = f" (serial {before or 'unknown'} -> {after or 'unknown'})" if before or after else ""
    text = f"{host}: the card in {card} was replaced: MAC {was} -> {now}{named}"
    return BmcFinding(host, "nic-replaced", text, card, was, now)


def _moved(host: str, old: str, new: str, macs: Sequence[str]) -> BmcFinding:
    text = f"{host}: the card of {old} is now in {new} (MAC {', '.join(macs)})"
    return BmcFinding(host, "card-moved", text, new, old, new)


def _lost(host: str, part: str, mac: str, there: bool) -> BmcFinding:
    what = "tells no MAC any more" if there else "is not there any more"
    text = f"{host}: {part} {what}, it had {mac}; if it is gone for good: fabricctl node set {host} --retire {mac}"
    return BmcFinding(host, "mac-vanished", text, part, mac, "")


def worth_telling(
    changes: Iterable[FactChange], held: Iterable[Key], unsure: Collection[str] = ()
) -> list[FactChange]:
    """Changes since the last harvest of one node: a field told for the first time is none.

    A part that is new among others of its kind, or that is gone, is one change and not one per field.

    :param held: parts and fields of the node that were known before; :param unsure: families of which parts may have
        been there unread: none of theirs is new.
    """
    families: dict[str, set[str]] = defaultdict(set)
    fields: dict[tuple[str, str], int] = defaultdict(int)
    for part, field in held:
        families[family_of(field)].add(part)
        fields[family_of(field), part] += 1
    made: dict[tuple[str, str, str], FactChange] = {}
    lost: dict[tuple[str, str], list[FactChange]] = defaultdict(list)
    for change in changes:
        family = family_of(change.field)
        if change.before is not None and change.after is not None:
            made[family, change.part, change.field] = change
        elif change.after is None:
            lost[family, change.part].append(change)
        elif family in families and family not in unsure and change.part not in families[family]:
            made[family, change.part, ""] = FactChange(change.node, change.part, family, None, "new")
    for (family, part), some in lost.items():
        if len(some) == fields[family, part]:
            made[family, part, ""] = FactChange(some[0].node, part, family, "there", None)
        else:
            made.update({(family, part, change.field): change for change in some})
    return list(made.values())


def part_changes(changes: Iterable[FactChange]) -> list[BmcFinding]:
    """Parts whose serial number is another one: GPUs, drives, power supplies, memory modules."""
    found = []
    for change in changes:
        if change.before is None or change.after is None:
            continue
        family, _, name = change.field.partition(".")
        word = _REPLACED.get(family)
        if word is None or name != "serial":
            continue
        text = f"{change.node}: the {word} in {change.part} was replaced: serial {change.before} -> {change.after}"
        kind = f"{family}-replaced"
        found.append(BmcFinding(change.node, kind, text, change.part, str(change.before), str(change.after)))
    return found


def clash_findings(clashes: Iterable[Clash]) -> list[BmcFinding]:
    """Identities that two nodes have."""
    found = []
    for clash in clashes:
        fact, (node, part) = clash.fact, clash.shown[0]
        what = f"{fact.kind.words} {fact.value}"
        if clash.kind is ClashKind.DUPLICATE:
            if fact.kind is IdentityKind.SERIAL and fact.part:
                continue  # of parts, makers reuse serial numbers: the facts keep them, identities do not
            places = [f"{one} {place}".strip() for one, place in clash.shown]
            text = f"{what} is on {' and '.join(places)}: no two may share it; it was stored for nobody new"
            found.append(BmcFinding(node, f"duplicate-{fact.kind.value}", text, part, "", fact.value))
            continue
        assert clash.holder is not None
        there = f"{clash.holder.node} {clash.holder.part}".strip()
        if clash.kind is ClashKind.MOVED:
            text = f"{what} moved from {there} to {node} {part}"
            found.append(BmcFinding(node, "card-moved", text.strip(), part, there, f"{node} {part}".strip()))
        elif fact.source != DERIVED:
            text = (
                f"{what} is on {node} {part}, but recorded of {there}, which was not completely read in this run; "
                f"it was not stored: harvest {clash.holder.node} too"
            )
            found.append(BmcFinding(node, "recorded-elsewhere", text, part, there, fact.value))
    return found


def expected_numbers(
    host: str, inventory: Inventory, hcas: int | None, gpus: int | None, model: str
) -> list[BmcFinding]:
    """Numbers of HCAs and GPUs against the site's node model. :param hcas: and ``gpus``: None when it does not tell."""
    found = []
    seen = len(inventory.hcas)
    if hcas is not None and _could_see(inventory) and seen < hcas:
        text = f"{host}: {seen} InfiniBand functions, node model {model} has {hcas} HCAs"
        found.append(BmcFinding(host, "hca-count", text, "", str(hcas), str(seen)))
    seen = len(inventory.gpus)
    sure = inventory.depth is Depth.FULL and not any(gap.family is Family.GPU for gap in inventory.gaps)
    if gpus and sure and seen != gpus:
        text = f"{host}: {seen} GPUs, node model {model} has {gpus}"
        found.append(BmcFinding(host, "gpu-count", text, "", str(gpus), str(seen)))
    return found
