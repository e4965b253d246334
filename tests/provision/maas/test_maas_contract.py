"""The double against MAAS's own OpenAPI document: good and random requests to the operations the driver uses.

Every answer has a documented status and media type, and none is an error of the server. The document leaves statuses
out that a real MAAS answers with: :data:`BEYOND` names each with the recording that has it. What a good answer holds
the document does not say ("an object"): that is compared with the recordings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.provision.maas.maas_asking import oauth
from tests.provision.maas.maas_openapi import (
    GOOD,
    MACHINE,
    NODE,
    AsMaas,
    Operation,
    document_of,
    good_request,
    one_operation,
    populate,
    recorded_successes,
)
from tests.sim.maas.process import ServedDouble, maas_double

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
    ("get", "/subnets/"): "b063-subnets",
    ("get", f"{NODE}results/"): "c009-results",
    ("get", f"{NODE}devices/"): "",
}
"""Operations that answer with a list where the document, as for every JSON body, says object -> the recording; none
was recorded of tags and of devices, whose descriptions in the document say array and list."""
UNRECORDED = {
    ("get", f"{MACHINE}op-query_power_state"): "no rack controller could reach a BMC",
    ("delete", MACHINE): "the answer has no body",
    ("post", f"{MACHINE}op-mark_broken"): "only refused",
    ("post", f"{MACHINE}op-mark_fixed"): "only refused",
    ("get", "/tags/"): "not asked",
    ("get", f"{NODE}devices/"): "not asked",
    ("get", "/subnets/"): "there was none",
    ("get", "/rackcontrollers/"): "there was none",
    ("post", f"{NODE}blockdevices/{{id}}/op-set_boot_disk"): "the answer is a word",
}
"""Operations without a recording of a good JSON answer, and why."""
BY_ID = {("get", "/machines/op-power_parameters")}
"""Answers whose keys are ids."""
EXAMPLES = 100
TIMEOUT_S = 20
OPERATIONS = [pytest.param(one, id=f"{one[0]}-{one[1]}") for one in GOOD]
pytestmark = [pytest.mark.captures, pytest.mark.slow]


@pytest.fixture
def served() -> Iterator[ServedDouble]:
    """A double with machines in many states."""
    with maas_double(speed=0.0) as served:
        populate(served)
        yield served


class Contract:
    """One operation of one double, by the document."""

    def __init__(self, captures: Path, served: ServedDouble, operation: Operation) -> None:
        document = document_of(captures / "maas" / "maas-openapi-3.7.3.yaml.gz")
        schema = schemathesis.openapi.from_dict(one_operation(document, operation, served))
        self.operation, self.served = operation, served
        self.asked = schema[operation[1]][operation[0].upper()]
        self.beyond = BEYOND.get(operation, {})

    def ask(self, case: schemathesis.Case[Any]) -> Any:
        """Send a request; the answer, which is as documented."""
        response = case.call(
            base_url=f"{self.served.url}/api/2.0",
            session=AsMaas(),
            headers={"Authorization": oauth(*self.served.api_key.split(":"))},
            timeout=TIMEOUT_S,
        )
        checks: list[Any] = [not_a_server_error]
        if response.status_code not in self.beyond:
            checks += [status_code_conformance, content_type_conformance]
            checks += [] if self.operation in LISTS else [response_schema_conformance]
        case.validate_response(response, checks=checks)
        return response


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_good_request_succeeds_with_the_keys_that_were_recorded(
    captures: Path, served: ServedDouble, operation: Operation
) -> None:
    contract = Contract(captures, served, operation)
    response = contract.ask(contract.asked.Case(**good_request(operation, served)))
    assert 200 <= response.status_code < 300, response.text
    bodies = list(recorded_successes(captures / "maas" / "recorded", operation))
    recorded = [keys for body in bodies for keys in keys_of(body)]
    assert bool(recorded) != (operation in UNRECORDED)
    if recorded and operation not in BY_ID:
        ours = keys_of(response.json())
        assert ours, "an empty list says nothing"
        assert [one for one in ours if one not in recorded] == []


def keys_of(body: Any) -> list[frozenset[str]]:
    """Keys of an object, or of each object in a list."""
    many = body if isinstance(body, list) else [body]
    return [frozenset(one) for one in many]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_answers_are_as_documented(captures: Path, served: ServedDouble, operation: Operation) -> None:
    contract = Contract(captures, served, operation)
    statuses: list[int] = []

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=contract.asked.as_strategy())
    def ask(case: schemathesis.Case[Any]) -> None:
        statuses.append(contract.ask(case).status_code)

    ask()
    assert [one for one in statuses if one < 300], "no request succeeded"
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
