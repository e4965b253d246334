"""What OData and Redfish ask of every service besides resources: ``$metadata``, ``odata``, Allow and Link headers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.sim.idrac.call import Answer
from tests.sim.idrac.template import dumps
from tests.sim.idrac.where import ROOT

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc
    from tests.sim.idrac.tree import Tree

METADATA, SERVICES = f"{ROOT}/$metadata", f"{ROOT}/odata"
_TYPE = re.compile(rb'"@odata\.type":"#([\w.]+?)(?:\.(v[\d_]+))?\.\w+"')
_CHILDREN = (
    *(
        "AccountService",
        "CertificateService",
        "Chassis",
        "EventService",
        "Fabrics",
        "JobService",
        "JsonSchemas",
    ),
    *("Managers", "Registries", "SessionService", "Systems", "TelemetryService", "UpdateService"),
)
_NAMESPACES = (
    *(
        "ServiceRoot",
        "AccountService",
        "Bios",
        "Chassis",
        "ChassisCollection",
        "ComputerSystem",
        "Drive",
        "Fan",
    ),
    *(
        "EthernetInterface",
        "Job",
        "JobService",
        "LogEntry",
        "LogService",
        "Manager",
        "ManagerAccount",
        "Memory",
    ),
    *(
        "NetworkAdapter",
        "NetworkDeviceFunction",
        "NetworkPort",
        "Port",
        "Power",
        "PowerSubsystem",
        "Processor",
    ),
    *("Role", "Sensor", "Session", "SessionService", "SoftwareInventory", "Storage", "Task", "TaskService"),
    *("Thermal", "ThermalSubsystem", "UpdateService", "VirtualMedia", "DellJob", "DellLCService", "DellNIC"),
)


def document(path: str) -> Answer | None:
    """The OData documents, which are no resources; None for other paths."""
    if path == METADATA:
        return Answer(200, _metadata(), {"Content-Type": "application/xml; charset=utf-8"})
    if path == SERVICES:
        listed = [{"kind": "Singleton", "name": "Service", "url": f"{ROOT}/"}]
        listed += [{"kind": "Singleton", "name": name, "url": f"{ROOT}/{name}"} for name in _CHILDREN]
        listed.append({"kind": "Singleton", "name": "Sessions", "url": f"{ROOT}/SessionService/Sessions"})
        listed.append({"kind": "Singleton", "name": "Tasks", "url": f"{ROOT}/TaskService"})
        return Answer(200, dumps({"@odata.context": METADATA, "value": listed}))
    return None


def _metadata() -> bytes:
    references = "".join(
        f'<edmx:Reference Uri="/redfish/v1/Schemas/{name}_v1.xml"><edmx:Include Namespace="{name}"/></edmx:Reference>'
        for name in _NAMESPACES
    )
    container = '<EntityContainer Name="Service" Extends="ServiceRoot.v1_0_0.ServiceContainer"/>'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">'
        f"{references}<edmx:DataServices>"
        '<Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Service">'
        f"{container}</Schema></edmx:DataServices></edmx:Edmx>"
    ).encode()


def describe(bmc: SimBmc, path: str, said: Answer) -> None:
    """Say what may be done here, and which schema tells of it."""
    if path in (METADATA, SERVICES):
        said.headers["Allow"] = "GET, HEAD"
        return
    said.headers["Allow"] = _allowed(bmc.tree, path)
    found = _TYPE.search(said.body, 0, 600) if isinstance(said.body, bytes) else None
    if found is not None:
        name = ".".join(part.decode() for part in found.groups() if part)
        said.headers["Link"] = f"</redfish/v1/JsonSchemas/{name}.json>;rel=describedby"


def _allowed(tree: Tree, path: str) -> str:
    known = tree.allowed.get(path)
    if known is None:
        known = ", ".join(tree.methods(path)) or "GET, HEAD"
        if path in tree.entries:
            tree.allowed[path] = known
    return known
