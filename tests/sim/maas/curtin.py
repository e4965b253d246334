"""The configuration that curtin would get: what is going to be wiped, partitioned and mounted, and how it reports."""

from __future__ import annotations

import base64
import json
from io import StringIO
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from tests.sim.maas.blocks import Block, Partition
from tests.sim.maas.stored import Stored

if TYPE_CHECKING:
    from tests.sim.maas.machines import MachineRecord

Json = dict[str, Any]
REGION = "http://127.0.0.1:5240/MAAS/metadata"
PROXY = "http://127.0.0.1:8000/"
_POCKETS = ("", "-updates", "-security", "-backports")


def config(record: MachineRecord) -> str:
    """All of it, as YAML. The machine has its own key by now: that is how curtin reports."""
    text = StringIO()
    yaml = YAML(typ="safe")
    yaml.default_flow_style = False
    yaml.dump(document(record), text)
    return text.getvalue()


def document(record: MachineRecord) -> Json:
    """All of it."""
    reporting = _reporting(record)
    return {
        "apt": {
            "preserve_sources_list": False,
            "proxy": PROXY,
            "sources": {},
            "sources_list": "\n".join(
                f"deb http://archive.ubuntu.com/ubuntu $RELEASE{pocket} main restricted universe multiverse"
                for pocket in _POCKETS
            ),
        },
        "cloudconfig": _cloudconfig(record, reporting),
        "debconf_selections": _debconf(record),
        "early_commands": {"driver_00": ["sh", "-c", "echo no driver of anybody else"]},
        "install": {
            "error_tarfile": "/tmp/curtin-logs.tar",  # noqa: S108 - on the installed machine
            "log_file": "/tmp/install.log",  # noqa: S108
            "post_files": ["/tmp/install.log", "/tmp/curtin-logs.tar"],  # noqa: S108
        },
        "kernel-crash-dumps": {"enabled": False},
        "late_commands": {"maas": _netboot_off(record)},
        "network": _network(record),
        "network_commands": {"builtin": ["curtin", "net-meta", "custom"]},
        "partitioning_commands": {"builtin": ["curtin", "block-meta", "custom"]},
        "reporting": {"maas": reporting},
        "showtrace": True,
        "storage": {"config": storage(record.storage), "version": 1},
        "verbosity": 3,
    }


def storage(stored: Stored) -> list[Json]:
    """What curtin does to the disks: ``wipe: superblock`` on every physical one, used or not.

    Disks are found by serial number and model. Of what is made of several devices (LVM, RAID, bcache) nothing is
    told here.
    """
    boot = stored.boot
    steps: list[Json] = []
    for disk in stored.disks:
        steps.append(_disk(disk, boot is disk))
        if boot is disk:
            steps.append(_bios_grub(disk))
    parts = [(disk, partition) for disk in stored.disks for partition in disk.partitions]
    steps += [_partition(disk, partition) for disk, partition in parts]
    volumes = [(f"{disk.name}-part{partition.number}", partition.filesystem) for disk, partition in parts]
    volumes += [(disk.name, disk.filesystem) for disk in stored.disks]
    usable = [(name, made) for name, made in volumes if made is not None and not made.role]
    for name, made in usable:
        step = {"fstype": made.fstype, "id": f"{name}_format", "type": "format", "uuid": made.uuid}
        steps.append({**step, "label": made.label or "", "volume": name})
    for name, made in usable:
        if made.mount_point is not None:
            step = {"device": f"{name}_format", "id": f"{name}_mount", "path": made.mount_point}
            more = {"options": made.mount_options} if made.mount_options else {}
            steps.append({**step, "type": "mount", **more})
    return steps


def _disk(disk: Block, boots: bool) -> Json:
    step: Json = {
        "id": disk.name,
        "model": disk.model,
        "name": disk.name,
        "serial": disk.serial,
        "type": "disk",
        "wipe": "superblock",
    }
    if boots:
        step["grub_device"] = True
    if disk.table:
        step["ptable"] = disk.table.lower()
    return step


def _bios_grub(disk: Block) -> Json:
    return {
        "device": disk.name,
        "flag": "bios_grub",
        "id": f"{disk.name}-part1",
        "number": 1,
        "offset": "4194304B",
        "size": "1048576B",
        "type": "partition",
        "wipe": "zero",
    }


