"""What is written to Ironic: bodies of nodes and ports, JSON patches, root device hints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fabricctl.errors import ProvisionerRefusedError, ProvisionerUnsupportedError
from provision.bmc.secret import Secret
from provision.install.machine import Disk
from provision.install.spec import DeploySpec, EnrolSpec, Power
from provision.ironic.settings import IronicImages, IronicSettings

CREATING = "fabricctl_creating"
"""In ``extra`` of a node whose ports are not all there yet: to the rest of fabricctl it does not exist."""
TAG = "fabricctl_tag_"
"""How names of tags begin in ``extra``, for Ironic's own tags (traits) know no small letters."""
SERVICE_TAG = "fabricctl_service_tag"
"""What the site says, for people who look into Ironic; it is never taken for what the machine said."""
Patch = list[dict[str, Any]]
_KEY = re.compile(r"[\w-]+\Z", re.ASCII)
_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
_OPERATOR = re.compile(r"s?[=!<>]")
"""How a hint begins that Ironic takes for a comparison."""
_SHA256 = re.compile(r"[0-9a-fA-F]{64}\Z")


def driver_info(power: Power) -> dict[str, Any]:
    """How Ironic reaches a BMC. It holds the password in the clear."""
    if power.kind == "redfish":
        path = power.system_id
        return {
            "redfish_address": f"https://{_bracketed(power.address)}"
            + (f":{power.port}" if power.port != 443 else ""),
            "redfish_system_id": path if path.startswith("/") else f"/redfish/v1/Systems/{path}",
            "redfish_username": power.user,
            "redfish_password": power.password.reveal(),
            "redfish_verify_ca": power.verify_ca,
        }
    if power.kind == "ipmi":
        return {
            "ipmi_address": power.address,
            "ipmi_username": power.user,
            "ipmi_password": power.password.reveal(),
        }
    raise ProvisionerUnsupportedError(f"Ironic is driven with redfish or ipmi, not with {power.kind!r}")


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def node_body(spec: EnrolSpec, settings: IronicSettings) -> dict[str, Any]:
    """A new node, marked as being created.

    :raises ProvisionerUnsupportedError: the specification holds what Ironic has no place for.
    """
    for name, value in (("pools", spec.pool), ("zones", spec.zone), ("DNS domains", spec.domain)):
        if value:
            raise ProvisionerUnsupportedError(
                f"Ironic has no {name}: {value!r} cannot be set", host=spec.host
            )
    images = settings.images
    machine = spec.architecture.partition("/")[0]
    info = driver_info(spec.power)
    if images.deploy_interface == "direct":
        info |= _agent(images)
    extra: dict[str, Any] = {CREATING: True, **{tag_key(tag): True for tag in spec.tags}}
    if spec.service_tag:
        extra[SERVICE_TAG] = spec.service_tag
    body: dict[str, Any] = {
        "name": spec.host,
        "driver": spec.power.kind,
        "driver_info": info,
        "deploy_interface": images.deploy_interface,
        "properties": {"cpu_arch": _ARCHITECTURES.get(machine, machine)},
        "extra": extra,
        "automated_clean": settings.clean,
    }
    if images.boot_interface:
        body["boot_interface"] = images.boot_interface
    if settings.inspect:
        body["inspect_interface"] = settings.inspect
    return body


def _agent(images: IronicImages) -> dict[str, str]:
    return {
        name: url
        for name, url in (("deploy_kernel", images.kernel), ("deploy_ramdisk", images.ramdisk))
        if url
    }


def power_patch(power: Power, old: Sequence[str]) -> Patch:
    """Another BMC for a node. :param old: names in its ``driver_info`` now."""
    new = driver_info(power)
    gone = [name for name in old if name.startswith(("redfish_", "ipmi_")) and name not in new]
    return [
        *({"op": "add", "path": f"/driver_info/{name}", "value": value} for name, value in new.items()),
        *({"op": "remove", "path": f"/driver_info/{name}"} for name in gone),
        {"op": "replace", "path": "/driver", "value": power.kind},
    ]


def tag_key(tag: str) -> str:
    """Where a tag stands in ``extra``. :raises ProvisionerRefusedError: Ironic takes no such name in a patch."""
    if not _KEY.match(tag):
        raise ProvisionerRefusedError(f"tag {tag!r}: Ironic takes letters, digits, - and _ only")
    return f"{TAG}{tag}"


