"""Every error that a real MAAS 3.7.3 was recorded to answer with, against classes written down by hand."""

from __future__ import annotations

import json
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

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
    ProvisionerLoginError,
    ProvisionerNotFoundError,
    ProvisionerOutcomeUnknownError,
    ProvisionerPowerError,
    ProvisionerRefusedError,
    ProvisionerStateError,
    ProvisionerUnreachableError,
)
from provision.http.asked import Asked
from provision.maas.answers import error_of, said

# the first pattern that fits counts; recorded names say what was done in which state
BY_FILE: tuple[tuple[str, type[ProvisionerError]], ...] = (
    ("a005-machines-noauth", ProvisionerLoginError),
    ("a006-machines-badauth", ProvisionerLoginError),
    ("b007-create-dup-hostname", OtherMachineError),
    ("b008-create-dup-mac", OtherMachineError),
    ("d079-nic-swap-mac-dup", OtherMachineError),
    ("b013-create-default-commissions-no-rack", ProvisionerOutcomeUnknownError),
    ("b039-NEW-rescue_mode", ProvisionerOutcomeUnknownError),
    ("b041-NEW-commission-no-rack", ProvisionerOutcomeUnknownError),
    ("n-4t6wy4-006-status-hook-django", ProvisionerOutcomeUnknownError),
    ("b025-query-power-state-no-rack", ProvisionerPowerError),
    ("c036-deploy-from-ready", ProvisionerPowerError),
    ("c041-DEPLOYING-deploy", ProvisionerPowerError),
    ("b016-read-404", ProvisionerNotFoundError),
    ("b069-delete-again", ProvisionerNotFoundError),
    ("b040-NEW-nosuchop", ProvisionerNotFoundError),
    ("b059-config-put-bad", ProvisionerAnswerError),
    ("d032-LOCKED-release", ProvisionerForbiddenError),
    ("d033-LOCKED-delete", ProvisionerForbiddenError),
    ("d042-mark-broken", ProvisionerForbiddenError),
    ("b001-create-missing", ProvisionerRefusedError),
    ("b00[2345]-create-bad*", ProvisionerRefusedError),
    ("b005-create-redfish-no-address", ProvisionerRefusedError),
    ("b021-list-by-status-bogus", ProvisionerRefusedError),
    ("b022-list-by-bad-mac", ProvisionerRefusedError),
    ("b048-tag-create-dup", ProvisionerRefusedError),
    ("b049-tag-create-bad", ProvisionerRefusedError),
    ("b053-update-redfish-blank-address", ProvisionerRefusedError),
    ("b055-events-query-limit-too-big", ProvisionerRefusedError),
    ("b058-config-nosuch", ProvisionerRefusedError),
    ("c002-commission-bad-script", ProvisionerRefusedError),
    ("c01[789]-layout-*", ProvisionerRefusedError),
    ("c022-layout-flat-bad-root", ProvisionerRefusedError),
    ("c027-format-zfs", ProvisionerRefusedError),
    ("c031-raidz", ProvisionerRefusedError),
    ("c034-deploy-bad-series", ProvisionerRefusedError),
    ("c035-deploy-bad-kernel", ProvisionerRefusedError),
    ("d075-layout-custom-missing-disk", ProvisionerRefusedError),
    ("b026-power-on-no-rack", ProvisionerStateError),
    ("b0??-NEW-*", ProvisionerStateError),
    ("b04[34]-allocate-*", ProvisionerStateError),
    ("c005-commission-while-commissioning", ProvisionerStateError),
    ("c006-COMMISSIONING-deploy", ProvisionerStateError),
    ("c0??-curtin-config*", ProvisionerStateError),
    ("c040-DEPLOYING-layout", ProvisionerStateError),
    ("n-4t6wy4-007-signal-deploy-ok", ProvisionerStateError),
    ("d0??-allocate-*", ProvisionerStateError),
    ("d0??-DEPLOY*", ProvisionerStateError),
    ("d044-BROKEN-deploy", ProvisionerStateError),
    ("d045-mark-fixed", ProvisionerStateError),
    ("d05[34]-FAILED_COMMISSIONING-*", ProvisionerStateError),
    ("d070-layout-custom-zpool", ProvisionerStateError),
)


Recorded = tuple[str, Asked, int, dict[str, str], str]


def recorded(captures: Path) -> list[Recorded]:
    """Name, request, status, headers and text of each recorded error answer."""
    found = []
    for one in json.loads((captures / "maas" / "error-responses-3.7.3.json").read_text("utf-8")):
        method, _, url = one["request"].partition(" ")
        parts = urlsplit(url)
        op = parse_qs(parts.query).get("op", [""])[0]
        text = one["body"] if isinstance(one["body"], str) else json.dumps(one["body"])
        headers = {name.lower(): value for name, value in one["headers"].items()}
        asked = Asked(method, parts.path.partition("/api/2.0/")[2], op)
        found.append((one["file"].removesuffix(".json"), asked, one["status"], headers, text))
    return found


