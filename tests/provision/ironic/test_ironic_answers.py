"""What the driver makes of answers that a real Ironic gave (tests/data/ironic)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import (
    OtherMachineError,
    ProvisionerAnswerError,
    ProvisionerBusyError,
    ProvisionerDeadlineError,
    ProvisionerError,
    ProvisionerForbiddenError,
    ProvisionerGarbledError,
    ProvisionerLoginError,
    ProvisionerNotFoundError,
    ProvisionerOutcomeUnknownError,
    ProvisionerRefusedError,
    ProvisionerStateError,
    ProvisionerUnreachableError,
    ProvisionerUnsupportedError,
)
from provision.install.machine import Phase, Stage
from provision.ironic.answers import error_of, told
from provision.ironic.parse import machine_of
from provision.ironic.version import agreed

RECORDED: dict[str, dict[str, Any]] = {
    answer["name"]: answer
    for answer in json.loads(
        (Path(__file__).parents[2] / "data" / "ironic" / "answers.json").read_text("utf-8")
    )
}


def body(name: str) -> Any:
    return json.loads(RECORDED[name]["body"])


def error(name: str) -> ProvisionerError:
    answer = RECORDED[name]
    words = told(answer["body"].encode())
    return error_of(answer["status"], words, "something", write=answer["method"] != "GET")


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("version not spoken", ProvisionerUnsupportedError, "Version 9.99 requested but not supported"),
        ("no login", ProvisionerLoginError, "Ironic: Authorization required"),
        ("wrong login", ProvisionerLoginError, "Ironic: Incorrect username or password"),
        ("name taken", OtherMachineError, "A node with name gpu000 already exists."),
        ("uuid taken", OtherMachineError, "A node with UUID"),
        ("MAC taken", OtherMachineError, "A port with MAC address 52:54:00:bb:00:00 already exists."),
        ("bad name", ProvisionerRefusedError, "invalid name 'bad name!'"),
        ("bad MAC", ProvisionerRefusedError, "Expected valid MAC address"),
        (
            "no such driver",
            ProvisionerRefusedError,
            "No conductor service registered which supports driver ipmi",
        ),
        ("no such node", ProvisionerNotFoundError, "Node nosuch could not be found."),
        ("no inventory", ProvisionerNotFoundError, "inventory record for node 1 could not be found"),
        ("no such field", ProvisionerRefusedError, "Field updated_at is not a valid field."),
        ("wrong state", ProvisionerStateError, 'The requested action "active" can not be performed'),
        ("no such target", ProvisionerStateError, 'The requested action "bogus" can not be performed'),
        ("locked", ProvisionerBusyError, "is locked by host judge, please retry"),
        ("bad patch", ProvisionerRefusedError, "can't remove a non-existent object 'nothere'"),
        ("bad key", ProvisionerRefusedError, "Schema error for patch"),
        ("nothing to deploy", ProvisionerRefusedError, "Missing are: ['kernel', 'ramdisk']"),
        ("in maintenance", ProvisionerStateError, "because it's in maintenance mode"),
    ],
)
def test_an_error_answer_becomes_the_error_that_it_is(
    name: str, kind: type[ProvisionerError], words: str
) -> None:
    found = error(name)
    assert type(found) is kind
    assert words in found.message
    assert found.status == RECORDED[name]["status"]


UNKNOWN = "it may have been carried out: PUT /x: "


@pytest.mark.parametrize(
    ("status", "write", "kind"),
    [
        (500, True, ProvisionerOutcomeUnknownError),
        (503, True, ProvisionerOutcomeUnknownError),
        (504, True, ProvisionerOutcomeUnknownError),
        (500, False, ProvisionerAnswerError),
        (502, False, ProvisionerUnreachableError),
        (503, False, ProvisionerUnreachableError),
        (504, False, ProvisionerDeadlineError),
        (403, True, ProvisionerForbiddenError),
        (418, True, ProvisionerAnswerError),
    ],
)
def test_a_servers_own_failure_leaves_a_write_unknown_and_a_read_failed(
    status: int, write: bool, kind: type[ProvisionerError]
) -> None:
    found = error_of(status, told(b"<html><h1>Bad</h1> Gateway</html>"), "PUT /x", write=write)
    assert type(found) is kind
    assert found.message == f"{UNKNOWN if write and status >= 500 else ''}Ironic: Bad Gateway"


def test_a_conductor_without_a_free_worker_did_nothing() -> None:
    words = "Requested action cannot be performed due to lack of free conductor workers."  # its exception.py
    assert type(error_of(503, words, "PUT /x", write=True)) is ProvisionerBusyError


@given(st.binary())
def test_any_body_is_told_on_one_bounded_line(raw: bytes) -> None:
    words = told(raw)
    assert len(words) <= 400
    assert "\n" not in words


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda inner: (
            st.dictionaries(
                st.sampled_from(["error_message", "faultstring", "error", "message", "description"]), inner
            )
            | st.lists(inner)
        ),
    )
)
def test_any_json_is_told(value: Any) -> None:
    assert isinstance(told(json.dumps(value).encode()), str)


def test_a_node_in_maintenance_is_broken_with_the_reason() -> None:
    machine = machine_of(body("node in maintenance"), body("ports")["ports"])
    assert (machine.hostname, machine.stage, machine.status) == ("gpu000", Stage.BROKEN, "available")
    assert machine.said == "no GPU 3"
    assert machine.macs == ("52:54:00:bb:00:00",)
    assert (machine.bmc_address, machine.power, machine.power_type) == ("127.36.0.1", "off", "redfish")
    assert machine.tags == ("rack-7",)


def test_a_service_tag_that_only_we_wrote_is_not_taken_for_the_machines_word() -> None:
    assert body("node in maintenance")["extra"]["fabricctl_service_tag"] == "TAG000"
    assert machine_of(body("node in maintenance"), []).service_tag == ""


def test_a_node_whose_bmc_was_not_reached_has_failed_though_its_state_is_the_first_one() -> None:
    machine = machine_of(body("node not reached"), [])
    assert (machine.stage, machine.failed, machine.status) == (Stage.FAILED, Phase.COMMISSION, "enroll")
    assert "returned code 401" in machine.said


@pytest.mark.parametrize(
    ("state", "stage", "failed"),
    [  # ironic/common/states.py
        ("enroll", Stage.NEW, None),
        ("verifying", Stage.NEW, None),
        ("manageable", Stage.NEW, None),
        ("inspect wait", Stage.NEW, None),
        ("inspect failed", Stage.FAILED, Phase.COMMISSION),
        ("cleaning", Stage.RELEASING, None),
        ("clean wait", Stage.RELEASING, None),
        ("clean failed", Stage.FAILED, Phase.COMMISSION),
        ("available", Stage.READY, None),
        ("deploying", Stage.DEPLOYING, None),
        ("wait call-back", Stage.DEPLOYING, None),
        ("deploy failed", Stage.FAILED, Phase.DEPLOY),
        ("active", Stage.DEPLOYED, None),
        ("deleting", Stage.RELEASING, None),
        ("error", Stage.FAILED, Phase.RELEASE),
        ("rescue", Stage.OTHER, None),
        ("service wait", Stage.OTHER, None),
        ("adopting", Stage.OTHER, None),
    ],
)
def test_a_provision_state_is_a_stage(state: str, stage: Stage, failed: Phase | None) -> None:
    machine = machine_of({"uuid": "u", "name": "gpu000", "provision_state": state}, [])
    assert (machine.stage, machine.failed) == (stage, failed)


def test_maintenance_that_ironic_began_itself_is_no_quarantine() -> None:
    node = {"uuid": "u", "provision_state": "clean failed", "maintenance": True, "fault": "clean failure"}
    assert machine_of(node, []).stage is Stage.FAILED


def test_the_newest_version_that_both_speak_is_taken() -> None:
    assert agreed(body("root")) == (1, 81)
    assert agreed({"default_version": {"min_version": "1.1", "version": "1.79"}}) == (1, 79)


@pytest.mark.parametrize("high", ["1.77", "1.9"])
def test_an_ironic_that_is_too_old_is_refused(high: str) -> None:
    with pytest.raises(ProvisionerUnsupportedError, match=rf"versions 1\.1 to {high}; 1\.78 to 1\.81"):
        agreed({"default_version": {"min_version": "1.1", "version": high}})


@pytest.mark.parametrize(
    "root", [None, [], {}, {"default_version": {"min_version": "1.1", "version": "new"}}]
)
def test_what_is_no_ironic_is_told(root: Any) -> None:
    with pytest.raises(ProvisionerGarbledError, match=r"ironic\.url"):
        agreed(root)
