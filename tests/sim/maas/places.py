"""What there is besides machines: pools, zones, domains, networks, rack controllers, images, settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.sim.maas.call import (
    API,
    Answer,
    Incoming,
    Refusal,
    absent,
    deleted,
    dumps,
    good,
    invalid,
    not_allowed,
    ok,
    unrecognised,
)
from tests.sim.maas.network import SUBNET, VLAN

if TYPE_CHECKING:
    from tests.sim.maas.double import MaasDouble

Objects = dict[str, dict[str, Any]]
NAMES = (
    *("resourcepools", "resourcepool", "zones", "domains", "subnets", "fabrics", "vlans", "rackcontrollers"),
    *("boot-resources", "maas"),
)
_SUBARCHES = "generic,hwe-p,hwe-q,ga-22.04,ga-24.04,hwe-22.04,hwe-24.04"
_SETTINGS = """
    maas_name theme kernel_opts enable_http_proxy maas_proxy_port use_peer_proxy prefer_v4_proxy
    http_proxy default_dns_ttl upstream_dns dnssec_validation maas_internal_domain dns_trusted_acl
    ntp_servers ntp_external_only allow_only_trusted_transfers remote_syslog maas_syslog_port
    network_discovery active_discovery_interval default_boot_interface_link_type default_osystem
    default_distro_series default_min_hwe_kernel enable_kernel_crash_dump default_storage_layout
    commissioning_distro_series enable_third_party_drivers windows_kms_host
    enable_disk_erasing_on_release disk_erase_with_secure_erase disk_erase_with_quick_erase
    boot_images_auto_import boot_images_no_proxy curtin_verbose force_v1_network_yaml enable_analytics
    completed_intro max_node_commissioning_results max_node_testing_results max_node_installation_results
    max_node_release_results subnet_ip_exhaustion_threshold_count release_notifications use_rack_proxy
    node_timeout prometheus_enabled prometheus_push_gateway prometheus_push_interval promtail_enabled
    promtail_port enlist_commissioning maas_auto_ipmi_user maas_auto_ipmi_user_privilege_level
    maas_auto_ipmi_k_g_bmc_key maas_auto_ipmi_cipher_suite_id maas_auto_ipmi_workaround_flags
    vcenter_server vcenter_username vcenter_password vcenter_datacenter hardware_sync_interval
    tls_cert_expiration_notification_enabled tls_cert_expiration_notification_interval session_length
    auto_vlan_creation