def by_hand(name: str) -> type[ProvisionerError]:
    return next(kind for pattern, kind in BY_FILE if fnmatch(name, pattern))


@pytest.mark.captures
def test_every_recorded_error_answer_has_the_class_written_down_for_it(captures: Path) -> None:
    answers = recorded(captures)
    assert len(answers) == 77
    found = {one[0]: type(error_of(*one[1:])).__name__ for one in answers}
    assert found == {one[0]: by_hand(one[0]).__name__ for one in answers}


@pytest.mark.captures
def test_every_error_is_one_line_that_holds_what_maas_said(captures: Path) -> None:
    for name, asked, status, headers, text in recorded(captures):
        line = str(error_of(asked, status, headers, text))
        assert "\n" not in line
        assert 10 < len(line) < 420, name
        assert "{" not in line, name


def refused(text: str, status: int = 400, op: str = "", method: str = "POST", **headers: str) -> str:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    error = error_of(Asked(method, "machines/", op, "gpu077"), status, named, text)
    return f"{type(error).__name__}: {error}"


def test_a_taken_mac_names_its_owner_and_not_the_power_type_that_is_right() -> None:
    text = json.dumps(
        {
            "mac_addresses": ["MAC address 52:54:00:00:00:01 already in use on gpu001."],
            "power_type": ["Can't set power type to manual without network interfaces"],
        }
    )
    assert refused(text) == (
        "OtherMachineError: gpu077: MAC address 52:54:00:00:00:01 is already in use on gpu001"
    )


def test_a_taken_mac_of_a_nic_names_the_nic_and_its_machine() -> None:
    text = '{"mac_address": ["This MAC address is already in use by eno8303 (physical) on gpu001."]}'
    assert refused(text, method="PUT") == (
        "OtherMachineError: gpu077: the MAC address is already in use by eno8303 on gpu001"
    )


def test_refused_values_are_told_with_their_fields() -> None:
    text = '{"hwe_kernel": ["hwe-99.99 is not available for ubuntu/jammy on amd64/generic."]}'
    assert refused(text, op="deploy") == (
        "ProvisionerRefusedError: gpu077: hwe_kernel: hwe-99.99 is not available for ubuntu/jammy on amd64/generic."
    )


def test_a_conflict_with_retry_after_may_be_sent_again_and_one_without_may_not() -> None:
    assert refused("conflict", 409, retry_after="5").startswith("ProvisionerBusyError")
    assert refused("Machine is not locked", 409) == "ProvisionerStateError: gpu077: Machine is not locked"


@pytest.mark.parametrize("status", [500, 502, 503, 504, 507])
def test_a_servers_failure_of_a_write_is_an_unknown_outcome(status: int) -> None:
    assert refused("No rack controllers can access the BMC of node gpu077", status, "commission").startswith(
        "ProvisionerOutcomeUnknownError: gpu077: it may have been carried out"
    )


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (504, {}, ProvisionerDeadlineError),
        (502, {}, ProvisionerUnreachableError),
        (503, {"retry-after": "10"}, ProvisionerBusyError),
        (503, {}, ProvisionerUnreachableError),
        (500, {}, ProvisionerAnswerError),
        (418, {}, ProvisionerAnswerError),
        (301, {"location": "https://maas.example/MAAS/"}, ProvisionerAnswerError),
    ],
)
def test_a_servers_failure_of_a_read_changed_nothing(
    status: int, headers: dict[str, str], expected: type[ProvisionerError]
) -> None:
    assert type(error_of(Asked("GET", "machines/"), status, headers, "")) is expected


def test_an_empty_refusal_says_that_no_reason_was_given() -> None:
    assert "locked, somebody else's, or for administrators only: no reason given" in refused(
        "", 403, "release"
    )


def test_a_proxys_page_is_told_by_its_title() -> None:
    page = "<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n<body>nginx</body></html>"
    assert said(page) == "504 Gateway Time-out"


@given(st.integers(300, 599), st.sampled_from(["GET", "POST", "PUT"]), st.text(max_size=600), st.booleans())
def test_every_answer_is_one_error_of_one_line(status: int, method: str, text: str, again: bool) -> None:
    error = error_of(Asked(method, "machines/"), status, {"retry-after": "5"} if again else {}, text)
    assert isinstance(error, ProvisionerError)
    assert error.status == status
    assert str(error).isprintable()
    if status >= 500 and method != "GET":
        assert isinstance(error, ProvisionerOutcomeUnknownError | ProvisionerPowerError)
