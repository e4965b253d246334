"""What is said of MAAS's own API, images, racks and BMCs, and of all roles together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from provision.install.doctor import Result, Role, RoleResult, Verdict, exit_code, not_asked
from provision.install.doctor_maas import ApiSeen, Refusal, judge_api, judge_bmc, judge_images, judge_racks


def of(*verdicts: Verdict) -> list[tuple[str, str]]:
    return [(one.result.value, one.kind) for one in verdicts]


OK = ("ok", "")

# ---- through MAAS's API ----------------------------------------------------------------------------------------------

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HASH = "36763f1444f05f8c565d0292aabefcaa9ece4369"
"""X-Maas-Api-Hash of the recorded MAAS 3.7.3."""


def api(skew_s: float = 0.0, version: str = "3.7.3") -> ApiSeen:
    return ApiSeen(version, HASH, NOW + timedelta(seconds=skew_s), NOW, 0.1)


@pytest.mark.parametrize(
    ("seen", "login", "expected"),
    [
        (api(), "admin", [OK, OK]),
        (api(-90), "admin", [("finding", "api-clock"), OK]),
        (api(), Refusal("Authorization Error", login=True), [OK, ("finding", "api-key")]),
        (api(), Refusal("no answer in 90 s"), [OK, ("could not tell", "api-unknown")]),
        (Refusal("connection refused"), "", [("finding", "api-down")]),
        (api(version=""), "admin", [("finding", "api-other-service"), OK]),
    ],
)
def test_the_api(seen: ApiSeen | Refusal, login: str | Refusal, expected: list[tuple[str, str]]) -> None:
    assert of(*judge_api(seen, login, url="http://maas:5240/MAAS", max_skew_s=30)) == expected


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (api(), "MAAS 3.7.3, API 36763f1444f0, clock +0."),
        (replace(api(), api_hash="ff" * 20), "MAAS 3.7.3, API ffffffffffff (not the one tested), clock"),
        (api(version="3.5.1"), "MAAS 3.5.1, not 3.7, with which this was tested, API"),
    ],
)
def test_another_version_or_api_is_said_and_no_finding(seen: ApiSeen, words: str) -> None:
    verdict = judge_api(seen, "admin", url="u", max_skew_s=30)[0]
    assert (verdict.result, words in verdict.found) == (Result.OK, True), verdict.found


def test_a_key_that_is_refused_at_the_first_word_is_the_key_not_the_url() -> None:
    refused = Refusal("Invalid API key", login=True)
    (key,) = judge_api(refused, refused, url="u", max_skew_s=30)
    assert (key.result, key.kind) == (Result.FINDING, "api-key")
    assert "maas.api_key" in key.text


def test_a_key_that_is_refused_while_the_clock_is_off_says_so() -> None:
    _, key = judge_api(api(-600), Refusal("Invalid API key", login=True), url="u", max_skew_s=30)
    assert "its clock is minutes off" in key.found


@dataclass(frozen=True)
class Image:
    name: str
    architecture: str
    kernel: str
    kind: str = "Synced"


HELD = [Image("ubuntu/jammy", "amd64", "ga-22.04"), Image("ubuntu/noble", "amd64", "ga-24.04")]


@pytest.mark.parametrize(
    ("images", "series", "kernel", "expected"),
    [
        (HELD, "jammy", "ga", OK),
        (HELD, "jammy", "hwe", ("finding", "images-kernel")),
        (HELD[1:], "jammy", "ga", ("finding", "images-missing")),
        ([], "jammy", "ga", ("finding", "images-missing")),
        ([Image("ubuntu/jammy", "arm64", "ga-22.04")], "jammy", "ga", ("finding", "images-missing")),
        ([replace(HELD[0], kind="Generated")], "jammy", "ga", ("finding", "images-unsynced")),
        (Refusal("no answer"), "jammy", "ga", ("could not tell", "images-unknown")),
    ],
)
def test_the_image(
    images: list[Image] | Refusal, series: str, kernel: str, expected: tuple[str, str]
) -> None:
    assert of(*judge_images(images, series=series, kernel=kernel)) == [expected]


@dataclass(frozen=True)
class Rack:
    hostname: str
    services: dict[str, str]
    addresses: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("racks", "expected"),
    [
        ([Rack("r1", {"rackd": "running", "dhcpd": "running", "dhcpd6": "off"})], [OK]),
        ([Rack("r1", {"rackd": "dead"})], [("finding", "racks-down")]),
        ([Rack("r1", {"rackd": "running", "tftp": "dead"})], [("finding", "racks-service")]),
        ([Rack("r1", {})], [("could not tell", "racks-unknown")]),
        ([], [("finding", "racks-none")]),
        (Refusal("no answer"), [("could not tell", "racks-unknown")]),
    ],
)
def test_the_racks(racks: list[Rack] | Refusal, expected: list[tuple[str, str]]) -> None:
    assert of(*judge_racks(racks)) == expected


def test_a_bmc_no_rack_reaches_is_a_finding_in_maass_own_words() -> None:
    words = "No rack controllers can access the BMC of node gpu001"
    verdict = judge_bmc("gpu001", Refusal(words, power=True))
    assert of(verdict) == [("finding", "racks-bmc")]
    assert verdict.found == words


@pytest.mark.parametrize(
    ("state", "expected"), [("on", OK), ("off", OK), ("error", ("finding", "racks-bmc"))]
)
def test_a_power_state(state: str, expected: tuple[str, str]) -> None:
    assert of(judge_bmc("gpu001", state)) == [expected]


# ---- the sum ---------------------------------------------------------------------------------------------------------

FINE = judge_bmc("gpu001", "on")
BAD = judge_bmc("gpu001", "error")
DOUBT = not_asked(Role.NTP, "it was not finished within 60 s")


@pytest.mark.parametrize(
    ("verdicts", "result", "code"),
    [
        ((FINE,), Result.OK, 0),
        ((FINE, BAD), Result.FINDING, 1),
        ((FINE, DOUBT), Result.DOUBT, 3),
        ((BAD, DOUBT), Result.FINDING, 3),
        ((), Result.DOUBT, 3),
    ],
)
def test_the_result_of_a_role_and_the_exit_code(
    verdicts: tuple[Verdict, ...], result: Result, code: int
) -> None:
    one = RoleResult(Role.RACKS, verdicts)
    assert (one.result, exit_code([one])) == (result, code)


def test_nothing_asked_is_not_health() -> None:
    assert exit_code([]) == 3
