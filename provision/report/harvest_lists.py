"""A harvest for machines: one row per network function, a JSON document with every source, a list ready for MAAS."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from provision.bmc.inventory import BmcNic, Depth, Family, Inventory, NetFunction, Role, System, Technology
from provision.bmc.node_facts import unsure
from provision.bmc.outcome import Outcome
from provision.bmc.reading import How, Reading
from provision.report import harvest
from provision.report.common import Table
from provision.report.fleet import Report
from provision.report.harvest import Told
from provision.report.schema_parts import BOOLEAN, COUNT, MOMENT, NUMBER, TEXT, listed, row, texts

SCHEMA = "fabricctl.bmc-harvest/1"
COLUMNS = (
    *("host", "bmc_address", "service_tag", "part", "role", "technology", "enabled", "mac", "mac_current"),
    *("guid", "guid_is", "link", "speed", "pxe", "slot", "model", "serial"),
)


def rows(told: Told) -> list[list[str]]:
    """One row per network function and BMC interface."""
    made = []
    for outcome in told.outcomes:
        if outcome.value is None:
            continue
        inventory = outcome.value
        tag = inventory.system.service_tag.value or ""
        head = [outcome.target.host, outcome.target.address, tag]
        made += [[*head, *_bmc_cells(nic)] for nic in inventory.bmc_nics]
        cards = {adapter.id: adapter for adapter in inventory.adapters}
        for function in inventory.functions:
            card = cards.get(function.adapter)
            about = [] if card is None else [card.slot.value, card.model.value, card.serial.value]
            made.append([*head, *_function_cells(function), *([text or "" for text in about] or [""] * 3)])
    return made


def _bmc_cells(nic: BmcNic) -> list[str]:
    shared = nic.shared_with.value
    part = f"{nic.id} on {shared}" if shared else nic.id
    macs = [nic.mac or "", nic.mac_current.value or ""]
    return [part, nic.role.value, "ethernet", "", *macs, "", "", nic.link.value or "", *[""] * 5]


def _function_cells(function: NetFunction) -> list[str]:
    guid = function.node_guid if function.node_guid.known else function.port_guid
    return [
        function.id,
        function.role.value,
        function.technology.value or "",
        _yes(function.enabled.value),
        function.mac or "",
        function.mac_current.value or "",
        guid.value or "",
        guid.how.value if function.infiniband else "",
        function.link.value or "unknown",
        function.speed.value or "",
        _yes(function.pxe.value),
    ]


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"


def harvest_report(told: Told) -> Report:
    """Everything that was read, every field with its source; what is wrong, what changed, what is missing."""
    return Report(
        SCHEMA,
        told.outcomes,
        content=lambda: {
            "made": told.made,
            "depth": told.depth.name.lower(),
            "interrupted": told.interrupted,
            "exit_code": told.exit_code,
            "hosts": [_host(told, outcome) for outcome in told.outcomes if outcome.value is not None],
            "changes": [
                {
                    "host": change.node,
                    "part": change.part,
                    "field": change.field,
                    "before": change.before,
                    "after": change.after,
                }
                for change in told.changes
            ],
            "skipped": list(told.skipped),
        },
        lines=lambda _: harvest.lines(told),
        table=lambda: Table(COLUMNS, rows(told)),
        findings=told.findings,
        doubts=harvest.doubts(told),
        after=lambda: list(harvest.after(told)),
    )


def _host(told: Told, outcome: Outcome[Inventory]) -> dict[str, Any]:
    assert outcome.value is not None
    host = outcome.target.host
    parts: dict[str, list[dict[str, Any]]] = {family.value: [] for family in Family}
    for family, part in outcome.value.parts():
        parts[family.value].append(_part(part))
    return {
        "host": host,
        "address": outcome.target.address,
        "stored": host in told.stored,
        "unread": [{"what": one.what, "part": one.part, "why": one.why} for one in told.unread.get(host, ())],
        "requests": outcome.requests,
        "seconds": round(outcome.seconds, 3),
        "parts": parts,
    }


def _part(part: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"id": ""} if isinstance(part, System) else {}
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, Reading):
            made[field.name] = {
                "value": value.value,
                "how": value.how.value,
                "source": value.source,
                "why": value.why,
            }
        elif isinstance(value, str):
            made[field.name] = value
    return made


def maas_list(told: Told) -> tuple[str, dict[str, str]]:
    """What MAAS's ``POST machines/`` wants of each host, without user and password; and hosts left out, with why.

    Only what was stored goes in: of a host whose addresses are in doubt MAAS would make a machine that is another.
    MACs are those DHCP sees, of Ethernet functions that can boot; MAAS enrols none twice, so a MAC of two hosts goes
    to neither. The machines are not commissioned at once: MAAS does so by default (``commission``), and a machine it
    cannot reach then exists half.
    """
    macs = {host: boot_macs(inventory) for host, inventory in told.inventories.items()}
    count = Counter(mac for listed in macs.values() for mac in set(listed))
    addresses = Counter(outcome.target.url for outcome in told.outcomes)
    entries, left = [], {}
    for outcome in told.outcomes:
        host = outcome.target.host
        good = [mac for mac in macs.get(host, ()) if count[mac] == 1]
        if outcome.value is None:
            left[host] = "its BMC was not read"
        elif host not in told.stored:
            left[host] = "another machine answered"
        elif Family.NIC in unsure(outcome.value):
            left[host] = "its network cards were read in part"
        elif addresses[outcome.target.url] > 1:
            left[host] = "another host has the same BMC address"
        elif not good:
            left[host] = "no Ethernet MAC that is its own"
        else:
            entries.append(_maas(outcome, outcome.value, good))
    return json.dumps(entries, indent=2) + "\n", left


def _maas(outcome: Outcome[Inventory], inventory: Inventory, macs: Sequence[str]) -> dict[str, Any]:
    target = outcome.target
    return {
        "hostname": target.host,
        "architecture": "amd64/generic",
        "mac_addresses": list(macs),
        "power_type": "redfish",
        "power_parameters": {
            "power_address": target.address if target.port == 443 else target.url,
            "node_id": inventory.system.path.rpartition("/")[2],
        },
        "commission": False,
        "description": _description(inventory),
    }


def _description(inventory: Inventory) -> str:
    system = inventory.system
    told = (system.model.value, system.service_tag.value or system.serial.value)
    return " ".join(text for text in told if text)


def boot_macs(inventory: Inventory) -> list[str]:
    """MACs a machine may ask DHCP with: in use, of its own Ethernet functions, without those that cannot boot."""
    return list(
        dict.fromkeys(
            str(function.mac_current.value or function.mac)
            for function in inventory.functions
            if function.role is Role.HOST
            and function.technology.value == Technology.ETHERNET
            and function.pxe.value is not False
            and function.mac
        )
    )


def content_schema() -> dict[str, Any]:
    """Of a harvest, but for what every document has."""
    host = {
        "host": TEXT,
        "address": TEXT,
        "stored": {**BOOLEAN, "description": "false: another machine answered, nothing was stored"},
        "unread": listed(row(texts(("what", "part", "why")))),
        "requests": COUNT,
        "seconds": NUMBER,
        "parts": row({family.value: listed({"$ref": "#/$defs/part"}) for family in Family}),
    }
    return {
        "made": MOMENT,
        "depth": {"enum": [depth.name.lower() for depth in Depth]},
        "interrupted": BOOLEAN,
        "exit_code": {"enum": [0, 1, 3, 130]},
        "hosts": listed(row(host)),
        "changes": listed(row({**texts(("host", "part", "field")), "before": {}, "after": {}})),
        "skipped": listed(TEXT, "read completely before (--resume)"),
    }


DEFS: Mapping[str, Any] = {
    "reading": row(
        {
            "value": {"type": ["string", "integer", "boolean", "null"]},
            "how": {"enum": [how.value for how in How]},
            "source": {**TEXT, "description": "path of the resource"},
            "why": {**TEXT, "description": "the rule it was derived by, the reason it is absent, or a doubt"},
        }
    ),
    "part": {
        "type": "object",
        "properties": {"id": {**TEXT, "description": "FQDD, or the BMC's own id"}},
        "additionalProperties": {"anyOf": [TEXT, {"$ref": "#/$defs/reading"}]},
    },
}
"""What parts are made of."""
