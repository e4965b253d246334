"""MAAS's OpenAPI document as schemathesis is given it, and one good request to each operation the driver uses."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import requests
from ruamel.yaml import YAML

from tests.provision.maas.maas_asking import Asking
from tests.sim.maas.process import ServedDouble
from tests.sim.maas.states import Status

MACHINE = "/machines/{system_id}/"
NODE = "/nodes/{system_id}/"
FORM = "multipart/form-data"
TAG = "rack-a1"
Operation = tuple[str, str]
"""Method in small letters, path in the document."""


@dataclass(frozen=True)
class Good:
    """A request that must succeed. :param status: of the machine it is about; ``{NAME}`` in a value is a path's.

    :param body: the form; :param disk: ``{id}`` is a disk's, not a network interface's.
    """

    status: Status = Status.READY
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, str] | None = None
    disk: bool = False


GOOD: dict[Operation, Good] = {
    ("get", "/version/"): Good(),
    ("get", "/users/op-whoami"): Good(),
    ("get", "/machines/"): Good(query={"id": "{system_id}"}),
    ("post", "/machines/"): Good(
        body={
            "architecture": "amd64/generic",
            "mac_addresses": "52:54:00:00:01:01",
            "hostname": "gpu101",
            "commission": "false",
            "power_type": "manual",
        }
    ),
    ("post", "/machines/op-allocate"): Good(body={"system_id": "{system_id}"}),
    ("get", "/machines/op-power_parameters"): Good(query={"id": "{system_id}"}),
    ("get", MACHINE): Good(Status.DEPLOYED),
    ("put", MACHINE): Good(body={"description": "rack 1", "power_type": "manual"}),
    ("delete", MACHINE): Good(Status.NEW),
    ("get", f"{MACHINE}op-power_parameters"): Good(),
    ("get", f"{MACHINE}op-query_power_state"): Good(),
    ("post", f"{MACHINE}op-commission"): Good(Status.NEW, body={"skip_bmc_config": "1"}),
    ("post", f"{MACHINE}op-deploy"): Good(body={"distro_series": "ubuntu/jammy", "hwe_kernel": "ga-22.04"}),
    ("post", f"{MACHINE}op-release"): Good(Status.DEPLOYED, body={"comment": "no longer needed"}),
    ("post", f"{MACHINE}op-abort"): Good(Status.DEPLOYING, body={"comment": "too long"}),
    ("post", f"{MACHINE}op-set_storage_layout"): Good(body={"storage_layout": "flat"}),
    ("post", f"{MACHINE}op-mark_broken"): Good(Status.ALLOCATED, body={"comment": "a fan"}),
    ("post", f"{MACHINE}op-mark_fixed"): Good(Status.BROKEN, body={"comment": "a new fan"}),
    ("get", "/tags/"): Good(),
    ("post", "/tags/"): Good(body={"name": "row-b", "comment": "a row"}),
    ("post", "/tags/{name}/op-update_nodes"): Good(body={"add": "{system_id}"}),
    ("get", "/events/op-query"): Good(query={"level": "DEBUG", "limit": "1000", "after": "1"}),
    ("get", "/boot-resources/"): Good(),
    ("get", "/rackcontrollers/"): Good(),
    ("get", "/subnets/"): Good(),
    ("get", f"{NODE}results/"): Good(Status.DEPLOYED),
    ("get", f"{NODE}devices/"): Good(query={"bus": "PCIE"}),
    ("put", f"{NODE}interfaces/{{id}}/"): Good(body={"mac_address": "52:54:00:00:01:02"}),
    ("post", f"{NODE}blockdevices/{{id}}/op-set_boot_disk"): Good(disk=True, body={}),
}
"""The operations the driver uses."""
NARROW: dict[str, dict[str, Any]] = {
    "architecture": {"enum": ["amd64/generic", "i386"]},
    "mac_addresses": {"pattern": "^52:54:00:00:0[23]:[0-9a-f]{2}$"},
    "mac_address": {"pattern": "^52:54:00:00:0[45]:[0-9a-f]{2}$"},
    "hostname": {"pattern": "^[a-z]{1,8}$"},
    "power_type": {"enum": ["", "manual", "no-such"]},
    "domain": {"enum": ["", "maas", "elsewhere"]},
    "commissioning_scripts": {"enum": ["", "no-such"]},
    "testing_scripts": {"enum": ["", "none", "no-such"]},
    "storage_layout": {"enum": ["flat", "lvm", "bcache", "blank", "zfs"]},
    "root_device": {"enum": ["", "1", "9999"]},
    "distro_series": {"enum": ["", "jammy", "ubuntu/noble", "hal"]},
    "hwe_kernel": {"enum": ["", "ga-22.04"]},
    "user_data": {"enum": ["", "I2Nsb3VkLWNvbmZpZwo="]},
    "bus": {"enum": ["PCIE", "USB"]},
    "hardware_type": {"enum": ["cpu", "gpu", "network"]},
    "level": {"enum": ["DEBUG", "WARNING", "LOUD"]},
    "limit": {"enum": ["1", "1000", "1001"]},
    "before": {"enum": ["5", "0"]},
    "after": {"enum": ["5", "0"]},
}
"""Parameters whose values are not any text at all: a good one is among them, and mostly a bad one.

