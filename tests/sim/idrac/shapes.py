"""Small pieces bodies are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.sim.idrac.call import Body

ROOT = "/redfish/v1"
SYSTEM = f"{ROOT}/Systems/System.Embedded.1"
CHASSIS = f"{ROOT}/Chassis/System.Embedded.1"
MANAGER = f"{ROOT}/Managers/iDRAC.Embedded.1"
ENCLOSURE = f"{ROOT}/Chassis/Enclosure.Internal.0-1"
INVENTORIED = "2026-01-14T05:14:46+00:00"
"""When the BMC last looked at a part."""
OK: Body = {"Health": "OK", "HealthRollup": "OK", "State": "Enabled"}
UNKNOWN: Body = {"Health": None, "HealthRollup": None, "State": "Enabled"}


def resource(path: str, kind: str, version: str, **fields: Any) -> Body:
    """A resource, ``kind`` as in ``Drive``, ``version`` as in ``v1_12_1``."""
    head = {
        "@odata.context": f"{ROOT}/$metadata#{kind}.{kind}",
        "@odata.id": path,
        "@odata.type": f"#{kind}.{version}.{kind}",
    }
    return {**head, **fields}


def ref(path: str) -> Body:
    """A link."""
    return {"@odata.id": path}


def listed(name: str, items: Iterable[Any]) -> Body:
    """An array and its count."""
    found = list(items)
    return {name: found, f"{name}@odata.count": len(found)}


def linked(name: str, paths: Iterable[str]) -> Body:
    """An array of links and its count."""
    return listed(name, (ref(path) for path in paths))


def dell(**fields: Any) -> Body:
    """``Oem`` of a resource."""
    return {"Dell": {"@odata.type": "#DellOem.v1_3_0.DellOemResources", **fields}}


def affinity(*cpus: str) -> Body:
    """``Oem`` of Links: to which processor a part is wired."""
    links = linked("CPUAffinity", (f"{SYSTEM}/Processors/{cpu}" for cpu in cpus))
    return {"Dell": {"@odata.type": "#DellOem.v1_3_0.DellOemLinks", **links}}


def settings_at(path: str, *times: str) -> Body:
    """``@Redfish.Settings``: where changes are written."""
    return {
        "@odata.context": f"{ROOT}/$metadata#Settings.Settings",
        "@odata.type": "#Settings.v1_3_3.Settings",
        "SettingsObject": ref(path),
        "SupportedApplyTimes": list(times),
    }
