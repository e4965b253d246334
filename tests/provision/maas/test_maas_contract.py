"""The double against MAAS's own OpenAPI document: random requests to the operations the driver uses.

Every answer has a documented status and media type, and none is an error of the server. The document leaves statuses
out that a real MAAS answers with: :data:`BEYOND` names each with the recording that has it.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from ruamel.yaml import YAML
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.provision.maas.maas_asking import Asking, oauth
from tests.sim.maas.process import ServedDouble, maas_double

MACHINE = "/machines/{system_id}/"
OPERATIONS = (
    ("get", "/machines/"),
    ("post", "/machines/"),
    ("post", "/machines/op-allocate"),
    ("get", MACHINE),
    ("put", MACHINE),
    ("delete", MACHINE),
    ("get", f"{MACHINE}op-power_parameters"),
    ("get", f"{MACHINE}op-query_power_state"),
    ("post", f"{MACHINE}op-commission"),
    ("post", f"{MACHINE}op-deploy"),
    ("post", f"{MACHINE}op-release"),
    ("post", f"{MACHINE}op-abort"),
    ("post", f"{MACHINE}op-set_storage_layout"),
    ("post", f"{MACHINE}op-mark_broken"),
    ("post", f"{MACHINE}op-mark_fixed"),
    ("get", "/tags/"),
    ("post", "/tags/"),
    ("post", "/tags/{name}/op-update_nodes"),
    ("get", "/events/op-query"),
    ("get", "/boot-resources/"),
    ("get", "/rackcontrollers/"),
    ("put", "/nodes/{system_id}/interfaces/{id}/"),
    ("post", "/nodes/{system_id}/blockdevices/{id}/op-set_boot_disk"),
)
BEYOND: dict[tuple[str, str], dict[int, str]] = {
    ("get", "/machines/"): {400: "b021-list-by-status-bogus"},
    ("post", "/machines/"): {400: "b001-create-missing"},
    ("put", MACHINE): {400: "b053-update-redfish-blank-address"},
    ("post", f"{MACHINE}op-commission"): {400: "d017-DEPLOYING-commission"},
    ("post", f"{MACHINE}op-deploy"): {400: "c034-deploy-bad-series", 409: "b027-NEW-deploy"},
    ("post", f"{MACHINE}op-abort"): {200: "d037-abort-erasing", 409: "b029-NEW-abort"},
    ("post", f"{MACHINE}op-set_storage_layout"): {400: "c018-layout-zfs", 409: "b034-NEW-set_storage_layout"},
    ("post", f"{MACHINE}op-mark_fixed"): {409: "b032-NEW-mark_fixed"},
    ("post", "/tags/"): {200: "b045-tag-create", 400: "b049-tag-create-bad"},
    ("post", "/tags/{name}/op-update_nodes"): {200: "b046-tag-add"},
    ("get", "/events/op-query"): {400: "b055-events-query-limit-too-big"},
    ("put", "/nodes/{system_id}/interfaces/{id}/"): {400: "d079-nic-swap-mac-dup"},
}
"""Statuses that the document lacks, or has with another media type -> the recording of a real MAAS that has them."""
LISTS = {
    ("get", "/machines/"): "a004-machines-empty",
    ("get", "/tags/"): "",
    ("get", "/boot-resources/"): "b060-boot-resources",
    ("get", "/rackcontrollers/"): "b066-rackcontrollers",
}
"""Operations that answer with a list where the document, as for every JSON body, says object -> the recording; none
was recorded of the tags, whose description in the document says array."""
USER_DATA = {"type": "string", "enum": ["", "I2Nsb3VkLWNvbmZpZwo="]}
"""Of deploy: the document's description says base64, its schema any text; MAAS does not check and fails at it."""
EXAMPLES = 100
TIMEOUT_S = 20
_OPERATION = re.compile(r"/op-(\w+)(\?|$)")
pytestmark = [pytest.mark.captures, pytest.mark.slow]


class _AsMaas(requests.Session):
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


@cache
def _document(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = YAML(typ="safe").load(gzip.decompress(path.read_bytes()))
    return document


@pytest.fixture
def served() -> Iterator[ServedDouble]:
    """Machines that are new, ready, allocated, being installed, installed and broken."""
    with maas_double(speed=0.0) as served:
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
        ask.json("POST", "tags/", name="rack-a1")
        yield served


def _one_operation(
    document: dict[str, Any], method: str, path: str, known: dict[str, list[str]]
) -> dict[str, Any]:
    """The document with one operation, whose path names things that are there, and one that is not."""
    item = deepcopy(document["paths"][path])
    operation = item[method]
    if path.endswith("op-deploy"):
        form = operation["requestBody"]["content"]["multipart/form-data"]["schema"]
        form["properties"]["user_data"] = USER_DATA
    operation["parameters"] = [
        one for one in (*item.get("parameters", ()), *operation.get("parameters", ())) if one["in"] != "path"
    ]
    for name in re.findall(r"{(\w+)}", path):
        schema = {"type": "string", "enum": known[name]}
        operation["parameters"].append({"in": "path", "name": name, "required": True, "schema": schema})
    return {**document, "paths": {path: {method: operation}}}


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_answers_are_as_documented(captures: Path, served: ServedDouble, method: str, path: str) -> None:
    known = {
        "system_id": [*served.double.machines, "zzzzzz"],
        "name": ["rack-a1", "none"],
        "id": ["1", "4", "30", "9999"],
    }
    document = _document(captures / "maas" / "maas-openapi-3.7.3.yaml.gz")
    schema = schemathesis.openapi.from_dict(_one_operation(document, method, path, known))
    beyond = BEYOND.get((method, path), {})
    statuses: set[int] = set()

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=schema[path][method.upper()].as_strategy())
    def ask(case: schemathesis.Case[Any]) -> None:
        response = case.call(
            base_url=f"{served.url}/api/2.0",
            session=_AsMaas(),
            headers={"Authorization": oauth(*served.api_key.split(":"))},
            timeout=TIMEOUT_S,
        )
        statuses.add(response.status_code)
        checks: list[Any] = [not_a_server_error]
        if response.status_code not in beyond:
            checks += [status_code_conformance, content_type_conformance]
            checks += [] if (method, path) in LISTS else [response_schema_conformance]
        case.validate_response(response, checks=checks)

    ask()
    assert statuses, "nothing was asked"
    assert served.double.bugs == []


def test_each_status_beyond_the_document_was_recorded(captures: Path) -> None:
    found = {
        path.stem: json.loads(path.read_text())["response"]["status"]
        for path in (captures / "maas" / "recorded").glob("*/*.json")
    }
    wanted = {name: status for many in BEYOND.values() for status, name in many.items()}
    assert {name: found.get(name) for name in wanted} == wanted


def test_each_list_was_recorded_as_one(captures: Path) -> None:
    for name in filter(None, LISTS.values()):
        (path,) = (captures / "maas" / "recorded").glob(f"*/{name}.json")
        assert isinstance(json.loads(path.read_text())["response"]["json"], list), name