``user_data``: the document's description says base64, its schema any text. No recording says what MAAS does with text
that is not base64, nor to other words for ``bus`` and ``hardware_type``, so that they are not sent.
"""
_OPERATION = re.compile(r"/op-(\w+)(\?|$)")


class AsMaas(requests.Session):
    """The document writes ``…/op-NAME`` where MAAS is asked ``…/?op=NAME``.

    And a form without fields is sent as an empty body: MAAS answers a multipart body without parts with a bare 400.
    """

    def send(self, request: requests.PreparedRequest, **more: Any) -> requests.Response:
        url = str(request.url)
        found = _OPERATION.search(url)
        if found:
            rest = url[found.end() :]
            request.url = f"{url[: found.start()]}/?op={found[1]}" + (f"&{rest}" if rest else "")
        if (
            isinstance(request.body, bytes)
            and request.body.startswith(b"--")
            and b"\r\n\r\n" not in request.body
        ):
            request.body = None
            request.headers["Content-Length"] = "0"
            request.headers.pop("Content-Type", None)
        return super().send(request, **more)


def populate(served: ServedDouble) -> None:
    """Twelve machines: new, ready, allocated, being installed, installed and broken, two of each; and a tag.

    The first that is ready has a BMC.
    """
    ask = Asking(served)
    ids = [ask.enrol(f"gpu{number:03d}", f"52:54:00:00:00:{number:02x}") for number in range(1, 13)]
    for id in ids[2:]:
        ask.json("POST", f"machines/{id}/?op=commission", testing_scripts="none", skip_bmc_config="1")
    served.advance(3600)
    for id in ids[6:8]:
        ask.json("POST", f"machines/{id}/?op=deploy")
    served.advance(3600)
    for id in (*ids[4:6], *ids[10:]):
        ask.json("POST", "machines/?op=allocate", system_id=id)
    for id in ids[8:10]:
        ask.json("POST", f"machines/{id}/?op=deploy")
    for id in ids[10:]:
        ask.json("POST", f"machines/{id}/?op=mark_broken")
    ask.json("POST", "tags/", name=TAG)
    bmc = {"power_address": "192.0.2.1", "power_user": "root", "power_pass": "calvin"}
    given = {f"power_parameters_{name}": value for name, value in bmc.items()}
    ask.json("PUT", f"machines/{ids[2]}/", power_type="redfish", **given)


@cache
def document_of(path: Path) -> dict[str, Any]:
    """The document, from its packed file."""
    document: dict[str, Any] = YAML(typ="safe").load(gzip.decompress(path.read_bytes()))
    return document


def one_operation(document: dict[str, Any], operation: Operation, served: ServedDouble) -> dict[str, Any]:
    """The document with one operation, whose path names things that are there, and one that is not."""
    method, path = operation
    item = deepcopy(document["paths"][path])
    found = item[method]
    for content in found.get("requestBody", {}).get("content", {}).values():
        for name, schema in content["schema"].get("properties", {}).items():
            schema.update(NARROW.get(name, {}))
    asked = [
        one for one in (*item.get("parameters", ()), *found.get("parameters", ())) if one["in"] != "path"
    ]
    for one in asked:
        one["schema"] = {**one["schema"], **NARROW.get(one["name"], {})}
    known = {
        "system_id": [*served.double.machines, "zzzzzz"],
        "name": [TAG, "none"],
        "id": ["1", "4", "30", "9999"],
    }
    for name in re.findall(r"{(\w+)}", path):
        schema = {"type": "string", "enum": known[name]}
        asked.append({"in": "path", "name": name, "required": True, "schema": schema})
    found["parameters"] = asked
    return {**document, "paths": {path: {method: found}}}


def good_request(operation: Operation, served: ServedDouble) -> dict[str, Any]:
    """What :data:`GOOD` says of an operation, for schemathesis: path, query and form."""
    good = GOOD[operation]
    record = served.double.in_status(good.status.value)[0]
    part = record.storage.disks[0].id if good.disk else record.nics[0].id
    names = {"system_id": record.system_id, "name": TAG, "id": str(part)}
    request: dict[str, Any] = {
        "path_parameters": {name: names[name] for name in re.findall(r"{(\w+)}", operation[1])},
        "query": {name: value.format(**names) for name, value in good.query.items()},
    }
    if good.body is not None:
        form = {name: value.format(**names) for name, value in good.body.items()}
        request |= {"body": form, "media_type": FORM}
    return request


def recorded_successes(recorded: Path, operation: Operation) -> Iterator[Any]:
    """Bodies of the good answers that a real MAAS gave to an operation."""
    method, path = operation
    head, _, op = path.partition("op-")
    url = re.compile("/MAAS/api/2.0" + re.sub(r"{\w+}", r"[\\w-]+", head) + "$")
    for file in sorted(recorded.glob("*/*.json")):
        told = json.loads(file.read_text())
        asked, _, query = told["request"]["url"].partition("?")
        same_op = (re.search(r"(?:^|&)op=(\w+)", query) or [None, ""])[1] == op
        same = told["request"]["method"].lower() == method and url.match(asked) and same_op
        if same and told["response"]["status"] < 300 and told["response"]["json"] is not None:
            yield told["response"]["json"]
