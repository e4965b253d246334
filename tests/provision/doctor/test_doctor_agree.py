"""Who a machine is by site, MAAS and BMC: each disagreement with all values."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabricctl.mac import Mac
from provision.install.doctor import Verdict
from provision.install.doctor_agree import Told, View, judge_host, judge_strangers
from provision.install.machine import Machine, Nic, Stage

MAC, OTHER = Mac("02:00:00:aa:00:01"), Mac("02:00:00:aa:00:02")
MACHINE = Machine(
    "abc123",
    "gpu001",
    Stage.READY,
    "Ready",
    service_tag="5ABCDE1",
    bmc_address="192.0.2.11",
    nics=(Nic("1", "eno1", MAC),),
)
SITE = View("gpu001", frozenset({MAC}), "192.0.2.11", "5ABCDE1")
BMC = View("gpu001", frozenset({MAC}), "192.0.2.11", "5ABCDE1")
ALL = Told("gpu001", SITE, (MACHINE,), BMC)


def kinds(told: Told, owners: dict[str, str] | None = None) -> list[str]:
    return [one.kind or one.result.value for one in judge_host(told, owners or {})]


def only(told: Told, owners: dict[str, str] | None = None) -> Verdict:
    (verdict,) = judge_host(told, owners or {})
    return verdict


def test_all_agree() -> None:
    assert only(ALL).found == "they agree"


def test_without_the_bmc_site_and_maas_are_compared() -> None:
    assert only(replace(ALL, bmc=None)).found == "site and MAAS agree; the BMC was not asked"


def test_a_bmc_that_did_not_answer_could_not_tell() -> None:
    assert kinds(replace(ALL, bmc=None, bmc_error="connection refused")) == ["agreement-unknown"]


def test_a_host_without_a_machine_is_not_enrolled() -> None:
    verdict = only(replace(ALL, maas=()))
    assert verdict.kind == "agreement-not-enrolled"
    assert verdict.todo == "enrol it: fabricctl maas enrol gpu001"
    assert (verdict.subject, verdict.kind) == ("gpu001", "agreement-not-enrolled")


def test_a_host_with_two_machines_is_named_with_both() -> None:
    verdict = only(replace(ALL, maas=(MACHINE, replace(MACHINE, id="xyz789", hostname="maas-enlisted"))))
    assert verdict.kind == "agreement-twice"
    assert "abc123 (gpu001) and xyz789 (maas-enlisted)" in verdict.found


@pytest.mark.parametrize(
    ("told", "kind", "found"),
    [
        (
            replace(ALL, maas=(replace(MACHINE, hostname="gpu007"),)),
            "agreement-host-name",
            "site says gpu001, MAAS says gpu007, BMC says gpu001",
        ),
        (
            replace(ALL, bmc=replace(BMC, hostname="gpu007.cluster.example")),
            "agreement-host-name",
            "site says gpu001, MAAS says gpu001, BMC says gpu007",
        ),
        (
            replace(ALL, maas=(replace(MACHINE, bmc_address="192.0.2.99"),)),
            "agreement-bmc-address",
            "site says 192.0.2.11, MAAS says 192.0.2.99, BMC says 192.0.2.11",
        ),
        (
            replace(ALL, bmc=replace(BMC, service_tag="5ZZZZZ9")),
            "agreement-service-tag",
            "site says 5ABCDE1, MAAS says 5ABCDE1, BMC says 5ZZZZZ9",
        ),
        (
            replace(ALL, bmc=replace(BMC, macs=frozenset({OTHER}))),
            "agreement-mac",
            f"site says {MAC}, MAAS says {MAC}, BMC says {OTHER}",
        ),
        (
            replace(ALL, site=replace(SITE, macs=frozenset({OTHER})), bmc=None),
            "agreement-mac",
            f"site says {OTHER}, MAAS says {MAC}, BMC says nothing",
        ),
    ],
)
def test_a_disagreement_is_named_with_all_values(told: Told, kind: str, found: str) -> None:
    verdict = only(told)
    assert (verdict.kind, verdict.found) == (kind, found)


@pytest.mark.parametrize("name", ["", "localhost", "MINWINPC", "gpu001.maas", "GPU001"])
def test_a_host_name_no_system_set_is_no_disagreement(name: str) -> None:
    assert kinds(replace(ALL, bmc=replace(BMC, hostname=name))) == ["ok"]


def test_what_nobody_knows_is_no_disagreement() -> None:
    new = replace(MACHINE, service_tag="", bmc_address="")
    assert kinds(Told("gpu001", View("gpu001"), (new,), View())) == ["ok"]


def test_tags_in_another_case_are_the_same() -> None:
    assert kinds(replace(ALL, bmc=replace(BMC, service_tag="5abcde1"))) == ["ok"]


def test_one_mac_in_common_is_enough() -> None:
    more = replace(MACHINE, nics=(*MACHINE.nics, Nic("2", "idrac", OTHER)))
    assert kinds(replace(ALL, maas=(more,))) == ["ok"]


def test_a_mac_of_another_host_is_named_with_its_owner() -> None:
    more = replace(MACHINE, nics=(*MACHINE.nics, Nic("2", "eno2", OTHER)))
    verdict = only(replace(ALL, maas=(more,)), {MAC: "gpu001", OTHER: "gpu002"})
    assert verdict.kind == "agreement-mac"
    assert verdict.found.endswith(f"{OTHER} is gpu002's")


def test_two_disagreements_are_two_findings() -> None:
    crossed = replace(BMC, bmc_address="192.0.2.12", service_tag="5ABCDE2")
    assert kinds(replace(ALL, bmc=crossed)) == ["agreement-bmc-address", "agreement-service-tag"]


def test_machines_that_the_site_does_not_know_are_named() -> None:
    (verdict,) = judge_strangers([replace(MACHINE, hostname="spare")], 2)
    assert (verdict.kind, verdict.subject) == ("agreement-stranger", "spare")
    assert [one.result.value for one in judge_strangers([], 2)] == ["ok"]