"""
SETTINGS = tuple(_SETTINGS.split())


@dataclass
class Places:
    """Pools, zones and domains by name, and what is set."""

    pools: Objects = field(default_factory=lambda: {"default": _pool("default", 0, "Default pool")})
    zones: Objects = field(default_factory=lambda: {"default": _zone("default", 1, "")})
    domains: Objects = field(default_factory=lambda: {"maas": _domain("maas", 0, default=True)})
    settings: dict[str, Any] = field(default_factory=lambda: {"default_storage_layout": "flat"})


def _pool(name: str, number: int, text: str) -> dict[str, Any]:
    uri = f"{API}resourcepool/{number}/"
    return {"name": name, "description": text, "id": number, "resource_uri": uri}


def _zone(name: str, number: int, text: str) -> dict[str, Any]:
    return {"name": name, "description": text, "id": number, "resource_uri": f"{API}zones/{name}/"}


def _domain(name: str, number: int, *, default: bool = False) -> dict[str, Any]:
    return {
        "authoritative": True,
        "ttl": None,
        "is_default": default,
        "id": number,
        "name": name,
        "resource_record_count": 0,
        "resource_uri": f"{API}domains/{number}/",
    }


def serve(double: MaasDouble, incoming: Incoming) -> Answer:
    """One of :data:`NAMES`."""
    head, *rest = incoming.parts
    if head == "maas":
        return _settings(double, incoming)
    if incoming.op is not None:
        return unrecognised(incoming.method, incoming.op)
    if head == "resourcepool":
        found = next((one for one in double.places.pools.values() if [str(one["id"])] == rest), None)
        return _one(incoming, double.places.pools, found, "ResourcePool")
    if head in ("zones", "domains") and rest:
        among = double.places.zones if head == "zones" else double.places.domains
        found = next((one for one in among.values() if rest[0] in (one["name"], str(one["id"]))), None)
        return _one(incoming, among, found, head[:-1].capitalize())
    if incoming.method == "POST" and head in _MAKERS:
        return _make(double, incoming, head)
    if incoming.method != "GET":
        return not_allowed("GET", "POST")
    shown = listed(double, head)
    if not rest:
        return ok(shown)
    one = next((one for one in shown if str(one.get("id", one.get("system_id"))) == rest[0]), None)
    return absent(head[:-1].capitalize()) if one is None else ok(one)


def _one(incoming: Incoming, among: Objects, found: dict[str, Any] | None, kind: str) -> Answer:
    if found is None:
        return absent(kind)
    if incoming.method == "DELETE":
        among.pop(found["name"])
        return deleted()
    return ok(found) if incoming.method == "GET" else not_allowed("GET", "PUT", "DELETE")


_MAKERS = {"resourcepools": "pools", "zones": "zones", "domains": "domains"}


def _make(double: MaasDouble, incoming: Incoming, head: str) -> Answer:
    among: Objects = getattr(double.places, _MAKERS[head])
    name, text = incoming.form.get("name"), incoming.form.get("description")
    if not name:
        raise Refusal(invalid({"name": ["This field is required."]}))
    if name in among:
        kind = {"resourcepools": "Resource pool", "zones": "Physical zone", "domains": "Domain"}[head]
        raise Refusal(invalid({"name": [f"{kind} with this Name already exists."]}))
    number = max(one["id"] for one in among.values()) + 1
    make = {"resourcepools": _pool, "zones": _zone}.get(head)
    among[name] = make(name, number, text) if make else _domain(name, number)
    return ok(among[name])


def listed(double: MaasDouble, head: str) -> list[dict[str, Any]]:
    """Everything of a kind. The network is known once a machine was seen in it."""
    seen = any(nic.seen for one in double.records.values() for nic in one.nics)
    match head:
        case "resourcepools":
            return list(double.places.pools.values())
        case "zones":
            return list(double.places.zones.values())
        case "domains":
            return list(double.places.domains.values())
        case "subnets":
            return [SUBNET] if seen or double.racks else []
        case "vlans":
            return [VLAN]
        case "fabrics":
            return [_fabric()] if seen or double.racks else []
        case "rackcontrollers":
            return [_rack(number) for number in range(1, double.racks + 1)]
    return images(double)


def _fabric() -> dict[str, Any]:
    uri = f"{API}fabrics/0/"
    return {"class_type": None, "name": "fabric-0", "id": 0, "vlans": [VLAN], "resource_uri": uri}


def _rack(number: int) -> dict[str, Any]:
    name = f"rack{number}"
    return {
        "system_id": name,
        "hostname": name,
        "fqdn": f"{name}.maas",
        "node_type": 2,
        "node_type_name": "Rack controller",
        "version": "3.7.3",
        "service_set": [
            {"name": service, "status": "running", "status_info": ""}
            for service in ("rackd", "dhcpd", "tftp", "http", "ntp_rack", "proxy_rack", "dns_rack")
        ],
        "ip_addresses": [f"10.0.0.{number}"],
        "resource_uri": f"{API}rackcontrollers/{name}/",
    }


def images(double: MaasDouble) -> list[dict[str, Any]]:
    """Images by number: a release of Ubuntu has two kernels, an uploaded one has none."""
    shown: list[dict[str, Any]] = []
    for image in double.settings.images:
        osystem, _, name = image.partition("/")
        release = {"jammy": "22.04", "noble": "24.04"}.get(name, "")
        kernels = (f"ga-{release}", f"hwe-{release}") if osystem == "ubuntu" else ("generic",)
        for kernel in kernels:
            number = len(shown) + 1
            shown.append(
                {
                    "id": number,
                    "type": "Synced" if osystem == "ubuntu" else "Uploaded",
                    "name": image if osystem == "ubuntu" else name,
                    "architecture": f"amd64/{kernel}",
                    "resource_uri": f"{API}boot-resources/{number}/",
                    "last_deployed": None,
                    "platform": "generic",
                    "subarches": _SUBARCHES,
                    "supported_platforms": "generic",
                }
            )
    return shown


def _settings(double: MaasDouble, incoming: Incoming) -> Answer:
    if incoming.method not in ("GET", "POST"):
        return not_allowed("POST", "GET")
    name = incoming.query.get("name") or incoming.form.get("name")
    if incoming.op not in ("get_config", "set_config"):
        return unrecognised(incoming.method, incoming.op)
    if name not in SETTINGS:
        text = f"{name} is not a valid config setting (valid settings are: {', '.join(SETTINGS)})."
        answer = invalid({name: [text]})
        answer.headers["Content-Type"] = "application/json"
        return answer
    if incoming.op == "set_config":
        double.places.settings[name] = incoming.form.get("value")
        return good(200, b"OK", "text/plain")
    default = double.settings.node_timeout if name == "node_timeout" else None
    return good(200, dumps(double.places.settings.get(name, default)), "application/json")
