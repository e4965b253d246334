"""Identities by serial number: serial -> GUID by what was read off the switches, GUID -> name by the site file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fabricctl.cabling.binding import Names
from fabricctl.fabric import Fabric, NodeKind
from fabricctl.guid import parse_guid
from fabricctl.hostset import fold

SHOWN = 8
"""Names a note lists before it counts them."""


def serials_of(seen: Fabric, serials: Mapping[str, str]) -> dict[str, str]:
    """Discovered switch -> serial number.

    :param serials: node or port GUID -> serial number; GUIDs nobody saw are left out.
    """
    ports = {
        guid: key
        for key, node in seen.nodes.items()
        if node.kind is NodeKind.SWITCH
        for _, guid in node.port_guids
    }
    found = {
        ports.get(guid, guid) if guid not in seen.nodes else guid: text for guid, text in serials.items()
    }
    return {key: text for key, text in found.items() if key in seen.nodes}


def with_serials(names: Names, seen: Fabric, serials: Mapping[str, str]) -> tuple[Names, list[str]]:
    """Names in which identities by serial number stand under their switch's key; and notes on those that say nothing.

    An identity by GUID comes before one by serial number: it needs no list in between. A serial of several seen
    switches (a chassis) tells none of them.

    :param serials: GUID -> serial number, as read off the switches.
    """
    wanted = {_form(key): name for key, name in names.declared.items() if not _is_guid(key)}
    if not wanted:
        return names, []
    if not serials:
        many = (
            f"{len(wanted)} identities by serial number are"
            if len(wanted) > 1
            else "1 identity by serial number is"
        )
        return names, [f"{many} not used: no serial numbers were read off the switches (--switch-serials)"]
    holders: dict[str, list[str]] = {}
    for key, text in serials_of(seen, serials).items():
        holders.setdefault(_form(text), []).append(key)
    read = {_form(text) for text in serials.values()}
    declared = dict(names.declared)
    notes: list[str] = []
    nobody: list[str] = []
    unseen: list[str] = []
    for serial, name in wanted.items():
        keys = holders.get(serial, [])
        if not keys:
            (unseen if serial in read else nobody).append(f"{serial} ({name})")
        elif len(keys) > 1:
            notes.append(
                f"serial {serial}, declared as {name}, is that of {len(keys)} seen switches ({fold(sorted(keys))}): "
                "it tells none of them; declare their GUIDs"
            )
        elif declared.setdefault(keys[0], name) != name:
            notes.append(
                f"{keys[0]} is declared as {declared[keys[0]]} by its GUID and as {name} by its serial {serial}: "
                "the GUID counts"
            )
    notes += _note(nobody, "no switch has it, by what --switch-serials read")
    notes += _note(unseen, "its switch was not seen")
    return replace(names, declared=declared), notes


def _note(serials: list[str], why: str) -> list[str]:
    if not serials:
        return []
    more = f" and {len(serials) - SHOWN} more" if len(serials) > SHOWN else ""
    return [f"declared serial {', '.join(serials[:SHOWN])}{more}: {why}"]


def _form(serial: str) -> str:
    """Serial numbers are printed in capitals; people type them as they like."""
    return serial.strip().upper()


def _is_guid(key: str) -> bool:
    """Declared keys are canonical GUIDs, or serial numbers as written."""
    return key.startswith("0x") and parse_guid(key) == key