def tag_patch(tag: str, *, on: bool) -> Patch:
    """Put a tag on, or take it off a node that has it."""
    path = f"/extra/{tag_key(tag)}"
    return [{"op": "add", "path": path, "value": True}] if on else [{"op": "remove", "path": path}]


def root_hint(disk: Disk, disks: Sequence[Disk]) -> dict[str, str]:
    """Root device hint that fits this disk and no other; by its serial number, else by where it is plugged in.

    :raises ProvisionerRefusedError: nothing that stays tells it from the others.
    """
    serial = disk.serial.strip()
    alike = [other for other in disks if other.serial.strip().lower() == serial.lower()]  # as Ironic compares
    if serial and len(alike) <= 1 and not _OPERATOR.match(serial):
        return {"serial": serial}
    if disk.id_path.startswith("/dev/disk/by-path/"):
        return {"by_path": disk.id_path}
    why = f"{len(alike)} disks have serial number {serial}" if len(alike) > 1 else f"serial number {serial!r}"
    raise ProvisionerRefusedError(
        f"disk {disk.name}: nothing that stays tells it from others: {why if serial else 'no serial number'}, "
        "no path under /dev/disk/by-path"
    )


def hinted(properties: Any) -> tuple[str, str]:
    """What a node's root device hint asks for: serial number and path, empty where it asks for neither."""
    hint = properties.get("root_device") if isinstance(properties, dict) else None
    if not isinstance(hint, dict):
        return "", ""
    serial, path = hint.get("serial"), hint.get("by_path")
    return (
        serial.removeprefix("s==").strip() if isinstance(serial, str) else "",
        path if isinstance(path, str) else "",
    )


def instance_patch(images: IronicImages) -> Patch:
    """What is to be installed. :raises ProvisionerRefusedError: the site names no image."""
    if images.deploy_interface == "ramdisk":
        if images.image:
            info = {"boot_iso": images.image}
        elif images.kernel and images.ramdisk:
            info = {"kernel": images.kernel, "ramdisk": images.ramdisk}
        else:
            raise ProvisionerRefusedError(
                "ironic.image: expected image (an ISO), or kernel and ramdisk, found neither"
            )
        return [{"op": "add", "path": "/instance_info", "value": info}]
    if not images.image:
        raise ProvisionerRefusedError("ironic.image: expected the URL of an image, found none")
    info = {"image_source": images.image}
    if _SHA256.match(images.checksum):
        info |= {"image_os_hash_algo": "sha256", "image_os_hash_value": images.checksum.lower()}
    elif images.checksum:
        info["image_checksum"] = images.checksum
    agent = [
        {"op": "add", "path": f"/driver_info/{name}", "value": url} for name, url in _agent(images).items()
    ]
    return [{"op": "add", "path": "/instance_info", "value": info}, *agent]


def active_body(host: str, user_data: Secret) -> dict[str, Any]:
    """Begin to install; user data go along as a config drive, which Ironic's conductor makes."""
    body: dict[str, Any] = {"target": "active"}
    if user_data:
        meta = {"hostname": host, "local-hostname": host, "name": host}
        body["configdrive"] = {"meta_data": meta, "user_data": user_data.reveal()}
    return body


def refuse_undeployable(spec: DeploySpec, images: IronicImages, properties: Any) -> None:
    """Everything asked for that this path would silently not do.

    :param properties: of the node, with its root device hint.
    :raises ProvisionerUnsupportedError: :raises ProvisionerRefusedError: as they say; nothing was sent.
    """
    if spec.series != images.series:
        raise ProvisionerUnsupportedError(
            f"Ironic installs what is in its image, by the site {images.series}; {spec.series} was asked for"
        )
    if (spec.kernel == "hwe") != images.hwe:
        held = "hwe" if images.hwe else "ga"
        raise ProvisionerUnsupportedError(
            f"Ironic chooses no kernel: its image holds {held} by the site, {spec.kernel} was asked for"
        )
    if images.deploy_interface == "ramdisk":
        if spec.user_data and images.boot_interface != "redfish-virtual-media":
            raise ProvisionerUnsupportedError(
                "a ramdisk booted over the network gets no user data from Ironic",
                hint="boot_interface: redfish-virtual-media brings them",
            )
        return
    serial, path = hinted(properties)
    if not serial and not path:
        raise ProvisionerRefusedError("no root device is set: Ironic would take the smallest disk by itself")
    if spec.root_serial and serial and spec.root_serial.strip().lower() != serial.lower():
        raise ProvisionerRefusedError(
            f"expected the system on disk {spec.root_serial}, found root device hint {serial}"
        )