def _partition(disk: Block, partition: Partition) -> Json:
    name = f"{disk.name}-part{partition.number}"
    step: Json = {
        "device": disk.name,
        "id": name,
        "name": name,
        "number": partition.number,
        "size": f"{partition.size}B",
        "type": "partition",
        "uuid": partition.uuid,
        "wipe": "superblock",
    }
    if partition.bootable:
        step["flag"] = "boot"
    return step


def _token(record: MachineRecord) -> dict[str, str]:
    return record.token or {"consumer_key": "", "token_key": "", "token_secret": ""}


def _reporting(record: MachineRecord) -> Json:
    endpoint = f"{REGION}/status/{record.system_id}"
    return {**_token(record), "endpoint": endpoint, "type": "webhook"}


def _cloudconfig(record: MachineRecord, reporting: Json) -> Json:
    source = {"datasource": {"MAAS": {**_token(record), "metadata_url": f"{REGION}/"}}}
    contents = {
        "maas-cloud-config": ("90_maas_cloud_config.cfg", _cloud(source)),
        "maas-datasource": ("90_maas_datasource.cfg", "datasource_list: [ MAAS ]"),
        "maas-reporting": ("90_maas_cloud_init_reporting.cfg", _cloud({"reporting": {"maas": reporting}})),
        "maas-ubuntu-sso": ("90_maas_ubuntu_sso.cfg", _cloud({"snap": {"email": "a@example.com"}})),
    }
    where = "/etc/cloud/cloud.cfg.d"
    return {
        name: {"content": content, "path": f"{where}/{file}"} for name, (file, content) in contents.items()
    }


def _cloud(value: Json) -> str:
    text = StringIO()
    yaml = YAML(typ="safe")
    yaml.default_flow_style = False
    yaml.dump(value, text)
    return f"#cloud-config\n{text.getvalue()}"


def _debconf(record: MachineRecord) -> Json:
    credentials = "&".join(f"oauth_{name}={value}" for name, value in _token(record).items())
    lines = [
        "cloud-init   cloud-init/datasources  multiselect MAAS",
        f"cloud-init   cloud-init/maas-metadata-url  string {REGION}/",
        f"cloud-init   cloud-init/maas-metadata-credentials  string {credentials}",
    ]
    return {"grub2": "grub2   grub2/update_nvram  boolean false", "maas": "\n".join(lines)}


def _netboot_off(record: MachineRecord) -> list[str]:
    url = f"{REGION}/latest/by-id/{record.system_id}/"
    return ["wget", "--no-proxy", url, "--post-data", "op=netboot_off", "-O", "/dev/null"]


def _network(record: MachineRecord) -> Json:
    ethernets = {}
    for nic in record.nics:
        told: Json = {"match": {"macaddress": nic.mac}, "mtu": 1500, "set-name": nic.name}
        if nic.given:
            told["addresses"] = [f"{nic.given}/24"]
        ethernets[nic.name] = told
    return {"ethernets": ethernets, "version": 2}


def vendor_data() -> str:
    """What MAAS itself gives cloud-init: the proxy for snaps."""
    proxies = f'proxy.http="{PROXY}" proxy.https="{PROXY}"'
    return f"cloud-init: {json.dumps(_cloud({'snap': {'commands': [f'snap set system {proxies}']}}))}\n"


def installer(record: MachineRecord) -> str:
    """Instead of MAAS's 320 KB, curtin in an archive that unpacks itself: the configuration only."""
    lines = config(record).splitlines()
    return "\n".join(["#!/bin/bash", "LABEL='curtin'", "cat <<'END'", *lines, "END", ""])


def power_off_script() -> bytes:
    """What a machine gets that booted without a reason: it switches itself off."""
    script = base64.b64encode(b"#!/bin/bash\npoweroff\n").decode()
    boundary = "===============0000000000000000000=="
    head = f'Content-Type: multipart/mixed; boundary="{boundary}"\nMIME-Version: 1.0\n'
    part = (
        'Content-Type: text/x-shellscript; charset="utf-8"\nMIME-Version: 1.0\n'
        'Content-Transfer-Encoding: base64\nContent-Disposition: attachment; filename="user_data.sh"\n'
    )
    return f"{head}\n--{boundary}\n{part}\n{script}\n\n--{boundary}--\n".encode()
