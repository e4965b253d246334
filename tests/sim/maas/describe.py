"""What the API offers, for clients that ask before they call (python-libmaas), and the version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.sim.maas.call import API, HASH, JSON, Answer, Incoming, dumps, not_allowed, unrecognised

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble

CAPABILITIES = (
    *("networks-management", "static-ipaddresses", "ipv6-deployment-ubuntu", "devices-management"),
    *("storage-deployment-ubuntu", "network-deployment-ubuntu", "bridging-interface-ubuntu"),
    *("bridging-automatic-ubuntu", "authenticate-api"),
)
_CRUD = {"read": "GET", "create": "POST", "update": "PUT", "delete": "DELETE"}
RESOURCES: dict[str, tuple[str, str, str, str]] = {
    "Version": ("version/", "read", "", ""),
    "Users": ("users/", "read create", "whoami", ""),
    "User": ("users/{username}/", "read delete", "", ""),
    "Machines": (
        "machines/",
        "read create",
        "is_registered list_allocated power_parameters",
        "accept accept_all add_chassis allocate clone release set_zone",
    ),
    "Machine": (
        "machines/{system_id}/",
        "read update delete",
        "details get_curtin_config get_token power_parameters query_power_state",
        "abort clear_default_gateways commission deploy exit_rescue_mode lock mark_broken mark_fixed mount_special "
        "override_failed_testing power_off power_on release rescue_mode restore_default_configuration "
        "restore_networking_configuration restore_storage_configuration set_owner_data set_storage_layout "
        "set_workload_annotations test unlock unmount_special",
    ),
    "Nodes": ("nodes/", "read", "is_registered", "set_zone"),
    "Node": ("nodes/{system_id}/", "read delete", "details power_parameters", ""),
    "Interfaces": (
        "nodes/{system_id}/interfaces/",
        "read",
        "",
        "create_bond create_bridge create_physical create_vlan",
    ),
    "Interface": (
        "nodes/{system_id}/interfaces/{id}/",
        "read update delete",
        "",
        "add_tag disconnect link_subnet remove_tag set_default_gateway unlink_subnet",
    ),
    "BlockDevices": ("nodes/{system_id}/blockdevices/", "read create", "", ""),
    "BlockDevice": (
        "nodes/{system_id}/blockdevices/{id}/",
        "read update delete",
        "",
        "add_tag format mount remove_tag set_boot_disk unformat unmount",
    ),
    "Partitions": ("nodes/{system_id}/blockdevices/{device_id}/partitions/", "read create", "", ""),
    "Partition": (
        "nodes/{system_id}/blockdevices/{device_id}/partition/{id}",
        "read delete",
        "",
        "add_tag format mount remove_tag unformat unmount",
    ),
    "Raids": ("nodes/{system_id}/raids/", "read create", "", ""),
    "Raid": ("nodes/{system_id}/raid/{id}/", "read update delete", "", ""),
    "NodeScriptResults": ("nodes/{system_id}/results/", "read", "", ""),
    "NodeScriptResult": ("nodes/{system_id}/results/{id}/", "read update delete", "download", ""),
    "NodeDevices": ("nodes/{system_id}/devices/", "read", "", ""),
    "Tags": ("tags/", "read create", "", ""),
    "Tag": (
        "tags/{name}/",
        "read update delete",
        "devices machines nodes rack_controllers region_controllers",
        "rebuild update_nodes",
    ),
    "Events": ("events/", "", "query", ""),
    "Maas": ("maas/", "", "get_config", "set_config"),
    "BootResources": ("boot-resources/", "read create", "is_importing", "import stop_import"),
    "BootResource": ("boot-resources/{id}/", "read delete", "", ""),
    "ResourcePools": ("resourcepools/", "read create", "", ""),
    "ResourcePool": ("resourcepool/{id}/", "read update delete", "", ""),
    "Zones": ("zones/", "read create", "", ""),
    "Zone": ("zones/{name}/", "read update delete", "", ""),
    "Domains": ("domains/", "read create", "", "set_serial"),
    "Domain": ("domains/{id}/", "read update delete", "", "set_default"),
    "Subnets": ("subnets/", "read create", "", ""),
    "Subnet": ("subnets/{id}/", "read update delete", "ip_addresses statistics", ""),
    "Fabrics": ("fabrics/", "read create", "", ""),
    "Fabric": ("fabrics/{id}/", "read update delete", "", ""),
    "Vlans": ("fabrics/{fabric_id}/vlans/", "read create", "", ""),
    "Vlan": ("fabrics/{fabric_id}/vlans/{vid}/", "read update delete", "", ""),
    "RackControllers": ("rackcontrollers/", "read", "describe_power_types", "import_boot_images"),
    "RackController": ("rackcontrollers/{system_id}/", "read update delete", "list_boot_images", ""),
}
"""Resource -> (path, plain calls, operations by GET, operations by POST)."""
_ANONYMOUS = {"Version"}


def serve(double: MaasDouble, incoming: Incoming, head: str) -> Answer:
    """``version/`` and ``describe/``; nobody needs a key for them."""
    if incoming.method != "GET":
        return not_allowed("GET")
    if incoming.op is not None:
        return unrecognised(incoming.method, incoming.op)
    if head == "version":
        body = dumps({"capabilities": list(CAPABILITIES), "version": "3.7.3", "subversion": ""})
        return Answer(200, body, {"Content-Type": JSON, "Vary": "Authorization", "X-Maas-Api-Hash": HASH})
    body = double.description or dumps(document(double.origin))
    return Answer(200, body, {"Content-Type": "application/json"})


def document(origin: str) -> dict[str, Any]:
    """The describe document. :param origin: ``http://host:port``."""
    resources = [_resource(name, origin) for name in RESOURCES]
    handlers = [one[kind] for one in resources for kind in ("anon", "auth") if one[kind]]
    return {"doc": "MAAS API", "hash": HASH, "handlers": handlers, "resources": resources}


def _resource(name: str, origin: str) -> dict[str, Any]:
    path, plain, reads, writes = RESOURCES[name]
    actions = [_action(one, _CRUD[one], None) for one in plain.split()]
    actions += [_action(one, "GET", one) for one in reads.split()]
    actions += [_action(one, "POST", one) for one in writes.split()]
    handler = {
        "name": f"{name}Handler",
        "doc": f"{name}.",
        "params": [part.partition("}")[0] for part in path.split("{")[1:]],
        "path": API + path,
        "uri": f"{origin}{API}{path}",
        "actions": sorted(actions, key=lambda one: str(one["name"])),
    }
    anonymous = name in _ANONYMOUS
    return {
        "name": handler["name"],
        "anon": handler if anonymous else None,
        "auth": None if anonymous else handler,
    }


def _action(name: str, method: str, op: str | None) -> dict[str, Any]:
    return {"name": name, "doc": f"{name}.", "method": method, "op": op, "restful": op is None}
